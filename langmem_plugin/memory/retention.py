"""What happens to memories with time and use: counted, restored, archived, and deleted for good."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import Connection, and_, delete, func, insert, or_, select

from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.memory_tables import (
    history_message,
    memory,
    memory_access,
    memory_collection,
    memory_index,
    memory_owner,
    standing_instruction,
)
from langmem_plugin.memory.index.vector_index import VectorIndex
from langmem_plugin.memory.instructions import StandingInstructions
from langmem_plugin.memory.models import Memory
from langmem_plugin.memory.repository import MemoryRepository

Access = Literal["injected", "cited", "viewed", "edited"]

_FORGOTTEN_FOR = timedelta(days=30)
_A_YEAR = timedelta(days=365)
_USES_LOGGED_FOR = timedelta(days=90)
_MOST_USES_LOGGED = 100  # of each memory,
_SWEPT_EVERY = 20  # and so many more, since it is looked only then


class Retention:
    """The part of MemoryService that ages memories."""

    database: Database
    repository: MemoryRepository
    index: VectorIndex | None
    instructions: StandingInstructions
    now: Callable[[], datetime]

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
            with self.database.write(durable=False) as connection:
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
            self.instructions.note_use(connection, scopes[0], followed)
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
        now = self.now()
        touched = self.repository.touch(connection, owner, list(uses), now=now)
        if touched:
            connection.execute(
                insert(memory_access),
                [
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
                ],
            )
            for memory_id in [each for each, times in touched.items() if times % _SWEPT_EVERY == 0]:
                logged = (memory_access.c.owner == owner, memory_access.c.memory_id == memory_id)
                newest = select(memory_access.c.access_id).where(*logged).order_by(memory_access.c.at.desc())
                left = newest.limit(_MOST_USES_LOGGED)
                connection.execute(delete(memory_access).where(*logged, memory_access.c.access_id.not_in(left)))
        return list(touched)

    def restore(self, owner: str, memory_id: str) -> Memory:
        """Makes a forgotten, archived or superseded memory active again; MemoryNotFound if it is none of these."""
        with self.database.write() as connection:
            return self.repository.change(
                connection,
                owner,
                memory_id,
                {"status": "active", "superseded_by": None},
                now=self.now(),
                statuses=("forgotten", "archived", "superseded"),
            )

    def erase(self, owner: str) -> int:
        """Deletes for good, at once, everything of the owner that is kept here; how many memories there were."""
        unindexed = nullcontext() if self.index is None else self.index.erasing(owner)
        with unindexed, self.database.write(patience=BULK_WORK) as connection:
            counted = select(func.count()).select_from(memory).where(memory.c.owner == owner)
            held = int(connection.execute(counted).scalar_one())
            for table in (standing_instruction, memory_owner):  # the rest goes with the owner's row
                connection.execute(delete(table).where(table.c.owner == owner))
        return held

    def purge(self) -> int:
        """Deletes for good what was forgotten 30 days ago, and what expired or was superseded or archived a year ago.

        How many memories of every owner these were. Of uses, those of the last 90 days are kept; owners of whom
        nothing is left are forgotten.
        """
        now = self.now()
        due = or_(
            and_(memory.c.status == "forgotten", memory.c.updated_at <= now - _FORGOTTEN_FOR),
            and_(memory.c.status.in_(("superseded", "archived")), memory.c.updated_at <= now - _A_YEAR),
            memory.c.expires_at <= now - _A_YEAR,
        )
        with self.database.read() as connection:
            rows = connection.execute(select(memory.c.owner, memory.c.memory_id).where(due)).all()
        due_of: dict[str, list[str]] = {}
        for row in rows:
            due_of.setdefault(row.owner, []).append(row.memory_id)
        for owner, memory_ids in due_of.items():
            unindexed = nullcontext() if self.index is None else self.index.removing(owner, memory_ids)
            with unindexed, self.database.write(patience=BULK_WORK) as connection:
                self.repository.remove(connection, owner, memory_ids, if_still=due)
        with self.database.write(patience=BULK_WORK) as connection:
            connection.execute(delete(memory_access).where(memory_access.c.at <= now - _USES_LOGGED_FOR))
            connection.execute(delete(memory_collection).where(memory_collection.c.dropped_at <= now - _A_YEAR))
        self._forget_owners_of_nothing()
        return len(rows)

    def _forget_owners_of_nothing(self) -> None:
        nothing = and_(
            *(
                ~select(table.c.owner).where(table.c.owner == memory_owner.c.owner).exists()
                for table in (memory, history_message, standing_instruction, memory_collection, memory_index)
            )
        )
        with self.database.read() as connection:
            owners = connection.execute(select(memory_owner.c.owner).where(nothing)).scalars().all()
        for owner in owners:
            with self.database.write() as connection:
                # Locked before it is looked at again: what somebody stores meanwhile would go with the owner's row.
                one = memory_owner.c.owner == owner
                connection.execute(select(memory_owner.c.owner).where(one).with_for_update())
                connection.execute(delete(memory_owner).where(one, nothing))
