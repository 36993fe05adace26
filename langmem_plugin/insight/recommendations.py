"""The memories of a person that are worth a look: unused, said twice, out of date, or unsure. It changes nothing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import numpy as np
from sqlalchemy import select

from langmem_plugin.database.memory_tables import memory
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.keep.memory_row_mapping import valid
from langmem_plugin.memory.keep.vectors import from_bytes
from langmem_plugin.memory.memory_types import LIVE
from langmem_plugin.memory.write.reconciliation_rules import stated, weighed

Kind = Literal["unused", "duplicate", "stale", "low_confidence"]

_UNUSED_FOR = timedelta(days=90)
_SURE = 0.8
_MOST_OF_A_KIND = 50
_MOST_COMPARED = 4_000  # the newest: the page of advice takes half a second, not more with every memory
_MOST_PAIRS = 200
_NEAR = 0.75  # a cosine
_ROWS_AT_ONCE = 1_000
_AS_HISTORY = "keep it as history"


@dataclass(frozen=True)
class Recommendation:
    """One recommendation. `sentence` says why, `proposal` what would be done with the memories; neither has
    any of their words.

    Of duplicates the first of `memory_ids` is the one to keep.
    """

    kind: Kind
    memory_ids: tuple[str, ...]
    sentence: str
    proposal: str

    @property
    def is_over(self) -> bool:
        """Tell whether the memory held until a day that has passed: nobody need be asked."""
        return self.proposal == _AS_HISTORY


class Recommendations:
    """Recommendations for one owner at a time, at most fifty of each kind."""

    def __init__(self, service: MemoryService) -> None:
        self._service = service

    def of(self, owner: OwnerKey) -> list[Recommendation]:
        """List what is said twice first, then what is out of date, unsure and unused; a memory is in one kind alone."""
        named: set[str] = set()
        found: list[Recommendation] = []
        for each in self._each(owner, self._service.now()):
            if named.isdisjoint(each.memory_ids):
                named.update(each.memory_ids)
                found.append(each)
        return found

    def _each(self, owner: OwnerKey, now: datetime) -> Iterator[Recommendation]:
        yield from (_duplicate(one, other) for one, other in self._duplicates(owner, now))
        held = (memory.c.owner == owner, memory.c.status == "active", valid(now))
        doubted = memory.c.doubted_at.is_not(None)
        for each in self._those(owner, *held, doubted | (memory.c.valid_to <= now), order=memory.c.updated_at):
            yield _stale(each, now)
        live = (memory.c.owner == owner, memory.c.status.in_(LIVE), valid(now))
        # One that the person was asked about, and that is active, was confirmed.
        unconfirmed = (memory.c.status == "pending") | memory.c.asked_at.is_(None)
        for each in self._those(owner, *live, memory.c.confidence < _SURE, unconfirmed, order=memory.c.confidence):
            sentence = f"It is only {each.confidence:.0%} sure."
            yield Recommendation("low_confidence", (each.id,), sentence, "ask the person whether it is so")
        since = now - _UNUSED_FOR
        unused = memory.c.key.is_(None) & ((memory.c.last_accessed <= since) | memory.c.last_accessed.is_(None))
        for each in self._those(owner, *held, unused, memory.c.created_at <= since, order=memory.c.created_at):
            days = (now - (each.last_accessed or each.created_at)).days
            sentence = f"No reply has used it for {days} days."
            yield Recommendation("unused", (each.id,), sentence, "forget it, if the person agrees")

    def _those(self, owner: OwnerKey, *conditions: Any, order: Any) -> list[Memory]:
        with self._service.database.read() as connection:
            wanted = select(memory.c.memory_id).where(*conditions).order_by(order, memory.c.position)
            found = connection.execute(wanted.limit(_MOST_OF_A_KIND)).scalars().all()
            return self._service.repository.by_ids(connection, owner, found)

    def _duplicates(self, owner: OwnerKey, now: datetime) -> Iterable[tuple[Memory, Memory]]:
        """Return the pairs that say the same, among those of the newest memories whose vectors are nearest."""
        with self._service.database.read() as connection:
            newest = self._service.repository.newest_vectors(connection, owner, valid_at=now, limit=_MOST_COMPARED)
            pairs = _nearest_pairs(newest)
            wanted = list(dict.fromkeys(each for one, other in pairs for each in (one, other)))
            held = {each.id: each for each in self._service.repository.by_ids(connection, owner, wanted)}
        found = []
        for one, other in pairs:
            if one in held and other in held and _says_the_same(held[one], held[other]):
                found.append(_the_one_to_keep_first(held[one], held[other]))
        return found[:_MOST_OF_A_KIND]


def _nearest_pairs(held: Sequence[tuple[str, bytes]]) -> list[tuple[str, str]]:
    sizes = {len(stored) for _, stored in held}
    if len(held) < 2 or len(sizes) > 1:  # noqa: PLR2004 - a pair; vectors of another dimension are embedded anew soon
        return []
    ids = [memory_id for memory_id, _ in held]
    rows = from_bytes(b"".join(stored for _, stored in held)).reshape(len(held), -1)
    pairs: list[tuple[float, int, int]] = []
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        block = rows[start : start + _ROWS_AT_ONCE]
        cosines = block @ rows[start:].T
        ones, others = np.divmod(np.flatnonzero(cosines >= _NEAR), cosines.shape[1])
        ones, others = ones[ones < others], others[ones < others]
        near = cosines[ones, others]
        best = np.argsort(-near, kind="stable")[:_MOST_PAIRS]
        pairs += [(float(near[at]), start + int(ones[at]), start + int(others[at])) for at in best]
    pairs.sort(key=lambda each: -each[0])
    return [(ids[one], ids[other]) for _, one, other in pairs[:_MOST_PAIRS]]


def _says_the_same(one: Memory, other: Memory) -> bool:
    """Tell whether both say the same, as it would be decided if the later one were told now."""
    old, new = sorted((stated(one), stated(other)), key=lambda each: each.said_at)
    return weighed(new, [old])[old.memory.id].kind == "duplicate"


def _the_one_to_keep_first(one: Memory, other: Memory) -> tuple[Memory, Memory]:
    """Return the surer one first; of equals the one used more, then the one told first."""
    ordered = sorted((one, other), key=lambda each: (-each.confidence, -each.access_count, each.told_at, each.id))
    return ordered[0], ordered[1]


def _duplicate(kept: Memory, other: Memory) -> Recommendation:
    return Recommendation(
        "duplicate", (kept.id, other.id), "Both say the same.", "keep the first and forget the second"
    )


def _stale(held: Memory, now: datetime) -> Recommendation:
    if held.valid_to is not None and held.valid_to <= now:
        sentence, proposal = f"It held until {held.valid_to:%Y-%m-%d}.", _AS_HISTORY
    else:
        sentence = f"What it rests on changed on {held.doubted_at:%Y-%m-%d}."
        proposal = "ask the person whether it is still so"
    return Recommendation("stale", (held.id,), sentence, proposal)
