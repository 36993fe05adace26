"""The limits on how long memories are kept: an owner's limit, when they are archived, and when deleted for good."""

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, func, or_, select

from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.audit_recording import record
from langmem_plugin.database.batched_deletion import delete_in_slices
from langmem_plugin.database.memory_tables import (
    history_message,
    memory,
    memory_access,
    memory_category,
    memory_index,
    memory_owner,
    standing_instruction,
)
from langmem_plugin.database.owners_and_erasures import owner_key
from langmem_plugin.database.schema import in_parts
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.index.vector_index import VectorIndex
from langmem_plugin.memory.keep.changes_and_checksums import states_of
from langmem_plugin.memory.keep.memory_repository import MemoryRepository
from langmem_plugin.memory.keep.usage_and_verdicts import Verdicts, count_verdicts
from langmem_plugin.memory.memory_types import LIVE, OVER, Status

_KEPT = (
    memory,
    history_message,
    standing_instruction,
    memory_category,
    memory_index,
)
_IS_OVER = memory.c.status != "active"  # in the words of the index, which holds few rows
_OWNERS_AT_ONCE = 200
_FORGOTTEN_FOR = timedelta(days=30)
_PENDING_FOR = timedelta(days=30)
KEPT_FOR = timedelta(days=365)
_USES_LOGGED_FOR = timedelta(days=90)


class Retention:
    """The retention of every owner's memories, with what belongs to them in the vector index."""

    def __init__(
        self,
        database: Database,
        repository: MemoryRepository,
        index: VectorIndex | None,
        *,
        owner_limit: int,
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._repository = repository
        self._index = index
        self._owner_limit = owner_limit
        self._now = now
        self._looked_at = ""  # the owner up to whom owners of nothing were looked for

    def keep_within(self, connection: Connection, owner: OwnerKey) -> None:
        """Archive the oldest active and the oldest pending memories until at most `owner_limit` of each are left.

        Of the memories that are neither, the longest unchanged are deleted for good, a tenth of the limit at a time.
        """
        if states_of(connection, [owner])[owner].change <= self._owner_limit:
            return  # each memory has taken a number: there are no more of them, and counting takes 1 ms for 10,000
        counted = (
            select(memory.c.status, func.count().label("many")).where(memory.c.owner == owner).group_by(memory.c.status)
        )
        held = {row.status: row.many for row in connection.execute(counted)}
        for status in LIVE:
            above = held.get(status, 0) - self._owner_limit
            if above > 0:
                oldest = _first(connection, owner, [status], memory.c.created_at, above)
                self._repository.set_status(connection, owner, oldest, "archived", now=self._now())
        above = sum(held.get(status, 0) for status in OVER) - self._owner_limit
        if above > self._owner_limit // 10:
            if self._index is not None:
                self._index.distrust(connection, owner)
            self._repository.remove(connection, owner, _first(connection, owner, OVER, memory.c.updated_at, above))

    def erase(self, owner: str | int) -> int:
        """Delete for good, at once, everything of the owner that is kept here; return how many memories there were."""
        owner = owner_key(self._database, owner)
        unindexed = nullcontext() if self._index is None else self._index.erasing(owner)
        with unindexed, self._database.write(patience=BULK_WORK) as connection:
            counted = select(func.count()).select_from(memory).where(memory.c.owner == owner)
            held = int(connection.execute(counted).scalar_one())
            for table in (standing_instruction, memory_owner):  # the rest goes with the owner's row
                connection.execute(delete(table).where(table.c.owner == owner))
            record(connection, "memory.erased", owner=owner)
        return held

    def purge(self) -> int:
        """Delete for good what was forgotten 30 days ago, and what expired or was superseded or archived a year ago.

        Returns how many memories of every owner these were. Of uses, those of the last 90 days are kept; of the next
        owners those are forgotten of whom nothing is left.
        """
        deleted = sum(self.memories_deleted())
        for _ in itertools.chain(self.uses_deleted(), self.owners_forgotten()):
            pass
        return deleted

    def memories_deleted(self) -> Iterator[int]:
        """Delete the memories that `purge` is to delete; give the number after each transaction."""
        now = self._now()
        due = or_(
            and_(_IS_OVER, memory.c.status == "forgotten", memory.c.updated_at <= now - _FORGOTTEN_FOR),
            and_(_IS_OVER, memory.c.status.in_(("superseded", "archived")), memory.c.updated_at <= now - KEPT_FOR),
            memory.c.expires_at <= now - KEPT_FOR,
        )
        for owner, part in self._each_due(due):
            unindexed = nullcontext() if self._index is None else self._index.removing(owner, part)
            with unindexed, self._database.write(patience=BULK_WORK) as connection:
                deleted = self._repository.remove(connection, owner, part, if_still=due)
            yield deleted

    def pending_lapsed(self) -> Iterator[int]:
        """Archive the memories that have waited for the person's word for 30 days since stored or asked about; give the
        number after each transaction.
        """
        now = self._now()
        due = and_(_IS_OVER, memory.c.status == "pending", memory.c.updated_at <= now - _PENDING_FOR)
        for owner, part in self._each_due(due):
            with self._database.write() as connection:
                moved = self._repository.set_status(connection, owner, part, "archived", now=now, if_still=due)
                if moved:
                    count_verdicts(connection, owner, Verdicts(lapsed=moved))
            yield moved

    def _each_due(self, due: ColumnElement[bool]) -> Iterator[tuple[OwnerKey, Sequence[str]]]:
        """Give owners with as many of their due memories as one transaction takes."""
        with self._database.read() as connection:
            found = select(memory.c.owner, memory.c.memory_id).where(due).order_by(memory.c.owner)
            rows = connection.execute(found).all()
        for owner, theirs in itertools.groupby(rows, key=operator.attrgetter("owner")):
            for part in in_parts([row.memory_id for row in theirs]):
                yield owner, part

    def uses_deleted(self) -> Iterator[int]:
        """Delete old uses for `purge`; see `memories_deleted`."""
        old = memory_access.c.at <= self._now() - _USES_LOGGED_FOR
        yield from delete_in_slices(self._database, memory_access, old)

    def owners_forgotten(self) -> Iterator[int]:
        """Forget for `purge` owners of nothing among the next 200: no sweep looks at all. See `memories_deleted`."""
        # Limited, because PostgreSQL would answer EXISTS in a column by reading the whole table.
        theirs = (select(table.c.owner).where(table.c.owner == memory_owner.c.owner).limit(1) for table in _KEPT)
        is_left = or_(*(each.scalar_subquery().is_not(None) for each in theirs)).label("is_left")
        following = select(memory_owner.c.owner, memory_owner.c.change, is_left).where(
            memory_owner.c.owner > self._looked_at
        )
        with self._database.read() as connection:
            few = connection.execute(following.order_by(memory_owner.c.owner).limit(_OWNERS_AT_ONCE)).all()
        self._looked_at = few[-1].owner if len(few) == _OWNERS_AT_ONCE else ""
        for owner, change, is_left in few:
            if is_left:
                continue
            # What is stored meanwhile would go with the owner's row; but then that row has another number.
            unchanged = (memory_owner.c.owner == owner, memory_owner.c.change == change)
            with self._database.write() as connection:
                forgotten = connection.execute(delete(memory_owner).where(*unchanged)).rowcount
            yield forgotten


def _first(
    connection: Connection, owner: OwnerKey, statuses: Sequence[Status], by: ColumnElement[Any], many: int
) -> Sequence[str]:
    wanted = select(memory.c.memory_id).where(memory.c.owner == owner, memory.c.status.in_(statuses))
    return connection.execute(wanted.order_by(by, memory.c.position).limit(many)).scalars().all()
