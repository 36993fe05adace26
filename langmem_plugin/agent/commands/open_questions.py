"""The question that a person was asked, until they answer it: in the database, the same for every process."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import Connection, bindparam, delete, select, update

from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import question as table
from langmem_plugin.database.encryption.encrypted_columns import QUESTION
from langmem_plugin.database.prepared_statements import Prepared
from langmem_plugin.database.schema import put
from langmem_plugin.errors import SessionRefused
from langmem_plugin.facts.redacted_text import without_secrets
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.settings import QUESTION_OPEN_FOR

log = event_log(__name__)
QuestionKind = Literal["forget", "confirm", "erase", "link"]

# A list's choices are open while it is in sight, a question below a reply while its session goes on.
_LIST_OPEN_FOR = timedelta(minutes=10)

ASKED_OF, ASKED_AS = "asked_of", "asked_as"  # in the details: who may answer in a group, and what they were asked


@dataclass(frozen=True)
class OpenQuestion:
    """A question that is open. `details` are plain data of the caller who asked, `payload` the same as it is stored."""

    kind: QuestionKind
    details: Mapping[str, Any]
    asked_at: datetime
    payload: bytes


class QuestionClosed(Exception):
    """The question was answered, or another was asked, meanwhile."""


class OpenQuestions:
    """The open questions, one for each person: a newer question takes the place of the older. After `silence` (None:
    never) a session is over, and with it the question of its reply.
    """

    def __init__(self, database: Database, *, now: Callable[[], datetime], silence: timedelta | None = None) -> None:
        self._database = database
        self._now = now
        self._silence = silence

    def ask(self, owner: OwnerKey, kind: QuestionKind, details: Mapping[str, Any]) -> None:
        """Open a question, until it is closed or its time is over."""
        with self._database.write() as connection:
            self.ask_in(connection, owner, kind, details)

    def ask_in(self, connection: Connection, owner: OwnerKey, kind: QuestionKind, details: Mapping[str, Any]) -> None:
        """Open a question as `ask` does, in a transaction of the caller."""
        payload = QUESTION.encrypted(connection, (owner,), json.dumps({"kind": kind, **details}).encode())
        asked = {"asked_at": self._now(), "payload": payload}
        put(connection, table, {"thread": owner}, asked)

    def asked_of(self, owner: OwnerKey, sender: str, text: str) -> None:
        """Let only this member of a group answer the question of this text, unless it is another's."""
        if (question := self.look(owner)) is not None and ASKED_OF not in question.details:
            details = json.dumps({**question.details, ASKED_OF: sender, ASKED_AS: without_secrets(text)}).encode()
            with self._database.write() as connection:
                stored = QUESTION.encrypted(connection, (owner,), details)
                connection.execute(update(table).where(table.c.thread == owner).values(payload=stored))

    def look(self, owner: OwnerKey) -> OpenQuestion | None:
        """Return the open question, which stays open."""
        with self._database.read() as connection:
            return self.look_in(connection, owner)

    def look_in(self, connection: Connection, owner: OwnerKey) -> OpenQuestion | None:
        """Return the open question as `look` does, in a read of the caller."""
        row = _OF_OWNER.first(connection, {"of_owner": owner})
        found = _question(connection, owner, row[1], row[0]) if row is not None else None
        return found if found is not None and self._is_open(connection, owner, found) else None

    def _is_open(self, connection: Connection, owner: OwnerKey, found: OpenQuestion) -> bool:
        silent_for = self._now() - found.asked_at
        if found.kind != "confirm":
            return silent_for < _LIST_OPEN_FOR
        session = session_rows.newest(connection, owner)
        if session is not None and (session.ended_at is not None or session.created_at > found.asked_at):
            return False
        return silent_for < min(QUESTION_OPEN_FOR, self._silence or QUESTION_OPEN_FOR)

    def close(self, owner: OwnerKey, question: OpenQuestion) -> None:
        """Close the question, also if somebody else closed it before."""
        self._database.first(lambda connection: _closed(connection, owner, question))

    def take(self, owner: OwnerKey, question: OpenQuestion) -> None:
        """Close the question for the caller who answers it, in one transaction with the effect of the answer.

        Raises QuestionClosed if it was not open any more, here or as it is stored: of two answers one counts.
        """

        def taken(connection: Connection) -> None:
            if not _closed(connection, owner, question):
                raise QuestionClosed

        self._database.first(taken)


def _closed(connection: Connection, owner: OwnerKey, question: OpenQuestion) -> bool:
    this = (table.c.thread == owner, table.c.asked_at == question.asked_at, table.c.payload == question.payload)
    return connection.execute(delete(table).where(*this)).rowcount > 0


def _question(connection: Connection, owner: OwnerKey, payload: bytes, asked_at: datetime) -> OpenQuestion | None:
    """Read a question; None for another program's row and, with an ERROR, for one not encrypted for this person."""
    try:
        details = json.loads(QUESTION.decrypted(connection, (owner,), payload))
    except SessionRefused:
        log.exception("question.unreadable", extra={"owner": masked(owner)})
        return None
    except ValueError:
        return None
    if not isinstance(details, dict) or details.get("kind") not in get_args(QuestionKind):
        return None
    return OpenQuestion(details["kind"], details, asked_at, payload)


_OF_OWNER = Prepared(select(table.c.asked_at, table.c.payload).where(table.c.thread == bindparam("of_owner")))
