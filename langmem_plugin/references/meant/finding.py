"""What some words were found to mean, by which evidence, before it is handed out as references."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from langmem_plugin.references.meant.confidence import DOUBTED, SURE, claimed, confidence
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.shown_list import ShownList


@dataclass(frozen=True, eq=False)
class Finding:
    """Some words, the entries they mean, why, and the list they were found in."""

    entries: list[ItemEntry]
    words: str
    reason: str
    sort: str
    listed: ShownList | None = None
    part: str | None = None
    evidence: Mapping[str, float] = field(default_factory=dict)
    confirmed: bool = False
    """A model, asked on its own, meant the same."""

    @property
    def confidence(self) -> float:
        fitted = confidence(self.sort, self.evidence)
        if self.evidence.get("doubt"):
            fitted = min(fitted, DOUBTED)
        return max(fitted, SURE) if self.confirmed else fitted

    @property
    def claimed(self) -> bool:
        """Whether it is sure enough to be said."""
        return claimed(self.sort, self.evidence)


@dataclass(frozen=True, eq=False)
class Unclear:
    """Entries that are equally meant, to be asked about; `beside` says that another may be named as well."""

    entries: list[ItemEntry]
    beside: bool = False


@dataclass(frozen=True, eq=False)
class Decision:
    """Everything an utterance was found to mean; or `unclear`, the entries to be asked about; or the words
    that point at nothing (`unresolved`); or nothing.
    """

    findings: list[Finding] = field(default_factory=list)
    unclear: list[ItemEntry] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)

    @property
    def entries(self) -> list[ItemEntry]:
        return [entry for finding in self.findings for entry in finding.entries]
