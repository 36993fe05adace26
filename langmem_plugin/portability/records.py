"""The records that every source yields, whatever its own format, and the report of an import."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from langchain_core.messages import BaseMessage
from pydantic import ValidationError

from langmem_plugin.errors import InvalidInput, NotSerializable, TooManyInstructions


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSession:
    """A conversation from its first to its last message.

    `source_id` is its id at the source: with the same one it is the same session, and is not stored twice. It becomes
    the session's id unless somebody else has that id. Messages are LangChain's, in order; notes with them (who wrote
    when) are in the form of `conversation.transcript.message_of`; one without an id gets an id that a repetition gives
    it too.
    """

    phone: str | None  # in any spelling; None: the person whom the import was asked for
    messages: Sequence[BaseMessage]
    began_at: datetime
    ended_at: datetime  # when the last message came, or later; aware, as every instant here
    source_id: str
    place: str  # file and line or number, for the report
    client_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMemory:
    """A fact. `fields` are those of `memory.models.Memory` besides id, owner and text; a missing one is unknown.

    `said_by_assistant` is true where the source says that the words are not the person's.
    """

    phone: str | None
    text: str
    source_id: str  # with the same one it is the same memory
    place: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    said_by_assistant: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedInstruction:
    """A standing instruction."""

    phone: str | None
    text: str
    source_id: str
    place: str
    priority: int = 1  # up to 10
    condition: str | None = None  # an unknown one is kept as text, for the model
    active: bool = True
    expires_at: datetime | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCategory:
    """A category of a person; its parent comes before it. An invalid colour is left out."""

    phone: str | None
    name: str
    source_id: str
    place: str
    color: str | None = None
    description: str | None = None
    parent: str | None = None  # the source_id of its parent
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRecord:
    """A record that its source could not read: it is skipped, and the report says why."""

    place: str
    reason: str


ImportedRecord = ImportedSession | ImportedMemory | ImportedInstruction | ImportedCategory | BadRecord
ImportedRecords = Iterable[ImportedRecord]


Kind = Literal[
    "session", "message", "file", "memory", "category", "instruction", "alias", "said elsewhere", "use", "identifier",
    "merge", "settings", "consent", "verdicts", "extraction", "incoming", "question",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark on a record; `place` is the record's number or its file and line."""

    place: str
    reason: str


@dataclass(slots=True)
class ImportReport:
    """The result of an import, counted by kind. `doubted` was stored to be confirmed, or left out, as requested;
    `skipped` could not be stored.
    """

    stored: Counter[Kind] = field(default_factory=Counter)
    there_already: Counter[Kind] = field(default_factory=Counter)
    skipped: list[Remark] = field(default_factory=list)
    doubted: list[Remark] = field(default_factory=list)
    erased: int = 0
    """The number of `skipped` that belong to people who asked to be erased."""

    def skip(self, place: str, reason: str) -> None:
        self.skipped.append(Remark(place, reason))

    @contextmanager
    def skipping(self, place: str) -> Iterator[None]:
        """Note as skipped, with its reason, a record that is refused in the block."""
        try:
            yield
        except (InvalidInput, NotSerializable, TooManyInstructions) as error:
            self.skip(place, str(error))

    def leave_erased(self, place: str) -> None:
        self.erased += 1
        self.skip(place, "they asked to be erased: it stays so")

    def doubt(self, place: str, reason: str) -> None:
        self.doubted.append(Remark(place, reason))


def first_error(error: ValidationError) -> str:
    """Return in one line what is wrong with a record, without its content."""
    found = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, found['loc'])) or 'the record'}: {found['msg']}"
