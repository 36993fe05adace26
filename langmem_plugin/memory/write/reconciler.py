"""Store new facts beside those that are there: find what each concerns, and write what was decided."""

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory_owner
from langmem_plugin.errors import MemoryNotFound
from langmem_plugin.facts import (
    Relation,
    Slot,
    Statement,
    alike_slots,
    another_subject,
    cannot_repeat,
    relation,
    resting_on,
    statement_of,
)
from langmem_plugin.facts.sensitive import is_sensitive
from langmem_plugin.facts.standing_orders import instruction_in
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.languages.plain_text import LONGEST_KEPT
from langmem_plugin.lru import cached_if_short
from langmem_plugin.memory.embedding.embedder import Embedder, Vector
from langmem_plugin.memory.find.fact_ranking import Meaning, Query
from langmem_plugin.memory.find.fact_search import Ask, FactSearch
from langmem_plugin.memory.keep.repository import MOST_OF_A_SLOT, Advice, MemoryRepository, NewMemory
from langmem_plugin.memory.keep.rows import begin_change
from langmem_plugin.memory.models import EVERYTHING, LIVE, WOULD_REPLACE, Memory, Outcome, Remembered, Status, bare
from langmem_plugin.memory.write.likely_changes import Known, doubted, judged

_EVER = datetime.min.replace(tzinfo=UTC)


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
    known = [Known(each.statement, found[memory_id]) for memory_id, each in candidates.items()]
    for memory_id, likely in zip(candidates, judged(new.statement, known), strict=True):
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


_MOST_REPLACED = 3  # a fact that ends more than these is asked about


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
        and not any(
            each.memory.private or is_sensitive(each.memory.text) or instruction_in(each.memory.text) is not None
            for each in (new, old)
        )
    )


WEIGHED: tuple[Status, ...] = (*LIVE, "superseded", "forgotten")
_NEAREST = 5  # memories that share words with a fact: other things that it may concern than its slot's
_KEPT_STATEMENTS = 4_096
_NO_VECTOR = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True)
class Related:
    """A memory that a text concerns: `kind` as in facts.Relation, `reason` in words, `similarity` in [0, 1]."""

    memory: Memory
    kind: str
    reason: str
    similarity: float


class Reconciler:
    """The weighing of a new fact against known ones, found by words and slot; rules decide, and weights where
    they are not sure.

    Memories that share words with it are looked for before the transaction, as a hint; what is decided upon is read in
    it. So of two who write at once the second sees what the first has written.
    """

    def __init__(
        self,
        database: Database,
        repository: MemoryRepository,
        search: FactSearch,
        embedder: Embedder,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._repository = repository
        self._search = search
        self._embedder = embedder
        self._now = now

    def nearest(self, owner: OwnerKey, news: Sequence[NewMemory]) -> list[list[str]]:
        """Return, for each fact, the ids of the memories that may concern it. Call this outside of a transaction."""
        with self._database.read() as connection:
            if connection.execute(select(memory_owner.c.owner).where(memory_owner.c.owner == owner)).first() is None:
                return [[] for _ in news]
            return self._search.ids_by_words(connection, owner, [self._query(new.text) for new in news])

    def store(
        self, connection: Connection, owner: OwnerKey, news: Sequence[NewMemory], nearest: Sequence[Sequence[str]]
    ) -> list[Remembered]:
        """Store each of `news`; return the memory that it ended in and what happened, in order."""
        now = self._now()
        drafts = [self._draft(owner, new, now) for new in news]
        begin_change(connection, owner, 0)  # others who write now wait, and then see what was decided here
        advice = [new.advice for new in news]
        hinted = [(*hints, *(each.memory_ids if each else ())) for hints, each in zip(nearest, advice, strict=True)]
        held = self._held(connection, owner, drafts, hinted, now)
        results: list[tuple[Stated, Decision]] = []
        for number, hints in enumerate(nearest):
            draft, told = drafts[number], advice[number]
            decision = self._weighed(draft, held.concerning(draft, hints), held.concerning(draft))
            if told is not None:
                decision = advised(draft, decision, held.concerning(draft, hinted[number]), told)
            if decision.in_question:
                drafts[number] = draft = _waiting(draft, decision.in_question)
            if decision.same is None and decision.newer is None:  # what is history at once takes nobody's place
                held.add(draft)
            if draft.memory.status != "pending":
                held.drop(decision.over)
            results.append((draft, decision))
        kept = [(new, draft) for new, (draft, decision) in zip(news, results, strict=True) if decision.same is None]
        made = self._repository.insert(connection, owner, [(draft.memory, new.vector) for new, draft in kept])
        stored = {id(draft): each for (_, draft), each in zip(kept, made, strict=True)}
        return [self._finished(connection, draft, decision, stored, now) for draft, decision in results]

    def replace(self, connection: Connection, owner: OwnerKey, memory_id: str, new: NewMemory) -> Remembered:
        """Store `new` in place of this memory, whatever the rules say; the time when it was said still counts.

        A text that was corrected or forgotten since takes nobody's place, and one that was said before this memory is
        its history. Raises MemoryNotFound.
        """
        now = self._now()
        [made] = self.store(connection, owner, [new], [[]])
        if made.id == memory_id or memory_id in made.concerned:
            return made
        old = self._repository.by_id(connection, owner, memory_id)
        if old is None or old.status not in LIVE:
            raise MemoryNotFound(f"there is no memory {memory_id} to replace: list the memories for their ids")
        if made.over_at is not None:
            return made
        if made.status == "pending":  # in its place once it is confirmed
            noted = {**made.metadata, WOULD_REPLACE: [*made.metadata.get(WOULD_REPLACE, ()), memory_id]}
            waits = self._repository.change(connection, owner, made.id, {"metadata": noted}, now=now)
            return remembered(waits, "pending", (*made.concerned, memory_id))
        if made.told_at < old.told_at and old.status == "active" and made.outcome == "stored":
            return remembered(self._over(connection, made.memory, old, now), "stored", (memory_id,))
        self._over(connection, old, made.memory, now)
        return remembered(made.memory, "superseded", (*made.concerned, memory_id))

    def kept_as_history(self, connection: Connection, held: Memory) -> Memory:
        """Keep the old text of a memory as history, under an id of its own, before the memory gets another text."""
        over = {"status": "superseded", "superseded_by": held.id, "valid_to": held.valid_to or self._now()}
        old = held.model_copy(update={"id": str(uuid.uuid4()), **over})
        return self._repository.insert(connection, held.owner, [(old, None)], "memory.superseded")[0]

    def confirmed(self, connection: Connection, memory: Memory, *, when_asked: bool = True) -> Remembered:
        """Replace the memories that a confirmed one contradicts; those noted as in question only `when_asked`."""
        now = self._now()
        fact = stated(memory)
        # The person says so now, whatever was corrected or forgotten before; what they said later holds.
        decision = decided(fact, self._live_beside(connection, fact, now))
        if decision.same is not None:  # the fact is known: the older memory stays
            over = self._over(connection, memory, decision.same.memory, now)
            return remembered(over, "duplicate", (decision.same.memory.id,))
        if when_asked and decision.newer is None:
            known = {each.memory.id for each in decision.over}
            asked = [stated(each) for each in self.would_replace(connection, memory) if each.id not in known]
            decision = replace(decision, over=(*decision.over, *asked))
        return self._finished(connection, fact, decision, {}, now)

    def rewritten(
        self,
        connection: Connection,
        held: Memory,
        changes: dict[str, Any],
        *,
        vector: Vector | None,
        revision: int | None,
    ) -> Remembered:
        """Put a memory's text right; return it with what it replaces. The old text is kept as history."""
        now = self._now()
        read = _statement_of(changes["text"], now)
        slot = {"slot": read.slot.key if read.slot else None, "valid_from": read.valid_from, "valid_to": read.valid_to}
        changed = self._repository.change(
            connection, held.owner, held.id, slot | changes, now=now, vector=vector, revision=revision
        )
        old = self.kept_as_history(connection, held)
        made = self.confirmed(connection, changed, when_asked=False)
        return made if made.id != held.id else remembered(made.memory, "changed", (old.id, *made.concerned))

    def would_replace(self, connection: Connection, memory: Memory) -> list[Memory]:
        """Return the memories in whose place one that waits is when it is confirmed, as was noted with it."""
        noted = memory.metadata.get(WOULD_REPLACE)
        memory_ids = [each for each in noted if isinstance(each, str)] if isinstance(noted, list) else []
        found = self._repository.by_ids(connection, memory.owner, memory_ids) if memory_ids else []
        return [each for each in found if each.status == "active" and each.key is None and each.id != memory.id]

    def restored(self, connection: Connection, memory: Memory) -> None:
        """Replace the memories that contradict or repeat one that holds again after it was over."""
        now = self._now()
        fact = stated(memory)
        for each in self._live_beside(connection, fact, now):
            if each.memory.id != memory.id and contradict(fact, each):
                self._over(connection, each.memory, memory, now, until=now)

    def is_replaced(self, connection: Connection, memory: Memory) -> bool:
        """Tell whether a memory said later, or one that says the same, stands in its place."""
        fact = stated(memory)
        decision = decided(fact, self._live_beside(connection, fact, self._now()))
        return decision.newer is not None or decision.same is not None

    def over(self, owner: OwnerKey, text: str) -> Memory | None:
        """Return the corrected or forgotten memory that says the same as `text`, unless the same is remembered."""
        now = self._now()
        draft = self._draft(owner, NewMemory(text, _NO_VECTOR, {}, undated=True), now)
        with self._database.read() as connection:
            held = self._held(connection, owner, [draft], [[]], now)
        same = decided(draft, held.concerning(draft, ())).same
        return None if same is None or same.over_at is None else same.memory

    def store_entry(self, connection: Connection, owner: OwnerKey, new: NewMemory) -> Memory:
        """Store `new` also where the same is there.

        A text that was corrected or forgotten since it was said is stored as corrected or forgotten.
        """
        now = self._now()
        draft = self._draft(owner, new, now)
        begin_change(connection, owner, 0)
        held = self._held(connection, owner, [draft], [[]], now).concerning(draft, ())
        decision = decided(draft, held)
        [made] = self._repository.insert(connection, owner, [(draft.memory, new.vector)])
        same = decision.same
        if same is not None and same.over_at is not None:
            changes = {"status": same.memory.status, "superseded_by": same.memory.superseded_by}
            return self._repository.change(connection, owner, made.id, changes, now=now)
        if same is not None:
            return made
        return self._finished(connection, draft, decision, {id(draft): made}, now).memory

    def related(self, owner: OwnerKey, text: str, vector: Vector, *, limit: int) -> list[Related]:
        """Return the memories that `text` concerns, the surest first."""
        now = self._now()
        draft = self._draft(owner, NewMemory(text, vector, {}), now)
        meaning = Meaning(vector, self._embedder.calibration) if self._embedder.understands(text) else None
        ask = Ask(owner, self._query(text, meaning), None, at_hand=True)
        with self._database.read() as connection:
            found = {each.memory.id: each.similarity for each in self._search.found(connection, ask)}
            held = self._held(connection, owner, [draft], [list(found)], now).concerning(draft, list(found))
        candidates = []
        found_of = weighed(draft, held)
        for each in held:
            if each.over_at is None:
                said = found_of[each.memory.id]
                similarity = 1.0 if said.kind == "duplicate" else found.get(each.memory.id, 0.0)
                candidates.append(Related(each.memory, said.kind, said.reason, similarity))
        order = ("duplicate", "supersedes", "keeps_both", "unrelated")
        return sorted(candidates, key=lambda each: (order.index(each.kind), -each.similarity))[:limit]

    def _live_beside(self, connection: Connection, fact: Stated, now: datetime) -> list[Stated]:
        held = self._held(connection, fact.memory.owner, [fact], [[]], now)
        return [each for each in held.concerning(fact, ()) if each.over_at is None]

    def _weighed(self, draft: Stated, held: Sequence[Stated], of_its_slot: Sequence[Stated]) -> Decision:
        """Decide on a draft. What a waiting one will replace is found again by slot when it is confirmed, where a
        rule says so; all else is noted with it.
        """
        found = weighed(draft, held)
        decision = decided(draft, held, found)
        if draft.memory.status != "pending":
            return decision
        found_again = [each for each in of_its_slot if related(draft, each).kind == "supersedes"]
        sure = tuple(each for each in decision.over if each in found_again)
        noted = tuple(each for each in decision.over if each not in found_again)
        return replace(decision, over=sure, in_question=noted)

    def _query(self, text: str, meaning: Meaning | None = None) -> Query:
        """Return a query by words alone, unless the meaning is given: a memory without a shared word is
        never decided upon.
        """
        return Query(text, meaning, "hybrid" if meaning else "text", _NEAREST, 0.0, EVERYTHING, self._now())

    def _draft(self, owner: OwnerKey, new: NewMemory, now: datetime) -> Stated:
        statement = _statement_of(new.text, new.fields.get("said_at") or new.fields.get("created_at") or now)
        read = {
            "slot": statement.slot.key if statement.slot else None,
            "valid_from": statement.valid_from,
            "valid_to": statement.valid_to,
        }
        fields = {name: value for name, value in read.items() if value is not None} | dict(new.fields)
        return Stated(self._repository.draft(owner, new.text, fields, now=now), statement, undated=new.undated)

    def _held(
        self,
        connection: Connection,
        owner: OwnerKey,
        drafts: Sequence[Stated],
        nearest: Sequence[Sequence[str]],
        now: datetime,
    ) -> "HeldFacts":
        memory_ids = {each for hints in nearest for each in hints}
        memory_ids |= self._repository.ids_of_same(
            connection, owner, [(each.memory.text, each.memory.key) for each in drafts], WEIGHED, now=now
        )
        memory_ids |= self._repository.ids_of_messages(
            connection, owner, {(each.memory.session_id, each.memory.source_id) for each in drafts}
        )
        slots = {slot for each in drafts for slot in _slots(each)}
        memory_ids |= self._repository.ids_of_slots(connection, owner, slots, WEIGHED, now=now)
        found = self._repository.by_ids(connection, owner, list(memory_ids))
        return HeldFacts([stated(each) for each in found if each.status in WEIGHED])

    def _finished(
        self,
        connection: Connection,
        draft: Stated,
        decision: Decision,
        stored: Mapping[int, Memory],
        now: datetime,
    ) -> Remembered:
        """Write what was decided. `stored` are the memories of drafts, as they have got into the database."""

        def as_stored(each: Stated) -> Memory:
            return stored.get(id(each), each.memory)

        if decision.same is not None:
            return self._said_again(connection, draft.memory, as_stored(decision.same), now)
        made = as_stored(draft)
        over = [as_stored(each) for each in decision.over]
        concerned = tuple(each.id for each in over)
        if made.status == "pending":
            return remembered(made, "pending", (*concerned, *(as_stored(each).id for each in decision.in_question)))
        if decision.newer is not None:
            newer = as_stored(decision.newer)
            return remembered(self._over(connection, made, newer, now), "stored", (newer.id,))
        for each in over:
            is_earlier = made.told_at < each.told_at  # the person has said that it holds instead
            self._over(connection, each, made, now, until=now if is_earlier else None)
        if draft.statement.slot is not None and (over or made.valid_from is not None):
            self._doubt(connection, made, draft.statement.slot, now)
        return remembered(made, "superseded" if over else "stored", concerned)

    def _said_again(self, connection: Connection, draft: Memory, same: Memory, now: datetime) -> Remembered:
        """Confirm a memory that waited and is now said outright; one in doubt is in doubt no more."""
        if same.status == "pending" and draft.status == "active":
            active = self._repository.change(connection, same.owner, same.id, {"status": "active"}, now=now)
            return self.confirmed(connection, active, when_asked=False)
        if same.doubted_at is not None and same.status == "active":
            same = self._repository.change(connection, same.owner, same.id, {"doubted_at": None}, now=now)
        return remembered(same, "duplicate")

    def _over(
        self, connection: Connection, old: Memory, by: Memory, now: datetime, *, until: datetime | None = None
    ) -> Memory:
        until = until or by.valid_from or by.told_at
        changes = {"status": "superseded", "superseded_by": by.id, "valid_to": old.valid_to or until}
        return self._repository.change(connection, old.owner, old.id, changes, now=now)

    def _doubt(self, connection: Connection, ground: Memory, slot: Slot, now: datetime) -> None:
        """Put facts in doubt that rest on another one which has changed."""
        resting = resting_on(slot)
        if not resting:
            return
        changed_at = ground.valid_from or ground.told_at
        for each in self._repository.slotted(connection, ground.owner, resting, valid_at=now):
            if each.id != ground.id and each.told_at < changed_at and each.doubted_at is None:
                changes = {"doubted_at": now, "asked_at": None}
                self._repository.change(connection, ground.owner, each.id, changes, now=now)


class HeldFacts:
    """The known facts that new ones are weighed against, found again by words, slot and id."""

    def __init__(self, held: Sequence[Stated]) -> None:
        self._of: defaultdict[tuple[str, str], list[Stated]] = defaultdict(list)
        for each in held:
            self.add(each)

    def add(self, fact: Stated) -> None:
        for name in _names(fact):
            self._of[name].append(fact)

    def drop(self, over: Sequence[Stated]) -> None:
        for each in over:
            for name in _names(each):
                self._of[name] = [other for other in self._of[name] if other is not each]

    def concerning(self, draft: Stated, hints: Sequence[str] = ()) -> list[Stated]:
        names = [*_names(draft), *(("id", each) for each in hints)]
        found = (each for name in names for each in self._of.get(name, ())[-MOST_OF_A_SLOT:])
        return list({id(each): each for each in found}.values())


def _names(fact: Stated) -> list[tuple[str, str]]:
    memory = fact.memory
    names = [("id", memory.id), ("text", f"{memory.key or ''}\n{bare(memory.text)}")]
    if memory.source_id is not None:
        names.append(("message", memory.source_id))
    slots = _slots(fact)
    names += (("slot", slot) for slot in slots)
    return [*names, *(("attribute", each) for each in {slot.partition("/")[2] for slot in slots})]


def _slots(fact: Stated) -> set[str]:
    """Return the slot that a memory has, those of all that its text states, and those that can say the same thing."""
    statement = fact.statement
    told = {each.slot.key for each in (statement, *statement.also) if each.slot is not None}
    held = told if fact.memory.slot is None else {*told, fact.memory.slot}
    return {other for slot in held for other in alike_slots(slot)}


def _waiting(fact: Stated, in_question: Sequence[Stated]) -> Stated:
    """Return the memory, waiting for the person's word on whether it takes the place of these."""
    noted = {**fact.memory.metadata, WOULD_REPLACE: [each.memory.id for each in in_question]}
    return replace(fact, memory=fact.memory.model_copy(update={"status": "pending", "metadata": noted}))


def stated(memory: Memory) -> Stated:
    return Stated(memory, _statement_of(memory.text, memory.told_at))


@cached_if_short(_KEPT_STATEMENTS, LONGEST_KEPT)
def _statement_of(text: str, said_at: datetime) -> Statement:
    return statement_of(text, said_at)


def remembered(memory: Memory, outcome: Outcome, concerned: tuple[str, ...] = ()) -> Remembered:
    as_it_is = {name: getattr(memory, name) for name in Memory.model_fields}
    return Remembered(**as_it_is, outcome=outcome, concerned=concerned)
