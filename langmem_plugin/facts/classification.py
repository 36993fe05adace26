"""Whether a text is worth storing at all, and as what: by rules, before any model is asked."""

from dataclasses import dataclass

from datetime import UTC, datetime

from langmem_plugin.facts.extraction import statements
from langmem_plugin.facts.statement import FactType

_NO_DAY = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Classification:
    """`key` and `value` as a memory by name keeps them; `reason` a sentence."""

    should_store: bool
    reason: str
    fact_type: FactType | None = None
    key: str | None = None
    value: str | None = None


def classify(text: str, *, asked: str | None = None) -> Classification:
    found = statements(text, said_at=_NO_DAY)
    return Classification(bool(found), "states a fact" if found else "states no fact")
