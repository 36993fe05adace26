"""A person's settings (time zone, language), the name that an operator gave them, and what they were shown."""

import contextlib
import time
from collections.abc import Mapping
from functools import partial
from typing import Literal
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, bindparam, delete, select

from langmem_plugin.database import Database
from langmem_plugin.database.encryption.encrypted_columns import PERSON_NAME, EncryptedColumn, Key
from langmem_plugin.database.people_tables import person as table
from langmem_plugin.database.people_tables import person_name
from langmem_plugin.database.prepared_statements import Prepared
from langmem_plugin.database.schema import put
from langmem_plugin.errors import DecryptionRefused, InvalidInput, StoreUnavailable
from langmem_plugin.identifiers import masked
from langmem_plugin.logs import event_log
from langmem_plugin.lru_cache import LruCache
from langmem_plugin.people.time_zones import zone_named, zone_of_phone
from langmem_plugin.settings import Settings

log = event_log(__name__)

LanguageCode = Literal["en", "he", "es"]

ListName = Literal["memories", "instructions", "confirm"]

_READ_AGAIN_SECONDS = 10.0
_CACHE_BYTES, _BYTES_EACH = 2 * 2**20, 400
_MOST_SHOWN = 200  # numbers of each list: those shown last


class PersonSettings:
    """The settings of people; `person` is the key of a person or a group.

    What was read is kept for ten seconds: a change is known at once in the process that made it, and within ten seconds
    in every other. While the database cannot be reached, people are treated as if they had set nothing.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._stored = settings.enable_memory_system
        self._language: LanguageCode = settings.language
        self._cache: LruCache[str, tuple[tuple[str | None, str | None], float]] = LruCache(_CACHE_BYTES)
        self._time_zone = settings.time_zone

    def time_zone(self, person: str) -> ZoneInfo:
        """Return the time zone they set, else that of their phone's country, if it has only one, else
        `settings.time_zone`.
        """
        return ZoneInfo(self._set(person)[0] or zone_of_phone(person) or self._time_zone)

    def set_time_zone(self, person: str, name: str) -> ZoneInfo:
        """Set the time zone: `name` is an IANA name in any case, or a city. Raises InvalidInput for anything else."""
        zone = zone_named(name)
        if zone is None:
            raise InvalidInput(
                "this is no time zone: give a city such as Jerusalem or a name such as Europe/Madrid; an offset such as"
                " +2 is wrong for half of the year"
            )
        if self._stored:
            with self._database.write() as connection:
                put(connection, table, {"person": person}, {"time_zone": zone})
            self._changed(person)
        return ZoneInfo(zone)

    def language(self, person: str, otherwise: LanguageCode | None = None) -> LanguageCode:
        """Return the language they wrote last, else `otherwise`, else `settings.language`."""
        match self._set(person)[1]:
            case "en" | "he" | "es" as known:
                return known
        return otherwise or self._language

    def set_language(self, person: str, language: LanguageCode) -> None:
        """Store the language if it is new: within `together` when that begins to write. While the database cannot be
        reached this is skipped, with a WARNING: a reply goes out in the right language anyway.
        """
        if not self._stored:
            self._keep(person, None, language)
            return
        if self._set(person)[1] == language:
            return
        try:
            self._database.first(lambda connection: put(connection, table, {"person": person}, {"language": language}))
            self._changed(person)
        except StoreUnavailable:
            log.warning("person.not_stored", exc_info=True, extra={"person": masked(person)})

    def shown(self, person: str, name: ListName) -> dict[int, str]:
        """Return the ids of what the person saw last under each number of a list; empty if they never saw it."""
        with self._database.read() as connection:
            lists = _shown(connection, person)
        return {int(number): shown_id for number, shown_id in lists.get(name, {}).items()}

    def note_shown(self, person: str, name: ListName, numbered: Mapping[int, str]) -> None:
        """Note that a page of the list is sent to them: its numbers now stand for its entries, not for earlier ones."""
        with self._database.write() as connection:
            lists = _shown(connection, person)
            page = {str(number): shown_id for number, shown_id in numbered.items()}
            before = [each for each in lists.get(name, {}).items() if each[0] not in page]
            lists[name] = dict([*before, *page.items()][-_MOST_SHOWN:])
            put(connection, table, {"person": person}, {"shown": lists})

    def _set(self, person: str) -> tuple[str | None, str | None]:
        """Return the time zone and the language that they have set, None for what they have not."""
        kept = self._cache.get(person)
        if kept is not None and (not self._stored or time.monotonic() - kept[1] < _READ_AGAIN_SECONDS):
            return kept[0]
        if not self._stored:
            return None, None
        try:
            time_zone, language = self._database.select(partial(settings_in, person=person))
        except StoreUnavailable:
            log.warning("person.not_read", exc_info=True, extra={"person": masked(person)})
            return None, None
        self._keep(person, time_zone, language)
        return time_zone, language

    def _keep(self, person: str, time_zone: str | None, language: str | None) -> None:
        self._cache.put(person, ((time_zone, language), time.monotonic()), _BYTES_EACH + len(person))

    def _changed(self, person: str) -> None:
        """Read the settings anew: at once for this transaction, and for others when it is over."""
        self._cache.drop(person)
        self._database.when_over(partial(self._cache.drop, person))


_SET = Prepared(select(table.c.time_zone, table.c.language).where(table.c.person == bindparam("of")))


def settings_in(connection: Connection, person: str) -> tuple[str | None, str | None]:
    """Return the time zone and the language as they are set."""
    time_zone, language = _SET.first(connection, {"of": person}) or (None, None)
    return time_zone, language


def _shown(connection: Connection, person: str) -> dict[str, dict[str, str]]:
    return dict(connection.execute(select(table.c.shown).where(table.c.person == person)).scalar() or {})


def name_of(connection: Connection, person: str) -> str | None:
    """Return the name that an operator gave to the person."""
    stored = connection.execute(select(person_name.c.name).where(person_name.c.person == person)).scalar()
    try:
        return PERSON_NAME.decrypted(connection, (person,), stored) or None
    except DecryptionRefused:
        log.warning("person.name_unreadable", extra={"person": masked(person)})
        return None


def keep_name(connection: Connection, person: str, name: str | None) -> None:
    """Store the name in place of the one before; None takes it away."""
    if name is None:
        connection.execute(delete(person_name).where(person_name.c.person == person))
        return
    given = {"name": PERSON_NAME.encrypted(connection, (person,), name)}
    put(connection, person_name, {"person": person}, given)


def named_like(connection: Connection, words: str) -> list[str]:
    """Return the keys of the people whose name has these words in it, in any letter case."""
    rows = connection.execute(select(person_name))
    return [row.person for row in rows if has_words(connection, PERSON_NAME, (row.person,), row.name, words)]


def has_words(connection: Connection, column: EncryptedColumn, key: Key, name: str | None, words: str) -> bool:
    """Tell whether a stored name has these words in it, in any letter case."""
    with contextlib.suppress(DecryptionRefused):  # damaged, or its key is not here: nobody is found by it
        return words.casefold() in (column.decrypted(connection, key, name) or "").casefold()
    return False


def keep_settings(connection: Connection, person: str, time_zone: str | None, language: str | None) -> bool:
    """Fill in what is not set; tell whether anything changed."""
    held = settings_in(connection, person)
    wanted = {"time_zone": held[0] or time_zone, "language": held[1] or language}
    if (wanted["time_zone"], wanted["language"]) == held:
        return False
    put(connection, table, {"person": person}, wanted)
    return True
