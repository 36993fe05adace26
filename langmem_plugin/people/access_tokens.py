"""Tokens by which a program reaches the memory of one person, until they expire or are taken back."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, insert, select

from langmem_plugin.database import Database
from langmem_plugin.database.people_tables import access_token as table
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import masked, normalised
from langmem_plugin.logs import event_log
from langmem_plugin.people import links

log = event_log(__name__)

VALID_FOR, LONGEST = timedelta(days=90), timedelta(days=3650)
_FORM = re.compile(r"langmem_(?P<token_id>[0-9a-f]{12})_(?P<secret>[0-9a-f]{64})")


@dataclass(frozen=True)
class Access:
    """Whose memory one token opens; `identifier` is as it was given, and its links are followed at each use."""

    token_id: str
    identifier: str
    created_at: datetime
    expires_at: datetime


class AccessTokens:
    """Of one database. `region` reads national forms of phones. Whatever it does may raise StoreUnavailable.

    Nothing is held between two calls: what one process takes back is refused by all of them at once.
    """

    def __init__(
        self,
        database: Database,
        *,
        region: str | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._region = region
        self._now = now

    def new(self, who: str | int, valid_for: timedelta = VALID_FOR) -> tuple[str, Access]:
        """The token, which is told this once: only a digest of its 256 random bits is stored."""
        if not timedelta(0) < valid_for <= LONGEST:
            raise InvalidInput(f"a token is valid for 1 to {LONGEST.days} days: {valid_for.days} is not among them")
        now = self._now()
        access = Access(secrets.token_hex(6), normalised(who, self._region), now, now + valid_for)
        secret = secrets.token_hex(32)
        with self._database.write() as connection:
            connection.execute(delete(table).where(table.c.expires_at <= now))
            connection.execute(
                insert(table).values(
                    token_id=access.token_id,
                    identifier=access.identifier,
                    digest=_digest(secret),
                    created_at=access.created_at,
                    expires_at=access.expires_at,
                )
            )
        log.info("token.made", extra={"token": access.token_id, "phone": masked(access.identifier)})
        return f"langmem_{access.token_id}_{secret}", access

    def access_by(self, token: str) -> Access | None:
        """What a token opens; None for one that is wrong, has expired or was taken back."""
        form = _FORM.fullmatch(token)
        if form is None:
            return None
        with self._database.read() as connection:
            row = connection.execute(select(table).where(table.c.token_id == form["token_id"])).first()
        # Compared in the same time whatever is there, and also where there is nothing.
        held = bytes(32) if row is None else bytes(row.digest)
        is_right = hmac.compare_digest(_digest(form["secret"]), held)
        if row is None or not is_right or row.expires_at <= self._now():
            return None
        return Access(row.token_id, row.identifier, row.created_at, row.expires_at)

    def listed(self, who: str | int | None = None) -> list[Access]:
        """Those that are valid, of one person under whatever identifier or of all, the newest first."""
        query = select(table).where(table.c.expires_at > self._now()).order_by(table.c.created_at.desc())
        with self._database.read() as connection:
            if who is not None:
                person = links.person_of(connection, normalised(who, self._region))
                query = query.where(table.c.identifier.in_(links.identifiers_of(connection, person)))
            rows = connection.execute(query).all()
        return [Access(row.token_id, row.identifier, row.created_at, row.expires_at) for row in rows]

    def revoke(self, token_id: str) -> None:
        """It opens nothing from now on. Raises InvalidInput where there is no such token."""
        with self._database.write() as connection:
            gone = connection.execute(delete(table).where(table.c.token_id == token_id)).rowcount
        if not gone:
            raise InvalidInput(f"there is no token {token_id!r}: `langmem token list` shows the ids of those that are")
        log.info("token.revoked", extra={"token": token_id})


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
