"""Codes by which a person proves that two channels are theirs: shown in one, texted in the other."""

import hashlib
import hmac
import os
import re
import secrets
from datetime import datetime, timedelta

from sqlalchemy import Connection, case, delete, select, update

from langmem_plugin.database.people_tables import link_attempt, link_code
from langmem_plugin.database.schema import put, upsert

VALID_FOR = timedelta(minutes=10)
_ATTEMPTS = 5  # of one identifier, within the time that a code is valid
_SIGNS = "0123456789BCDFGHJKMNPQRSTVWXYZ"  # without vowels, so no words, and without letters that look like digits
_LENGTH = 8  # 30 ** 8: with ten codes valid at once, one guess in 65,000,000,000 is right
_LONGEST = 100  # characters of an attempt that are compared
_MEANT = str.maketrans("OIL", "011")
_BETWEEN = re.compile(r"[\s\-.]+")


def new_code(connection: Connection, person: str, now: datetime) -> str:
    """Return a new code in place of the person's last one; only a digest of it is stored, under a salt of its own."""
    signs = "".join(secrets.choice(_SIGNS) for _ in range(_LENGTH))
    salt = os.urandom(16)
    connection.execute(delete(link_code).where(link_code.c.expires_at <= now))
    values = {"salt": salt, "digest": _digest(salt, signs), "expires_at": now + VALID_FOR, "other": None}
    put(connection, link_code, {"person": person}, values)
    return f"{signs[:4]}-{signs[4:]}"


def may_try(connection: Connection, identifier: str, now: datetime) -> bool:
    """Count one more attempt; False if there were too many."""
    is_over = link_attempt.c.since <= now - VALID_FOR
    statement = upsert(connection, link_attempt).values(identifier=identifier, attempts=1, since=now)
    counted = statement.on_conflict_do_update(
        index_elements=["identifier"],
        set_={
            "attempts": case((is_over, 1), else_=link_attempt.c.attempts + 1),
            "since": case((is_over, statement.excluded.since), else_=link_attempt.c.since),
        },
    )
    attempts = connection.execute(counted.returning(link_attempt.c.attempts)).scalar_one()
    connection.execute(delete(link_attempt).where(is_over))
    return int(attempts) <= _ATTEMPTS


def person_with(connection: Connection, code: str, now: datetime) -> str | None:
    """Return the person who was given this code, in any case and however it is divided."""
    signs = _BETWEEN.sub("", code[:_LONGEST]).upper().translate(_MEANT)
    valid = link_code.c.expires_at > now, link_code.c.other.is_(None)
    codes = connection.execute(select(link_code.c.person, link_code.c.salt, link_code.c.digest).where(*valid))
    given = (row.person for row in codes if hmac.compare_digest(_digest(bytes(row.salt), signs), bytes(row.digest)))
    return next(given, None)


def wait(connection: Connection, person: str, other: str, now: datetime) -> bool:
    """Note that the one who texted the person's code waits for their answer, while a code is valid; False if it was
    over.
    """
    mine = link_code.c.person == person, link_code.c.expires_at > now, link_code.c.other.is_(None)
    waits = update(link_code).where(*mine).values(other=other, expires_at=now + VALID_FOR)
    return connection.execute(waits).rowcount > 0


def waiting(connection: Connection, person: str, now: datetime) -> str | None:
    """Return the key of the one who waits for the person's answer."""
    mine = link_code.c.person == person, link_code.c.expires_at > now
    return connection.execute(select(link_code.c.other).where(*mine)).scalar()


def use(connection: Connection, person: str, now: datetime, other: str | None = None) -> bool:
    """Delete the person's code, or the request of `other`; False if it was over, or another process was faster."""
    mine = link_code.c.person == person, link_code.c.expires_at > now, link_code.c.other.is_not_distinct_from(other)
    return connection.execute(delete(link_code).where(*mine)).rowcount > 0


def forget(connection: Connection, person: str) -> None:
    connection.execute(delete(link_code).where(link_code.c.person == person))


def _digest(salt: bytes, signs: str) -> bytes:
    return hashlib.blake2b(signs.encode("utf-8", "surrogatepass"), key=salt, digest_size=32).digest()
