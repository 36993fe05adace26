"""The attributes that facts are about: which of them hold one value at a time, and the kind of memory they make."""

import json
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Final, Literal

from langmem_plugin.languages.language_words import words

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


@dataclass(frozen=True)
class Attribute:
    """The traits of an attribute; `single` says that only one value can hold at a time."""

    single: bool
    fact_type: FactType
    category: str
    sensitive: bool = False


ATTRIBUTES: Final = {
    name: Attribute(key == "single", row["type"], row["category"], row.get("sensitive", False))
    for row in json.loads(files(__package__).joinpath("attributes.json").read_text("utf-8"))
    for key in ("single", "several")
    for name in row.get(key, "").split("|")
    if name
}
ALIKE: Final = json.loads(files(__package__).joinpath("attribute_relations.json").read_text("utf-8"))
GROUPS: Final = {name: words(cell) for name, cell in ALIKE["groups"].items()}
"""Attributes and roles that the rules treat alike, by what is common to them."""
ENDS: Final = {
    event: {attribute: words(cell) for attributes, cell in ended.items() for attribute in attributes.split("|")}
    for event, ended in ALIKE["ends"].items()
}
"""The attributes that each event ends, and the values where not all of them."""
NAMED_IN: Final = {event: ended.keys() | words(ALIKE["told_with"].get(event, "")) for event, ended in ENDS.items()}
"""The attributes that people name as they tell an event: "I broke up with my boyfriend", "I had a daughter"."""
_OTHER: Final = Attribute(True, "fact", "other")


def attribute_of(name: str) -> Attribute:
    """Return the traits of an attribute; one that is not in the table holds a single value ("favorite
    color", "locker").
    """
    if name.startswith("favorite ") or name.endswith(" preference"):
        return Attribute(True, "preference", "taste")
    return ATTRIBUTES.get(name, _OTHER)
