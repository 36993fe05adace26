"""A person's settings, what is known of them without asking (time zone, language), and what they were shown."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, or_, select

from langmem_plugin.database import Database
from langmem_plugin.database.people_tables import person as table
from langmem_plugin.database.schema import upsert
from langmem_plugin.errors import InvalidInput, StoreUnavailable
from langmem_plugin.identifiers import masked
from langmem_plugin.logs import event_log
from langmem_plugin.lru import LruCache
from langmem_plugin.people.time_zones import zone_named, zone_of_phone
from langmem_plugin.settings import Settings

log = event_log(__name__)

LanguageCode = Literal["en", "he", "es"]

ListName = Literal["memories", "instructions", "confirm"]

_READ_AGAIN_AFTER = 10.0  # seconds
_MOST_SHOWN = 200  # numbers of each list: those shown last
_CACHE_BYTES, _BYTES_EACH = 2 * 2**20, 400


@dataclass(frozen=True)
class _Set:
    time_zone: str | None
    language: str | None
    read_at: float


_NOTHING = _Set(None, None, 0.0)


class PersonSettings:
    """The settings of people; `person` is the key of a person or a group.

    What was read is kept for ten seconds, so a change is known at once in the process that made it and within ten
    seconds in every other. `monotonic` is the clock of that. While the database cannot be reached, people are treated
    as if they had set nothing.
    """

    def __init__(
        self, database: Database, settings: Settings, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._stored = settings.enable_memory_system
        self._language: LanguageCode = settings.language
        self._monotonic = monotonic
        self._cache: LruCache[str, _Set] = LruCache(_CACHE_BYTES)
        self._time_zone = settings.time_zone

    def time_zone(self, person: str) -> ZoneInfo:
        """Return the time zone they set, else that of their phone's country, if it has only one, else
        `settings.time_zone`.
        """
        return ZoneInfo(self._held(person).time_zone or zone_of_phone(person) or self._time_zone)

    def set_time_zone(self, person: str, name: str) -> ZoneInfo:
        """Set the time zone: `name` is an IANA name in any case, or a city. Raises InvalidInput for anything else."""
        zone = zone_named(name)
        if zone is None:
            raise InvalidInput(
                "this is no time zone: give a city such as Jerusalem or a name such as Europe/Madrid; an offset such as"
                " +2 is wrong for half of the year"
            )
        self._store(person, time_zone=zone)
        return ZoneInfo(zone)

    def language(self, person: str, otherwise: LanguageCode | None = None) -> LanguageCode:
        """Return the language they wrote last, else `otherwise`, else `settings.language`."""
        match self._held(person).language:
            case "en" | "he" | "es" as known:
                return known
        return otherwise or self._language

    def set_language(self, person: str, language: LanguageCode) -> None:
        """Store the language if it is new. While the database cannot be reached this is skipped, with a WARNING: a
        reply goes out in the right language anyway.
        """
        held = self._held(person)
        if held.language == language:
            return
        try:
            self._store(person, waits=True, language=language)
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
            values = {"shown": lists}
            connection.execute(
                upsert(connection, table)
                .values(person=person, **values)
                .on_conflict_do_update(index_elements=["person"], set_=values)
            )

    def forget_cached(self, person: str) -> None:
        """Drop the cached settings, so that they are read again the next time."""
        self._cache.drop(person)

    def _held(self, person: str) -> _Set:
        now = self._monotonic()
        held = self._cache.get(person)
        if held is not None and now - held.read_at < _READ_AGAIN_AFTER:
            return held
        if not self._stored:
            return held or _NOTHING
        try:
            with self._database.read() as connection:
                row = connection.execute(
                    select(table.c.time_zone, table.c.language).where(table.c.person == person)
                ).one_or_none()
        except StoreUnavailable:
            log.warning("person.not_read", exc_info=True, extra={"person": masked(person)})
            return held or _NOTHING
        held = _Set(row.time_zone, row.language, now) if row else _Set(None, None, now)
        self._keep(person, held)
        return held

    def _store(self, person: str, *, waits: bool = False, **values: str) -> None:
        """Store the values. With `waits`, within `together` this waits for its transaction and begins none of
        its own.
        """

        def store(connection: Connection) -> None:
            different = or_(*(table.c[name].is_distinct_from(value) for name, value in values.items()))
            connection.execute(
                upsert(connection, table)
                .values(person=person, **values)
                .on_conflict_do_update(index_elements=["person"], set_=values, where=different)
            )

        if self._stored:
            if waits:
                self._database.first(store)
            else:
                with self._database.write() as connection:
                    store(connection)
            self._cache.drop(person)
            self._database.when_over(lambda: self._cache.drop(person))
            return
        held = self._held(person)  # nothing is stored: only this process knows it
        self._keep(
            person,
            _Set(values.get("time_zone", held.time_zone), values.get("language", held.language), self._monotonic()),
        )

    def _keep(self, person: str, held: _Set) -> None:
        self._cache.put(person, held, _BYTES_EACH + len(person))


def _shown(connection: Connection, person: str) -> dict[str, dict[str, str]]:
    return dict(connection.execute(select(table.c.shown).where(table.c.person == person)).scalar() or {})
