"""Rows that do not hold what was written: read without failing, reported once, and otherwise left out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import Connection, Row, Select

from langmem_plugin import process_forks
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log

log = event_log(__name__)

Kind = Literal["memory", "instruction", "category", "alias", "message", "memory vector", "message vector"]

AnyRow = Row[*tuple[Any, ...]]

_MOST_KNOWN = 10_000
_AT_ONCE = 1_000  # rows


class Damages:
    """The damaged rows that this process has met. `mend` is told of a vector, which can be made anew from its text."""

    def __init__(self) -> None:
        self.mend: Callable[[Kind, OwnerKey, str], None] = lambda _kind, _owner, _row_id: None
        self._known: dict[tuple[Kind, str, str], None] = {}
        self._lock = process_forks.Lock()

    def report(self, kind: Kind, owner: OwnerKey, row_id: str) -> None:
        """Once, as an ERROR; text and key of the row are not told."""
        with self._lock:
            if (kind, owner, row_id) in self._known:
                return
            self._known[kind, owner, row_id] = None
            if len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
        event = kind.replace(" ", "_") + ".damaged"
        log.error(event, extra={"owner": masked(owner), "row_id": row_id})
        if kind.endswith("vector"):
            self.mend(kind, owner, row_id)

    def forget(self, kind: Kind, owner: OwnerKey, row_id: str) -> None:
        """Forget that a row was damaged: it is whole now."""
        with self._lock:
            self._known.pop((kind, owner, row_id), None)


def all_rows(
    connection: Connection, statement: Select[Any], parameters: Mapping[str, Any] | None = None
) -> Sequence[AnyRow]:
    return connection.execute(statement, parameters).all()


def each_row(connection: Connection, statement: Select[Any]) -> Iterator[AnyRow]:
    """One by one, for very many: else PostgreSQL's driver holds them all, twice."""
    yield from connection.execute(statement.execution_options(yield_per=_AT_ONCE))
