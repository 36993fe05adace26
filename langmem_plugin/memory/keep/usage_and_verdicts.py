"""The uses of memories and instructions, counted and logged for a while; and the verdicts on memories that waited."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Column, ColumnElement, Connection, delete, func, insert, literal, select

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory, memory_access
from langmem_plugin.database.memory_tables import memory_verdicts as table
from langmem_plugin.database.owners_and_erasures import owner_key
from langmem_plugin.database.schema import Instant, in_parts, insert_new, insert_unless_there, upsert
from langmem_plugin.errors import StoreUnavailable, TurnLost
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.instructions.standing_instructions import StandingInstructions
from langmem_plugin.memory.keep.changes_and_checksums import owned
from langmem_plugin.memory.keep.memory_repository import MemoryRepository

log = event_log(__name__)

_COUNTS = (table.c.asked, table.c.confirmed, table.c.declined, table.c.lapsed)
_MOST_LOGGED = 100  # uses of each memory and looks at it,
_SWEPT_EVERY = 20  # and so many more uses before the log is trimmed


@dataclass(frozen=True)
class Verdicts:
    """The counts of verdicts. `lapsed` is what nobody answered in time. What was confirmed or declined
    unasked counts too.
    """

    asked: int = 0
    confirmed: int = 0
    declined: int = 0
    lapsed: int = 0

    @property
    def approval_rate(self) -> float | None:
        """Return the confirmed part of all that was decided; None while nothing was."""
        decided = self.confirmed + self.declined
        return self.confirmed / decided if decided else None


def count_verdicts(connection: Connection, owner: OwnerKey, more: Verdicts) -> None:
    """Add to what was counted; the owner has memories."""
    values = dict(zip((each.name for each in _COUNTS), astuple(more), strict=True))
    summed = {each.name: each + values[each.name] for each in _COUNTS}
    inserted = upsert(connection, table).values(owner=owner, **values)
    connection.execute(inserted.on_conflict_do_update(index_elements=["owner"], set_=summed))


def verdicts_of(connection: Connection, owner: OwnerKey | None = None) -> Verdicts:
    """Return the counts of one owner, or of all together."""
    if owner is None:
        row = connection.execute(select(*(func.coalesce(func.sum(each), 0) for each in _COUNTS))).one()
        return Verdicts(*map(int, row))
    found = connection.execute(select(*_COUNTS).where(table.c.owner == owner)).one_or_none()
    return Verdicts(*found) if found is not None else Verdicts()


def move_verdicts(connection: Connection, source: OwnerKey, target: OwnerKey) -> None:
    """Add the counts of the source to those of the target."""
    count_verdicts(connection, target, verdicts_of(connection, source))
    connection.execute(delete(table).where(table.c.owner == source))


Access = Literal["injected", "cited", "viewed", "edited"]


@dataclass(frozen=True)
class Use:
    """One use of a memory, as it was logged."""

    access_id: str
    memory_id: str
    kind: Access
    session_id: str | None
    relevance: float | None
    at: datetime


def logged(connection: Connection, owner: OwnerKey) -> list[Use]:
    """Return the uses of all the owner's memories, the oldest first."""
    columns = [getattr(memory_access.c, each.name) for each in fields(Use)]
    mine = select(*columns).where(memory_access.c.owner == owner)
    rows = connection.execute(mine.order_by(memory_access.c.at, memory_access.c.access_id))
    return [Use(**row) for row in rows.mappings()]


def there(connection: Connection, owner: OwnerKey, uses: Sequence[Use]) -> set[str]:
    """Return the ids of those that are logged."""
    return owned(connection, owner, memory_access.c.access_id, [each.access_id for each in uses])


def keep(connection: Connection, owner: OwnerKey, uses: Sequence[Use]) -> None:
    """Log uses of another database, of memories that the owner has, unless they are there."""
    statement = insert_unless_there(memory_access)[connection.dialect.name]
    for part in in_parts([{"owner": owner, **asdict(each)} for each in uses]):
        connection.execute(statement, part)


class UsageLog:
    """The log of uses. retention.py says how long a use stays; how often a memory was used is never forgotten.

    `used` is told of the uses of an owner's memories, for what this process holds of them.
    """

    def __init__(
        self,
        database: Database,
        repository: MemoryRepository,
        instructions: StandingInstructions,
        *,
        used: Callable[[OwnerKey, Sequence[str], datetime], None],
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._repository = repository
        self._instructions = instructions
        self._used = used
        self._now = now

    def note_access(
        self,
        owner: str | int,
        relevances: Mapping[str, float | None],
        kind: Access,
        *,
        session_id: str | None = None,
    ) -> None:
        """Log that memories were used, by id with their relevance, and count it in each.

        A memory that is not active any more is left alone: being used does not bring it back.
        """
        owner, uses = owner_key(self._database, owner), {each: (kind, of) for each, of in relevances.items()}
        with self._database.write(durable=False) as connection:
            self.note_used(connection, [owner], uses, session_id=session_id)

    def note_used(
        self,
        connection: Connection,
        scopes: Sequence[OwnerKey],
        uses: Mapping[str, tuple[Access, float | None]],
        *,
        followed: Sequence[str] = (),
        session_id: str | None = None,
    ) -> None:
        """Log all that one reply used, in the caller's transaction: memories by id with how and how relevant, and
        instructions.

        The first of `scopes` is the person, the others hold what is shared with them; each memory is looked for in
        this order.
        """
        if followed:
            self._instructions.note_use(connection, scopes[0], followed)
        left = dict(uses)
        for owner in scopes:
            for noted in self._log_uses(connection, owner, left, session_id) if left else ():
                del left[noted]

    def note_viewed(self, owner: str | int, memory_ids: Sequence[str]) -> None:
        """Log that somebody looked at memories of the owner, in whatever state; lists are no such look.

        This makes none of them more likely to be recalled. A failure to log is a WARNING.
        """
        owner = owner_key(self._database, owner)
        if not memory_ids:
            return
        try:
            with self._database.write(durable=False) as connection:
                for memory_id in memory_ids:
                    self.note_look(connection, owner, memory_id, "viewed")
        except (StoreUnavailable, TurnLost):
            log.warning("use.not_logged", exc_info=True, extra={"owner": masked(owner)})

    def note_look(
        self, connection: Connection, owner: OwnerKey, memory_id: str, kind: Literal["viewed", "edited"]
    ) -> None:
        """Log a look at one memory, also its edit, within a transaction of the caller."""
        values: dict[Column[Any], ColumnElement[Any]] = {
            memory_access.c.access_id: literal(uuid.uuid4().hex),
            memory_access.c.kind: literal(kind),
            memory_access.c.at: literal(self._now(), Instant),
            memory_access.c.owner: memory.c.owner,
            memory_access.c.memory_id: memory.c.memory_id,
        }
        # Locked, not only looked up: if it were deleted in between, the log would have nothing to refer to.
        held = select(*values.values()).where(memory.c.owner == owner, memory.c.memory_id == memory_id)
        locked = held.with_for_update(read=True, key_share=True)
        connection.execute(insert(memory_access).from_select(list(values), locked))
        _keep_newest(connection, owner, memory_id)

    def _log_uses(
        self,
        connection: Connection,
        owner: OwnerKey,
        uses: Mapping[str, tuple[Access, float | None]],
        session_id: str | None,
    ) -> list[str]:
        """Log the uses; return the ids of memories that were there."""
        now = self._now()
        touched = self._repository.touch(connection, owner, list(uses), now=now)
        if touched:
            self._used(owner, list(touched), now)
            rows = [
                {
                    "owner": owner,
                    "access_id": uuid.uuid4().hex,
                    "memory_id": memory_id,
                    "kind": uses[memory_id][0],
                    "session_id": session_id,
                    "relevance": uses[memory_id][1],
                    "at": now,
                }
                for memory_id in touched
            ]
            insert_new(
                connection,
                memory_access,
                rows,
                lambda _, row: row,
                lambda row: row | {"access_id": uuid.uuid4().hex},
            )
            for memory_id in [each for each, times in touched.items() if times % _SWEPT_EVERY == 0]:
                _keep_newest(connection, owner, memory_id)
        return list(touched)


def _keep_newest(connection: Connection, owner: OwnerKey, memory_id: str) -> None:
    logged = (memory_access.c.owner == owner, memory_access.c.memory_id == memory_id)
    newest = select(memory_access.c.access_id).where(*logged).order_by(memory_access.c.at.desc()).limit(_MOST_LOGGED)
    connection.execute(delete(memory_access).where(*logged, memory_access.c.access_id.not_in(newest)))
