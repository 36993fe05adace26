"""The tags that an owner's memories have: how often each is there, and another name for one."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import Text, select, type_coerce

from langmem_plugin.database import Database
from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.owners import owner_key
from langmem_plugin.errors import DamagedMemory, InvalidInput, MemoryNotFound, StaleMemory
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep.filters import matching
from langmem_plugin.memory.keep.memory_rows import searched, valid
from langmem_plugin.memory.keep.repository import MemoryRepository
from langmem_plugin.memory.keep.rows import each_row
from langmem_plugin.memory.models import LIVE, Filter, as_tags
from langmem_plugin.memory.service import MemoryService

_TRIES = 20  # tries on one memory that others change just then


def retag(
    service: MemoryService, owner: OwnerKey, memory_id: str, *, more: Sequence[str] = (), less: Sequence[str] = ()
) -> None:
    """Add tags to what the memory has now, and take some away; another's tags of the same moment are not lost.

    Raises MemoryNotFound, DamagedMemory, or StaleMemory where others never stop changing it.
    """
    for attempt in range(_TRIES):
        with service.database.read() as connection:
            held = service.repository.by_id(connection, owner, memory_id)
            if held is None:
                service.repository.refuse_damaged(connection, owner, [memory_id])
        if held is None:
            raise MemoryNotFound(f"there is no memory {memory_id}: list the memories for their ids")
        gone = set(as_tags(less))
        tags = [each for each in (*held.tags, *more) if each not in gone]
        try:
            service.update(owner, memory_id, revision=held.revision, tags=tags)
        except StaleMemory:
            if attempt == _TRIES - 1:
                raise
        else:
            return


class Tags:
    """The tags of every owner, in one database."""

    def __init__(self, database: Database, repository: MemoryRepository, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._repository = repository
        self._now = now

    def counts(self, owner: str | int) -> dict[str, int]:
        """Return how many active memories have each tag, the most frequent first."""
        owner = owner_key(self._database, owner)
        held = select(
            memory.c.memory_id,
            memory.c.sealed,
            type_coerce(memory.c.tags, Text),
        ).where(memory.c.owner == owner, memory.c.status == "active", valid(self._now()), memory.c.tags != "")
        counted: Counter[str] = Counter()
        with self._database.read() as connection:
            encryption = encryption_of(connection)
            for memory_id, sealed, tags in each_row(connection, held):
                words = searched(encryption, owner, memory_id, ("", None, tags, None, None), sealed)
                if words is not None and isinstance(words[2], str):
                    counted.update(filter(None, words[2].strip("\n").split("\n")))
        return dict(sorted(counted.items(), key=lambda each: (-each[1], each[0])))

    def rename(self, owner: str | int, tag: str, name: str) -> int:
        """Give the memories of one tag another in its place, once, in one transaction; return how many were changed.

        Raises InvalidInput for a blank one. Damaged memories stay as they are.
        """
        owner = owner_key(self._database, owner)
        old, new = as_tags([tag]), as_tags([name])
        if not old or not new:
            raise InvalidInput("a tag needs a name: pass a text that is not blank")
        if old == new:
            return 0
        now, changed = self._now(), 0
        with self._database.write() as connection:
            fitting = matching(connection, owner, Filter(tags=old), LIVE, None)
            ids = list(connection.execute(select(memory.c.memory_id).where(*fitting)).scalars())
            for held in self._repository.by_ids(connection, owner, ids):
                tags = [new[0] if each == old[0] else each for each in held.tags]
                try:
                    self._repository.change(connection, owner, held.id, {"tags": tags}, now=now)
                except DamagedMemory:
                    continue
                changed += 1
        return changed
