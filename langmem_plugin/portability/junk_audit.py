"""Looks at memories of other products before they count: which are known, and which doubtful and why. No I/O."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from langmem_plugin.facts import classify
from langmem_plugin.memory.models import LIVE, Memory, bare
from langmem_plugin.memory.write.decisions import Decision, decided
from langmem_plugin.memory.write.reconciler import HeldFacts, stated

_PASSING = ("Temporary", "Question", "Joke", "Automated", "No words")  # with which `classify` begins its reasons


@dataclass(frozen=True, slots=True)
class Finding:
    """`known` is nothing to be asked about: storing it would only double what is there."""

    kind: Literal["known", "doubtful"]
    reason: str


class JunkAudit:
    """Of the memories of one person, in the order they come; what `accept` took is what later ones are weighed against.

    `held` is what is stored, `assistant_said` what the assistant said, as `bare` has it.
    """

    def __init__(self, held: HeldFacts, assistant_said: Collection[str], now: datetime) -> None:
        self._held = held
        self._assistant_said = assistant_said
        self._now = now

    def accept(self, memory: Memory) -> None:
        self._held.add(stated(memory))

    def finding(self, memory: Memory, *, said_by_assistant: bool = False) -> Finding | None:
        """None for a memory that may count; of what its source has as history only a repetition is found."""
        fact = stated(memory)
        decision = decided(fact, self._held.concerning(fact))
        if decision.same is not None:
            return Finding("known", f"it says what memory {decision.same.memory.id} says")
        doubt = self._doubt(memory, decision, said_by_assistant) if memory.status in LIVE else None
        return None if doubt is None else Finding("doubtful", doubt)

    def _doubt(self, memory: Memory, decision: Decision, said_by_assistant: bool) -> str | None:
        """The first that speaks against it."""
        evidence = memory.source_type in ("manual", "command") or _has_evidence(memory)
        passing = _passing(memory.text) if memory.key is None else None
        is_assistants = said_by_assistant or bare(memory.text) in self._assistant_said
        is_over = memory.expires_at is not None and memory.expires_at <= self._now
        against = (
            is_assistants and "these are the assistant's own words",
            is_over and "its time is over",
            passing and f"it is nothing that lasts: {passing}",
            decision.newer and f"memory {decision.newer.memory.id} is newer and contradicts it",
            decision.over and f"it contradicts memory {decision.over[-1].memory.id}",
            not evidence and "nothing says when or in which words it was told",
        )
        return next((each for each in against if each), None)


def _passing(text: str) -> str | None:
    found = classify(text)
    return found.reason if not found.should_store and found.reason.startswith(_PASSING) else None


def _has_evidence(memory: Memory) -> bool:
    return any((memory.quote, memory.said_at, memory.session_id, memory.source_id))
