"""A person's conversations to be looked at: who said what when, which tools were called, what a "number 2" meant."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.transcript import as_dict, role_of, written_at
from langmem_plugin.errors import UnknownSession
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.portability.exporter import threads_of
from langmem_plugin.references.shown.items import ItemEntry

_LONGEST_RESULT = 4_000  # letters of a tool's answer that are shown


@dataclass(frozen=True)
class Call:
    """A tool that the assistant called, with its arguments as JSON."""

    tool: str
    arguments: str


@dataclass(frozen=True)
class Line:
    """One message. `meant` says which shown items its words pointed at, and why."""

    message_id: str
    role: str
    text: str
    at: datetime | None
    calls: tuple[Call, ...] = ()
    tool: str | None = None
    meant: tuple[str, ...] = ()


def sessions_of(memory: PhoneMemory, person: OwnerKey) -> list[Session]:
    """Of all their identifiers, and of threads on a server that are theirs; the last active first."""
    with memory.database.read() as connection:
        mine = [each for thread in threads_of(connection, person) for each in session_rows.listed(connection, thread)]
    return sorted(mine, key=attrgetter("last_active"), reverse=True)


def session_of(memory: PhoneMemory, person: OwnerKey, session_id: str) -> Session:
    """Raises UnknownSession, also for another person's."""
    with memory.database.read() as connection:
        found = session_rows.anywhere(connection, session_id)
        if found.thread not in threads_of(connection, person):
            raise UnknownSession(f"there is no session {session_id!r}: it may have been purged")
    return found


def transcript(
    memory: PhoneMemory, person: OwnerKey, session_id: str, *, first: int = 0, around: str = "", limit: int = 200
) -> tuple[int, list[Line]]:
    """In order, from the `first` on, counted from 0, or the part with the message `around`; where it begins, too.

    Raises UnknownSession, also for another person's.
    """
    session_of(memory, person, session_id)
    with memory.saver.checkpoints.reading(session_id) as checkpoints:
        rows = checkpoints.listed("messages")
        messages = list(checkpoints.messages_of(rows))
    if around:
        ids = (row.message_id or str(row.row) for row in rows)
        first = next((at for at, each in enumerate(ids) if each == around), 0) // limit * limit
    shown = range(first, min(first + limit, len(messages)))
    return first, [_line(memory, messages[number], messages[: number + 1]) for number in shown]


def _line(memory: PhoneMemory, message: BaseMessage, so_far: Sequence[BaseMessage]) -> Line:
    said: dict[str, Any] = as_dict(message)
    calls: tuple[Call, ...] = ()
    if isinstance(message, AIMessage):
        calls = tuple(Call(each["name"], _json(each["args"])) for each in message.tool_calls)
    return Line(
        message_id=message.id or "",
        role=role_of(message),
        text=str(said["content"])[:_LONGEST_RESULT],
        at=written_at(message),
        calls=calls,
        tool=message.name if isinstance(message, ToolMessage) else None,
        meant=_meant(memory, so_far) if isinstance(message, HumanMessage) else (),
    )


def _meant(memory: PhoneMemory, so_far: Sequence[BaseMessage]) -> tuple[str, ...]:
    resolution = memory.resolved(so_far)
    return tuple(
        f"“{each.words}”: {', '.join(ItemEntry(dict(item)).title for item in each.items)} ({each.reason})"
        for each in resolution.references
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
