"""The report of an import: how much was stored or there already, and what was left out or doubted, with the reason."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from pydantic import ValidationError

Kind = Literal[
    "session", "message", "file", "memory", "category", "instruction", "alias", "said elsewhere", "use", "identifier",
    "merge", "settings", "consent", "verdicts", "extraction", "incoming", "question",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Remark:
    """`place` is the record's number or its file and line."""

    place: str
    reason: str


@dataclass(slots=True)
class ImportReport:
    """Counted by kind. `doubted` was stored to be confirmed, or left out, as was asked for; `skipped` could not be."""

    stored: Counter[Kind] = field(default_factory=Counter)
    there_already: Counter[Kind] = field(default_factory=Counter)
    skipped: list[Remark] = field(default_factory=list)
    doubted: list[Remark] = field(default_factory=list)
    erased: int = 0
    """How many of `skipped` are of people who asked to be erased."""

    def skip(self, place: str, reason: str) -> None:
        self.skipped.append(Remark(place, reason))

    def leave_erased(self, place: str) -> None:
        self.erased += 1
        self.skip(place, "they asked to be erased: it stays so")

    def doubt(self, place: str, reason: str) -> None:
        self.doubted.append(Remark(place, reason))


def first_error(error: ValidationError) -> str:
    """Says what is wrong with a record, in one line and without what it holds."""
    found = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, found['loc'])) or 'the record'}: {found['msg']}"
