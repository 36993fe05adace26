"""What some words were found to mean, before it is handed out as references."""

from dataclasses import dataclass, field, replace

from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.shown_list import ShownList


@dataclass(frozen=True, eq=False)
class Finding:
    """Some words, the entries they mean, why, and the list they were found in; `part` is the field that is asked for."""

    entries: list[ItemEntry]
    words: str
    reason: str
    sort: str
    listed: ShownList | None = None
    part: str | None = None

    def of(self, entries: list[ItemEntry]) -> "Finding":
        """The same of some of its entries."""
        return replace(self, entries=entries)


@dataclass(frozen=True, eq=False)
class Decision:
    """Everything an utterance was found to mean; or `unclear`, the entries that are equally meant; or the words that
    point at nothing shown (`unresolved`); or nothing.
    """

    findings: list[Finding] = field(default_factory=list)
    unclear: list[ItemEntry] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)

    @property
    def entries(self) -> list[ItemEntry]:
        return [entry for finding in self.findings for entry in finding.entries]
