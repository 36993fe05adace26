"""Note what is done, in the transaction that does it: one row, no lock, no content. A sweep writes it to the file."""

import contextlib
import hashlib
import hmac
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, bindparam, insert, select

from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.operations_tables import audit, secret
from langmem_plugin.database.prepared_statements import Prepared

SYSTEM = "system"
PERSON = "person"
TOOL = "tool"
PROGRAM = "program"  # the program that calls the verbs of this package

_actor: ContextVar[str | None] = ContextVar("langmem_actor", default=None)
_secrets: "WeakKeyDictionary[Engine, bytes]" = WeakKeyDictionary()

_DIGEST_BYTES = 16


class Done(NamedTuple):
    """An action: `owner` and `content` are hashed before they are stored, `subject` is stored."""

    action: str
    owner: str | None = None
    subject: str | None = None
    content: str | None = None


@contextlib.contextmanager
def acting(actor: str, *, within: bool = False) -> Iterator[None]:
    """Note `actor` as the one who acts in the block, unless an outer block has named one; `within` overrides that."""
    if _actor.get() is not None and not within:
        yield
        return
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


def acts_from_now_on(actor: str) -> None:
    """Name the one who acts from now on, in a thread of its own or a process."""
    _actor.set(actor)


def record(
    connection: Connection,
    action: str,
    *,
    owner: str | None = None,
    subject: str | None = None,
    content: str | None = None,
) -> None:
    """Note an action in the caller's transaction: it is noted if and only if that is committed."""
    record_all(connection, [Done(action, owner, subject, content)])


def record_all(connection: Connection, done: Iterable[Done]) -> None:
    """Note many actions in the caller's transaction, as `record` does one."""
    at, by = datetime.now(UTC), _actor.get() or PROGRAM
    rows = [
        {
            "at": at,
            "by": by,
            "what": each.action,
            "of": each.subject,
            "whose": None if each.owner is None else keyed_hash(connection, each.owner),
            "hashed": None if each.content is None else _content_hash(connection, each.owner, each.content),
        }
        for each in done
    ]
    if rows:
        _NOTE.run_each(connection, rows)


def _content_hash(connection: Connection, owner: str | None, content: str) -> bytes:
    """Return the hash of a content; under the owner's key where keys lie apart, because somebody who has the database
    alone could try texts against the secret in it.
    """
    encryption = encryption_of(connection)
    if owner is None or not encryption.encrypts:
        return keyed_hash(connection, content)
    return encryption.blinded(owner, audit.c.content.name, content)[:_DIGEST_BYTES]


def keyed_hash(connection: Connection, text: str) -> bytes:
    """Return 16 bytes of the text's hash under this database's secret: without it nobody can tell whose or
    what it is.
    """
    key = _secrets.get(connection.engine)
    if key is None:
        key = bytes(connection.execute(select(secret.c.value).where(secret.c.name == "audit")).scalar_one())
        _secrets[connection.engine] = key
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256)[:_DIGEST_BYTES]


_NOTE = Prepared(
    insert(audit).values(
        at=bindparam("at"),
        actor=bindparam("by"),
        action=bindparam("what"),
        subject=bindparam("of"),
        owner=bindparam("whose"),
        content=bindparam("hashed"),
    )
)
