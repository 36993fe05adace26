"""`langmem expire` and `langmem doctor`: what an operator runs from time to time."""

from typing import Annotated

import typer

from langmem_plugin.cli.opening import Url, opened
from langmem_plugin.conversation.storage.conversation_doctor import examine
from langmem_plugin.conversation.storage.conversation_doctor import rebuild as rebuild_session
from langmem_plugin.errors import TypeNotAllowed
from langmem_plugin.identifiers import masked
from langmem_plugin.memory.memory_doctor import examine as examine_memories
from langmem_plugin.terminal import visible


def expire(database: Url = None) -> None:
    """Archive the sessions that fell silent and purge the archive of what is too old."""
    with opened(database) as (_, manager):
        ended, purged = manager.expire()
        typer.echo(f"{ended} sessions archived, {purged} purged")


def doctor(
    rebuild: Annotated[bool, typer.Option("--rebuild", help="rebuild what is damaged from its messages")] = False,
    database: Url = None,
) -> None:
    """Read every session and every memory and report what is damaged. Exit code 1 if something is and stays so."""
    with opened(database) as (saver, _):
        memories = examine_memories(saver.database)
        for row in memories:
            typer.echo(visible(f"{row.row_id}  {row.kind} of {masked(row.owner)}: not what was written"))
        damages = examine(saver)
        for damage in damages:
            typer.echo(visible(f"{damage.session_id}  {damage.what}: {damage.why}"))
        if not damages:
            typer.echo("every session can be read")
        elif not rebuild:
            typer.echo("run `langmem doctor --rebuild` to rebuild these sessions from their messages")
            raise typer.Exit(1)
        left = False
        for session_id in dict.fromkeys(damage.session_id for damage in damages if rebuild):
            try:
                kept, lost = rebuild_session(saver, session_id)
            except TypeNotAllowed:
                left = True
                typer.echo(f"{session_id} left as it is: allow the type it holds, or purge it")
            else:
                typer.echo(f"{session_id} rebuilt: {kept} messages kept, {lost} lost")
        if memories:
            typer.echo("restore memories from a backup, or forget them; vectors are made anew when they are next read")
        if left or memories:
            raise typer.Exit(1)
