"""A fact that was read in somebody's words and is not stored yet, and how far it can be trusted."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from langmem_plugin.facts import FactType, Statement
from langmem_plugin.facts.guards import doubted, sensitive_beyond, unbelieved
from langmem_plugin.facts.negation_and_modality import Claim, Stated
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.logs import event_log
from langmem_plugin.memory.keep.memory_repository import Advice
from langmem_plugin.memory.memory_types import MemoryFields, storable
from langmem_plugin.writing.extraction_input import Said

log = event_log(__name__)

SURE = 0.8
"""A fact with less confidence than this waits for the person's word."""
_DOUBTED = 0.6


class ExtractedFact(BaseModel):
    """A fact as a job keeps it between reading and storing; `advice` is set once a model was asked what it does
    to what is known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    owner: OwnerKey
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
    advice: Advice | None = None

    @classmethod
    def believed(
        cls, statement: Statement, said: Said, *, about: str = "self", heard: str = ""
    ) -> "ExtractedFact | None":
        """Return the fact with the confidence that the guards leave it, whoever read it; None where they
        do not believe it.

        `about` is whom a statement without a slot is about, and `heard` what else its names may be from.
        """
        about_speaker = (about if statement.slot is None else statement.slot.who) in ("self", "")
        stated = Stated(Claim(statement.text, statement.quote, about_speaker), said.text)
        why_not = unbelieved(stated, said.said_at.date(), heard=f"{said.before} {heard}", following=said.following)
        if why_not is not None:
            log.info("extraction.not_believed", extra={"reason": why_not})
            return None
        doubt = doubted(stated)
        if doubt is not None:
            log.info("extraction.doubted", extra={"reason": doubt})
        return cls(
            owner=said.owner,
            text=storable(statement.text),
            quote=storable(statement.quote),
            source_id=said.message_id,
            said_at=said.said_at,
            slot=None if statement.slot is None else statement.slot.key,
            fact_type=statement.fact_type,
            confidence=statement.confidence if doubt is None else min(statement.confidence, _DOUBTED),
            sensitive=sensitive_beyond(statement.text, statement.quote, statement.sensitive),
            category=statement.category,
            tags=statement.tags,
            valid_from=statement.valid_from,
            valid_to=statement.valid_to,
        )

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> "ExtractedFact":
        return cls.model_validate(kept)

    def kept(self) -> dict[str, Any]:
        """Return the fact as JSON."""
        return self.model_dump(mode="json", exclude_none=True)

    def fields(self, session_id: str) -> MemoryFields:
        """Return the fields for MemoryService.remember."""
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
    """A reader of facts in what one person said. It may raise whatever its model raises: then it is
    tried again later.
    """

    def facts_in(self, said: tuple[Said, ...]) -> list[ExtractedFact]:
        """Extract facts from messages of one owner, in the order they were said."""
        ...

    def close(self) -> None:
        """Stop waiting for any answer."""
        ...


class ReadsStatements(Protocol):
    """The reader of statements in a text; its "yesterday" is counted from `said_at`."""

    def __call__(self, text: str, *, said_at: datetime) -> Sequence[Statement]: ...


class RuleExtraction:
    """The reader by rules alone: offline, with no model and no key."""

    def __init__(self, statements: ReadsStatements) -> None:
        self._statements = statements

    def facts_in(self, said: tuple[Said, ...]) -> list[ExtractedFact]:
        return [
            fact
            for each in said
            for statement in self._statements(each.text, said_at=each.said_at)
            if (fact := ExtractedFact.believed(statement, each)) is not None
        ]

    def close(self) -> None:
        """Do nothing: there is nothing to wait for."""
