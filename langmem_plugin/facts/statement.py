"""A fact that somebody stated: about whom, which attribute, which value, in which words."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

FactType = Literal[
    "preference", "decision", "relationship", "project", "company", "personal", "strategic", "fact", "note"
]


@dataclass(frozen=True)
class Slot:
    """The place that a fact gives a value for. Two facts of equal slots are about the same thing.

    `who` is "self" or a person or thing in plain form ("daughter mia", "testcorp"); `attribute` a noun ("home", "age",
    "allergy"); `single` where only one value can hold at a time.
    """

    who: str
    attribute: str
    single: bool

    @property
    def key(self) -> str:
        """Return the slot's key as a memory keeps it."""
        return f"{self.who}/{self.attribute}"


@dataclass(frozen=True)
class Statement:
    """A fact that somebody stated.

    `text` is the fact as it is remembered, short and with no third person; `quote` the verbatim words it is from.
    `negated` says that it is not so, `over` that it was so and is no more. `confidence` in [0, 1] is how surely it was
    stated; it holds from `valid_from` until before `valid_to`, where that was said. `instead_of` is the value that it
    corrects, where that was said too ("Dana, not Dina"). `also` are the other facts of a text of several.
    """

    text: str
    quote: str
    slot: Slot | None = None
    value: str | None = None
    negated: bool = False
    over: bool = False
    fact_type: FactType = "fact"
    confidence: float = 1.0
    sensitive: bool = False
    category: str | None = None
    tags: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    instead_of: str | None = None
    also: "tuple[Statement, ...]" = ()
