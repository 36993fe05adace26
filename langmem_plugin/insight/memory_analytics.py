"""An owner's memories in numbers: how many of what, since when, from where, and how they are used."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import BigInteger, ColumnElement, Connection, and_, case, func, select, true, tuple_, type_coerce

from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.memory_tables import memory, memory_access
from langmem_plugin.errors import InvalidInput
from langmem_plugin.facts.attributes import ATTRIBUTES
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.keep.changes_and_checksums import all_rows, each_row
from langmem_plugin.memory.keep.memory_row_mapping import searched, valid
from langmem_plugin.memory.keep.usage_and_verdicts import verdicts_of
from langmem_plugin.memory.memory_types import storable

UNCATEGORIZED, OF_THEIR_OWN, ENCRYPTED = "uncategorized", "of their own", "encrypted"
"""The names for memories without a category, for people's own categories, and for categories that cannot be read."""

_KNOWN = frozenset(each.category for each in ATTRIBUTES.values()) | {"other"}
_SURE = 0.8
_A_QUARTER = timedelta(minutes=15)  # the clocks of all zones differ by whole quarters of an hour
_QUARTER = _A_QUARTER // timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_DAYS = 366
_MOST_SHOWN = 10
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "|", "%")


@dataclass(frozen=True)
class Summary:
    """Counts of memories that are not forgotten.

    All of them, the active, those that wait for the person's word, the expired, and those stored in the last 7 and 30
    days; the rest is of the active ones. `people` is the number of people who have any.
    """

    total_memories: int
    active_memories: int
    pending_memories: int
    expired_memories: int
    memories_this_week: int
    memories_this_month: int
    high_confidence: int
    strategic_memories: int
    private_memories: int
    avg_confidence: float | None
    unique_categories: int
    people: int


@dataclass(frozen=True)
class DayOfGrowth:
    """The memories stored on one day that are still there; `cumulative_count` counts all up to the end of the day."""

    date: date
    cumulative_count: int
    new_memories: int


@dataclass(frozen=True)
class CategoryShare:
    """A category's share of the memories; `percentage` is in [0, 100]."""

    category: str
    count: int
    percentage: float


@dataclass(frozen=True)
class TypeShare:
    """A type's share of the memories; `percentage` is in [0, 100]."""

    fact_type: str
    count: int
    percentage: float


@dataclass(frozen=True)
class UsedMemory:
    """One used memory. `fact` is None where everybody was asked about, or the row is damaged.

    The uses are those of the access log; `effectiveness` is the part of the replies it was shown for that cited it,
    None before the first one.
    """

    memory_id: str
    fact: str | None
    access_count: int
    last_accessed: datetime | None
    injected: int
    cited: int
    viewed: int
    edited: int
    effectiveness: float | None


@dataclass(frozen=True)
class UsageStats:
    """The ten memories used most, and the ten used last."""

    most_accessed_memories: list[UsedMemory]
    recently_accessed: list[UsedMemory]


@dataclass(frozen=True)
class ExtractionFigures:
    """Figures of the questions whether to remember something.

    `approval_rate` is in [0, 1], and so is `automatic_share`, the part of the memories that was extracted from what
    people said; each is None where there is nothing to count.
    """

    approval_rate: float | None
    asked: int
    confirmed: int
    declined: int
    lapsed: int
    automatic_share: float | None


@dataclass(frozen=True)
class Analytics:
    """The figures of one person, or of everybody and then without any text. Each list of shares begins with the
    largest.
    """

    generated_at: datetime
    summary: Summary
    growth_trend: list[DayOfGrowth]
    category_distribution: list[CategoryShare]
    fact_type_distribution: list[TypeShare]
    usage_stats: UsageStats
    extraction: ExtractionFigures

    def to_dict(self) -> dict[str, Any]:
        """Return the analytics as plain JSON: instants and dates in ISO 8601."""
        plain: dict[str, Any] = _AS_JSON.dump_python(self, mode="json")
        return plain

    def to_csv(self) -> str:
        """Return one table of (measure, value) for spreadsheets; a text that these would take for a formula begins
        with an apostrophe.
        """
        written = io.StringIO()
        rows = csv.writer(written, lineterminator="\n")
        rows.writerow(("measure", "value"))
        for name, value in _flat(self.to_dict()):
            is_formula = isinstance(value, str) and value.startswith(_FORMULA)
            rows.writerow((name, f"'{value}" if is_formula else value))
        return written.getvalue()


_AS_JSON = TypeAdapter(Analytics)


class MemoryAnalytics:
    """The reader of analytics; `zone_of` gives the time zone in which an owner's days are counted."""

    def __init__(self, service: MemoryService, zone_of: Callable[[str], tzinfo]) -> None:
        self._service = service
        self._zone_of = zone_of

    def of(self, owner: OwnerKey | None, *, days: int = 30) -> Analytics:
        """Return the analytics of one owner, or of everybody with None. Raises InvalidInput for less than 1 or more
        than 366 days of growth.
        """
        if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= _MOST_DAYS:
            raise InvalidInput(f"growth is told for 1 to {_MOST_DAYS} days, not for {days!r}")
        now, zone = self._service.now(), UTC if owner is None else self._zone_of(owner)
        with self._service.database.read() as connection:
            numbers = _totals(connection, owner, now)
            extracted = numbers.pop("extracted")
            by_category, by_type = _categories(connection, owner), _types(connection, owner)
            asked = verdicts_of(connection, owner)
            most, last = memory.c.access_count.desc(), memory.c.last_accessed.desc()
            return Analytics(
                generated_at=now,
                summary=Summary(unique_categories=len(by_category.keys() - {UNCATEGORIZED}), **numbers),
                growth_trend=_growth(connection, owner, now, days, zone),
                category_distribution=[CategoryShare(*each) for each in _shares(by_category)],
                fact_type_distribution=[TypeShare(*each) for each in _shares(by_type)],
                usage_stats=UsageStats(
                    self._foremost(connection, owner, now, most, last), self._foremost(connection, owner, now, last)
                ),
                extraction=ExtractionFigures(
                    approval_rate=asked.approval_rate,
                    asked=asked.asked,
                    confirmed=asked.confirmed,
                    declined=asked.declined,
                    lapsed=asked.lapsed,
                    automatic_share=extracted / numbers["total_memories"] if numbers["total_memories"] else None,
                ),
            )

    def _foremost(
        self, connection: Connection, owner: OwnerKey | None, now: datetime, *order: ColumnElement[Any]
    ) -> list[UsedMemory]:
        """Return the active memories that were used, the first ones by `order`."""
        columns = memory.c.owner, memory.c.memory_id, memory.c.access_count, memory.c.last_accessed
        used = select(*columns).where(_of(owner), _holds(now), memory.c.access_count > 0)
        ordered = used.order_by(*order, memory.c.owner, memory.c.memory_id).limit(_MOST_SHOWN)
        rows = connection.execute(ordered).all()
        texts = {}
        if owner is not None:
            held = self._service.repository.by_ids(connection, owner, [row.memory_id for row in rows])
            texts = {each.id: each.text for each in held}
        uses = _uses(connection, [(row.owner, row.memory_id) for row in rows])
        found = []
        for whose, memory_id, times, last in rows:
            injected, cited, viewed, edited = uses[whose, memory_id].values()
            shown = injected + cited  # a reply logs each memory once, by the most it did with it
            counts = injected, cited, viewed, edited, cited / shown if shown else None
            found.append(UsedMemory(memory_id, texts.get(memory_id), times, last, *counts))
        return found


def _of(owner: OwnerKey | None) -> ColumnElement[bool]:
    return true() if owner is None else memory.c.owner == owner


def _kept(owner: OwnerKey | None) -> ColumnElement[bool]:
    """Return the condition for all memories but the forgotten, which are to be deleted."""
    return and_(_of(owner), memory.c.status != "forgotten")


def _holds(now: datetime) -> ColumnElement[bool]:
    return and_(memory.c.status == "active", valid(now))


def _totals(connection: Connection, owner: OwnerKey | None, now: datetime) -> dict[str, Any]:
    """Return the numbers of a Summary by the names of its fields, without the number of categories."""

    def counted(condition: ColumnElement[bool]) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)

    holds = _holds(now)
    over = and_(memory.c.status.in_(("active", "pending")), memory.c.expires_at <= now)
    asked = {
        "total_memories": func.count(),
        "active_memories": counted(holds),
        "pending_memories": counted(and_(memory.c.status == "pending", valid(now))),
        "expired_memories": counted(over),
        "memories_this_week": counted(memory.c.created_at > now - timedelta(days=7)),
        "memories_this_month": counted(memory.c.created_at > now - timedelta(days=30)),
        "high_confidence": counted(and_(holds, memory.c.confidence >= _SURE)),
        "strategic_memories": counted(and_(holds, memory.c.fact_type == "strategic")),
        "private_memories": counted(and_(holds, memory.c.private)),
        "avg_confidence": func.avg(case((holds, memory.c.confidence))),
        "people": func.count(memory.c.owner.distinct()),
        "extracted": counted(memory.c.source_type == "extracted_from_chat"),
    }
    row = (
        connection.execute(select(*(each.label(name) for name, each in asked.items())).where(_kept(owner)))
        .mappings()
        .one()
    )
    return {name: value if name == "avg_confidence" else int(value) for name, value in row.items()}


def _types(connection: Connection, owner: OwnerKey | None) -> Counter[str]:
    rows = all_rows(
        connection, select(memory.c.fact_type, func.count()).where(_kept(owner)).group_by(memory.c.fact_type)
    )
    return Counter({row[0]: row[1] for row in rows})


def _categories(connection: Connection, owner: OwnerKey | None) -> Counter[str]:
    """Count by category: of one owner by name; of everybody without the names that people gave themselves."""
    plain = select(memory.c.category, func.count()).where(_kept(owner), memory.c.sealed.is_(None))
    found: Counter[str] = Counter()
    for name, count in all_rows(connection, plain.group_by(memory.c.category)):
        shown = name if owner is not None or name is None or name in _KNOWN else OF_THEIR_OWN
        found[shown or UNCATEGORIZED] += count
    sealed = and_(_kept(owner), memory.c.sealed.is_not(None))
    if owner is None:
        if hidden := connection.execute(select(func.count()).where(sealed)).scalar_one():
            found[ENCRYPTED] += hidden
        return found
    encryption = encryption_of(connection)
    rows = select(memory.c.memory_id, memory.c.sealed).where(sealed)
    for memory_id, held in each_row(connection, rows):
        read = searched(encryption, owner, memory_id, ("", None, "", None, None, None), held)
        found[ENCRYPTED if read is None else read[1] or UNCATEGORIZED] += 1
    return found


def _growth(
    connection: Connection, owner: OwnerKey | None, now: datetime, days: int, zone: tzinfo
) -> list[DayOfGrowth]:
    """Return the growth on each of the last `days` days by the calendar of the zone, the oldest first, today last."""
    today = now.astimezone(zone).date()
    first = today - timedelta(days=days - 1)
    begins = datetime(first.year, first.month, first.day, tzinfo=zone)
    quarter: ColumnElement[Any] = type_coerce(memory.c.created_at, BigInteger) // _QUARTER
    counted = select(quarter, func.count()).where(_kept(owner), memory.c.created_at >= begins).group_by(quarter)
    earliest, latest = (int((each - _EPOCH) / _A_QUARTER) for each in (begins, now))
    new = Counter[date]()
    for at, count in all_rows(connection, counted):
        within = max(earliest, min(at, latest))  # a clock that ran ahead stored a day to come, or the row is damaged
        new[(_EPOCH + within * _A_QUARTER).astimezone(zone).date()] += count
    there = select(func.count()).select_from(memory).where(_kept(owner), memory.c.created_at < begins)
    cumulative = int(connection.execute(there).scalar_one())
    grown = []
    for day in (first + timedelta(days=at) for at in range(days)):
        cumulative += new[day]
        grown.append(DayOfGrowth(day, cumulative, new[day]))
    return grown


def _uses(connection: Connection, memories: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], dict[str, int]]:
    """Return the uses of these few memories by kind, each by its owner and id, as far as the access log goes back."""
    log, none = memory_access.c, dict.fromkeys(("injected", "cited", "viewed", "edited"), 0)
    found = {each: dict(none) for each in memories}
    asked = select(log.owner, log.memory_id, log.kind, func.count()).where(
        tuple_(log.owner, log.memory_id).in_(memories), log.kind.in_(none)
    )
    for owner, memory_id, kind, count in connection.execute(asked.group_by(log.owner, log.memory_id, log.kind)):
        found[owner, memory_id][kind] = count
    return found


def _shares(counted: Counter[str]) -> list[tuple[str, int, float]]:
    total = counted.total()
    ordered = sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    return [(storable(name), count, round(100 * count / total, 1)) for name, count in ordered]


def _flat(held: Any, *path: str) -> Iterator[tuple[str, Any]]:
    """Give (name, value) of each value; an entry of a list goes by its first field."""
    if isinstance(held, Mapping):
        for name, each in held.items():
            yield from _flat(each, *path, name)
    elif isinstance(held, list):
        for each in held:
            name, *rest = each
            yield from _flat({measure: each[measure] for measure in rest}, *path, str(each[name]))
    else:
        yield ".".join(path), held
