"""A fact that was read in somebody's words and is not stored yet, and how far it can be trusted."""

from collections.abc import Mapping
from typing import Any, Protocol

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from langmem_plugin.facts import FactType, Statement
from langmem_plugin.memory.models import MemoryFields, storable
from langmem_plugin.writing.own_words import Said

SURE = 0.8
"""What is less sure than this waits for the person's word."""

_FORWARDED = 0.5
_FORWARD_MARKS = ("forwarded message", "mensaje reenviado", "reenviado", "הודעה שהועברה", "הועבר")


class ExtractedFact(BaseModel):
    """As a job keeps it between reading and storing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    owner: str
    text: str
    quote: str
    source_id: str
    said_at: AwareDatetime
    slot: str | None = None
    fact_type: FactType = "fact"
    confidence: float = Field(ge=0.0, le=1.0)
    sensitive: bool = False
    category: str | None = None
    tags: tuple[str, ...] = ()
    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None

    @classmethod
    def of(cls, statement: Statement, said: Said) -> "ExtractedFact":
        """It is trusted no more than the least sure of what it was made from."""
        return cls(
            owner=said.owner,
            text=storable(statement.text),
            quote=storable(statement.quote),
            source_id=said.message_id,
            said_at=said.said_at,
            slot=None if statement.slot is None else statement.slot.key,
            fact_type=statement.fact_type,
            confidence=min(statement.confidence, trust_in(said, statement.quote)),
            sensitive=statement.sensitive,
            category=statement.category,
            tags=statement.tags,
            valid_from=statement.valid_from,
            valid_to=statement.valid_to,
        )

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> "ExtractedFact":
        return cls.model_validate(kept)

    def kept(self) -> dict[str, Any]:
        """As JSON holds it."""
        return self.model_dump(mode="json")

    def fields(self, session_id: str) -> MemoryFields:
        """For MemoryService.remember."""
        return MemoryFields(
            fact_type=self.fact_type,
            confidence=self.confidence,
            source_type="extracted_from_chat",
            source_id=self.source_id,
            session_id=session_id,
            category=self.category,
            tags=self.tags,
            private=self.sensitive,
            slot=self.slot,
            quote=self.quote,
            said_at=self.said_at,
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            status="active" if self.confidence >= SURE else "pending",
        )


class Extractor(Protocol):
    """Reads facts in what one person said. May raise whatever its model raises: then it is tried again later."""

    def facts_in(self, said: tuple[Said, ...]) -> list[ExtractedFact]:
        """Of messages of one owner, in the order they were said."""
        ...

    def close(self) -> None:
        """Nothing is waited for any more."""
        ...


def trust_in(said: Said, quote: str) -> float:
    """In words that are somebody else's less than in the person's own: what was forwarded, or is quoted by lines."""
    if said.forwarded:
        return _FORWARDED
    is_forwarded = False
    quoted = " ".join(quote.split())
    for line in said.text.splitlines():
        words = " ".join(line.lstrip("> \t").split())
        is_forwarded = is_forwarded or (any(mark in line.casefold() for mark in _FORWARD_MARKS) and len(words) <= _MARK)
        others = is_forwarded or line.lstrip().startswith(">")
        if others and words and (words in quoted or quoted in words):
            return _FORWARDED
    return 1.0


_MARK = 60  # letters of a line that says no more than that what follows was forwarded
