"""A person's conversations for a reader: who said what when, which tools were called, what a "number 2" meant."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages import ToolCall as CallOfModel

from langmem_plugin.conversation.media.media_reference import MediaReference, references_in, words_in
from langmem_plugin.conversation.message_as_dict import as_dict, role_of, written_at
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.errors import UnknownSession
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.portability.document_exporter import threads_of
from langmem_plugin.references.meant.resolution_in_prompt import Reference
from langmem_plugin.references.shown.result_as_text import result_text
from langmem_plugin.references.shown.shown_items import ItemEntry

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})  # without types that may hold a script
_LONGEST_RESULT = 4_000  # the most letters shown of a tool's answer


@dataclass(frozen=True)
class ToolCall:
    """A tool that the assistant called, with its arguments by name, as texts to read."""

    tool: str
    arguments: dict[str, str]


@dataclass(frozen=True)
class PointedAt:
    """The things that some words of a message pointed at, the reason, and the tool whose result had them."""

    words: str
    things: tuple[str, ...]
    reason: str
    tool: str


@dataclass(frozen=True)
class Line:
    """One message of a transcript.

    `meant` is what its words pointed at among `shown`, and `to_ask` the question if that is unclear. `files` are those
    sent with it, and `is_error` says that a tool failed.
    """

    message_id: str
    role: str
    text: str
    at: datetime | None
    calls: tuple[ToolCall, ...] = ()
    tool: str | None = None
    is_error: bool = False
    meant: tuple[PointedAt, ...] = ()
    shown: tuple[str, ...] = ()
    to_ask: str | None = None
    files: tuple[MediaReference, ...] = ()


def sessions_of(memory: PhoneMemory, person: OwnerKey) -> list[Session]:
    """The sessions of all the person's identifiers, and of their threads on a server; the last active first."""
    with memory.database.read() as connection:
        mine = [each for thread in threads_of(connection, person) for each in session_rows.listed(connection, thread)]
    return sorted(mine, key=attrgetter("last_active"), reverse=True)


def session_of(memory: PhoneMemory, person: OwnerKey, session_id: str) -> Session:
    """The session of the person. Raises UnknownSession, also for another person's."""
    with memory.database.read() as connection:
        found = session_rows.anywhere(connection, session_id)
        if found.thread not in threads_of(connection, person):
            raise UnknownSession(f"there is no session {session_id!r}: it may have been purged")
    return found


def transcript(
    memory: PhoneMemory, person: OwnerKey, session_id: str, *, first: int = 0, around: str = "", limit: int = 200
) -> tuple[int, list[Line]]:
    """The lines in order, at most `limit`, and the place of the first of them, counted from 0.

    They begin at `first`, or are the part with the message `around`. Raises UnknownSession, also for another person's.
    """
    session_of(memory, person, session_id)
    with memory.saver.checkpoints.reading(session_id) as checkpoints:
        rows = checkpoints.listed()
        messages = list(checkpoints.messages_of(rows))
    if around:
        ids = (row.message_id or str(row.row) for row in rows)
        first = next((at for at, each in enumerate(ids) if each == around), 0) // limit * limit
    shown = range(first, min(first + limit, len(messages)))
    return first, [_line(memory, messages[number], messages[: number + 1]) for number in shown]


def picture(memory: PhoneMemory, person: OwnerKey, session_id: str, sha256: str) -> tuple[bytes, str]:
    """The bytes and the type of a picture that was sent in this conversation. Raises UnknownSession for any other."""
    session = session_of(memory, person, session_id)
    with memory.saver.checkpoints.reading(session_id) as checkpoints:
        messages = list(checkpoints.messages_of(checkpoints.listed()))
    for reference in (each for message in messages for each in references_in(message)):
        if reference.sha256 == sha256 and reference.path and reference.mime_type in _PICTURES:
            content = memory.saver.load_media(session.thread, reference)
            if content is not None:
                return content, reference.mime_type
    raise UnknownSession(f"there is no such picture in session {session_id!r}")


def _line(memory: PhoneMemory, message: BaseMessage, so_far: Sequence[BaseMessage]) -> Line:
    text = result_text([message]) if isinstance(message, ToolMessage) else words_in(str(as_dict(message)["content"]))
    line = Line(
        message_id=message.id or "",
        role=role_of(message),
        text=text[:_LONGEST_RESULT],
        at=written_at(message),
        files=tuple(references_in(message)),
    )
    if isinstance(message, AIMessage):
        return replace(line, calls=tuple(_call(each) for each in message.tool_calls))
    if isinstance(message, ToolMessage):
        return replace(line, tool=message.name, is_error=message.status == "error")
    if not isinstance(message, HumanMessage):
        return line
    resolution = memory.resolved(so_far)
    meant = tuple(_meant(each) for each in resolution.references)
    is_about_shown = bool(meant or resolution.question or resolution.unresolved)
    return replace(line, meant=meant, shown=resolution.shown if is_about_shown else (), to_ask=resolution.question)


def _meant(reference: Reference) -> PointedAt:
    things = tuple(ItemEntry(dict(each)).title for each in reference.items)
    return PointedAt(reference.words, things, reference.reason, reference.tool)


def _call(call: CallOfModel) -> ToolCall:
    def read(value: object) -> str:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

    return ToolCall(call["name"], {name: read(value) for name, value in call["args"].items()})
