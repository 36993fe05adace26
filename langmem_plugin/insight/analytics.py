"""What is known of an owner's memories, in numbers: how many of what, since when, from where, and how they are used."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from langmem_plugin.database.memory_tables import memory
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.insight import memory_figures as figures
from langmem_plugin.insight.memory_figures import DayOfGrowth, Uses
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.keep import verdicts
from langmem_plugin.memory.models import storable

_MOST_DAYS = 366
_MOST_SHOWN = 10
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "|", "%")


@dataclass(frozen=True)
class Summary:
    """Memories in every state but forgotten, and of these the active, those that wait for the person's word, those that
    have expired, and those stored in the last 7 and 30 days; the rest is of the active ones. `people` have any.
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
    """`percentage` in [0, 100]."""

    name: str
    count: int
    percentage: float


@dataclass(frozen=True)
class UsedMemory:
    """`text` is None where everybody was asked about, or the row is damaged. `uses` are those of the access log."""

    memory_id: str
    text: str | None
    access_count: int
    last_accessed: datetime | None
    uses: Uses


@dataclass(frozen=True)
class ExtractionFigures:
    """What became of the questions whether to remember something; `approval_rate` and `automatic_share`, the part of
    the memories that was extracted from what people said, in [0, 1], None of nothing.
    """

    approval_rate: float | None
    asked: int
    confirmed: int
    declined: int
    lapsed: int
    automatic_share: float | None


@dataclass(frozen=True)
class Analytics:
    """Of one person, or, without any text, of everybody. Each list of shares begins with the largest.

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
        """As plain JSON: instants and dates in ISO 8601."""
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
        """One table of (section, name, measure, value), for spreadsheets; what these would take for a formula begins
        with an apostrophe.
        """
        written = io.StringIO()
        rows = csv.writer(written, lineterminator="\n")
        rows.writerow(("section", "name", "measure", "value"))
        rows.writerows([_as_cell(each) for each in row] for row in _flat(self.to_dict()))
        return written.getvalue()


class MemoryAnalytics:
    """`zone_of` is the time zone that an owner's days are counted in."""

    def __init__(self, service: MemoryService, zone_of: Callable[[str], tzinfo]) -> None:
        self._service = service
        self._zone_of = zone_of

    def of(self, owner: OwnerKey | None, *, days: int = 30) -> Analytics:
        """Of everybody with None. Raises InvalidInput for less than 1 or more than 366 days of growth."""
        if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= _MOST_DAYS:
            raise InvalidInput(f"growth is told for 1 to {_MOST_DAYS} days, not for {days!r}")
        now, zone = self._service.now(), UTC if owner is None else self._zone_of(owner)
        column = memory.c
        with self._service.database.read() as connection:
            numbers = figures.totals(connection, owner, now)
            extracted = numbers.pop("extracted")
            categories = figures.categories(connection, owner)
            asked = verdicts.counted(connection, owner)
            most = figures.foremost(
                connection, owner, now, column.access_count.desc(), column.last_accessed.desc(), limit=_MOST_SHOWN
            )
            recent = figures.foremost(connection, owner, now, column.last_accessed.desc(), limit=_MOST_SHOWN)
            shown = [(each.owner, each.memory_id) for each in (*most, *recent)]
            uses = figures.uses(connection, list(dict.fromkeys(shown)))
            texts = {}
            if owner is not None:
                held = self._service.repository.by_ids(connection, owner, [memory_id for _, memory_id in shown])
                texts = {each.id: each.text for each in held}
            return Analytics(
                generated_at=now,
                summary=Summary(unique_categories=len(categories.keys() - {figures.UNCATEGORIZED}), **numbers),
                growth=tuple(figures.growth(connection, owner, now, days, zone)),
                categories=_shares(categories),
                fact_types=_shares(figures.by(connection, owner, column.fact_type)),
                sources=_shares(figures.by(connection, owner, column.source_type)),
                statuses=_shares(figures.by(connection, owner, column.status, forgotten=True)),
                most_used=_all_used(most, texts, uses),
                recently_used=_all_used(recent, texts, uses),
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
    """Its numbers, each with where it stands."""
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
