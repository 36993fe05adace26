"""What some words were found to mean, before it is handed out as references."""

from dataclasses import dataclass, field

from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.shown_list import ShownList

CONFIDENCE = {
    "number": 0.95,
    "ordinal": 0.97,
    "exclusion": 0.95,
    "group": 0.9,
    "comparison": 0.92,
    "name": 0.97,
    "part of name": 0.85,
    "value": 0.85,
    "type": 0.9,
    "pointing": 0.92,
    "part": 0.9,
    "other": 0.85,
    "asked": 0.9,
    "agreed": 0.88,
    "chosen": 0.9,
    "perhaps chosen": 0.75,
    "older": 0.7,
}
"""Share of right answers by sort of evidence, as `benchmarks/references.py` measures it (rounded down)."""


@dataclass
class Meaning:
    """Some words, the entries they mean and why."""

    entries: list[ItemEntry]
    words: str
    reason: str
    sort: str
    view: ShownList | None = None
    part: str | None = None

    @property
    def confidence(self) -> float:
        return CONFIDENCE[self.sort]


@dataclass
class Decision:
    """Everything an utterance was found to mean. `equal` holds entries that are equally meant, to be asked
    about.
    """

    meanings: list[Meaning] = field(default_factory=list)
    equal: list[ItemEntry] = field(default_factory=list)
    phrases: list[Phrase] = field(default_factory=list)
    rejected: bool = False
