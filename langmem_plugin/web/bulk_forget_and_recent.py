"""Several memories forgotten at once, and the recent changes that can be undone."""

import contextlib
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import and_, or_, select, true

from langmem_plugin.database.memory_tables import memory
from langmem_plugin.errors import MemoryNotFound
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import Memory, MemoryService

_RECENT, _SHOWN = timedelta(days=30), 40


def forget_each(service: MemoryService, owner: OwnerKey, ids: Sequence[str]) -> None:
    """Forget the memories that are still there."""
    for each in dict.fromkeys(ids):
        with contextlib.suppress(MemoryNotFound):
            service.forget(owner, each)


def recent(
    service: MemoryService, owner: OwnerKey | None = None, *, forgotten_within: timedelta = _RECENT
) -> list[tuple[OwnerKey, Memory, Memory | None]]:
    """The latest changes of a person, or of everybody, that can be undone: whose it was, what was forgotten or
    replaced, and its replacement; the last first.

    What was replaced is there for thirty days. What is damaged is left out.
    """
    now, changed = service.now(), memory.c.updated_at
    latest = (
        select(memory.c.owner, memory.c.memory_id)
        .where(
            true() if owner is None else memory.c.owner == owner,
            or_(
                and_(memory.c.status == "superseded", changed > now - _RECENT),
                and_(memory.c.status == "forgotten", changed > now - forgotten_within),
            ),
        )
        .order_by(changed.desc(), memory.c.position.desc())
        .limit(_SHOWN)
    )
    with service.database.read() as connection:
        rows = list(connection.execute(latest))
        found = [(OwnerKey(whose), service.repository.by_id(connection, whose, each)) for whose, each in rows]
    return [(whose, held, service.instead_of(held)) for whose, held in found if held is not None]
