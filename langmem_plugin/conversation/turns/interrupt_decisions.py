"""A person's decisions so far on all that a run waits for: kept with the session until the run has gone on."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Connection, delete, insert, select

from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_lifecycle import SessionStore
from langmem_plugin.conversation.storage.codec import from_bytes, to_bytes
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import decision
from langmem_plugin.database.encryption.encrypted_columns import DECISION


@dataclass(frozen=True)
class Told:
    """The part of a conversation a person was told: all before the place `until`, and the texts `behind` it.

    Parallel branches are put in order only when the last has ended, and until then their messages have another id each
    time they are read: neither a place nor an id would find them again.
    """

    until: int = 0
    behind: Sequence[str] = ()

    @classmethod
    def of(cls, messages: Sequence[BaseMessage]) -> Self:
        until = len(messages)
        while until and not isinstance(messages[until - 1], HumanMessage):
            until -= 1
        return cls(until, [str(each.text) for each in messages[until:] if isinstance(each, AIMessage)])

    def not_in(self, messages: Sequence[BaseMessage]) -> Iterator[BaseMessage]:
        """The messages that the person was not told."""
        told = Counter(self.behind)
        for each in messages[self.until :]:
            if isinstance(each, AIMessage) and told[each.text]:
                told[each.text] -= 1
            else:
                yield each


NOTHING_TOLD = Told()


@dataclass(frozen=True)
class Decided:
    """The decisions so far: `answers` by the id of the interrupt.

    `asked_again` names the question that was put a second time. Once the answers are complete, `by` is the message that
    completed them ("" for one without an id), `asked` the questions,
    and `told` what the person was told before the run went on.
    """

    answers: dict[str, list[Any]] = field(default_factory=dict)
    asked_again: str | None = None
    by: str | None = None
    asked: Sequence[str] = ()
    told: Told = NOTHING_TOLD


class Decisions:
    def __init__(self, database: Database, sessions: SessionStore, serde: Callable[[], SerializerProtocol]) -> None:
        self._database = database
        self._sessions = sessions
        self._serde = serde

    def of(self, config: RunnableConfig) -> Decided:
        """The decisions kept in the session of a turn."""
        with self._database.read() as connection:
            found = self._sessions.find(connection, config)
            if found is None:
                return Decided()
            mine = session_rows.rows_of(decision, found)
            stored = connection.execute(select(decision.c.payload).where(*mine)).scalar_one_or_none()
            payload = DECISION.decrypted(connection, (found.thread, found.number), stored)
        if payload is None:
            return Decided()
        stored = from_bytes(self._serde(), payload)
        told = Told(**stored["told"])
        return Decided(stored["answers"], stored["asked_again"], stored["by"], stored["asked"], told)

    def keep(self, config: RunnableConfig, decided: Decided) -> None:
        """Keep these decisions in place of those before. Raises TurnLost."""
        with self._sessions.fenced(config), self._database.write() as connection:
            self.kept(config, decided)(connection)

    def kept(self, config: RunnableConfig, decided: Decided) -> Callable[[Connection], None]:
        """A function that keeps the decisions in a transaction of the caller, together with the answer."""
        payload = to_bytes(self._serde(), asdict(decided))

        def keep_in(connection: Connection) -> None:
            found = self._sessions.find(connection, config)
            if found is None:
                return
            connection.execute(delete(decision).where(*session_rows.rows_of(decision, found)))
            stored = DECISION.encrypted(connection, (found.thread, found.number), payload)
            connection.execute(insert(decision), {"thread": found.thread, "session": found.number, "payload": stored})

        return keep_in
