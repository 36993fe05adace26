"""The receipt of an erasure: when it was asked and what became of it; kept without the person's identifiers once it
cannot be undone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, select

from langmem_plugin.database.operations_tables import erasure as table
from langmem_plugin.errors import UnknownErasure
from langmem_plugin.notebook_view import Cells, card

State = Literal["held", "erased", "done", "restored"]

NOT_COVERED = (
    "what they wrote in groups, which is the groups': erase those by their own keys",
    "what was sent to others: channels, model providers, logs and backups outside of this database",
)


@dataclass(frozen=True)
class ErasureReceipt:
    """Proof of an erasure. `counts` has rows by table, and files; `identifiers` are keyed hashes, in hexadecimal.

    `held`: it can be undone until `due_at`, which is the time it was asked if it was to be done at once. `erased`: all
    rows are gone, and `left` names what is still to be deleted in files. `done`: nothing is left, which was checked
    (`verified`). `remains` says in words what bytes may stay out of any program's reach until they are overwritten.
    """

    id: str
    state: State
    asked_at: datetime
    due_at: datetime
    done_at: datetime | None
    identifiers: tuple[str, ...]
    counts: Mapping[str, int]
    verified: bool
    left: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = NOT_COVERED

    def cells(self) -> Cells:
        return {
            "state": self.state,
            "asked": self.asked_at,
            "can be undone until": self.due_at if self.can_be_undone else None,
            "done": self.done_at,
            "looked for": "nothing is left" if self.verified else "not yet",
            "deleted": [f"{number:,} {name}" for name, number in self.counts.items() if number],
            "still to be deleted": self.left,
            "bytes that may remain": self.remains,
            "not covered": self.not_covered,
            "id": self.id,
        }

    def _repr_html_(self) -> str:
        return card("An erasure", self.cells())

    @property
    def can_be_undone(self) -> bool:
        return self.state == "held" and self.due_at > self.asked_at

    def as_dict(self) -> dict[str, Any]:
        """Return the receipt as plain data, for a file or another program."""
        return {
            "id": self.id,
            "state": self.state,
            "asked_at": self.asked_at.isoformat(),
            "due_at": self.due_at.isoformat(),
            "done_at": self.done_at and self.done_at.isoformat(),
            "identifiers": list(self.identifiers),
            "counts": dict(self.counts),
            "verified": self.verified,
            "left": list(self.left),
            "remains": list(self.remains),
            "not_covered": list(self.not_covered),
        }


def receipt_of(row: Row[Any]) -> ErasureReceipt:
    left: Mapping[str, Sequence[str]] = row.left
    return ErasureReceipt(
        id=row.erasure_id,
        state=row.state,
        asked_at=row.asked_at,
        due_at=row.due_at,
        done_at=row.done_at,
        identifiers=tuple(row.hashes),
        counts=row.counts,
        verified=row.verified,
        left=tuple(f"{kind}: {name}" for kind in ("files", "collections") for name in left.get(kind, ())),
        remains=tuple(left.get("remains", ())),
    )


def row_of(connection: Connection, erasure_id: str, *, lock: bool = False) -> Row[Any]:
    """Return the receipt with this id. Raises UnknownErasure."""
    wanted = select(table).where(table.c.erasure_id == erasure_id)
    row = connection.execute(wanted.with_for_update() if lock else wanted).first()
    if row is None:
        raise UnknownErasure(f"there is no erasure {erasure_id!r}: look for its id in the receipt")
    return row


def held_for(connection: Connection, hashed: str) -> list[Row[Any]]:
    """Return the erasures of a person that are not final yet, the newest first."""
    held = select(table).where(table.c.state == "held").order_by(table.c.number.desc())
    return [row for row in connection.execute(held) if hashed in row.hashes]
