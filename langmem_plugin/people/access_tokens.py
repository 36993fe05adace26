"""Tokens for access: a program's to one person's memory, a person's to their own page, an operator's to everybody's."""

import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, Row, delete, insert, or_, select

from langmem_plugin.database import Database
from langmem_plugin.database.owners_and_erasures import person_of
from langmem_plugin.database.people_tables import access_token as table
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import masked, normalised
from langmem_plugin.logs import event_log
from langmem_plugin.people import links

log = event_log(__name__)

Kind = Literal[
    "person",  # a program's token, for one person's memory
    "operator",  # a program's or an operator's token, for everybody's memory
    "link",  # texted to a person: it lets a browser in once
    "page",  # the cookie of a browser that a link let in
    "console",  # the cookie of a browser that an operator's token let in
]

VALID_FOR, LONGEST = timedelta(days=90), timedelta(days=3650)
LINK_FOR, PAGE_FOR, CONSOLE_FOR = timedelta(minutes=15), timedelta(minutes=30), timedelta(hours=8)
_FORM = re.compile(r"langmem_(?P<token_id>[0-9a-f]{12})_(?P<secret>[0-9a-f]{64})")


@dataclass(frozen=True)
class Access:
    """A token, and what it gives access to. `identifier` is as it was given, and its links are followed at each use; ""
    for an operator, who serves everybody.
    """

    token_id: str
    kind: Kind
    identifier: str
    created_at: datetime
    expires_at: datetime


class AccessTokens:
    """The access tokens of one database. Every method may raise
    StoreUnavailable.

    Nothing is held between two calls: a token that one process takes back is refused by all of them at once.
    """

    def __init__(
        self,
        database: Database,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._now = now

    def new(self, who: str | int, valid_for: timedelta = VALID_FOR) -> tuple[str, Access]:
        """Return a new token for a program and one person. It is shown this once: only a digest of its 256 random bits
        is stored.
        """
        return self._made("person", links.typed(self._database, who), _checked(valid_for))

    def new_operator(self, valid_for: timedelta = VALID_FOR) -> tuple[str, Access]:
        """Return a new token for everybody's memory, as `new` does for one person's."""
        return self._made("operator", "", _checked(valid_for))

    def new_link(self, who: str | int) -> tuple[str, Access]:
        """Return a new token to text to a person, which opens their own page: once, within `LINK_FOR`."""
        return self._made("link", normalised(who, self._database.region), LINK_FOR)

    def let_in(self, token: str, kind: Literal["link", "operator"]) -> tuple[str, Access] | None:
        """Return a browser's cookie in exchange for a link, which is then used up, or for an operator's token; None for
        any other.
        """
        with self._database.write() as connection:
            access = self._opened_by(connection, token)
            if access is None or access.kind != kind:
                return None
            if access.kind == "operator":
                return self._make(connection, "console", "", CONSOLE_FOR, opened_by=access.token_id)
            if not connection.execute(delete(table).where(table.c.token_id == access.token_id)).rowcount:
                return None  # another browser was faster
            return self._make(connection, "page", access.identifier, PAGE_FOR)

    def access_by(self, token: str, *kinds: Kind) -> Access | None:
        """Return what a token of one of these kinds opens; None for one that is wrong, has expired or was
        taken back.
        """
        with self._database.read() as connection:
            access = self._opened_by(connection, token)
        return access if access is not None and access.kind in kinds else None

    def listed(self, who: str | int | None = None) -> list[Access]:
        """Return the valid tokens, the newest first: of one person, under any identifier, or of all."""
        query = select(table).where(table.c.expires_at > self._now()).order_by(table.c.created_at.desc())
        with self._database.read() as connection:
            if who is not None:
                person = person_of(connection, normalised(who, self._database.region))
                query = query.where(table.c.identifier.in_(links.identifiers_of(connection, person)))
            rows = connection.execute(query).all()
        return [_access(row) for row in rows]

    def revoke(self, token_id: str) -> None:
        """Revoke a token, and those that were opened with it: from now on they are refused. Raises InvalidInput if
        there is no such token.
        """
        these = or_(table.c.token_id == token_id, table.c.opened_by == token_id)
        with self._database.write() as connection:
            gone = connection.execute(delete(table).where(these)).rowcount
        if not gone:
            raise InvalidInput(f"there is no token {token_id!r}: `langmem token list` shows the ids of those that are")
        log.info("token.revoked", extra={"token": token_id})

    def _made(self, kind: Kind, identifier: str, valid_for: timedelta) -> tuple[str, Access]:
        with self._database.write() as connection:
            return self._make(connection, kind, identifier, valid_for)

    def _make(
        self, connection: Connection, kind: Kind, identifier: str, valid_for: timedelta, opened_by: str | None = None
    ) -> tuple[str, Access]:
        now = self._now()
        access = Access(secrets.token_hex(6), kind, identifier, now, now + valid_for)
        secret = secrets.token_hex(32)
        connection.execute(delete(table).where(table.c.expires_at <= now))
        connection.execute(insert(table).values(**vars(access), digest=_digest(secret), opened_by=opened_by))
        log.info("token.made", extra={"token": access.token_id, "kind": kind, "phone": masked(identifier)})
        return f"langmem_{access.token_id}_{secret}", access

    def _opened_by(self, connection: Connection, token: str) -> Access | None:
        form = _FORM.fullmatch(token)
        if form is None:
            return None
        row = connection.execute(select(table).where(table.c.token_id == form["token_id"])).first()
        # The comparison takes the same time for every token, and also where there is none.
        held = bytes(32) if row is None else bytes(row.digest)
        is_right = hmac.compare_digest(_digest(form["secret"]), held)
        if row is None or not is_right or row.expires_at <= self._now():
            return None
        return _access(row)


def _checked(valid_for: timedelta) -> timedelta:
    if not timedelta(0) < valid_for <= LONGEST:
        raise InvalidInput(f"a token is valid for 1 to {LONGEST.days} days: {valid_for.days} is not among them")
    return valid_for


def _access(row: Row[tuple[Any, ...]]) -> Access:
    return Access(row.token_id, row.kind, row.identifier, row.created_at, row.expires_at)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
