"""What some words were found to mean, by which evidence, before it is handed out as references."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from langmem_plugin.references.meant.confidence import claimed
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
    confidence: float = 0.0
    """The chance that it is right, in [0, 1], once its evidence was weighed."""

    @property
    def claimed(self) -> bool:
        """Whether it is sure enough to be said."""
        return claimed(self.sort, self.confidence)


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
