"""Sessions and messages as records, for code that is not a graph: the same rows as the checkpointer's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, get_args

from langchain_core.messages import AnyMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from langmem_plugin.conversation.media.media_reference import references_in
from langmem_plugin.conversation.media.media_store import Files, files_of
from langmem_plugin.conversation.message_as_dict import (
    Speaker,
    as_dict,
    callable_only,
    message_of,
    new_id,
    noted,
    notes_of,
    refuse_unasked,
    role_of,
    written_at,
)
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_rows import Client, Session
from langmem_plugin.conversation.storage.checkpoint_rows import MESSAGES, Listed
from langmem_plugin.conversation.storage.message_rows import row_behind
from langmem_plugin.conversation.window import newest_steps, window
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import masked, normalised
from langmem_plugin.logs import event_log
from langmem_plugin.notebook_view import Cells, card
from langmem_plugin.settings import Role, Settings

log = event_log(__name__)


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """One message. `order_num` counts from 1 within the session; instants are aware, in UTC."""

    message_id: str
    session_id: str
    order_num: int
    role: str
    content: str
    sender: str | None
    recipient: str | None
    timestamp: datetime
    received_at: datetime
    was_received: bool
    tokens: int
    image_path: str | None

    def cells(self) -> Cells:
        return {
            "#": self.order_num,
            "who": self.role,
            "text": self.content,
            "picture": self.image_path,
            "at": self.timestamp,
            "tokens": self.tokens,
        }

    def _repr_html_(self) -> str:
        return card("A message", self.cells())


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One session. `ended_at` is None while it is current; `message_ids` are in order."""

    session_id: str
    whatsapp_chat: str
    message_ids: tuple[str, ...]
    message_counter: int
    created_at: datetime
    last_active: datetime
    ended_at: datetime | None
    total_tokens: int
    client_name: str | None
    client_phone: str | None

    def cells(self) -> Cells:
        # A notebook's output is saved, and shown to others.
        return {
            "conversation": masked(self.whatsapp_chat),
            "name": self.client_name,
            "state": "current" if self.ended_at is None else "ended",
            "began": self.created_at,
            "last active": self.last_active,
            "ended": self.ended_at,
            "messages": self.message_counter,
            "tokens": self.total_tokens,
            "session": self.session_id,
        }

    def _repr_html_(self) -> str:
        return card("A session", self.cells())


class SessionManager:
    """Reads and writes sessions by chat: a phone in any form, or a group's chat id.

    `saver` is the checkpointer whose sessions these are, or a database URL for one of its own. `person_of` gives the
    key of the person whom an identifier is linked to.
    """

    def __init__(
        self,
        saver: ConversationSaver | str,
        settings: Settings | None = None,
        *,
        person_of: Callable[[str], str] = lambda key: key,
    ) -> None:
        self._settings = settings or Settings()
        self._person_of = person_of
        self._own_saver = isinstance(saver, str)
        self._saver = ConversationSaver.from_settings(self._settings, saver) if isinstance(saver, str) else saver

    def close(self) -> None:
        if self._own_saver:
            self._saver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_session(self, chat: str | int) -> SessionRecord:
        """The chat's current session; a new one if there is none or the last one fell silent."""
        return self.session(self._saver.current_session(self._thread(chat)).session_id)

    def add_message(  # noqa: PLR0917 - the order the interface is known by
        self,
        chat: str | int,
        role: Speaker,
        content: str,
        sender: str | None = None,
        recipient: str | None = None,
        user_role: Role = "client",
        client_name: str | None = None,
        timestamp: datetime | None = None,
        received_at: datetime | None = None,
        was_received: bool = True,
        image_path: str | None = None,
        *,
        tool_call_id: str | None = None,
        tool_name: str | None = None,
    ) -> str:
        """Add a message to the chat's current session and return its id; it is on disk when this returns.

        Raises ValueError (InvalidInput) for another role. Empty content is taken with a WARNING; a naive
        instant is taken as UTC with a WARNING; a missing image keeps its path with a WARNING. A message over the
        limit of `user_role` is stored whole: the limit bounds what `get_conversation_history` gives.
        `tool_call_id` is the call in this session that a tool's message answers. Without one the model is shown
        the message as the assistant's account of what `tool_name` told it.
        """
        if role not in get_args(Speaker):
            raise InvalidInput(f"role {role!r} is unknown: use one of {', '.join(get_args(Speaker))}")
        if not isinstance(content, str):
            raise InvalidInput(f"the content is a {type(content).__name__}: pass a text")
        if role != "tool" and (tool_call_id is not None or tool_name is not None):
            raise InvalidInput(
                f"a message of the {role} answers no call: pass tool_call_id and tool_name with role='tool'"
            )
        thread = self._thread(chat)
        if not content.strip():
            log.warning("message.empty", extra={"phone": masked(thread)})
        if image_path is not None and not _is_there(image_path):
            log.warning("message.image_missing", extra={"phone": masked(thread)})
        if len(content) // 4 > self._limit_of(user_role, thread):
            log.warning("message.oversized", extra={"phone": masked(thread)})
        now = self._saver.sessions.now()
        notes = {
            "sender": sender or ("assistant" if role == "assistant" else thread),
            "recipient": recipient,
            "timestamp": _utc(timestamp or now, thread).isoformat(),
            "received_at": _utc(received_at or now, thread).isoformat(),
            "was_received": was_received,
            "image_path": image_path,
        }

        def message(message_id: str) -> AnyMessage:
            return message_of(role, content, message_id, notes, tool_call_id, tool_name)

        with self._saver.turn(thread) as config:
            return self._append(config, message, client_name)

    def record(self, chat: str | int, message: AnyMessage) -> None:
        """Add a message as it is to the chat's current session, with an id if it has none; on disk at the end.

        A message whose id is already in the session is not added.
        """

        def named(message_id: str) -> AnyMessage:
            return message if message.id else message.model_copy(update={"id": message_id})

        with self._saver.turn(self._thread(chat)) as config:
            if message.id is None or all(each.id != message.id for each in self.messages_of_turn(config)):
                self._append(config, named, None)

    def messages_of_turn(self, config: RunnableConfig) -> list[BaseMessage]:
        """The messages so far in the session of a turn."""
        return _said(self._saver.get_tuple(config))

    def put_messages(self, config: RunnableConfig, messages: Sequence[BaseMessage]) -> None:
        """Store these as the messages of a turn's session, each with an id."""
        own: RunnableConfig = {"configurable": dict(config["configurable"])}
        named = [each if each.id else each.model_copy(update={"id": new_id(messages)}) for each in messages]
        self._put(own, named, self._saver.get_tuple(own))

    def get_conversation_history(
        self, chat: str, user_role: Role = "client", max_messages: int | None = None
    ) -> list[dict[str, Any]]:
        """The current session as a model is shown it, oldest first: whole turns within the role's token limit.

        Each message is `{"role": …, "content": …}`, with `name`, `tool_calls` and `tool_call_id` where it has them;
        LangChain's `convert_to_messages` and OpenAI's client take them. `max_messages` bounds them further; a call
        stays
        with its results, even if these alone are more. A picture is the line that stands for it.
        Tokens are those counted when a message was stored. An unknown role is taken as `client`, with a WARNING.
        Raises InvalidInput if `max_messages` is no whole number from 0 on.
        """
        thread = self._thread(chat)
        if max_messages is not None and (not isinstance(max_messages, int) or max_messages < 0):
            raise InvalidInput(
                f"max_messages={max_messages!r}: pass a whole number from 0 on, or None for all that fit"
            )
        current = self._saver.current_session(thread)
        with self._saver.checkpoints.reading(current.session_id) as checkpoints:
            rows = checkpoints.listed()
            messages = [callable_only(each) for each in checkpoints.messages_of(rows)]
        count_tokens = self._saver.checkpoints.count_tokens  # for the stand-in of a missing result
        counted = {id(message): row.tokens for message, row in zip(messages, rows, strict=True)}
        shown = window(
            messages if max_messages is None else newest_steps(messages, max_messages),
            max_turns=len(rows) + 1,
            max_tokens=self._limit_of(user_role, thread),
            count_tokens=lambda message: counted[id(message)] if id(message) in counted else count_tokens(message),
        )
        return [as_dict(message) for message in shown]

    def clear_session(self, chat: str | int) -> None:
        """Archive the current session; the next message begins a new one. The client's name is kept."""
        self._saver.end_session(self._thread(chat))

    def session(self, session_id: str) -> SessionRecord:
        """The session with this id. Raises UnknownSession."""
        with self._saver.checkpoints.reading(session_id) as checkpoints:
            found = checkpoints.session
            client = session_rows.client_of(checkpoints.connection, found)
            rows = checkpoints.listed()
        return SessionRecord(
            session_id=found.session_id,
            whatsapp_chat=found.thread,
            message_ids=tuple(row.message_id or str(row.row) for row in rows),
            message_counter=len(rows),
            created_at=found.created_at,
            last_active=found.last_active,
            ended_at=found.ended_at,
            total_tokens=sum(row.tokens for row in rows),
            client_name=client.name,
            client_phone=client.phone or (found.thread if found.thread.startswith("+") else None),
        )

    def sessions(self, chat: str | None = None, *, limit: int = 50) -> list[SessionRecord]:
        """The sessions of one chat or of all, archived ones included, the last active first."""
        thread = self._thread(chat) if chat else None
        with self._saver.database.read() as connection:
            found = session_rows.listed(connection, thread, limit)
        return [self.session(each.session_id) for each in found]

    def messages(self, session_id: str) -> list[MessageRecord]:
        """The session's messages in order, current or archived. Raises UnknownSession."""
        with self._saver.checkpoints.reading(session_id) as checkpoints:
            found = checkpoints.session
            rows = checkpoints.listed()
            messages = checkpoints.messages_of(rows)
            files = files_of(checkpoints.connection, found.thread)
        return [
            _record(found, number, message, row, files)
            for number, (message, row) in enumerate(zip(messages, rows, strict=True), 1)
        ]

    def restore(self, session_id: str) -> SessionRecord:
        """Make an archived session its chat's current one again; the present one is archived."""
        self._saver.sessions.restore(session_id)
        return self.session(session_id)

    def purge(self, session_id: str) -> None:
        """Delete a session with everything that belongs to it, at once and for good. Raises UnknownSession."""
        self._saver.deletion.delete_session(session_id)

    def expire(self) -> tuple[int, int]:
        """Archive silent sessions and purge those archived for `settings.archive_days`; return both numbers."""
        ended, purged = sum(self._saver.sessions.silent_ended()), 0
        if self._settings.archived_for is not None:
            ended_before = self._saver.sessions.now() - self._settings.archived_for
            purged = sum(self._saver.deletion.archived_deleted(ended_before))
        return ended, purged

    def _append(self, config: RunnableConfig, named: Callable[[str], AnyMessage], client_name: str | None) -> str:
        """Store the message under an id that is new in the session; return that id."""
        found = self._saver.get_tuple(config)
        said = _said(found)
        message_id = new_id(said)
        message = named(message_id)
        refuse_unasked(message, said)
        self._put(config, [*said, message], found)
        self._saver.sessions.touch(config, Client(client_name) if client_name else None)
        return message_id

    def _put(self, config: RunnableConfig, messages: Sequence[BaseMessage], found: CheckpointTuple | None) -> None:
        """Store a checkpoint that lists these messages, on top of the one found."""
        config["configurable"]["checkpoint_ns"] = ""
        if found:
            config["configurable"]["checkpoint_id"] = found.checkpoint["id"]
        self._saver.put(config, *self._saver.checkpoint_with(messages, found))

    def _limit_of(self, user_role: Role, thread: str) -> int:
        limits = self._settings.max_tokens
        if user_role not in limits:  # it comes from a caller and may be anything, in spite of its type
            log.warning("role.unknown", extra={"phone": masked(thread), "role": user_role})
        return limits.get(user_role, limits["client"])

    def _thread(self, chat: str | int) -> str:
        return self._person_of(normalised(chat, self._saver.sessions.region))


def _said(found: CheckpointTuple | None) -> list[BaseMessage]:
    said: list[BaseMessage] = found.checkpoint["channel_values"].get(MESSAGES, []) if found else []
    return said


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # no file can have such a name
        return False


def _record(session: Session, number: int, message: BaseMessage, row: Listed, files: Files) -> MessageRecord:
    # Nobody is known to have said it, and nobody is to find it.
    role = role_of(message) if row_behind(message) is None else "unreadable"
    sender = noted(message, "sender") or {"user": session.thread, "assistant": "assistant"}.get(role, message.name)
    return MessageRecord(
        message_id=message.id or f"{session.session_id}/{number}",
        session_id=session.session_id,
        order_num=number,
        role=role,
        content=message.text,
        sender=sender,
        recipient=noted(message, "recipient") or {"user": "assistant", "assistant": session.thread}.get(role),
        timestamp=written_at(message) or row.created_at,
        received_at=written_at(message, "received_at") or row.created_at,
        was_received=notes_of(message).get("was_received") is not False,
        tokens=row.tokens,
        image_path=noted(message, "image_path")
        or next((each.path for each in references_in(message) if each.path and each.sha256 in files), None),
    )


def _utc(instant: datetime, thread: str) -> datetime:
    if not isinstance(instant, datetime):
        raise InvalidInput(f"{instant!r} is no instant: pass a datetime with a time zone")
    if instant.tzinfo is None:
        log.warning("message.naive_timestamp", extra={"phone": masked(thread)})
        return instant.replace(tzinfo=UTC)
    return instant.astimezone(UTC)
