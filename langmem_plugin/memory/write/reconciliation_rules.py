"""Rules of reconciliation: decide by the rules of `facts`, else by both texts' words, between new and known facts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from langmem_plugin.facts import Relation, Statement, another_subject, cannot_repeat, relation, statement_of
from langmem_plugin.facts.instruction_recognition import instruction_in
from langmem_plugin.facts.sensitive_facts import is_sensitive
from langmem_plugin.languages.text_normalization import LONGEST_KEPT
from langmem_plugin.lru_cache import cached_if_short
from langmem_plugin.memory.keep.memory_repository import Advice
from langmem_plugin.memory.memory_types import Memory, bare
from langmem_plugin.memory.write.repeats_and_changes_by_words import doubted, judged

_KEPT_STATEMENTS: Final = 16_384
_EVER = datetime.min.replace(tzinfo=UTC)
_MOST_REPLACED = 3  # a fact that ends more than these is asked about


@dataclass(frozen=True)
class Stated:
    """A memory, stored or about to be, and what it states; one without a known date is older than all."""

    memory: Memory
    statement: Statement
    undated: bool = False

    @property
    def said_at(self) -> datetime:
        return _EVER if self.undated else self.memory.told_at

    @property
    def over_at(self) -> datetime | None:
        return self.memory.over_at


@dataclass(frozen=True)
class Decision:
    """The decision on one fact.

    `same` is what says it already: then nothing is stored. Else it replaces `over`, the oldest first, unless it was
    said before `newer`: then it is history at once. What it replaces only if the person says so is `in_question`:
    until then it waits.
    """

    same: Stated | None = None
    over: tuple[Stated, ...] = ()
    newer: Stated | None = None
    in_question: tuple[Stated, ...] = ()


def decided(new: Stated, held: Iterable[Stated], found: Mapping[str, Relation] | None = None) -> Decision:
    """Decide by what was said, and by when it was said, not by when it was stored.

    A memory with a key is replaced through its key alone. Losing a fact is the worst error: where nothing tells, both
    stay. `found` are the relations to some memories, by id, where they are known; else it is as the rules say.
    """
    found = found or {}
    over: list[Stated] = []
    newer: list[Stated] = []
    same: Stated | None = None
    for each in held:
        if each.memory.id == new.memory.id:
            continue
        kind, over_at = (found.get(each.memory.id) or related(new, each)).kind, each.over_at
        if kind == "duplicate" and over_at is None:
            same = _surer(same, each)
        elif over_at is not None and new.said_at < over_at and (kind == "duplicate" or _of_same_words(new, each)):
            # What was corrected or forgotten does not come back with what was said before.
            same = same or each
        elif kind == "supersedes" and over_at is None:
            (over if each.said_at <= new.said_at else newer).append(each)
    if same is not None:
        return Decision(same)
    if newer:
        return Decision(newer=max(newer, key=lambda each: each.said_at))
    return Decision(over=tuple(sorted(over, key=lambda each: each.said_at)))


def related(new: Stated, old: Stated) -> Relation:
    """Return the relation by the rules; the same words under the same key are the same whatever they say."""
    if new.memory.key != old.memory.key:
        return Relation("unrelated", "another key")
    if bare(new.memory.text) == bare(old.memory.text):
        return Relation("duplicate", "the same words")
    if new.memory.key is not None:
        return Relation("keeps_both", "the same key")
    return doubted(new.statement, old.statement, relation(new.statement, old.statement))


def weighed(new: Stated, held: Sequence[Stated]) -> dict[str, Relation]:
    """Return the relation of `new` to each memory, by id: as the rules say, and where they are not sure
    the most likely.

    Most likely is judged of what is remembered without a key, holds, was said before and is no instruction.
    """
    found = {each.memory.id: related(new, each) for each in held if each.memory.id != new.memory.id}
    candidates = {
        each.memory.id: each
        for each in held
        if each.memory.id in found
        and each.memory.key is None
        and each.memory.status == "active"
        and each.said_at <= new.said_at
    }
    if new.memory.key is not None or any(found[each].kind == "duplicate" for each in found.keys() - candidates.keys()):
        return found
    # Of those that are as likely the one told first is meant.
    candidates = dict(sorted(candidates.items(), key=lambda one: one[1].said_at))
    rules = [found[memory_id] for memory_id in candidates]
    told = [each.statement for each in candidates.values()]
    for memory_id, likely in zip(candidates, judged(new.statement, told, rules), strict=True):
        if likely != found[memory_id] and not _instructs(new, candidates[memory_id]):
            found[memory_id] = likely
    return found


def _instructs(*facts: Stated) -> bool:
    return any(instruction_in(each.memory.text) is not None for each in facts)


def contradict(one: Stated, other: Stated) -> bool:
    """Tell whether the two cannot be remembered beside each other, whichever was said first."""
    return any(related(*pair).kind in ("duplicate", "supersedes") for pair in ((one, other), (other, one)))


def _of_same_words(new: Stated, old: Stated) -> bool:
    """Tell whether both come from the same words of one message: a model that reads it again words the fact anew."""
    one, other = new.memory, old.memory
    if one.source_id is None or one.source_id != other.source_id or not one.quote or not other.quote:
        return False
    ours, theirs = bare(one.quote), bare(other.quote)
    return ours in theirs or (theirs in ours and one.slot is not None and one.slot == other.slot)


def _surer(one: Stated | None, other: Stated) -> Stated:
    """Return the surer one: an active one before one that waits for the person's word, and that before
    one that is over.
    """
    if one is None or one.over_at is not None:
        return other
    return other if (one.memory.status, other.memory.status) == ("pending", "active") else one


def advised(new: Stated, decision: Decision, held: Iterable[Stated], advice: Advice) -> Decision:
    """Follow advice where the rules decided nothing: on memories without a key, as they are now."""
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
    """Tell whether the fact repeats; also what was corrected or forgotten since: that does not come
    back in other words.
    """
    if cannot_repeat(new.statement, old.statement):
        return False
    return old.memory.status == "active" or (old.over_at is not None and new.said_at < old.over_at)


def _may_replace(new: Stated, old: Stated) -> bool:
    """Tell whether the fact may replace without asking: said later, surely, and neither sensitive
    nor an instruction.
    """
    return (
        new.memory.status == "active"
        and old.said_at < new.said_at
        and not _instructs(new, old)
        and not any(each.memory.private or is_sensitive(each.memory.text) for each in (new, old))
    )


def stated(memory: Memory) -> Stated:
    return Stated(memory, _statement_of(memory.text, memory.told_at))


def statement_in(text: str, fields: Mapping[str, Any], now: datetime) -> Statement:
    """Return what a text states that is about to be remembered with these fields."""
    return _statement_of(text, fields.get("said_at") or fields.get("created_at") or now)


@cached_if_short(_KEPT_STATEMENTS, LONGEST_KEPT)
def _statement_of(text: str, said_at: datetime) -> Statement:
    return statement_of(text, said_at)
