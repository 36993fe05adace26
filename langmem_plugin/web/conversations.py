"""A person's conversations to be looked at: who said what when, which tools were called, what a "number 2" meant."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from sqlalchemy import select

from langmem_plugin.conversation.session_manager import SessionRecord
from langmem_plugin.conversation.transcript import as_dict, role_of, written_at
from langmem_plugin.database.conversation_tables import session as table
from langmem_plugin.errors import UnknownSession
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


def conversations_of(memory: PhoneMemory, person: str, *, limit: int = 50, offset: int = 0) -> list[SessionRecord]:
    """Of all their identifiers, and of threads on a server that are theirs; the last active first."""
    with memory.database.read() as connection:
        mine = threads_of(connection, person)
        found = connection.execute(
            select(table.c.session_id)
            .where(table.c.thread.in_(mine))
            .order_by(table.c.last_active.desc(), table.c.number.desc())
            .limit(limit)
            .offset(offset)
        ).scalars()
        ids = list(found)
    return [memory.sessions.session(each) for each in ids]


def transcript(memory: PhoneMemory, person: str, session_id: str, *, first: int = 0, limit: int = 200) -> list[Line]:
    """In order, from the `first` on, counted from 0. Raises UnknownSession, also for another person's."""
    with memory.saver.checkpoints.reading(session_id) as checkpoints:
        if checkpoints.session.thread not in threads_of(checkpoints.connection, person):
            raise UnknownSession(f"there is no session {session_id!r}: it may have been purged")
        messages = list(checkpoints.messages_of(checkpoints.listed("messages")))
    shown = range(first, min(first + limit, len(messages)))
    return [_line(memory, messages[number], messages[: number + 1]) for number in shown]


def number_of(memory: PhoneMemory, session_id: str, message_id: str) -> int:
    """Where a message stands in the conversation, counted from 0; 0 for one that is not in it, or no more."""
    said = memory.sessions.messages(session_id)
    return next((at for at, each in enumerate(said) if each.message_id == message_id), 0)


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
