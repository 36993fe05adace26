"""`langmem recall` and `resolve`: the answers of the memory, and their reasons."""

from typing import TYPE_CHECKING, Annotated

import typer

from langmem_plugin.cli.command_context import memory_of, note_read, on, saver_of
from langmem_plugin.cli.output import Rows, Told
from langmem_plugin.conversation.config_keys import SESSION
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.session_manager import SessionManager
from langmem_plugin.errors import ConfigurationError, InvalidInput
from langmem_plugin.memory.find.recall_and_visibility import RELEVANT, search_for
from langmem_plugin.references import Resolution
from langmem_plugin.references import resolve as resolve_utterance

if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory

_MOST = 10


@on(memory_of)
def recall(
    memory: "PhoneMemory",
    question: Annotated[str, typer.Argument(help='what is asked, such as "what is Leo allergic to?"')],
    *,
    phone: Annotated[str, typer.Option("--phone", help="whose memory")],
    limit: Annotated[int | None, typer.Option(min=1, help="default: the setting recall_limit, or 10")] = None,
    min_similarity: Annotated[
        float | None, typer.Option(min=0, max=1, help="default: the setting min_similarity, or 0.7; 0 shows all")
    ] = None,
) -> Told:
    """Find what is about a question, in all that the person may see; best first. --json tells why each was found."""
    settings = memory.settings
    if not settings.remembers:
        raise ConfigurationError("the long-term memory is switched off by the settings: nothing is recalled")
    note_read(memory.saver, subject="memories", owner=phone)
    owner, most = memory.people.typed(phone), limit or settings.recall_limit or _MOST
    bound = next(each for each in (min_similarity, settings.min_similarity, RELEVANT) if each is not None)
    role = memory.person.role(owner)
    found = search_for(memory.service, owner, role, question, limit=most, min_relevance=bound)
    nothing = "" if found else "nothing is similar enough: --min-similarity 0 shows what is nearest"
    results = [
        {
            "id": each.memory.id,
            "text": each.memory.text,
            "similarity": each.similarity,
            "score": each.score,
            "match": each.match_type,
            "signals": each.signals,
            "shared": each.memory.owner != owner,
        }
        for each in found
    ]
    rows = [(f"{each.similarity:.2f}", each.memory.text, each.memory.id) for each in found]
    table = Rows(("similarity", "text", "id"), rows, folded=("text",))
    return Told({"question": question, "results": results}, [table] if found else (), nothing)


@on(saver_of)
def resolve(
    opened: tuple[ConversationSaver, SessionManager],
    utterance: Annotated[str, typer.Argument(help='what was said, such as "save number 2"')],
    *,
    phone: Annotated[str | None, typer.Option(help="in this phone's newest session")] = None,
    session: Annotated[str | None, typer.Option(help="in the session with this id")] = None,
) -> Told:
    """Explain what an utterance refers to, and why."""
    saver, manager = opened
    if (phone is None) == (session is None):
        raise InvalidInput("say where: --phone or --session")
    note_read(saver, subject=session or "sessions", owner=phone)
    chat = phone if phone is not None else manager.session(session or "").whatsapp_chat
    place = {"thread_id": chat, **({SESSION: session} if session else {})}
    found = saver.get_tuple({"configurable": place})
    messages = found.checkpoint["channel_values"].get("messages", []) if found else []
    return _meant(resolve_utterance(utterance, messages))


def _meant(meant: Resolution) -> Told:
    references, lines, call = [], [], meant.previous_call
    for each in meant.references:
        items = [str(item) for item in each.items]
        references.append({"words": each.words, "reason": each.reason, "items": items})
        lines += [f"“{each.words}” ({each.reason})", *(f"  {item}" for item in items)]
    if meant.question:
        lines.append(f"unclear; ask: {meant.question}")
    if call:
        lines.append(f"revises the call {call.tool}({dict(call.arguments)})")
    document = {
        "references": references,
        "question": meant.question or None,
        "previous_call": None if call is None else {"tool": call.tool, "arguments": dict(call.arguments)},
    }
    return Told(document, lines or ["refers to nothing in this session"])
