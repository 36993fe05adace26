"""Memories, the fields that can be given when one is stored, and the results of a search."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypedDict, get_args

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from langmem_plugin.errors import InvalidInput
from langmem_plugin.facts import FactType
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.languages.text_normalization import LONGEST_KEPT
from langmem_plugin.lru_cache import cached_if_short
from langmem_plugin.notebook_view import Cells, card

SourceType = Literal["manual", "extracted_from_chat", "extracted_from_document", "api_import", "command"]
Status = Literal["pending", "active", "superseded", "archived", "forgotten"]
Mode = Literal["text", "semantic", "hybrid"]
MatchType = Literal["exact", "semantic", "hybrid"]
Outcome = Literal["stored", "duplicate", "superseded", "pending", "changed"]

WOULD_REPLACE = "would_replace"
"""The metadata key of a memory that waits for the person's word: the ids of what it replaces once confirmed."""
OPERATOR = "operator:"
"""The beginning of the `source_id` of what an operator wrote; the id of their token follows."""
LIVE: tuple[Status, ...] = ("active", "pending")
OVER: tuple[Status, ...] = ("superseded", "archived", "forgotten")
_KEPT = 16_384  # texts whose bare form is at hand: a new one is compared with all that it may concern
_MOST_WANTED = 500  # SQLite joins at most 1,000 conditions
FACT_TYPES: tuple[FactType, ...] = get_args(FactType)


class MemoryContent(BaseModel):
    """The fields of a memory, whoever it is of.

    `status`: `pending` waits for the person's word; `active` is recalled until `expires_at`; `superseded`,
    `archived` and `forgotten` are kept but never recalled. `revision` rises with every change of content or
    state, and an update may name the one it was decided upon.

    `slot` is what the fact is a value of (`Slot.key`), `quote` the person's own words for it and `said_at` when they
    said them; it holds from `valid_from` until before `valid_to`. What it rests on has changed at `doubted_at`; the
    person was asked about it at `asked_at`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    text: str
    fact_type: FactType = "fact"
    key: str | None = None
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    source_type: SourceType = "manual"
    source_id: str | None = None
    session_id: str | None = None
    summary_text: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = Field(default_factory=dict)
    private: bool = False
    slot: str | None = None
    quote: str | None = None
    said_at: AwareDatetime | None = None
    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None
    doubted_at: AwareDatetime | None = None
    asked_at: AwareDatetime | None = None
    status: Status = "active"
    superseded_by: str | None = None
    expires_at: AwareDatetime | None = None
    access_count: int = 0
    last_accessed: AwareDatetime | None = None
    created_at: AwareDatetime
    updated_at: AwareDatetime
    revision: int = 1


class Memory(MemoryContent):
    """One thing known about one owner."""

    owner: OwnerKey

    @property
    def is_by_operator(self) -> bool:
        """Tell whether an operator wrote it, not the person."""
        return self.source_type == "manual" and (self.source_id or "").startswith(OPERATOR)

    @property
    def told_at(self) -> datetime:
        """Return when the person said it, else when it was stored: by this facts are older and newer."""
        return self.said_at or self.created_at

    @property
    def over_at(self) -> datetime | None:
        """Return when it was corrected, forgotten or archived; None while it holds or waits."""
        if self.status in LIVE:
            return None
        return (self.valid_to if self.status == "superseded" else None) or self.updated_at

    def has_expired(self, at: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= at

    def cells(self) -> Cells:
        return {
            "memory": self.text,
            "status": self.status,
            "told": self.told_at,
            "id": self.id,
        }

    def _repr_html_(self) -> str:
        return card("A memory", self.cells())

    def __eq__(self, other: object) -> bool:
        """Compare as memories: what writing one did, as Remembered says, is no part of it."""
        return isinstance(other, Memory) and all(
            getattr(self, name) == getattr(other, name) for name in Memory.model_fields
        )

    __hash__ = None  # type: ignore[assignment] # metadata is a dict


class Remembered(Memory):
    """The memory that a fact ended in, and what writing it did.

    `stored`: it is new. `duplicate`: it was there, or was corrected or forgotten after it was said: nothing was stored.
    `superseded`: it took the place of others. `pending`: it waits for the person's word. `changed`: it was there, and
    says something else now. `concerned` are the ids of the memories that it replaced, or would replace; of a fact that
    was said before what is known, which is stored as history, the one that is newer.
    """

    outcome: Outcome
    concerned: tuple[str, ...] = ()

    def cells(self) -> Cells:
        return {"outcome": self.outcome, **super().cells()}

    @property
    def memory(self) -> Memory:
        """Return the memory as it is stored."""
        return Memory(**{name: getattr(self, name) for name in Memory.model_fields})


class EntryFields(TypedDict, total=False):
    """The fields of an entry of a session besides its text and its summary."""

    fact_type: FactType
    key: str | None
    confidence: float
    source_type: SourceType
    source_id: str | None
    category: str | None
    tags: Sequence[str]
    metadata: dict[str, Any]
    private: bool
    slot: str | None
    quote: str | None
    said_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    status: Literal["pending", "active"]
    expires_at: datetime | None


class MemoryFields(EntryFields, total=False):
    """The fields that can be given for a memory besides its text."""

    session_id: str | None
    summary_text: str | None


class MemoryChanges(MemoryFields, total=False):
    """The fields of a memory that may change; a new text is embedded anew."""

    text: str


@dataclass(frozen=True)
class Filter:
    """The rule for which memories may answer; applied before the best are chosen, so it never costs results.

    An empty field asks nothing. Any of the types, categories, sessions and sources will do; all of the tags must be
    there. Categories and tags are meant in any case, a category with all below it. `created_after` is inclusive,
    `created_before` is not.
    """

    fact_types: Sequence[FactType] = ()
    categories: Sequence[str] = ()
    tags: Sequence[str] = ()
    sessions: Sequence[str] = ()
    sources: Sequence[SourceType] = ()
    private: bool | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None

    def __post_init__(self) -> None:
        for instant in (self.created_after, self.created_before):
            if instant is not None and instant.tzinfo is None:
                raise InvalidInput("a date to filter by needs a time zone")
        if max(map(len, (self.fact_types, self.categories, self.tags, self.sessions))) > _MOST_WANTED:
            raise InvalidInput(
                f"a filter names at most {_MOST_WANTED} types, categories, tags or sessions: ask in parts"
            )


EVERYTHING = Filter()


@dataclass(frozen=True)
class Found:
    """A memory that answers a query.

    `similarity` in [0, 1] says how surely it is about the query and is what bounds compare with; `score`
    orders the results of one query and means nothing across queries; `signals` found it.
    """

    memory: Memory
    score: float
    similarity: float
    match_type: MatchType
    signals: dict[str, float] = field(default_factory=dict)

    def cells(self) -> Cells:
        by = ", ".join(f"{name} {value:.2f}" for name, value in self.signals.items())
        return {**self.memory.cells(), "similarity": self.similarity, "found by": by}


def worded(text: str) -> str:
    """Return the text without the space around it. Raises InvalidInput when nothing is left or it cannot be stored."""
    if not isinstance(text, str) or not text.strip():  # None comes from models that were asked for a text
        raise InvalidInput("a memory needs a text: pass a string that is not blank")
    if storable(text) != text:
        raise InvalidInput("the text holds a NUL or half a character, which no database stores")
    return text.strip()


def storable(text: str) -> str:
    """Return the text without NULs, and with a question mark for each half of a character."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


@cached_if_short(_KEPT, LONGEST_KEPT)
def bare(text: str) -> str:
    """Return the text as it is compared for saying the same: what stands around a sentence does not count either."""
    return plain(text).strip(" .!,;:\"'“”«»…")


def as_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags as they are kept and compared: plain, each once, in the order given."""
    return tuple(dict.fromkeys(tag for tag in map(plain, tags) if tag))


def plain(text: str) -> str:
    """Return the text as it is compared for being the same: case, spacing and Unicode forms do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
