"""Facts read by rules alone: offline, with no model and no key."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from langmem_plugin.facts import Statement
from langmem_plugin.writing.extracted_fact import ExtractedFact
from langmem_plugin.writing.own_words import Said


class ReadsStatements(Protocol):
    """The reader of statements in a text; its "yesterday" is counted from `said_at`."""

    def __call__(self, text: str, *, said_at: datetime) -> Sequence[Statement]: ...


class RuleExtraction:
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
