"""The consent of a person: what may be remembered of them without being told to, and since when."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypedDict

from sqlalchemy import Connection, or_, select

from langmem_plugin.database.encryption.encrypted_columns import CONSENT_TEXT
from langmem_plugin.database.people_tables import person as table
from langmem_plugin.database.schema import put

Permission = Literal["extraction", "personal", "sensitive"]

PERMISSIONS: tuple[Permission, ...] = ("extraction", "personal", "sensitive")
_ALLOWS = {
    "extraction": table.c.allow_memory_extraction,
    "personal": table.c.allow_personal_memories,
    "sensitive": table.c.allow_sensitive_memories,
}
_SINCE = {name: table.c[f"{name}_since"] for name in PERMISSIONS}


class Permissions(TypedDict, total=False):
    """The permissions to change; None sets one back as if nobody had asked."""

    extraction: bool | None
    personal: bool | None
    sensitive: bool | None


@dataclass(frozen=True)
class Given:
    """One permission: True with the time since when, False, or None where the person was never asked."""

    allowed: bool | None = None
    since: datetime | None = None

    def covers(self, said_at: datetime | None) -> bool:
        """Tell whether it allows to remember what was said at that time; None is now."""
        return self.allowed is True and self.since is not None and (said_at is None or said_at >= self.since)


@dataclass(frozen=True)
class Consent:
    """The permissions of a person. `extraction`: facts are found in what they say; `personal`, `sensitive`: such facts
    too.
    """

    extraction: Given = Given()
    personal: Given = Given()
    sensitive: Given = Given()

    def changed(self, permissions: Permissions, now: datetime) -> "Consent":
        """Return the consent with these changes; a permission that was given before and still is keeps its `since`."""
        given = {
            name: Given(allowed, now if allowed else None)  # type: ignore[arg-type] # a TypedDict gives its values as object
            for name, allowed in permissions.items()
            if getattr(self, name).allowed is not allowed
        }
        return replace(self, **given)


def consent_in(connection: Connection, person: str, *, lock: bool = False) -> Consent:
    wanted = select(*_ALLOWS.values(), *_SINCE.values()).where(table.c.person == person)
    row = connection.execute(wanted.with_for_update() if lock else wanted).one_or_none()
    if row is None:
        return Consent()
    return Consent(*(Given(*each) for each in zip(row[: len(_ALLOWS)], row[len(_ALLOWS) :], strict=True)))


@dataclass(frozen=True)
class Word:
    """The person's last answer about consent: when, in which words, and to which version of the question (None: nobody
    asked; they said it by themselves or a program did it for them).
    """

    at: datetime
    text: str | None = None
    version: int | None = None


def word_in(connection: Connection, person: str) -> Word | None:
    """Return the person's last answer on what may be remembered."""
    wanted = select(table.c.consent_at, table.c.consent_text, table.c.consent_version)
    row = connection.execute(wanted.where(table.c.person == person)).one_or_none()
    if row is None or row.consent_at is None:
        return None
    return Word(row.consent_at, CONSENT_TEXT.decrypted(connection, (person,), row.consent_text), row.consent_version)


def was_asked(connection: Connection, person: str) -> bool:
    """Tell whether they were asked, or said by themselves, what may be remembered."""
    decided = or_(table.c.allow_memory_extraction.is_not(None), table.c.consent_at.is_not(None))
    return connection.execute(select(table.c.person).where(table.c.person == person, decided)).first() is not None


def note_asked(connection: Connection, person: str, asked_at: datetime, version: int) -> None:
    """Note that they were asked this version of the question, and have not answered yet."""
    put(connection, table, {"person": person}, {"consent_at": asked_at, "consent_version": version})


def keep(connection: Connection, person: str, consent: Consent, word: Word | None = None) -> None:
    """Store the consent in place of the one before."""
    values: dict[str, Any] = {_ALLOWS[name].name: getattr(consent, name).allowed for name in PERMISSIONS}
    if word is not None:
        said = CONSENT_TEXT.encrypted(connection, (person,), word.text)
        values |= {"consent_at": word.at, "consent_text": said, "consent_version": word.version}
    values |= {_SINCE[name].name: getattr(consent, name).since for name in PERMISSIONS}
    put(connection, table, {"person": person}, values)


def join(connection: Connection, target: str, one: Consent, other: Consent, now: datetime) -> list[Any] | None:
    """Give the target what both allow, since they are one person from `now` on. A no of either is a no; a yes of both
    holds since the later one; a yes of one covers nothing said before they were one.

    Returns as JSON what `part` needs to take it back; None if nothing changed.
    """
    before = consent_in(connection, target)
    after = Consent(*(_joined(getattr(one, name), getattr(other, name), now) for name in PERMISSIONS))
    if after == before:
        return None
    keep(connection, target, after)
    return [_as_json(before), _as_json(after)]


def part(connection: Connection, target: str, joined: list[Any] | None) -> None:
    """Give the target again the consent from before `join`, unless it was changed since."""
    if joined is not None and _as_json(consent_in(connection, target)) == joined[1]:
        keep(connection, target, _from_json(joined[0]))


def _joined(one: Given, other: Given, now: datetime) -> Given:
    if False in {one.allowed, other.allowed}:
        return Given(allowed=False)
    since = [each.since for each in (one, other) if each.allowed and each.since is not None]
    if not since:
        return Given()
    return Given(True, max(since) if len(since) > 1 else now)


def _as_json(consent: Consent) -> list[list[Any]]:
    given = [getattr(consent, name) for name in PERMISSIONS]
    return [[each.allowed, each.since.isoformat() if each.since else None] for each in given]


def _from_json(values: list[list[Any]]) -> Consent:
    return Consent(*(Given(allowed, since and datetime.fromisoformat(since)) for allowed, since in values))
