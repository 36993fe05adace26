"""Decide how a new fact changes known ones: it joins, replaces or ends them, or repeats one. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from langmem_plugin.facts import Relation, Statement, another_subject, cannot_repeat, relation
from langmem_plugin.facts.sensitive import is_sensitive
from langmem_plugin.facts.standing_orders import instruction_in
from langmem_plugin.memory.models import Memory, bare
from langmem_plugin.memory.pairs.judgement import Known, judged

_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Stated:
    """A memory, stored or about to be, and what it states; one that nobody knows the date of is older than all."""

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
    """`same` is what says it already: then nothing is stored. Else it replaces `over`, the oldest first, unless it was
    said before `newer`: then it is history at once. What it replaces only if the person says so is `in_question`: until
    then it waits.
    """

    same: Stated | None = None
    over: tuple[Stated, ...] = ()
    newer: Stated | None = None
    in_question: tuple[Stated, ...] = ()


def decided(new: Stated, held: Iterable[Stated], found: Mapping[str, Relation] | None = None) -> Decision:
    """Decide by what was said, and by when it was said: not by when it was stored.

    What a key names is replaced through its key alone. Losing a fact is the worst error: where nothing tells, both
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
    """As the rules say; the same words under the same key are the same whatever they say."""
    if new.memory.key != old.memory.key:
        return Relation("unrelated", "another key")
    if bare(new.memory.text) == bare(old.memory.text):
        return Relation("duplicate", "the same words")
    if new.memory.key is not None:
        return Relation("keeps_both", "the same key")
    return relation(new.statement, old.statement)


def weighed(new: Stated, held: Sequence[Stated]) -> dict[str, Relation]:
    """The relation of `new` to each memory, by id: as the rules say, and where they are not sure the most likely.

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
    known = [Known(each.statement, found[memory_id]) for memory_id, each in candidates.items()]
    for memory_id, likely in zip(candidates, judged(new.statement, known), strict=True):
        if likely != found[memory_id] and not _instructs(new, candidates[memory_id]):
            found[memory_id] = likely
    return found


def _instructs(*facts: Stated) -> bool:
    return any(instruction_in(each.memory.text) is not None for each in facts)


def contradict(one: Stated, other: Stated) -> bool:
    """True where the two cannot be remembered beside each other, whichever was said first."""
    return any(related(*pair).kind in ("duplicate", "supersedes") for pair in ((one, other), (other, one)))


def _of_same_words(new: Stated, old: Stated) -> bool:
    """True where both come from the same words of one message: a model that reads it again words the fact anew."""
    one, other = new.memory, old.memory
    if one.source_id is None or one.source_id != other.source_id or not one.quote or not other.quote:
        return False
    ours, theirs = bare(one.quote), bare(other.quote)
    return ours in theirs or (theirs in ours and one.slot is not None and one.slot == other.slot)


def _surer(one: Stated | None, other: Stated) -> Stated:
    """An active one goes before what waits for the person's word, and before what is over."""
    if one is None or one.over_at is not None:
        return other
    return other if (one.memory.status, other.memory.status) == ("pending", "active") else one


_MOST_REPLACED = 3  # a fact that ends more than these is asked about


@dataclass(frozen=True)
class Advice:
    """Ids of memories: the one that says the same, or those that hold no more since the fact was said; may be empty."""

    same_as: str | None = None
    replaces: tuple[str, ...] = ()

    @property
    def memory_ids(self) -> tuple[str, ...]:
        return self.replaces if self.same_as is None else (self.same_as, *self.replaces)


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
