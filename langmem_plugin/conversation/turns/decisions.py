"""What a person has decided so far of all that a run waits for: kept with the session, until the run has gone on."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import delete, insert, select

from langmem_plugin.conversation.sessions.session_store import SessionStore
from langmem_plugin.conversation.storage.codec import from_bytes, to_bytes
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import decision
from langmem_plugin.database.encryption.encrypted_columns import DECISION


@dataclass(frozen=True)
class Decided:
    """`answers` by the id of the interrupt; `asked_again` names the question that was put a second time.

    Once they are complete, `by` is the message that completed them ("" for one without an id), `asked` what was asked,
    and `seen` how many messages there were before the run went on.
    """

    answers: dict[str, list[Any]] = field(default_factory=dict)
    asked_again: str | None = None
    by: str | None = None
    asked: str = ""
    seen: int = 0


class Decisions:
    def __init__(self, database: Database, sessions: SessionStore, serde: Callable[[], SerializerProtocol]) -> None:
        self._database = database
        self._sessions = sessions
        self._serde = serde

    def of(self, config: RunnableConfig) -> Decided:
        """In the session of a turn."""
        with self._database.read() as connection:
            found = self._sessions.find(connection, config)
            if found is None:
                return Decided()
            mine = (decision.c.thread == found.thread, decision.c.session == found.number)
            stored = connection.execute(select(decision.c.payload).where(*mine)).scalar_one_or_none()
            payload = DECISION.decrypted(connection, (found.thread, found.number), stored)
        return Decided(**from_bytes(self._serde(), payload)) if payload is not None else Decided()

    def keep(self, config: RunnableConfig, decided: Decided) -> None:
        """In place of what was kept before. Raises TurnLost."""
        payload = to_bytes(self._serde(), asdict(decided))
        with self._sessions.fenced(config), self._database.write() as connection:
            found = self._sessions.find(connection, config)
            if found is None:
                return
            mine = (decision.c.thread == found.thread, decision.c.session == found.number)
            connection.execute(delete(decision).where(*mine))
            stored = DECISION.encrypted(connection, (found.thread, found.number), payload)
            connection.execute(insert(decision), {"thread": found.thread, "session": found.number, "payload": stored})
