"""Which memories and instructions were used, when and how: counted in each, logged for a while."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, delete, select

from langmem_plugin.database import Database
from langmem_plugin.database.generated_ids import insert_new
from langmem_plugin.database.memory_tables import memory_access
from langmem_plugin.database.schema import in_parts, insert_unless_there
from langmem_plugin.memory.instructions import StandingInstructions
from langmem_plugin.memory.repository import MemoryRepository

Access = Literal["injected", "cited", "viewed", "edited"]

_MOST_USES_LOGGED = 100  # of each memory,
_SWEPT_EVERY = 20  # and so many more, since it is looked only then


@dataclass(frozen=True)
class Use:
    """One use of a memory, as it was logged."""

    access_id: str
    memory_id: str
    kind: Access
    session_id: str | None
    relevance: float | None
    at: datetime


def logged(connection: Connection, owner: str) -> list[Use]:
    """Of all the owner's memories, the oldest first."""
    columns = [getattr(memory_access.c, each.name) for each in fields(Use)]
    mine = select(*columns).where(memory_access.c.owner == owner)
    rows = connection.execute(mine.order_by(memory_access.c.at, memory_access.c.access_id))
    return [Use(**row) for row in rows.mappings()]


def there(connection: Connection, owner: str, uses: Sequence[Use]) -> set[str]:
    """The ids of those that are logged."""
    found: set[str] = set()
    for part in in_parts([each.access_id for each in uses]):
        mine = select(memory_access.c.access_id).where(memory_access.c.owner == owner)
        found.update(connection.execute(mine.where(memory_access.c.access_id.in_(part))).scalars())
    return found


def keep(connection: Connection, owner: str, uses: Sequence[Use]) -> None:
    """Logs uses of another database, of memories that the owner has, unless they are there."""
    statement = insert_unless_there(memory_access)[connection.dialect.name]
    for part in in_parts([{"owner": owner, **asdict(each)} for each in uses]):
        connection.execute(statement, part)


class UsageLog:
    """How long a use stays in the log is for retention.py to say; how often a memory was used is never forgotten."""

    def __init__(
        self,
        database: Database,
        repository: MemoryRepository,
        instructions: StandingInstructions,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._repository = repository
        self._instructions = instructions
        self._now = now

    def note_access(
        self,
        owner: str,
        relevances: Mapping[str, float | None],
        kind: Access,
        *,
        session_id: str | None = None,
    ) -> None:
        """Logs that memories were used, by id with their relevance, and counts it in each.

        What is not active any more is left alone: being used does not bring it back.
        """
        self.note_turn([owner], {each: (kind, of) for each, of in relevances.items()}, session_id=session_id)

    def note_turn(
        self,
        scopes: Sequence[str],
        uses: Mapping[str, tuple[Access, float | None]],
        *,
        followed: Sequence[str] = (),
        session_id: str | None = None,
    ) -> None:
        """All that one reply used, in one transaction: memories by id with how and how relevant, and instructions.

        The first of `scopes` is the person, the others hold what is shared with them; each memory is looked for in
        this order. A power cut may undo it until the next thing is stored: nobody was promised it.
        """
        if uses or followed:
            with self._database.write(durable=False) as connection:
                self.note_used(connection, scopes, uses, followed=followed, session_id=session_id)

    def note_used(
        self,
        connection: Connection,
        scopes: Sequence[str],
        uses: Mapping[str, tuple[Access, float | None]],
        *,
        followed: Sequence[str] = (),
        session_id: str | None = None,
    ) -> None:
        """The same within a transaction of the caller."""
        if followed:
            self._instructions.note_use(connection, scopes[0], followed)
        left = dict(uses)
        for owner in scopes:
            for noted in self._log_uses(connection, owner, left, session_id) if left else ():
                del left[noted]

    def _log_uses(
        self,
        connection: Connection,
        owner: str,
        uses: Mapping[str, tuple[Access, float | None]],
        session_id: str | None,
    ) -> list[str]:
        """The ids of those that were there."""
        now = self._now()
        touched = self._repository.touch(connection, owner, list(uses), now=now)
        if touched:
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
                memory_access.c.access_id,
                rows,
                lambda _, row: row,
                lambda row: row | {"access_id": uuid.uuid4().hex},
            )
            for memory_id in [each for each, times in touched.items() if times % _SWEPT_EVERY == 0]:
                logged = (memory_access.c.owner == owner, memory_access.c.memory_id == memory_id)
                newest = select(memory_access.c.access_id).where(*logged).order_by(memory_access.c.at.desc())
                left = newest.limit(_MOST_USES_LOGGED)
                connection.execute(delete(memory_access).where(*logged, memory_access.c.access_id.not_in(left)))
        return list(touched)
