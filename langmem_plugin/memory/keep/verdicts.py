"""How often people were asked whether to remember something, and what became of it: counted for each owner."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from sqlalchemy import Connection, delete, func, select

from langmem_plugin.database.memory_tables import memory_verdicts as table
from langmem_plugin.database.schema import upsert
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep.owner_changes import begin_change


@dataclass(frozen=True)
class Verdicts:
    """`lapsed` is what nobody answered in time. What was confirmed or declined without being asked counts too."""

    asked: int = 0
    confirmed: int = 0
    declined: int = 0
    lapsed: int = 0

    @property
    def approval_rate(self) -> float | None:
        """The confirmed part of all that was decided; None while nothing was."""
        decided = self.confirmed + self.declined
        return self.confirmed / decided if decided else None


_COUNTS = (table.c.asked, table.c.confirmed, table.c.declined, table.c.lapsed)


def count(connection: Connection, owner: OwnerKey, more: Verdicts) -> None:
    """Adds to what was counted; the owner has memories."""
    values = dict(zip((each.name for each in _COUNTS), astuple(more), strict=True))
    summed = {each.name: each + values[each.name] for each in _COUNTS}
    inserted = upsert(connection, table).values(owner=owner, **values)
    connection.execute(inserted.on_conflict_do_update(index_elements=["owner"], set_=summed))


def begin(connection: Connection, owner: OwnerKey, counts: Verdicts) -> None:
    """The same for an owner who may have nothing yet."""
    begin_change(connection, owner)
    count(connection, owner, counts)


def counted(connection: Connection, owner: OwnerKey | None = None) -> Verdicts:
    """The counts of one owner, or of all together."""
    if owner is None:
        row = connection.execute(select(*(func.coalesce(func.sum(each), 0) for each in _COUNTS))).one()
        return Verdicts(*map(int, row))
    found = connection.execute(select(*_COUNTS).where(table.c.owner == owner)).one_or_none()
    return Verdicts(*found) if found is not None else Verdicts()


def move(connection: Connection, source: OwnerKey, target: OwnerKey) -> list[int]:
    """Move the counts of the source to the target; gives the counts that moved."""
    moved = counted(connection, source)
    if moved != Verdicts():
        count(connection, target, moved)
        connection.execute(delete(table).where(table.c.owner == source))
    return list(astuple(moved))


def take_back(connection: Connection, moved: Sequence[int], holder: OwnerKey, owner: OwnerKey) -> None:
    """As much as moved is the owner's again."""
    if any(moved):
        count(connection, holder, Verdicts(*(-each for each in moved)))
        count(connection, owner, Verdicts(*moved))
