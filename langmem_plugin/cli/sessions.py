"""`langmem sessions`: list, show, export, restore, purge."""

import json
import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from langmem_plugin.cli.opening import Config, Url, note_read, opened
from langmem_plugin.terminal import visible

app = typer.Typer(no_args_is_help=True, help="Conversations, current and archived.")
_Id = Annotated[str, typer.Argument(help="the session's id, as `langmem sessions list` shows it")]


@app.command("list")
def list_sessions(
    phone: Annotated[str | None, typer.Argument(help="only this phone's")] = None,
    limit: Annotated[int, typer.Option(min=1)] = 50,
    database: Url = None,
    config: Config = None,
) -> None:
    """Sessions, the last active first."""
    table = Table(Column("session", min_width=36), "chat", "messages", "tokens", "last active", "state")
    with opened(database, config) as (saver, manager):
        note_read(saver, subject="sessions", owner=phone)
        for found in manager.sessions(phone, limit=limit):
            state = f"ended {_minute(found.ended_at)}" if found.ended_at else "current"
            counts = (str(found.message_counter), str(found.total_tokens))
            table.add_row(
                found.session_id, Text(visible(found.whatsapp_chat)), *counts, _minute(found.last_active), state
            )
    Console().print(table)


@app.command()
def show(session_id: _Id, database: Url = None, config: Config = None) -> None:
    """A session as a transcript."""
    with opened(database, config) as (saver, manager):
        note_read(saver, subject=session_id)
        for message in manager.messages(session_id):
            said_by = f"{_minute(message.timestamp)}  {message.role:9}  "
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
def restore(session_id: _Id, database: Url = None, config: Config = None) -> None:
    """Make an archived session its phone's current one again."""
    with opened(database, config) as (_, manager):
        found = manager.restore(session_id)
        typer.echo(f"{found.session_id} is current again, with {found.message_counter} messages")


@app.command()
def purge(
    session_id: _Id,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Delete a session with everything that belongs to it, for good."""
    with opened(database, config) as (_, manager):
        found = manager.session(session_id)
        if not yes:
            typer.confirm(f"Delete the {found.message_counter} messages of {session_id} for good?", abort=True)
        manager.purge(session_id)
        typer.echo(f"{session_id} is deleted")


def _minute(instant: datetime | None) -> str:
    return instant.strftime("%Y-%m-%d %H:%M") if instant else ""
