"""Memories in the database: every statement names the owner, every write is conditional."""

import heapq
import operator
import re
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    true,
    update,
)

from langmem_plugin.database.audit_recording import Done, record, record_all
from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.prepared_statements import Prepared
from langmem_plugin.database.schema import in_parts, insert_new
from langmem_plugin.errors import DamagedMemory, MemoryNotFound, StaleMemory
from langmem_plugin.facts import Statement, subjects
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep.changes_and_checksums import (
    Damages,
    Names,
    as_stored,
    begin_change,
    begin_removal,
    blinded_slot,
    is_any,
    owned,
    states_of,
)
from langmem_plugin.memory.keep.memory_filters import matching
from langmem_plugin.memory.keep.memory_row_mapping import (
    STORED,
    as_memory,
    as_values,
    checked,
    corrected,
    digest_of,
    valid,
    validated,
)
from langmem_plugin.memory.keep.vectors import StoredVectors, Vector, compared
from langmem_plugin.memory.memory_types import EVERYTHING, LIVE, Filter, Memory, Status, plain

_MOST_UNASKED = 5
_EVIDENCE = {"quote": None, "session_id": None, "source_id": None, "source_type": "manual"}
_MOST_OVER = 200  # number of memories compared with what was said
MOST_OF_A_SLOT = 100  # number of memories weighed against a new fact
_MOST_FORGOTTEN = 100  # number of memories looked at to take the last one back


_FIRST_STORED = (memory.c.created_at, memory.c.position)
_LAST_STORED = tuple(each.desc() for each in _FIRST_STORED)
_LAST_CHANGED = (memory.c.change.desc(),)
_IS_UNASKED = and_(
    memory.c.asked_at.is_(None),
    or_(memory.c.status == "pending", and_(memory.c.status == "active", memory.c.doubted_at.is_not(None))),
)
_BECAME: Mapping[Status, str] = {
    "superseded": "memory.superseded",
    "archived": "memory.archived",
    "forgotten": "memory.forgotten",
}
_LIKE, _ESCAPED = re.compile(r"([%_\\])"), r"\\\1"


@dataclass(frozen=True)
class Advice:
    """Ids of memories: the one that says the same, or those that hold no more since the fact was said; may be empty."""

    same_as: str | None = None
    replaces: tuple[str, ...] = ()

    @property
    def memory_ids(self) -> tuple[str, ...]:
        return self.replaces if self.same_as is None else (self.same_as, *self.replaces)


@dataclass(frozen=True)
class NewMemory:
    """A memory ready to be stored; `fields` as in MemoryFields. `undated`: nobody knows when it was said.

    `advice` is what a model makes of it beside what is stored; `statement` what it states, where that was read before.
    """

    text: str
    vector: Vector
    fields: Mapping[str, Any]
    undated: bool = False
    advice: Advice | None = None
    statement: Statement | None = None


class MemoryRepository:
    """The memories in one database. The caller opens the connection, and so decides what is one write."""

    def __init__(self, vectors: StoredVectors, damages: Damages) -> None:
        self._vectors = vectors
        self._damages = damages

    def draft(self, owner: OwnerKey, text: str, fields: Mapping[str, Any], *, now: datetime) -> Memory:
        """Return a memory that is not stored yet. Raises InvalidInput for a wrong field."""
        made = {"id": str(uuid.uuid4()), "owner": owner, "text": text, "created_at": now, "updated_at": now}
        return validated(made | checked(fields))

    def create_memory(self, connection: Connection, owner: OwnerKey, new: NewMemory, *, now: datetime) -> Memory:
        """Store `new`, whether or not the owner has the same text already."""
        return self.insert(connection, owner, [(self.draft(owner, new.text, new.fields, now=now), new.vector)])[0]

    def insert(
        self,
        connection: Connection,
        owner: OwnerKey,
        drafts: Sequence[tuple[Memory, Vector | None]],
        noted: str | None = "memory.stored",
    ) -> list[Memory]:
        """Store the drafts in order, under another id where one is taken; one without a vector is embedded later."""
        if not drafts:
            return []
        number, salt = begin_change(connection, owner, len(drafts))
        first, encryption = number + 1 - len(drafts), encryption_of(connection)

        def values(at: int, each: Memory) -> dict[str, Any]:
            digest = digest_of(encryption, owner, salt, each.text, each.key)
            return {"change": first + at, "position": first + at, "text_digest": digest, **as_values(each, encryption)}

        made = insert_new(
            connection,
            memory,
            [draft for draft, _ in drafts],
            values,
            lambda each: each.model_copy(update={"id": str(uuid.uuid4())}),
        )
        vectors = [(each.id, vector) for each, (_, vector) in zip(made, drafts, strict=True) if vector is not None]
        if vectors:
            self._vectors.put(connection, owner, vectors)
        if noted is not None:
            record_all(connection, [Done(noted, owner, each.id, each.text) for each in made])
        return made

    def change(
        self,
        connection: Connection,
        owner: OwnerKey,
        memory_id: str,
        changes: Mapping[str, Any],
        *,
        now: datetime,
        revision: int | None = None,
        statuses: Sequence[Status] = LIVE,
        vector: Vector | None = None,
    ) -> Memory:
        """Write `changes` if the memory is in one of `statuses` and, where given, still at `revision`.

        Raises MemoryNotFound or StaleMemory, and then nothing is written.
        """
        number, salt = begin_change(connection, owner)
        before = self.by_id(connection, owner, memory_id)
        if before is None:
            self.refuse_damaged(connection, owner, [memory_id])
        if before is None or before.status not in statuses:
            raise MemoryNotFound(f"there is no memory {memory_id} to change: list the memories for their ids")
        if revision is not None and before.revision != revision:
            raise StaleMemory(f"memory {memory_id} has changed since revision {revision}: read it again")
        after = validated(before.model_dump() | checked(changes) | {"revision": before.revision + 1, "updated_at": now})
        if after.text != before.text:
            rewritten: dict[str, Any] = {"metadata": corrected(after.metadata, after.text)}
            if plain(after.text) != plain(before.text):  # evidence of the old text is no evidence of the new one
                rewritten |= {name: none for name, none in _EVIDENCE.items() if name not in changes}
            after = after.model_copy(update=rewritten)
        encryption = encryption_of(connection)
        digest = digest_of(encryption, owner, salt, after.text, after.key)
        _CHANGE.run(connection, {"change": number, "text_digest": digest, **as_values(after, encryption)})
        if vector is not None:
            self._vectors.put(connection, owner, [(memory_id, vector)])
        record(connection, _what_was_done(before, after), owner=owner, subject=memory_id, content=after.text)
        return after

    def touch(
        self, connection: Connection, owner: OwnerKey, memory_ids: Sequence[str], *, now: datetime
    ) -> dict[str, int]:
        """Count one use of each memory that is active; return how often each was used. Nothing else changes."""
        active = (memory.c.owner == owner, is_any(memory.c.memory_id, memory_ids), memory.c.status == "active")
        # It takes no change number: every process would read the owner anew for each reply. The rows are locked in the
        # same order by all, else two replies that use the same shared memories would wait for each other.
        held = select(memory.c.memory_id).where(*active).order_by(memory.c.memory_id).with_for_update()
        if connection.dialect.name == "postgresql":  # SQLite has one writer
            connection.execute(held)
        touched = connection.execute(
            update(memory)
            .where(*active)
            .values(access_count=memory.c.access_count + 1, last_accessed=now)
            .returning(memory.c.memory_id, memory.c.access_count)
        )
        return {row.memory_id: row.access_count for row in touched}

    def set_status(
        self,
        connection: Connection,
        owner: OwnerKey,
        memory_ids: Sequence[str],
        status: Status,
        *,
        now: datetime,
        if_still: ColumnElement[bool] = true(),  # noqa: B008 - immutable
    ) -> int:
        """Move those that are live to `status`; return how many."""
        number, _ = begin_change(connection, owner)
        mine = (memory.c.owner == owner, is_any(memory.c.memory_id, memory_ids), memory.c.status.in_(LIVE), if_still)
        values = {"status": status, "change": number, "revision": memory.c.revision + 1, "updated_at": now}
        changed = update(memory).where(*mine).values(values).returning(memory.c.memory_id)
        moved = connection.execute(changed).scalars().all()
        record_all(connection, [Done(_BECAME.get(status, "memory.changed"), owner, each) for each in moved])
        return len(moved)

    def remove(
        self,
        connection: Connection,
        owner: OwnerKey,
        memory_ids: Sequence[str],
        *,
        if_still: ColumnElement[bool] = true(),  # noqa: B008 - immutable
    ) -> int:
        """Delete the rows for good, with all that belongs to them; readers start again. Return how
        many were deleted.
        """
        begin_removal(connection, owner)
        doomed = delete(memory).where(memory.c.owner == owner, is_any(memory.c.memory_id, memory_ids), if_still)
        deleted = connection.execute(doomed.returning(memory.c.memory_id)).scalars().all()
        record_all(connection, [Done("memory.purged", owner, each) for each in deleted])
        return len(deleted)

    def by_ids(self, connection: Connection, owner: OwnerKey, memory_ids: Sequence[str]) -> list[Memory]:
        """Return the memories in the order of `memory_ids`; one that the owner does not have, or is
        damaged, is left out.
        """
        rows = _BY_IDS.all(connection, {"of_owner": owner, "memory_ids": memory_ids}) if memory_ids else ()
        found = {each.id: each for each in self._whole(connection, rows)}
        return [found[memory_id] for memory_id in dict.fromkeys(memory_ids) if memory_id in found]

    def by_id(self, connection: Connection, owner: OwnerKey, memory_id: str) -> Memory | None:
        """Return the memory in whatever state; None where the owner does not have it, or it is damaged."""
        return next(iter(self.by_ids(connection, owner, [memory_id])), None)

    def instead_of(self, connection: Connection, superseded: Memory) -> Memory | None:
        """Return the memory in place of one that was corrected, where that is known and holds."""
        found: Memory | None = superseded
        seen: set[str] = set()
        while found is not None and found.status == "superseded" and found.superseded_by and found.id not in seen:
            seen.add(found.id)
            found = self.by_id(connection, found.owner, found.superseded_by)
        return found if found is not None and found.status == "active" else None

    def all_of(self, connection: Connection, owner: OwnerKey) -> list[Memory]:
        """Return the memories in every state, the first stored first."""
        return self._those(connection, owner, order=_FIRST_STORED)

    def ids_there(self, connection: Connection, owner: OwnerKey, memory_ids: Sequence[str]) -> set[str]:
        """Return those of the ids that the owner has, in whatever state, also if the memory is damaged."""
        return owned(connection, owner, memory.c.memory_id, memory_ids)

    def by_prefix(self, connection: Connection, owner: OwnerKey, prefix: str, *, now: datetime) -> list[Memory]:
        """Return the live memories whose id begins with `prefix`."""
        begins = memory.c.memory_id.startswith(prefix, autoescape=True)
        return self._those(connection, owner, begins, memory.c.status.in_(LIVE), valid(now))

    def same(self, connection: Connection, owner: OwnerKey, text: str, *, now: datetime) -> list[Memory]:
        """Return the live memories of this text, in any case and spacing, that have no key."""
        found = self.by_ids(connection, owner, list(self.ids_of_same(connection, owner, [(text, None)])))
        return [each for each in found if each.status in LIVE and not each.has_expired(now)]

    def ids_of_same(self, connection: Connection, owner: OwnerKey, texts: Sequence[tuple[str, str | None]]) -> set[str]:
        """Return the memories in any state that say the same as one of the texts under its key."""
        state, encryption = states_of(connection, [owner]).get(owner), encryption_of(connection)
        if state is None or (encryption.encrypts and not encryption.has_key(owner)):
            return set()
        digests = [digest_of(encryption, owner, state.salt, text, key) for text, key in texts]
        return {row[0] for each in digests for row in _SAME.all(connection, {"of_owner": owner, "digest": each})}

    def ids_of_slots(
        self, connection: Connection, owner: OwnerKey, slots: Collection[str], *, said_at: datetime, now: datetime
    ) -> dict[str, int]:
        """Return the memories that are a value of one of the slots, or of its attribute in somebody else ("mia" may be
        "daughter mia"), and held or were in question at `said_at`: by their places, the newest last; of very many of a
        slot the newest.
        """
        named: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
        for who, _, attribute in (slot.partition("/") for slot in slots):
            named[attribute] |= subjects(who)
        encryption, column = encryption_of(connection), memory.c.slot
        wanted = set(as_stored(encryption, owner, column, list(slots), blinded_slot))
        found: list[tuple[int, str]] = []
        for attribute, stored in zip(named, as_stored(encryption, owner, column, list(named)), strict=False):
            asked = {"of_owner": owner, "now": now, "said_at": said_at, "like": f"%/{_LIKE.sub(_ESCAPED, stored)}"}
            held: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
            for memory_id, position, slot in _OF_ATTRIBUTE.all(connection, asked):
                if encryption.encrypts:  # nobody can tell whose another slot is
                    held[slot if slot in wanted else ""].append((position, memory_id))
                elif not named[attribute].isdisjoint(subjects(slot.partition("/")[0])):
                    held[slot].append((position, memory_id))
            found += (each for those in held.values() for each in heapq.nlargest(MOST_OF_A_SLOT, those))
        return {memory_id: position for position, memory_id in sorted(found)}

    def ids_of_messages(
        self, connection: Connection, owner: OwnerKey, messages: Collection[tuple[str | None, str | None]]
    ) -> set[str]:
        """Return the memories in any state that were read in one of these messages, each (session, message)."""
        known = [(session, source) for session, source in messages if session is not None and source is not None]
        sources = as_stored(encryption_of(connection), owner, memory.c.source_id, [source for _, source in known])
        asked = {"of_owner": owner, "sessions": [session for session, _ in known], "sources": sources}
        return {row[0] for row in _OF_MESSAGES.all(connection, asked)} if sources else set()

    def told_in(self, connection: Connection, owner: OwnerKey, messages: Mapping[str, str]) -> list[Memory]:
        """Return the memories in any state that were read in these messages (session by id), what is over of their
        sessions, and what was over last of all.
        """
        is_over = memory.c.status.in_(("superseded", "forgotten"))
        found = self._those(connection, owner, is_over, order=_LAST_CHANGED, most=_MOST_OVER)
        for part in in_parts(list(messages)):
            stored = as_stored(encryption_of(connection), owner, memory.c.source_id, part)
            of_sessions = is_any(memory.c.session_id, [*{messages[each] for each in part}])
            found += self._those(connection, owner, of_sessions, or_(is_over, is_any(memory.c.source_id, stored)))
        return list({each.id: each for each in found}.values())

    def slotted(
        self, connection: Connection, owner: OwnerKey, slots: Collection[str], *, valid_at: datetime
    ) -> list[Memory]:
        """Return the active memories that are a value of one of these few slots."""
        stored = as_stored(encryption_of(connection), owner, memory.c.slot, list(slots), blinded_slot)
        return self._those(connection, owner, memory.c.status == "active", valid(valid_at), memory.c.slot.in_(stored))

    def forgotten_since(
        self, connection: Connection, owner: OwnerKey, since: datetime, most: int | None = _MOST_FORGOTTEN
    ) -> list[Memory]:
        """Return the memories forgotten from `since` on, the last first, at most so many."""
        forgotten = (memory.c.status == "forgotten", memory.c.updated_at > since)
        return self._those(connection, owner, *forgotten, order=_LAST_CHANGED, most=most)

    def unasked(self, connection: Connection, owner: OwnerKey, *, now: datetime) -> list[Memory]:
        """Return some memories never asked about: those that wait for the person's word before those in doubt, the
        newest first.
        """
        order = (memory.c.status.desc(), memory.c.doubted_at.desc(), *_LAST_STORED)
        return self._those(connection, owner, _IS_UNASKED, valid(now), order=order, most=_MOST_UNASKED)

    def has_unasked(self, connection: Connection, owner: OwnerKey, *, now: datetime) -> bool:
        """Tell whether there is any memory that was not asked about yet, damaged or not."""
        return _UNASKED.first(connection, {"of_owner": owner, "now": now}) is not None

    def written_at(self, connection: Connection, owner: OwnerKey, instant: datetime) -> list[Memory]:
        """Return the active memories that were stored, or changed last, in the transaction of that instant."""
        then = or_(memory.c.created_at == instant, memory.c.updated_at == instant)
        return self._those(connection, owner, memory.c.status == "active", then, order=[memory.c.position])

    def replaced_by(self, connection: Connection, owner: OwnerKey, memory_id: str) -> list[Memory]:
        """Return the memories that this one took the place of, the last first."""
        replaced = (memory.c.status == "superseded", memory.c.superseded_by == memory_id)
        return self._those(connection, owner, *replaced, order=_LAST_CHANGED)

    def refuse_damaged(self, connection: Connection, owner: OwnerKey, memory_ids: Sequence[str]) -> None:
        """Raise DamagedMemory for ids left out of `by_ids` that are there nevertheless."""
        damaged = owned(connection, owner, memory.c.memory_id, memory_ids, memory.c.status.in_(LIVE))
        if damaged:
            raise DamagedMemory(sorted(damaged))

    def page(
        self,
        connection: Connection,
        owner: OwnerKey | None,
        where: Filter = EVERYTHING,
        *,
        statuses: Sequence[Status] = ("active",),
        valid_at: datetime | None,
        limit: int | None,
        offset: int = 0,
        after: str | None = None,
        oldest_first: bool = False,
    ) -> list[Memory]:
        """Return the newest first unless said otherwise, or what is older than the memory `after`. With `valid_at` the
        expired are left out. Raises MemoryNotFound where `after` is none of the owner's.
        """
        order = (memory.c.created_at, memory.c.owner, memory.c.position) if oldest_first else _LAST_STORED
        wanted = select(*STORED).where(*matching(connection, owner, where, statuses, valid_at))
        if after is not None:
            place = select(memory.c.created_at, memory.c.position)
            last = connection.execute(place.where(memory.c.owner == owner, memory.c.memory_id == after)).first()
            if last is None:
                raise MemoryNotFound(f"there is no memory {after} any more to go on behind: begin the list again")
            as_old = and_(memory.c.created_at == last.created_at, memory.c.position < last.position)
            wanted = wanted.where(or_(memory.c.created_at < last.created_at, as_old))
        wanted = wanted.order_by(*order).limit(None if limit is None else max(limit, 0)).offset(offset)
        return self._whole(connection, connection.execute(wanted))

    def keyed(
        self, connection: Connection, owner: OwnerKey, *, valid_at: datetime, key: str | None = None
    ) -> list[Memory]:
        """Return the active memories that have a key, or the one of `key`; first stored first."""
        has_key = memory.c.key.is_not(None)
        if key is not None:
            has_key = memory.c.key.in_(as_stored(encryption_of(connection), owner, memory.c.key, [key]))
        active = (memory.c.status == "active", valid(valid_at))
        return self._those(connection, owner, *active, has_key, order=_FIRST_STORED)

    def count(
        self,
        connection: Connection,
        owner: OwnerKey | None,
        where: Filter = EVERYTHING,
        *,
        statuses: Sequence[Status] = ("active",),
        valid_at: datetime | None,
    ) -> int:
        fitting = matching(connection, owner, where, statuses, valid_at)
        counted = select(func.count()).select_from(memory).where(*fitting)
        return int(connection.execute(counted).scalar_one())

    def query_similar_by_embedding(
        self,
        connection: Connection,
        owner: OwnerKey,
        vector: Vector,
        *,
        where: Filter = EVERYTHING,
        valid_at: datetime,
        limit: int,
    ) -> list[tuple[Memory, float]]:
        """Return the memories with their cosine, best first, computed over every fitting memory: exact, and no
        cache is needed.
        """
        fitting = matching(connection, owner, where, ("active",), valid_at)
        found = compared(self._vectors.read(connection, owner, self._vectors.of_memories().where(*fitting)), vector)
        nearest = dict(heapq.nlargest(limit, found, key=operator.itemgetter(1)))
        return [(each, nearest[each.id]) for each in self.by_ids(connection, owner, list(nearest))]

    def newest_vectors(
        self, connection: Connection, owner: OwnerKey, *, valid_at: datetime, limit: int
    ) -> list[tuple[str, bytes]]:
        """Return the newest active memories without a key: the id and the vector of each that can be compared."""
        recalled = (memory.c.status == "active", memory.c.key.is_(None), valid(valid_at))
        newest = (
            self._vectors.of_memories().where(memory.c.owner == owner, *recalled).order_by(*_LAST_STORED).limit(limit)
        )
        return list(self._vectors.read(connection, owner, newest))

    def _those(
        self,
        connection: Connection,
        owner: OwnerKey,
        *which: ColumnElement[bool],
        order: Sequence[Any] = (),
        most: int | None = None,
    ) -> list[Memory]:
        mine = select(*STORED).where(memory.c.owner == owner, *which)
        return self._whole(connection, connection.execute(mine.order_by(*order).limit(most)))

    def _whole(self, connection: Connection, rows: Iterable[Sequence[Any]]) -> list[Memory]:
        """Read rows of the columns STORED; only those that hold what was written."""
        return list(self._damages.whole("memory", rows, as_memory, encryption_of(connection)))


def _of_owner(columns: Sequence[ColumnElement[Any]], **listed: Column[Any]) -> Prepared:
    """Return the statement for an owner's memories, in each column one of the texts given by its name."""
    mine = select(*columns).where(memory.c.owner == bindparam("of_owner"))
    return Prepared(mine.where(*(is_any(column, bindparam(name, type_=Names)) for name, column in listed.items())))


_BY_IDS = _of_owner(STORED, memory_ids=memory.c.memory_id)
_OF_MESSAGES = _of_owner([memory.c.memory_id], sessions=memory.c.session_id, sources=memory.c.source_id)
_GIVEN = {each.name: bindparam(each.name, type_=each.type) for each in memory.c if each is not memory.c.position}
_CHANGE = Prepared(
    update(memory)
    .where(memory.c.owner == _GIVEN.pop("owner"), memory.c.memory_id == _GIVEN.pop("memory_id"))
    .values(_GIVEN)
)


_VALID = valid(bindparam("now", type_=memory.c.expires_at.type))
_SAID_AT = bindparam("said_at", type_=memory.c.updated_at.type)
_WAS_SO = or_(  # until Memory.over_at
    *(memory.c.status == each for each in LIVE),
    and_(memory.c.status == "superseded", func.coalesce(memory.c.valid_to, memory.c.updated_at) > _SAID_AT),
    and_(memory.c.status == "forgotten", memory.c.updated_at > _SAID_AT),
)
_OF_ATTRIBUTE = Prepared(
    select(memory.c.memory_id, memory.c.position, memory.c.slot).where(
        memory.c.owner == bindparam("of_owner"),
        memory.c.slot.like(bindparam("like"), escape="\\"),
        _WAS_SO,
        _VALID,
    )
)
_SAME = Prepared(
    select(memory.c.memory_id).where(
        memory.c.owner == bindparam("of_owner"), memory.c.text_digest == bindparam("digest")
    )
)
_UNASKED = Prepared(
    select(memory.c.memory_id).where(memory.c.owner == bindparam("of_owner"), _IS_UNASKED, _VALID).limit(1)
)


def _what_was_done(before: Memory, after: Memory) -> str:
    if before.status == after.status:
        return "memory.changed"
    if after.status == "active" and before.status not in LIVE:
        return "memory.restored"
    return _BECAME.get(after.status, "memory.changed")
