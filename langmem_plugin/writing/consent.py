"""Consent to be remembered: an explicit request is always kept, everything else only by the person's leave."""

from collections.abc import Callable
from datetime import datetime
from typing import Unpack

from sqlalchemy import Connection

from langmem_plugin.database import Database
from langmem_plugin.database.audit_recording import record
from langmem_plugin.errors import ConfigurationError, InvalidInput
from langmem_plugin.facts import FactType
from langmem_plugin.identifiers import OwnerKey, is_group, masked
from langmem_plugin.logs import event_log
from langmem_plugin.people import consent_records
from langmem_plugin.people.consent_records import PERMISSIONS, Consent, Permission, Permissions, Word

log = event_log(__name__)

_LONGEST_WORDS = 1_000  # letters of the person's answer


QUESTION_VERSION = 1
"""The version of the question of consent: raised with every change of what a yes to it means."""


class Consents:
    """The consents of people, read anew at each call: when a person says stop, every process heeds it at once.

    `who` is any identifier of a person, which `key_of` turns into their key. While the memory is not `enabled` nobody
    has allowed anything. Whatever is asked of the database may raise StoreUnavailable.
    """

    def __init__(
        self,
        database: Database,
        *,
        key_of: Callable[[str | int], OwnerKey],
        enabled: bool,
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._key_of = key_of
        self._enabled = enabled
        self._now = now

    def allowed(
        self,
        owner: OwnerKey,
        fact_type: FactType = "fact",
        sensitive: bool = False,
        *,
        explicit: bool = False,
        said_at: datetime | None = None,
    ) -> bool:
        """Tell whether a write is allowed; `owner` is the key that the memory is kept under.

        `explicit` is what the person asked to be remembered. Everything else needs their leave, given before it was
        `said_at` (default: now): to remember by itself at all, and for a personal or a sensitive fact to do that too.
        """
        if not self._enabled:
            return False
        if explicit:
            return True
        held = self.of_owner(owner)
        asked = [held.extraction]
        if fact_type == "personal":
            asked.append(held.personal)
        if sensitive:
            asked.append(held.sensitive)
        return all(each.covers(said_at) for each in asked)

    def of(self, who: str | int) -> Consent:
        """Return the consent that somebody gives as it stands, in whatever process they said it."""
        return self.of_owner(self._key_of(who))

    def of_owner(self, owner: OwnerKey) -> Consent:
        """Return the consent by the key that the person's memory is kept under."""
        if not self._enabled:
            return Consent()
        with self._database.read() as connection:
            return consent_records.consent_in(connection, owner)

    def word_of(self, who: str | int) -> Word | None:
        """Return the last answer about consent: when, in which words, and to which version of the question."""
        person = self._key_of(who)
        with self._database.read() as connection:
            return consent_records.word_in(connection, person)

    def to_ask(self, connection: Connection, owner: OwnerKey) -> Permission | None:
        """Return the permission to ask for next, if any: first to remember at all; once that is given, to remember
        sensitive facts too.
        """
        if not self._enabled or is_group(owner):
            return None
        if not consent_records.was_asked(connection, owner):
            return "extraction"
        held = consent_records.consent_in(connection, owner)
        return "sensitive" if held.extraction.allowed and held.sensitive.allowed is None else None

    def note_asked(self, connection: Connection, owner: OwnerKey, asked: Permission) -> None:
        """Note the question in the transaction that makes it theirs to answer: nobody is asked twice."""
        if asked == "extraction":
            consent_records.note_asked(connection, owner, self._now(), QUESTION_VERSION)
        else:  # without an answer it is a no
            held = consent_records.consent_in(connection, owner, lock=True)
            consent_records.keep(connection, owner, held.changed({"sensitive": False}, self._now()))

    def set(
        self,
        who: str | int,
        *,
        text: str | None = None,
        version: int | None = None,
        **permissions: Unpack[Permissions],
    ) -> Consent:
        """Allow or forbid what is named and leave the rest; return the consent as it stands then.

        `text` is what the person said to it, and `version` that of the question they answered: both are kept.

        `extraction=True` allows to find facts in what they say from now on. `personal` and `sensitive` allow such facts
        too; None is as if they had never been asked.
        """
        if unknown := permissions.keys() - set(PERMISSIONS):
            raise InvalidInput(f"there is no permission {', '.join(sorted(unknown))}: name {', '.join(PERMISSIONS)}")
        for name, value in permissions.items():
            if not isinstance(value, bool | None):
                raise InvalidInput(f"{name}={value!r}: pass True, False, or None for never asked")
        return self._changed(who, lambda _: permissions, text, version)

    def switch_on(self, who: str | int, *, text: str | None = None, version: int | None = None) -> Consent:
        """Switch remembering on: personal facts too, unless the person refused those, and never the sensitive ones."""

        def wanted(held: Consent) -> Permissions:
            return {"extraction": True, "personal": held.personal.allowed is not False}

        return self._changed(who, wanted, text, version)

    def switch_off(self, who: str | int, *, text: str | None = None, version: int | None = None) -> Consent:
        """Switch remembering off for what they say from now on; switched on again, they have not agreed
        to more than that.
        """

        def wanted(held: Consent) -> Permissions:
            # A no stays a no; a yes has to be said anew.
            return {
                "extraction": False,
                "personal": None if held.personal.allowed else held.personal.allowed,
                "sensitive": None if held.sensitive.allowed else held.sensitive.allowed,
            }

        return self._changed(who, wanted, text, version)

    def _changed(
        self, who: str | int, wanted: Callable[[Consent], Permissions], text: str | None, version: int | None
    ) -> Consent:
        if not self._enabled:
            raise ConfigurationError("the memory is switched off: there is nothing to allow until it is switched on")
        person = self._key_of(who)
        with self._database.write() as connection:
            before = consent_records.consent_in(connection, person, lock=True)
            held = before.changed(wanted(before), self._now())
            words = None if text is None else text[:_LONGEST_WORDS]
            consent_records.keep(connection, person, held, Word(self._now(), words, version))
            for name in PERMISSIONS:
                was, is_now = getattr(before, name).allowed is True, getattr(held, name).allowed is True
                if was is not is_now:
                    what: str = "consent.given" if is_now else "consent.withdrawn"
                    record(connection, what, owner=person, subject=name, content=words)
        allowed = [name for name in PERMISSIONS if getattr(held, name).allowed]
        log.info("consent.set", extra={"person": masked(person), "allowed": ", ".join(allowed) or "nothing"})
        return held
