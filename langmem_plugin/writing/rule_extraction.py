"""Facts by rules alone: offline, with no model and no key."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from langmem_plugin.facts import Statement, classify
from langmem_plugin.writing.extracted_fact import ExtractedFact
from langmem_plugin.writing.own_words import Said


class ReadsStatements(Protocol):
    """What a text states; `said_at` is what its "yesterday" is counted from."""

    def __call__(self, text: str, *, said_at: datetime) -> Sequence[Statement]: ...


class RuleExtraction:
    def __init__(self, statements: ReadsStatements) -> None:
        self._statements = statements

    def facts_in(self, said: tuple[Said, ...]) -> list[ExtractedFact]:
        return [
            ExtractedFact.of(statement, each)
            for each in said
            for statement in self._statements(each.text, said_at=each.said_at)
        ]

    def close(self) -> None:
        """There is nothing to wait for."""


Gate = Callable[[Said], bool]
"""Whether a message may hold anything worth remembering: asked before a model is."""


def may_hold_a_fact(said: Said) -> bool:
    """By rules; what answers a question is read together with it."""
    return classify(said.text, asked=said.before if "?" in said.before else None).should_store
