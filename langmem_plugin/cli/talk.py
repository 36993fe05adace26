"""`langmem resolve` and `langmem say`: what an utterance means in a session, and the chat commands from a shell."""

from typing import Annotated, Any

import typer

from langmem_plugin.cli.opening import Config, Url, chosen, note_read, opened, refuse_missing
from langmem_plugin.cli.printing import Json, print_json
from langmem_plugin.conversation.config_keys import SESSION
from langmem_plugin.errors import InvalidInput
from langmem_plugin.references import Resolution
from langmem_plugin.references import resolve as resolve_utterance
from langmem_plugin.terminal import visible


def resolve(
    utterance: Annotated[str, typer.Argument(help='what was said, such as "save number 2"')],
    *,
    phone: Annotated[str | None, typer.Option(help="in this phone's newest session")] = None,
    session: Annotated[str | None, typer.Option(help="in the session with this id")] = None,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Explain what an utterance refers to, and why."""
    if (phone is None) == (session is None):
        raise InvalidInput("say where: --phone or --session")
    with opened(database, config) as (saver, manager):
        note_read(saver, subject=session or "sessions", owner=phone)
        chat = phone if phone is not None else manager.session(session or "").whatsapp_chat
        place = {"thread_id": chat, **({SESSION: session} if session else {})}
        found = saver.get_tuple({"configurable": place})
        messages = found.checkpoint["channel_values"].get("messages", []) if found else []
    meant = resolve_utterance(utterance, messages)
    if as_json:
        print_json(_document(meant))
        return
    for reference in meant.references:
        _show(f"“{reference.words}” ({reference.reason})")
        for item in reference.items:
            _show(f"  {item}")
    if meant.question:
        _show(f"unclear; ask: {meant.question}")
    if meant.previous_call:
        _show(f"revises the call {meant.previous_call.tool}({dict(meant.previous_call.arguments)})")
    if not (meant.references or meant.question or meant.previous_call):
        typer.echo("refers to nothing in this session")


def say(
    phone: Annotated[str, typer.Argument(help="whose memory")],
    command: Annotated[str, typer.Argument(help='a chat command, such as "/memories" or "/remember …"')],
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Answer a chat command as the person would get it."""
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415 - loads the embedding model

    settings = chosen(config).model_copy(update={"sweep_every": None})
    if settings.enable_memory_system:
        refuse_missing(settings, database)
    with PhoneMemory(database, settings=settings) as memory:
        note_read(memory.saver, subject="memories", owner=phone)
        answer = memory.command(phone, command)
    if as_json:
        print_json({"answer": answer})
    else:
        _show("that is no chat command: try /help" if answer is None else answer)


def _document(meant: Resolution) -> dict[str, Any]:
    call = meant.previous_call
    return {
        "references": [
            {
                "words": each.words,
                "reason": each.reason,
                "items": [str(item) for item in each.items],
            }
            for each in meant.references
        ],
        "question": meant.question or None,
        "previous_call": None if call is None else {"tool": call.tool, "arguments": dict(call.arguments)},
    }


def _show(text: str) -> None:
    typer.echo(visible(text))
