"""`langmem sessions`: list, show, export, restore, purge."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from langmem_plugin.cli.opening import Config, Url, note_read, opened
from langmem_plugin.cli.printing import Json, Reveal, Yes, confirm, minute, print_json, print_table, shown
from langmem_plugin.conversation.session_manager import SessionRecord
from langmem_plugin.terminal import visible

app = typer.Typer(no_args_is_help=True, help="Conversations, current and archived.")
_Id = Annotated[str, typer.Argument(help="the session's id, as `langmem sessions list` shows it")]


@app.command("list")
def list_sessions(
    phone: Annotated[str | None, typer.Argument(help="only this phone's")] = None,
    *,
    limit: Annotated[int, typer.Option(min=1)] = 50,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Sessions, the last active first."""
    with opened(database, config) as (saver, manager):
        note_read(saver, subject="sessions", owner=phone)
        found = manager.sessions(phone, limit=limit)
    if as_json:
        print_json({"sessions": [{**asdict(each), "whatsapp_chat": _chat(each, reveal=reveal)} for each in found]})
        return
    print_table(
        ("id", "chat", "messages", "tokens", "last active", "state"),
        [
            (
                each.session_id,
                _chat(each, reveal=reveal),
                each.message_counter,
                each.total_tokens,
                each.last_active,
                f"ended {minute(each.ended_at)}" if each.ended_at else "current",
            )
            for each in found
        ],
        folded=("chat",),
    )


@app.command()
def show(
    session_id: _Id, reveal: Reveal = False, as_json: Json = False, database: Url = None, config: Config = None
) -> None:
    """A session as a transcript."""
    with opened(database, config) as (saver, manager):
        note_read(saver, subject=session_id)
        messages = list(manager.messages(session_id))
    if as_json:
        document = [
            {**asdict(each), "sender": None if each.sender is None else shown(each.sender, reveal=reveal)}
            for each in messages
        ]
        print_json({"session_id": session_id, "messages": document})
        return
    for message in messages:
        said_by = f"{minute(message.timestamp)}  {message.role:9}  "
        # Further lines stand under the first: nobody can write a line that looks like another message.
        lines = visible(message.content).splitlines()
        typer.echo(said_by + f"\n{' ' * len(said_by)}".join(lines))


@app.command()
def export(
    session_id: _Id,
    file: Annotated[Path | None, typer.Option("--to", help="a file; default: standard output")] = None,
    database: Url = None,
    config: Config = None,
) -> None:
    """A session's messages as JSON lines; a new file is for nobody else to read."""
    with opened(database, config) as (saver, manager):
        note_read(saver, "data.exported", subject=session_id)
        lines = [json.dumps(asdict(each), default=str, ensure_ascii=False) for each in manager.messages(session_id)]
    text = "".join(f"{visible(line)}\n" for line in lines)
    if file is None:
        sys.stdout.write(text)
    else:
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8")


@app.command()
def restore(session_id: _Id, as_json: Json = False, database: Url = None, config: Config = None) -> None:
    """Make an archived session its phone's current one again."""
    with opened(database, config) as (_, manager):
        found = manager.restore(session_id)
    if as_json:
        print_json({"session_id": found.session_id, "messages": found.message_counter})
    else:
        typer.echo(f"{found.session_id} is current again, with {found.message_counter} messages")


@app.command()
def purge(
    session_id: _Id,
    yes: Yes = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Delete a session with everything that belongs to it, for good."""
    with opened(database, config) as (_, manager):
        found = manager.session(session_id)
        confirm(f"Delete the {found.message_counter} messages of {session_id} for good?", yes=yes)
        manager.purge(session_id)
    if as_json:
        print_json({"deleted": session_id, "messages": found.message_counter})
    else:
        typer.echo(f"{session_id} is deleted")


def _chat(session: SessionRecord, *, reveal: bool) -> str:
    return shown(session.whatsapp_chat, reveal=reveal)
