"""The records that every source yields, whatever its own format, and the report of an import."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from langchain_core.messages import BaseMessage
from pydantic import ValidationError

from langmem_plugin.errors import InvalidInput, NotSerializable, TooManyInstructions, UnreadableImport

ERASED = "they asked to be erased: it stays so"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A record of another product.

    `phone` is whose it is, in any spelling; None is the person whom the import was asked for. With the same
    `source_id`, its id at the source, it is the same record, and is not stored twice. `place`, its file and line or
    number, is for the report.
    """

    phone: str | None
    source_id: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSession(Imported):
    """A conversation from its first to its last message.

    `source_id` becomes the session's id unless somebody else has that id. Messages are LangChain's, in order; notes
    with them (who wrote when) are in the form of `message_of` of `conversation.message_as_dict`; one without an id
    gets an id that a repetition gives it too.
    """

    messages: Sequence[BaseMessage]
    began_at: datetime
    ended_at: datetime  # when the last message came, or later; aware, as every instant here
    client_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMemory(Imported):
    """A fact. `fields` are those of `memory.memory_types.MemoryFields`; a missing one is unknown."""

    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedInstruction(Imported):
    """A standing instruction; `fields` as in `Instruction` of `memory.instructions`. A condition that is not understood
    here is kept as text, for the model.
    """

    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCategory(Imported):
    """A category of a person; `parent` is the source_id of its parent, which comes before it."""

    name: str
    color: str | None = None
    description: str | None = None
    parent: str | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """A record that is left out or not stored as it was, and why; `place` is its number, or its file and line."""

    place: str
    reason: str


ImportedRecord = ImportedSession | ImportedMemory | ImportedInstruction | ImportedCategory | Remark
ImportedRecords = Iterable[ImportedRecord]


@dataclass(slots=True)
class ImportReport:
    """The result of an import, counted by kind, such as "session". `doubted` was stored otherwise than it was there,
    `skipped` was not stored.
    """

    stored: Counter[str] = field(default_factory=Counter)
    there_already: Counter[str] = field(default_factory=Counter)
    skipped: list[Remark] = field(default_factory=list)
    doubted: list[Remark] = field(default_factory=list)

    def count(self, kind: str, stored: int, of: int = 1) -> None:
        """Count how many of these were stored; the others were there already."""
        self.stored += Counter({kind: stored})
        self.there_already += Counter({kind: of - stored})

    def skip(self, place: str, reason: str) -> None:
        self.skipped.append(Remark(place, reason))

    @contextmanager
    def skipping(self, place: str) -> Iterator[None]:
        """Note as skipped, with its reason, a record that is refused in the block."""
        try:
            yield
        except (InvalidInput, NotSerializable, TooManyInstructions, UnreadableImport) as error:
            self.skip(place, str(error))

    def doubt(self, place: str, reason: str) -> None:
        self.doubted.append(Remark(place, reason))


def first_error(error: ValidationError) -> str:
    """Return in one line what is wrong with a record, without its content."""
    found = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, found['loc'])) or 'the record'}: {found['msg']}"
