"""What another application has stored in a collection that is to be an index: its documents, as they were found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ForeignDocument:
    """One document; `vector` is as it was stored, in whatever length."""

    document_id: str
    text: str | None
    metadata: Mapping[str, Any]
    vector: Sequence[float] | None


class HoldsForeign(Protocol):
    """What a factory of collections has whose folder another application may have written to."""

    def foreign_documents(self, name: str) -> list[ForeignDocument]:
        """Those of the collection that are not ours; none where there is no such collection."""
        ...

    def remove_foreign(self, name: str, document_ids: Sequence[str]) -> None:
        """Deletes them, so that no byte of them is left in the files."""
        ...
