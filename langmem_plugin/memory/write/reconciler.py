"""Store new facts beside those that are there: find what each concerns, and write what was decided."""

import contextlib
import itertools
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory as table
from langmem_plugin.database.owners_and_erasures import owner_key
from langmem_plugin.errors import MemoryNotFound
from langmem_plugin.facts import (
    Slot,
    alike_slots,
    resting_on,
    subjects,
)
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.find.corpus_cache import Corpus
from langmem_plugin.memory.find.fact_search import FactSearch, entry_of, sharing_words
from langmem_plugin.memory.keep.changes_and_checksums import begin_change, owned
from langmem_plugin.memory.keep.memory_repository import MOST_OF_A_SLOT, MemoryRepository, NewMemory
from langmem_plugin.memory.keep.vectors import Vector
from langmem_plugin.memory.memory_types import LIVE, WOULD_REPLACE, Memory, Outcome, Remembered, bare, worded
from langmem_plugin.memory.write.reconciliation_rules import (
    Decision,
    Stated,
    advised,
    contradict,
    decided,
    related,
    stated,
    statement_in,
    weighed,
)

_NEAREST = 5  # memories that share words with a fact: other things that it may concern than its slot's
_NO_VECTOR = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True)
class Related:
    """A memory that a text concerns: `kind` as in facts.Relation, `reason` in words."""

    memory: Memory
    kind: str
    reason: str


class Reconciler:
    """The weighing of a new fact against known ones, found by words and slot.

    Rules decide; where they are not sure, the words that both have.

    Memories that share words with it are looked for before the transaction, as a hint; what is decided upon is read in
    it. So of two who write at once the second sees what the first has written.
    """

    def __init__(
        self,
        database: Database,
        repository: MemoryRepository,
        search: FactSearch,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._repository = repository
        self._search = search
        self._now = now

    def nearest(self, owner: OwnerKey, news: Sequence[NewMemory]) -> list[str]:
        """Return the ids of the memories that may concern a new one. Call this outside of a transaction.

        For several, whose decisions change what is known, they are found in it, and only what that needs is read now.
        """
        with self._database.read() as connection, self._search.corpora.corpus(connection, owner) as words:
            return sharing_words(words, news[0].text, _NEAREST, self._now()) if len(news) == 1 else []

    def store(
        self, connection: Connection, owner: OwnerKey, news: Sequence[NewMemory], nearest: Sequence[str] = ()
    ) -> list[Remembered]:
        """Store each of `news`; return the memory that it ended in and what happened, in order, as if each were stored
        alone. `nearest` is for a single one. What is searched has to be forgotten where the transaction is given up.
        """
        now = self._now()
        drafts = [self._draft(owner, new, now) for new in news]
        begin_change(connection, owner, 0)  # others who write now wait, and then see what was decided here
        advice = [new.advice.memory_ids if new.advice else () for new in news]
        held = self._held(connection, owner, drafts, {*nearest, *itertools.chain(*advice)}, now)
        results: list[tuple[Stated, Decision]] = []
        with contextlib.ExitStack() as searched:
            words = searched.enter_context(self._search.corpora.corpus(connection, owner)) if len(news) > 1 else None
            for new, draft, advised_on in zip(news, drafts, advice, strict=True):
                hints = nearest if words is None else sharing_words(words, new.text, _NEAREST, now)
                held.add(self._of_ids(connection, owner, held.unknown(hints), now))
                decision = self._weighed(draft, held, hints)
                if new.advice is not None:
                    decision = advised(draft, decision, held.concerning(draft, (*hints, *advised_on)), new.advice)
                if decision.in_question:
                    draft = _waiting(draft, decision.in_question)  # noqa: PLW2901
                _note(held, draft, decision, words, now)
                results.append((draft, decision))
        kept = [(new, draft) for new, (draft, decision) in zip(news, results, strict=True) if decision.same is None]
        made = self._repository.insert(connection, owner, [(draft.memory, new.vector) for new, draft in kept])
        stored = {id(draft): each for (_, draft), each in zip(kept, made, strict=True)}
        if any(draft.memory.id != each.id for (_, draft), each in zip(kept, made, strict=True)):
            self._search.corpora.forget(owner)  # some are stored under another id than they were searched by
        return [self._finished(connection, draft, decision, stored, now) for draft, decision in results]

    def replace(self, connection: Connection, owner: OwnerKey, memory_id: str, new: NewMemory) -> Remembered:
        """Store `new` in place of this memory, whatever the rules say; the time when it was said still counts.

        A text that was corrected or forgotten since takes nobody's place, and one that was said before this memory is
        its history. Raises MemoryNotFound.
        """
        now = self._now()
        [made] = self.store(connection, owner, [new])
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
        read = statement_in(changes["text"], {}, now)
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

    def instead_of(self, memory: Memory) -> Memory | None:
        """Return the memory in place of one that was corrected, where that is known and holds."""
        with self._database.read() as connection:
            return self._repository.instead_of(connection, memory)

    def over(self, owner: str | int, text: str) -> Memory | None:
        """Return the corrected or forgotten memory that says the same as `text`; None where that is remembered."""
        owner, now = owner_key(self._database, owner), self._now()
        draft = self._draft(owner, NewMemory(worded(text), _NO_VECTOR, {}, undated=True), now)
        with self._database.read() as connection:
            held = self._held(connection, owner, [draft], (), now)
        same = decided(draft, held.concerning(draft, ())).same
        return None if same is None or same.over_at is None else same.memory

    def store_entry(self, connection: Connection, owner: OwnerKey, new: NewMemory) -> Memory:
        """Store `new` also where the same is there.

        A text that was corrected or forgotten since it was said is stored as corrected or forgotten.
        """
        number, _ = begin_change(connection, owner, 0)
        [made] = self.store(connection, owner, [new])
        if not owned(connection, owner, table.c.memory_id, [made.id], table.c.position <= number):
            return made.memory
        is_over = made.status not in LIVE and not made.concerned
        state = {"status": made.status, "superseded_by": made.superseded_by} if is_over else {}
        entry = self._draft(owner, new, self._now()).memory.model_copy(update=state)
        return self._repository.insert(connection, owner, [(entry, new.vector)])[0]

    def related(self, owner: str | int, text: str, *, limit: int = 5) -> list[Related]:
        """Return the memories that a text concerns, the surest first, with what remembering it would do to each and
        why; stores nothing.
        """
        owner, now = owner_key(self._database, owner), self._now()
        new = NewMemory(worded(text), _NO_VECTOR, {})
        draft, nearest = self._draft(owner, new, now), self.nearest(owner, [new])
        with self._database.read() as connection:
            held = self._held(connection, owner, [draft], nearest, now).concerning(draft, nearest)
        found = weighed(draft, held)
        said = ((each.memory, found[each.memory.id]) for each in held if each.over_at is None)
        order = ("duplicate", "supersedes", "keeps_both", "unrelated")
        candidates = [Related(memory, relation.kind, relation.reason) for memory, relation in said]
        return sorted(candidates, key=lambda each: order.index(each.kind))[:limit]

    def _live_beside(self, connection: Connection, fact: Stated, now: datetime) -> list[Stated]:
        held = self._held(connection, fact.memory.owner, [fact], (), now)
        return [each for each in held.concerning(fact, ()) if each.over_at is None]

    def _weighed(self, draft: Stated, held: "HeldFacts", hints: Sequence[str]) -> Decision:
        """Decide on a draft. What a waiting one will replace is found again by slot when it is confirmed, where a
        rule says so; all else is noted with it.
        """
        concerned = held.concerning(draft, hints)
        found = weighed(draft, concerned)
        decision = decided(draft, concerned, found)
        if draft.memory.status != "pending":
            return decision
        found_again = [each for each in held.concerning(draft) if related(draft, each).kind == "supersedes"]
        sure = tuple(each for each in decision.over if each in found_again)
        noted = tuple(each for each in decision.over if each not in found_again)
        return replace(decision, over=sure, in_question=noted)

    def _draft(self, owner: OwnerKey, new: NewMemory, now: datetime) -> Stated:
        statement = new.statement or statement_in(new.text, new.fields, now)
        read = {
            "slot": statement.slot.key if statement.slot else None,
            "valid_from": statement.valid_from,
            "valid_to": statement.valid_to,
        }
        fields = {name: value for name, value in read.items() if value is not None} | dict(new.fields)
        return Stated(self._repository.draft(owner, new.text, fields, now=now), statement, undated=new.undated)

    def _held(
        self, connection: Connection, owner: OwnerKey, drafts: Sequence[Stated], hints: Iterable[str], now: datetime
    ) -> "HeldFacts":
        texts = [(each.memory.text, each.memory.key) for each in drafts]
        memory_ids = self._repository.ids_of_same(connection, owner, texts)
        memory_ids |= self._repository.ids_of_messages(
            connection, owner, {(each.memory.session_id, each.memory.source_id) for each in drafts}
        )
        slots = {slot for each in drafts for slot in _slots(each)}
        said_at = min((each.said_at for each in drafts), default=now)
        of_slots = self._repository.ids_of_slots(connection, owner, slots, said_at=said_at, now=now)
        memory_ids.update(hints)
        held = HeldFacts()
        held.add(self._of_ids(connection, owner, [*(memory_ids - of_slots.keys()), *of_slots], now))
        return held

    def _of_ids(
        self, connection: Connection, owner: OwnerKey, memory_ids: Sequence[str], now: datetime
    ) -> Iterator[Stated]:
        for each in self._repository.by_ids(connection, owner, memory_ids):
            if each.status != "archived" and not each.has_expired(now):
                yield stated(each)

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
            self._over(connection, each, made, now, until=_until(each, made, now))
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
        return self._repository.change(connection, old.owner, old.id, _as_over(old, by, until), now=now)

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

    def __init__(self) -> None:
        self._of: defaultdict[tuple[str, str], dict[str, Stated]] = defaultdict(dict)

    def add(self, facts: Iterable[Stated]) -> None:
        """Add facts, the newest last; one of the same id takes the place of the other."""
        for fact in facts:
            for name in _names(fact):
                self._of[name][fact.memory.id] = fact

    def unknown(self, memory_ids: Sequence[str]) -> list[str]:
        return [each for each in memory_ids if ("id", each) not in self._of]

    def concerning(self, draft: Stated, hints: Sequence[str] = ()) -> list[Stated]:
        """Return the facts that may concern the draft: of very many of one name the newest, and of those that are over
        only what was so when it was said.
        """
        names = [*_names(draft), *(("id", each) for each in hints)]
        found = (
            each
            for name in names
            for each in itertools.islice(reversed(self._of.get(name, {}).values()), MOST_OF_A_SLOT)
            if each.over_at is None or draft.said_at < each.over_at
        )
        return list({id(each): each for each in found}.values())


def _names(fact: Stated) -> list[tuple[str, str]]:
    memory = fact.memory
    names = [("id", memory.id), ("text", f"{memory.key or ''}\n{bare(memory.text)}")]
    if memory.source_id is not None:
        names.append(("message", memory.source_id))
    slots = _slots(fact)
    names += (("slot", slot) for slot in slots)
    for who, _, attribute in (slot.partition("/") for slot in slots):
        names += (("attribute", f"{each}/{attribute}") for each in subjects(who))
    return names


def _slots(fact: Stated) -> set[str]:
    """Return the slot that a memory has, those of all that its text states, and those that can say the same thing."""
    statement = fact.statement
    told = {each.slot.key for each in (statement, *statement.also) if each.slot is not None}
    held = told if fact.memory.slot is None else {*told, fact.memory.slot}
    return {other for slot in held for other in alike_slots(slot)}


def _note(held: HeldFacts, draft: Stated, decision: Decision, words: Corpus | None, now: datetime) -> None:
    """Note what was decided on a draft, before it is written, for those that come after it."""
    memory = draft.memory
    if decision.newer is not None and memory.status != "pending":  # it takes nobody's place
        held.add([replace(draft, memory=memory.model_copy(update=_as_over(memory, decision.newer.memory)))])
    elif decision.same is None:
        held.add([draft])
        if words is not None and memory.status == "active":
            words.put(entry_of(memory))
    for each in decision.over if memory.status != "pending" else ():
        over = _as_over(each.memory, memory, _until(each.memory, memory, now))
        held.add([replace(each, memory=each.memory.model_copy(update=over))])
        if words is not None:
            words.drop(each.memory.id)


def _until(old: Memory, by: Memory, now: datetime) -> datetime | None:
    """Return when `old` ended where it was said after `by`: the person has said now that this holds instead."""
    return now if by.told_at < old.told_at else None


def _as_over(old: Memory, by: Memory, until: datetime | None = None) -> dict[str, Any]:
    ended = old.valid_to or until or by.valid_from or by.told_at
    return {"status": "superseded", "superseded_by": by.id, "valid_to": ended}


def _waiting(fact: Stated, in_question: Sequence[Stated]) -> Stated:
    """Return the memory, waiting for the person's word on whether it takes the place of these."""
    noted = {**fact.memory.metadata, WOULD_REPLACE: [each.memory.id for each in in_question]}
    return replace(fact, memory=fact.memory.model_copy(update={"status": "pending", "metadata": noted}))


def remembered(memory: Memory, outcome: Outcome, concerned: tuple[str, ...] = ()) -> Remembered:
    as_it_is = {name: getattr(memory, name) for name in Memory.model_fields}
    return Remembered(**as_it_is, outcome=outcome, concerned=concerned)
