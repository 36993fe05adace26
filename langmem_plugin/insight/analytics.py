"""An owner's memories in numbers: how many of what, since when, from where, and how they are used."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    and_,
    case,
    func,
    select,
    true,
    tuple_,
    type_coerce,
)

from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.memory_tables import memory, memory_access
from langmem_plugin.errors import InvalidInput
from langmem_plugin.facts.attributes import ATTRIBUTES
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.keep.memory_rows import searched, valid
from langmem_plugin.memory.keep.rows import all_rows, each_row
from langmem_plugin.memory.keep.usage_log import verdicts_of
from langmem_plugin.memory.models import storable

UNCATEGORIZED, OF_THEIR_OWN, ENCRYPTED = "uncategorized", "of their own", "encrypted"
"""The names for memories without a category, for people's own categories, and for categories that cannot be read."""

_KNOWN = frozenset(each.category for each in ATTRIBUTES.values()) | {"other"}
_SURE = 0.8
_A_QUARTER = timedelta(minutes=15)  # the clocks of all zones differ by whole quarters of an hour
_QUARTER = _A_QUARTER // timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Uses:
    """The uses of one memory, as far as the access log goes back."""

    injected: int = 0
    cited: int = 0
    viewed: int = 0
    edited: int = 0

    @property
    def effectiveness(self) -> float | None:
        """Return the part of the replies it was shown for that cited it; None before the first one."""
        shown = self.injected + self.cited  # a reply logs each memory once, by the most it did with it
        return self.cited / shown if shown else None


@dataclass
class DayOfGrowth:
    """The memories stored on one day that are still there, in all and by where they came from; `cumulative` counts all
    up to the end of the day.
    """

    date: date
    new: int = 0
    cumulative: int = 0
    by_source: dict[str, int] = field(default_factory=dict)


def of(owner: OwnerKey | None) -> ColumnElement[bool]:
    return true() if owner is None else memory.c.owner == owner


def kept(owner: OwnerKey | None) -> ColumnElement[bool]:
    """Return the condition for all memories but the forgotten, which are to be deleted."""
    return and_(of(owner), memory.c.status != "forgotten")


def totals(connection: Connection, owner: OwnerKey | None, now: datetime) -> dict[str, Any]:
    """Return the numbers of a Summary by the names of its fields, without the number of categories."""

    def counted(condition: ColumnElement[bool]) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)

    holds = and_(memory.c.status == "active", valid(now))
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
        connection.execute(select(*(each.label(name) for name, each in asked.items())).where(kept(owner)))
        .mappings()
        .one()
    )
    return {name: value if name == "avg_confidence" else int(value) for name, value in row.items()}


def by(
    connection: Connection, owner: OwnerKey | None, column: ColumnElement[str], *, forgotten: bool = False
) -> Counter[str]:
    """Count the memories by the values of a column."""
    those = of(owner) if forgotten else kept(owner)
    wanted: list[ColumnElement[Any]] = [column, func.count()]
    rows = all_rows(connection, select(*wanted).where(those).group_by(column))
    return Counter({row[0]: row[1] for row in rows})


def categories(connection: Connection, owner: OwnerKey | None) -> Counter[str]:
    """Count by category: of one owner by name; of everybody without the names that people gave themselves."""
    plain = select(memory.c.category, func.count()).where(kept(owner), memory.c.sealed.is_(None))
    found: Counter[str] = Counter()
    for name, count in all_rows(connection, plain.group_by(memory.c.category)):
        shown = name if owner is not None or name is None or name in _KNOWN else OF_THEIR_OWN
        found[shown or UNCATEGORIZED] += count
    sealed = and_(kept(owner), memory.c.sealed.is_not(None))
    if owner is None:
        if hidden := connection.execute(select(func.count()).where(sealed)).scalar_one():
            found[ENCRYPTED] += hidden
        return found
    encryption = encryption_of(connection)
    rows = select(memory.c.memory_id, memory.c.sealed).where(sealed)
    for memory_id, held in each_row(connection, rows):
        read = searched(encryption, owner, memory_id, ("", None, "", None, None), held)
        found[ENCRYPTED if read is None else read[1] or UNCATEGORIZED] += 1
    return found


def growth(connection: Connection, owner: OwnerKey | None, now: datetime, days: int, zone: tzinfo) -> list[DayOfGrowth]:
    """Return the growth on each of the last `days` days by the calendar of the zone, the oldest first, today last."""
    today = now.astimezone(zone).date()
    grown = {each: DayOfGrowth(each) for each in (today - timedelta(days=days - 1 - back) for back in range(days))}
    first = next(iter(grown))
    begins = datetime(first.year, first.month, first.day, tzinfo=zone)
    quarter = type_coerce(memory.c.created_at, BigInteger) // _QUARTER
    counted = select(quarter.label("quarter"), memory.c.source_type, func.count().label("count")).where(
        kept(owner), memory.c.created_at >= begins
    )
    earliest, latest = (int((each - _EPOCH) / _A_QUARTER) for each in (begins, now))
    for at, source, count in all_rows(connection, counted.group_by(quarter, memory.c.source_type)):
        within = max(earliest, min(at, latest))  # a clock that ran ahead stored a day to come, or the row is damaged
        day = grown[(_EPOCH + within * _A_QUARTER).astimezone(zone).date()]
        day.new += count
        day.by_source[source] = day.by_source.get(source, 0) + count
    there = select(func.count()).select_from(memory).where(kept(owner), memory.c.created_at < begins)
    cumulative = int(connection.execute(there).scalar_one())
    for day in grown.values():
        cumulative += day.new
        day.cumulative = cumulative
    return list(grown.values())


def foremost(
    connection: Connection, owner: OwnerKey | None, now: datetime, *order: ColumnElement[Any], limit: int
) -> list[Any]:
    """Return the active memories that were used, the first ones by `order`: owner, id, how often, and when last."""
    used = select(memory.c.owner, memory.c.memory_id, memory.c.access_count, memory.c.last_accessed).where(
        of(owner), memory.c.status == "active", valid(now), memory.c.access_count > 0
    )
    return list(connection.execute(used.order_by(*order, memory.c.owner, memory.c.memory_id).limit(limit)))


def uses(connection: Connection, memories: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Uses]:
    """Return the uses of these few memories, each by its owner and id, if they are in the access log."""
    log = memory_access.c
    asked = select(log.owner, log.memory_id, log.kind, func.count()).where(
        tuple_(log.owner, log.memory_id).in_(memories)
    )
    found: dict[tuple[str, str], dict[str, int]] = {}
    if memories:
        known = asked.where(log.kind.in_([each.name for each in fields(Uses)]))
        for owner, memory_id, kind, count in connection.execute(known.group_by(log.owner, log.memory_id, log.kind)):
            found.setdefault((owner, memory_id), {})[kind] = count
    return {each: Uses(**counts) for each, counts in found.items()}


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
class Share:
    """A share of the memories; `percentage` is in [0, 100]."""

    name: str
    count: int
    percentage: float


@dataclass(frozen=True)
class UsedMemory:
    """One used memory. `text` is None where everybody was asked about, or the row is damaged. `uses` are those
    of the access log.
    """

    memory_id: str
    text: str | None
    access_count: int
    last_accessed: datetime | None
    uses: Uses


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

    `statuses` are of all memories that there are, also of those that were forgotten and are not deleted yet.
    """

    generated_at: datetime
    summary: Summary
    growth: tuple[DayOfGrowth, ...]
    categories: tuple[Share, ...]
    fact_types: tuple[Share, ...]
    sources: tuple[Share, ...]
    statuses: tuple[Share, ...]
    most_used: tuple[UsedMemory, ...]
    recently_used: tuple[UsedMemory, ...]
    extraction: ExtractionFigures

    def to_dict(self) -> dict[str, Any]:
        """Return the analytics as plain JSON: instants and dates in ISO 8601."""
        return {
            "generated_at": self.generated_at.isoformat(),
            "summary": asdict(self.summary),
            "growth_trend": [
                {
                    "date": each.date.isoformat(),
                    "cumulative_count": each.cumulative,
                    "new_memories": each.new,
                    "by_source": dict(each.by_source),
                }
                for each in self.growth
            ],
            "category_distribution": _named("category", self.categories),
            "fact_type_distribution": _named("fact_type", self.fact_types),
            "source_distribution": _named("source_type", self.sources),
            "status_distribution": _named("status", self.statuses),
            "usage_stats": {
                "most_accessed_memories": [_used(each) for each in self.most_used],
                "recently_accessed": [_used(each) for each in self.recently_used],
            },
            "extraction": asdict(self.extraction),
        }

    def to_csv(self) -> str:
        """Return one table of (section, name, measure, value) for spreadsheets; a text that these would take for a
        formula begins with an apostrophe.
        """
        written = io.StringIO()
        rows = csv.writer(written, lineterminator="\n")
        rows.writerow(("section", "name", "measure", "value"))
        rows.writerows([_as_cell(each) for each in row] for row in _flat(self.to_dict()))
        return written.getvalue()


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
        column = memory.c
        with self._service.database.read() as connection:
            numbers = totals(connection, owner, now)
            extracted = numbers.pop("extracted")
            by_category = categories(connection, owner)
            asked = verdicts_of(connection, owner)
            most = foremost(
                connection, owner, now, column.access_count.desc(), column.last_accessed.desc(), limit=_MOST_SHOWN
            )
            recent = foremost(connection, owner, now, column.last_accessed.desc(), limit=_MOST_SHOWN)
            shown = [(each.owner, each.memory_id) for each in (*most, *recent)]
            used = uses(connection, list(dict.fromkeys(shown)))
            texts = {}
            if owner is not None:
                held = self._service.repository.by_ids(connection, owner, [memory_id for _, memory_id in shown])
                texts = {each.id: each.text for each in held}
            return Analytics(
                generated_at=now,
                summary=Summary(unique_categories=len(by_category.keys() - {UNCATEGORIZED}), **numbers),
                growth=tuple(growth(connection, owner, now, days, zone)),
                categories=_shares(by_category),
                fact_types=_shares(by(connection, owner, column.fact_type)),
                sources=_shares(by(connection, owner, column.source_type)),
                statuses=_shares(by(connection, owner, column.status, forgotten=True)),
                most_used=_all_used(most, texts, used),
                recently_used=_all_used(recent, texts, used),
                extraction=ExtractionFigures(
                    approval_rate=asked.approval_rate,
                    asked=asked.asked,
                    confirmed=asked.confirmed,
                    declined=asked.declined,
                    lapsed=asked.lapsed,
                    automatic_share=extracted / numbers["total_memories"] if numbers["total_memories"] else None,
                ),
            )


def _shares(counted: Counter[str]) -> tuple[Share, ...]:
    total = counted.total()
    ordered = sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    return tuple(Share(storable(name), count, round(100 * count / total, 1)) for name, count in ordered)


def _all_used(
    rows: Sequence[Any], texts: Mapping[str, str], uses: Mapping[tuple[str, str], Uses]
) -> tuple[UsedMemory, ...]:
    return tuple(
        UsedMemory(
            each.memory_id,
            texts.get(each.memory_id),
            each.access_count,
            each.last_accessed,
            uses.get((each.owner, each.memory_id), Uses()),
        )
        for each in rows
    )


def _named(name: str, shares: Sequence[Share]) -> list[dict[str, Any]]:
    return [{name: each.name, "count": each.count, "percentage": each.percentage} for each in shares]


def _used(used: UsedMemory) -> dict[str, Any]:
    told = {} if used.text is None else {"fact": used.text}
    return {
        "memory_id": used.memory_id,
        **told,
        "access_count": used.access_count,
        "last_accessed": used.last_accessed and used.last_accessed.isoformat(),
        **asdict(used.uses),
        "effectiveness": used.uses.effectiveness,
    }


def _flat(document: Mapping[str, Any]) -> list[tuple[str, str, str, Any]]:
    """Flatten the document into (section, name, measure, value) rows."""
    rows: list[tuple[str, str, str, Any]] = []
    for section, held in document.items():
        if isinstance(held, list):
            for each in held:
                name, *measures = each
                rows += _measures(section, str(each[name]), {measure: each[measure] for measure in measures})
        elif isinstance(held, Mapping):
            inner = {name: each for name, each in held.items() if isinstance(each, list)}
            rows += _measures(section, "", {name: each for name, each in held.items() if name not in inner})
            rows += _flat(inner)
        else:
            rows.append((section, "", "", held))
    return rows


def _as_cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _measures(section: str, name: str, measures: Mapping[str, Any]) -> list[tuple[str, str, str, Any]]:
    rows: list[tuple[str, str, str, Any]] = []
    for measure, value in measures.items():
        if isinstance(value, Mapping):
            rows += [(section, name, f"{measure}.{part}", each) for part, each in value.items()]
        else:
            rows.append((section, name, measure, value))
    return rows
