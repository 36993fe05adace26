"""What a model makes of a new fact where the rules cannot tell, and how far it is followed. No I/O.

A model may be wrong, or be talked into something by a text that it reads. So it never speaks against the rules, names
only what it was shown, and takes nothing away that could not be had back: what is replaced is kept as history.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from langmem_plugin.facts import another_subject, cannot_repeat
from langmem_plugin.facts.sensitive import is_sensitive
from langmem_plugin.facts.standing_orders import instruction_in
from langmem_plugin.memory.reconciliation import Decision, Stated

_MOST_REPLACED = 3  # a fact that ends more than these is asked about


@dataclass(frozen=True)
class Advice:
    """By ids of memories: which one says the same, or which hold no more since the fact was said; neither if empty."""

    same_as: str | None = None
    replaces: tuple[str, ...] = ()

    @property
    def memory_ids(self) -> tuple[str, ...]:
        return self.replaces if self.same_as is None else (self.same_as, *self.replaces)


def advised(new: Stated, decision: Decision, held: Iterable[Stated], advice: Advice) -> Decision:
    """What the rules have decided stays. Else the advice counts, on memories as they are now and have no key."""
    if decision != Decision() or new.memory.key is not None:
        return decision
    there = {each.memory.id: each for each in held if each.memory.key is None and each.memory.id != new.memory.id}
    same = there.get(advice.same_as) if advice.same_as is not None else None
    if same is not None and _repeats(new, same):
        return Decision(same)
    replaced = tuple(
        each
        for memory_id in dict.fromkeys(advice.replaces)
        if (each := there.get(memory_id)) is not None
        and each.memory.status == "active"
        and not another_subject(new.statement, each.statement)
    )
    if not replaced:
        return decision
    replaced = tuple(sorted(replaced, key=lambda each: each.said_at))
    if len(replaced) <= _MOST_REPLACED and all(_may_replace(new, each) for each in replaced):
        return Decision(over=replaced)
    return Decision(in_question=replaced)


def _repeats(new: Stated, old: Stated) -> bool:
    """Also what was corrected or forgotten since it was said: that does not come back in other words."""
    if cannot_repeat(new.statement, old.statement):
        return False
    return old.memory.status == "active" or (old.over_at is not None and new.said_at < old.over_at)


def _may_replace(new: Stated, old: Stated) -> bool:
    """Without asking the person: what was said later, surely, and is neither sensitive nor an instruction."""
    return (
        new.memory.status == "active"
        and old.said_at < new.said_at
        and not any(
            each.memory.private or is_sensitive(each.memory.text) or instruction_in(each.memory.text) is not None
            for each in (new, old)
        )
    )
