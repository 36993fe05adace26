"""`langmem sessions`: list, show, restore, purge."""

from dataclasses import asdict
from typing import Annotated

import typer

from langmem_plugin.cli.command_context import Limit, note_read, on, saver_of
from langmem_plugin.cli.output import Reveal, Rows, Told, Yes, confirm, minute, shown
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.session_manager import SessionManager
from langmem_plugin.text_sanitizing import visible

app = typer.Typer(no_args_is_help=True, help="Conversations, current and archived.")
_Id = Annotated[str, typer.Argument(help="the session's id, as `langmem sessions list` shows it")]
_Opened = tuple[ConversationSaver, SessionManager]


@app.command("list")
@on(saver_of)
def list_sessions(
    opened: _Opened,
    phone: Annotated[str | None, typer.Argument(help="only this phone's")] = None,
    *,
    limit: Limit = 50,
    reveal: Reveal = False,
) -> Told:
    """Sessions, the last active first."""
    saver, manager = opened
    note_read(saver, subject="sessions", owner=phone)
    found = [(each, shown(each.whatsapp_chat, reveal=reveal)) for each in manager.sessions(phone, limit=limit)]
    rows = [
        (
            each.session_id,
            chat,
            each.message_counter,
            each.total_tokens,
            each.last_active,
            f"ended {minute(each.ended_at)}" if each.ended_at else "current",
        )
        for each, chat in found
    ]
    columns = ("id", "chat", "messages", "tokens", "last active", "state")
    document = {"sessions": [{**asdict(each), "whatsapp_chat": chat} for each, chat in found]}
    return Told(document, [Rows(columns, rows, folded=("chat",))])


@app.command()
@on(saver_of)
def show(opened: _Opened, session_id: _Id, *, reveal: Reveal = False) -> Told:
    """A session as a transcript."""
    saver, manager = opened
    note_read(saver, subject=session_id)
    messages = list(manager.messages(session_id))
    lines = []
    for message in messages:
        said_by = f"{minute(message.timestamp)}  {message.role:9}  "
        # Further lines are indented under the first: no text can look like another message.
        lines.append(said_by + f"\n{' ' * len(said_by)}".join(visible(message.content).splitlines()))
    document = [
        {**asdict(each), "sender": None if each.sender is None else shown(each.sender, reveal=reveal)}
        for each in messages
    ]
    return Told({"session_id": session_id, "messages": document}, lines)


@app.command()
@on(saver_of)
def restore(opened: _Opened, session_id: _Id) -> Told:
    """Make an archived session its phone's current one again."""
    found = opened[1].restore(session_id)
    return Told(
        {"session_id": found.session_id, "messages": found.message_counter},
        [f"{found.session_id} is current again, with {found.message_counter} messages"],
    )


@app.command()
@on(saver_of)
def purge(opened: _Opened, session_id: _Id, *, yes: Yes = False) -> Told:
    """Delete a session with everything that belongs to it, for good."""
    _, manager = opened
    many = manager.session(session_id).message_counter
    confirm(f"Delete the {many} messages of {session_id} for good?", yes=yes)
    manager.purge(session_id)
    return Told({"deleted": session_id, "messages": many}, [f"{session_id} is deleted"])
