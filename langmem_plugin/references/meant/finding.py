"""What some words were found to mean, by which evidence, before it is handed out as references."""

from dataclasses import dataclass, field

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


@dataclass(frozen=True, eq=False)
class Finding:
    """Some words, the entries they mean, why, and the list they were found in."""

    entries: list[ItemEntry]
    words: str
    reason: str
    sort: str
    listed: ShownList | None = None
    part: str | None = None

    @property
    def confidence(self) -> float:
        return CONFIDENCE[self.sort]


@dataclass(frozen=True, eq=False)
class Unclear:
    """Entries that are equally meant, to be asked about."""

    entries: list[ItemEntry]


@dataclass(frozen=True, eq=False)
class Decision:
    """Everything an utterance was found to mean; or `unclear`, the entries to be asked about; or nothing."""

    findings: list[Finding] = field(default_factory=list)
    unclear: list[ItemEntry] = field(default_factory=list)

    @property
    def entries(self) -> list[ItemEntry]:
        return [entry for finding in self.findings for entry in finding.entries]
