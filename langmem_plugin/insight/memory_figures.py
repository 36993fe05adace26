"""The counts behind Analytics, in SQL: of one owner's memories, or, with None as the owner, of everybody's."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
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
from langmem_plugin.facts.attributes import ATTRIBUTES
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep.damaged_rows import all_rows, each_row
from langmem_plugin.memory.keep.memory_rows import searched, valid

UNCATEGORIZED, OF_THEIR_OWN, ENCRYPTED = "uncategorized", "of their own", "encrypted"
"""What has no category; of everybody, the categories that people made up, and those that cannot be read."""

_KNOWN = frozenset(each.category for each in ATTRIBUTES.values()) | {"other"}
_SURE = 0.8
_A_QUARTER = timedelta(minutes=15)  # the clocks of all zones differ by whole quarters of an hour
_QUARTER = _A_QUARTER // timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Uses:
    """Of one memory, as far as the access log goes back."""

    injected: int = 0
    cited: int = 0
    viewed: int = 0
    edited: int = 0

    @property
    def effectiveness(self) -> float | None:
        """Of the replies that it was shown for, the part that cited it; None while there was none."""
        shown = self.injected + self.cited  # a reply logs each memory once, by the most it did with it
        return self.cited / shown if shown else None


@dataclass
class DayOfGrowth:
    """What was stored on a day and is there still, in all and by where it came from; `cumulative` is by its end."""

    date: date
    new: int = 0
    cumulative: int = 0
    by_source: dict[str, int] = field(default_factory=dict)


def of(owner: OwnerKey | None) -> ColumnElement[bool]:
    return true() if owner is None else memory.c.owner == owner


def kept(owner: OwnerKey | None) -> ColumnElement[bool]:
    """All but what was forgotten, which is to be deleted."""
    return and_(of(owner), memory.c.status != "forgotten")


def totals(connection: Connection, owner: OwnerKey | None, now: datetime) -> dict[str, Any]:
    """The numbers of a Summary, by the names of its fields; but for the number of categories."""

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
    """How many memories have each value of a column."""
    those = of(owner) if forgotten else kept(owner)
    wanted: list[ColumnElement[Any]] = [column, func.count()]
    rows = all_rows(connection, select(*wanted).where(those).group_by(column))
    return Counter({row[0]: row[1] for row in rows})


def categories(connection: Connection, owner: OwnerKey | None) -> Counter[str]:
    """Of one owner as they are named, of everybody without the names that people gave themselves."""
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
    """Of the last `days` days by the calendar of the zone, today the last, the oldest first."""
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
        within = max(earliest, min(at, latest))  # a clock that ran ahead stored what is not, or the row is damaged
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
    """Of the active memories that were used, the first by `order`: owner, id, how often, and when last."""
    used = select(memory.c.owner, memory.c.memory_id, memory.c.access_count, memory.c.last_accessed).where(
        of(owner), memory.c.status == "active", valid(now), memory.c.access_count > 0
    )
    return list(connection.execute(used.order_by(*order, memory.c.owner, memory.c.memory_id).limit(limit)))


def uses(connection: Connection, memories: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Uses]:
    """Of these few memories, each by its owner and id, those that are in the access log."""
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
