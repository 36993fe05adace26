"""Merge two owners' memories into one owner's, with a record of what moved, and take the merge back by that record.

What is damaged stays under the key that it was written for, where it can be restored and is erased with its person.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Connection, delete, insert, select, update

from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.memory_tables import (
    history_message,
    history_vector,
    memory,
    memory_category,
    memory_owner,
    memory_vector,
    standing_instruction,
)
from langmem_plugin.database.schema import in_parts
from langmem_plugin.facts import Relation
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.find import past_messages
from langmem_plugin.memory.instructions import standing_instructions
from langmem_plugin.memory.instructions.standing_instructions import same
from langmem_plugin.memory.keep import categories, usage_and_verdicts
from langmem_plugin.memory.keep.changes_and_checksums import all_rows, begin_change, begin_removal, is_any, owned
from langmem_plugin.memory.keep.memory_repository import MemoryRepository
from langmem_plugin.memory.keep.memory_row_mapping import valid
from langmem_plugin.memory.keep.usage_and_verdicts import move_verdicts
from langmem_plugin.memory.keep.vectors import move_vectors
from langmem_plugin.memory.memory_types import Memory, Status, plain
from langmem_plugin.memory.write.key_value_memory import value_of
from langmem_plugin.memory.write.reconciliation_rules import Decision, Stated, decided, stated

Record = dict[str, Any]
"""The record of a move, as JSON: ids as the new owner has them, and the other changes made for it."""

_Mark = tuple[Status, str | None]
"""A status of a memory, and the memory in its place."""


class OwnerMerge:
    """The merge of two owners in the caller's transaction, in which nothing is embedded and no index is asked.

    Rows that arrive take new change numbers and are encrypted with the key of who gets them; the owner they leave
    starts its readers again.
    """

    def __init__(self, repository: MemoryRepository) -> None:
        self._repository = repository

    def merge(self, connection: Connection, source: OwnerKey, target: OwnerKey, now: datetime) -> Record:
        """Move everything of `source` to `target`.

        A text that both had is remembered once; a key that both used, and a slot of one value, keep the newer: the
        others are marked as superseded. What one of them had corrected or forgotten after the other said it is marked
        as that. An instruction that both gave is in force once.
        """
        _begin(connection, source, target)
        memories = self._memories(connection, source, target, _all(connection, source, memory.c.memory_id))
        messages = _messages(connection, source, target, _all(connection, source, history_message.c.message_id))
        moved, silenced = _instructions(connection, source, target)
        record: Record = {
            "memories": list(memories.values()),
            "memory_names": _other_names(memories),
            "superseded": self.settle(connection, target, list(memories.values()), now),
            "messages": list(messages.values()),
            "message_names": _other_names(messages),
            "instructions": moved,
            "silenced": silenced,
            **_categories(connection, source, target),
        }
        move_verdicts(connection, source, target)
        damaged = (
            select(each.c.owner).where(each.c.owner == source) for each in (memory, history_message, memory_category)
        )
        gone = delete(memory_owner).where(memory_owner.c.owner == source, *(~each.exists() for each in damaged))
        connection.execute(gone)
        return record

    def take_back(
        self, connection: Connection, record: Record, holder: OwnerKey, owner: OwnerKey, now: datetime
    ) -> None:
        """Give to `owner` what the record says moved and `holder` still has; what came after stays."""
        _begin(connection, holder, owner)
        moved = self._memories(connection, holder, owner, record["memories"], record["memory_names"])
        for memory_id, (status, by, *became) in record["superseded"].items():
            whose, name = (owner, moved[memory_id]) if memory_id in moved else (holder, memory_id)
            marked: Status = became[0] if became else "superseded"
            held = self._repository.by_id(connection, whose, name)
            if held is not None and held.status == marked:  # else it was changed since
                changes = {"status": status, "superseded_by": by}
                self._repository.change(connection, whose, name, changes, now=now, statuses=(marked,))
        _messages(connection, holder, owner, record["messages"], record["message_names"])
        _instructions(connection, holder, owner, record["instructions"], record["silenced"])
        of_both = {now: old for old, (now, *_) in record.get("categories_of_both", {}).items()}
        _categories(connection, holder, owner, record.get("categories", {}) | of_both, of_both)

    def settle(self, connection: Connection, owner: OwnerKey, moved: Sequence[str], now: datetime) -> dict[str, Any]:
        """Mark what is there twice, moved and kept, and what cannot hold beside the other; return the state before,
        by id.
        """
        marks: dict[str, _Mark] = {}
        for group in self._facts_of_both(connection, owner, set(moved), now):
            marks |= _contradicted([each for each in group if each.memory.id not in marks], set(moved))
        before: dict[str, Any] = {}
        for each in self._repository.by_ids(connection, owner, list(marks)):
            status, by = marks[each.id]
            before[each.id] = [each.status, each.superseded_by, status]
            changes = {"status": status, "superseded_by": by}
            self._repository.change(connection, owner, each.id, changes, now=now)
        return before

    def _facts_of_both(
        self, connection: Connection, owner: OwnerKey, arrived: Collection[str], now: datetime
    ) -> list[list[Stated]]:
        """Return the facts of the same words, of one key or of one slot, where both had some."""
        columns = select(memory.c.memory_id, memory.c.text_digest, memory.c.key, memory.c.slot)
        weighed = (memory.c.owner == owner, memory.c.status != "archived", valid(now))
        groups: defaultdict[tuple[str, Any], list[str]] = defaultdict(list)
        for memory_id, digest, key, slot in connection.execute(columns.where(*weighed)):
            for name in (("text", bytes(digest)), ("key", key), ("slot", slot)):
                if name[1] is not None:
                    groups[name].append(memory_id)
        shared = [ids for ids in groups.values() if len({each in arrived for each in ids}) > 1]
        wanted = list({each for ids in shared for each in ids})
        found = {each.id: stated(each) for each in self._repository.by_ids(connection, owner, wanted)}
        return [[found[each] for each in ids if each in found] for ids in shared]

    def _memories(
        self,
        connection: Connection,
        source: OwnerKey,
        target: OwnerKey,
        memory_ids: Sequence[str],
        names: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Move those of the memories that are there, with vectors and uses, under the ids of `names`; return the
        new ids by the old. A name that the new owner has already gives way to a new one.
        """
        held = self._repository.by_ids(connection, source, memory_ids)
        ids = {each.id: (names or {}).get(each.id, each.id) for each in held}
        taken = owned(connection, target, memory.c.memory_id, list(ids.values()))
        ids = {old: str(uuid.uuid4()) if new in taken else new for old, new in ids.items()}
        renamed = {**(names or {}), **ids}
        arriving = [
            each.model_copy(
                update={
                    "id": ids[each.id],
                    "owner": target,
                    "superseded_by": each.superseded_by and renamed.get(each.superseded_by, each.superseded_by),
                }
            )
            for each in held
        ]
        self._repository.insert(connection, target, [(each, None) for each in arriving], noted=None)
        move_vectors(connection, memory_vector, source, target, ids)
        uses = [each for each in usage_and_verdicts.logged(connection, source) if each.memory_id in ids]
        usage_and_verdicts.keep(connection, target, [replace(each, memory_id=ids[each.memory_id]) for each in uses])
        _delete(connection, source, memory.c.memory_id, list(ids))
        return ids


def _begin(connection: Connection, source: OwnerKey, target: OwnerKey) -> None:
    for owner in sorted((source, target)):  # one order, so that two moves wait in turn
        begin_change(connection, owner)
    begin_removal(connection, source)


def _all(connection: Connection, owner: OwnerKey, row_id: Column[Any]) -> Sequence[str]:
    """Return the ids of the owner's rows, the oldest change first."""
    table = row_id.table
    order = table.c.position if table is memory else table.c.change
    return connection.execute(select(row_id).where(table.c.owner == owner).order_by(order)).scalars().all()


def _delete(connection: Connection, owner: OwnerKey, row_id: Column[Any], ids: Sequence[str]) -> None:
    """Delete rows that were copied, with their vectors."""
    connection.execute(delete(row_id.table).where(row_id.table.c.owner == owner, is_any(row_id, ids)))


def _contradicted(facts: Sequence[Stated], arrived: Collection[str]) -> dict[str, _Mark]:
    """Return the facts of one of two owners that contradict or repeat the other's, with their new status: the fact said
    last wins, and of two that say the same the one that was there before.
    """
    made: dict[str, _Mark] = {}
    live = [each for each in facts if each.over_at is None]
    for one in sorted(live, key=lambda each: (each.memory.id not in arrived, each.said_at)):
        if one.memory.id in made:
            continue
        others = [
            each
            for each in facts
            if (each.memory.id in arrived) is not (one.memory.id in arrived)
            and made.get(each.memory.id, ("", None))[1] != one.memory.id
            and (each.memory.status, one.memory.status) != ("pending", "active")
        ]
        of_one_key = {
            each.memory.id: Relation("supersedes", "another value of its key")
            for each in others
            if each.memory.key == one.memory.key and _is_named(each.memory) and _is_named(one.memory)
        }
        decision = decided(one, others, of_one_key)
        if (mark := _mark(decision)) is not None:
            made[one.memory.id] = mark
            continue
        for each in decision.over:
            made.setdefault(each.memory.id, ("superseded", one.memory.id))
    return made


def _is_named(value: Memory) -> bool:
    """Tell whether it is a value that is kept under its key: another one takes its place."""
    return value.key is not None and value_of(value) != value.text


def _mark(decision: Decision) -> _Mark | None:
    """Return the new status of a fact by the decision on it."""
    if decision.newer is not None:
        return ("superseded", decision.newer.memory.id)
    if decision.same is None:
        return None
    known = decision.same.memory
    return ("superseded", known.id) if decision.same.over_at is None else (known.status, known.superseded_by)


def _messages(
    connection: Connection,
    source: OwnerKey,
    target: OwnerKey,
    message_ids: Sequence[str],
    names: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Move messages, which can be searched; as `_memories`. One in two sessions goes by both ids, as in the search."""
    table, encryption, moved = history_message, encryption_of(connection), dict[str, str]()
    for part in in_parts(message_ids):
        here = (table.c.owner == source, is_any(table.c.message_id, part))
        rows = all_rows(connection, select(*past_messages.STORED).where(*here).order_by(table.c.change))
        read = ((past_messages.as_message(row, encryption), row.of_session) for row in rows)
        held = {made.message_id: (made, session) for made, session in read if made is not None}
        wanted = {old: (names or {}).get(old, old) for old in held}
        possible = {old: [wanted[old], f"{made.session_id}/{wanted[old]}"] for old, (made, _) in held.items()}
        taken = owned(connection, target, table.c.message_id, [each for ids in possible.values() for each in ids])
        ids = {
            old: next((each for each in either if each not in taken), str(uuid.uuid4()))
            for old, either in possible.items()
        }
        number, _ = begin_change(connection, target, len(held))
        arriving = [
            past_messages.as_values(target, replace(made, message_id=ids[old]), session, encryption)
            for old, (made, session) in held.items()
        ]
        if arriving:
            first = number + 1 - len(arriving)
            connection.execute(insert(table), [each | {"change": first + at} for at, each in enumerate(arriving)])
        move_vectors(connection, history_vector, source, target, ids)
        moved |= ids
    _delete(connection, source, table.c.message_id, list(moved))
    return moved


def _instructions(
    connection: Connection,
    source: OwnerKey,
    target: OwnerKey,
    only: Collection[str] | None = None,
    silenced: Collection[str] = (),
) -> tuple[list[str], list[str]]:
    """Move instructions, those `silenced` in force again; return their ids, and those switched off because the new
    owner has the same in force.
    """
    table, encryption = standing_instruction, encryption_of(connection)
    rows = {
        owner: all_rows(connection, select(*standing_instructions.STORED).where(table.c.owner == owner))
        for owner in (source, target)
    }
    read = {owner: [standing_instructions.as_instruction(row, encryption) for row in rows[owner]] for owner in rows}
    in_force = [each for each in read[target] if each is not None and each.active and each.expires_at is None]
    taken = {row.instruction_id for row in rows[target]}
    moved, off = list[str](), list[str]()
    for made in read[source]:
        if made is None or (only is not None and made.id not in only):
            continue
        new_id = str(uuid.uuid4()) if made.id in taken else made.id
        is_twice = made.active and any(same(each, made) for each in in_force)
        active = (made.active and not is_twice) or made.id in silenced
        after = made.model_copy(update={"id": new_id, "owner": target, "active": active})
        here = (table.c.owner == source, table.c.instruction_id == made.id)
        connection.execute(update(table).where(*here).values(standing_instructions.as_values(after, encryption)))
        moved.append(new_id)
        off += [new_id] if is_twice else []
    return moved, off


def _categories(
    connection: Connection,
    source: OwnerKey,
    target: OwnerKey,
    names: Mapping[str, str] | None = None,
    shared: Collection[str] = (),
) -> Record:
    """Move categories, those of `names` under these ids, and leave copies of those `shared`; of a name that both have
    the target's stays. Return the old ids of those that moved by the new, and by the old ids what stands for others.
    """
    column, here = memory_category.c.category_id, memory_category.c.owner == source
    wanted = [each for each in categories.listed(connection, source) if names is None or each.category_id in names]
    there = {plain(each.name): each.category_id for each in categories.listed(connection, target)}
    named = {each.category_id: (names or {}).get(each.category_id, each.category_id) for each in wanted}
    taken = owned(connection, target, column, list(named.values()))
    moved = {old: str(uuid.uuid4()) if new in taken else new for old, new in named.items()}
    of_both = {each.category_id: there[plain(each.name)] for each in wanted if plain(each.name) in there}
    ids = moved | of_both
    left = [each for each in ids if each not in shared]
    connection.execute(delete(memory_category).where(here, column.in_(left)))
    arriving = (
        replace(each, category_id=ids[each.category_id], parent_id=ids.get(each.parent_id or ""))
        for each in wanted
        if each.category_id not in of_both
    )
    categories.store(connection, target, arriving)
    return {
        "categories": {new: old for old, new in moved.items() if old not in of_both},
        "categories_of_both": {old: [known] for old, known in of_both.items()},
    }


def _other_names(moved: Mapping[str, str]) -> dict[str, str]:
    """Return the old ids by the new, where they differ."""
    return {new: old for old, new in moved.items() if new != old}
