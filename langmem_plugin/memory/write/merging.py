"""Merge two owners' memories into one owner's, with a record of what moved, and take the merge back by that record."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, update

from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.memory_tables import history_message, memory, memory_collection, memory_owner
from langmem_plugin.database.memory_tables import standing_instruction as instruction
from langmem_plugin.database.schema import in_parts, upsert
from langmem_plugin.errors import DamagedMemory, MemoryNotFound
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.instructions import instructions
from langmem_plugin.memory.instructions.instructions import MOST_INSTRUCTIONS
from langmem_plugin.memory.keep import aliases
from langmem_plugin.memory.keep.memory_rows import valid
from langmem_plugin.memory.keep.repository import MemoryRepository
from langmem_plugin.memory.keep.rows import all_rows
from langmem_plugin.memory.keep.usage_log import give_back_verdicts, move_verdicts
from langmem_plugin.memory.models import LIVE, Memory, Status
from langmem_plugin.memory.write import moved_rows
from langmem_plugin.memory.write.key_value import value_of
from langmem_plugin.memory.write.moved_rows import OwnerMove, ids_of
from langmem_plugin.memory.write.reconciler import WEIGHED, Decision, decided, stated

log = event_log(__name__)

Record = dict[str, Any]
"""The record of a move, as JSON: ids as the new owner has them, and the other changes made for it."""


class OwnerMerge:
    """The merge of two owners in the caller's transaction, in which nothing is embedded and no index is asked."""

    def __init__(self, repository: MemoryRepository) -> None:
        self._repository = repository

    def merge(self, connection: Connection, source: OwnerKey, target: OwnerKey, now: datetime) -> Record:
        """Move everything of `source` to `target`; `source` has nothing afterwards.

        A text that both had is remembered once; a key that both used, and a slot of one value, keep the newer: the
        others are marked as superseded. What one of them had corrected or forgotten after the other said it is marked
        as that. Of more than 200 instructions those that are least important are switched off.
        """
        move = OwnerMove(connection, source, target)
        memories = move.memories(ids_of(connection, source, memory.c.memory_id, memory.c.position))
        record: Record = {
            "memories": list(memories.values()),
            "memory_names": _other_names(memories),
            "superseded": self.settle(connection, target, list(memories.values()), now),
            "instructions": move.instructions(
                ids_of(connection, source, instruction.c.instruction_id, instruction.c.created_at)
            ),
            "marks": _marks_moved(connection, source, target),
        }
        record["aliases"] = list(aliases.move(connection, source, target, memories).values())
        record["silenced"] = _silenced(connection, target, record["instructions"])
        messages = move.messages(ids_of(connection, source, history_message.c.message_id, history_message.c.change))
        record |= {"messages": list(messages.values()), "message_names": _other_names(messages)}
        record["marks_of_both"] = _marks_left(connection, source)
        record["verdicts"] = move_verdicts(connection, source, target)
        record |= moved_rows.move(connection, source, target)
        connection.execute(delete(memory_owner).where(memory_owner.c.owner == source))
        return record

    def take_back(
        self, connection: Connection, record: Record, holder: OwnerKey, owner: OwnerKey, now: datetime
    ) -> None:
        """Give to `owner` what the record says moved and `holder` still has; what came after stays."""
        move = OwnerMove(connection, holder, owner)
        moved = move.memories(record["memories"], record["memory_names"])
        for memory_id, (status, by, *became) in record["superseded"].items():
            whose = owner if memory_id in moved else holder
            changes = {"status": status, "superseded_by": by}
            marked: Status = became[0] if became else "superseded"
            self._restore(connection, whose, moved.get(memory_id, memory_id), changes, now=now, marked=marked)
        aliases.move(connection, holder, owner, moved, only=record.get("aliases", ()))
        back = move.instructions(record["instructions"])
        for instruction_id in record["silenced"]:
            whose = owner if instruction_id in back else holder
            _set_active(connection, whose, instruction_id, active=True)
        move.messages(record["messages"], record["message_names"])
        give_back_verdicts(connection, record.get("verdicts", ()), holder, owner)
        moved_rows.take_back(connection, record, holder, owner)
        _marks_moved(connection, holder, owner, record["marks"])
        _marked_again(connection, record["marks_of_both"], owner)

    def settle(self, connection: Connection, owner: OwnerKey, moved: Sequence[str], now: datetime) -> dict[str, Any]:
        """Mark texts that are there twice, moved and kept, and those that cannot hold beside the other; return the
        state before, by id.
        """
        over: dict[str, str] = {}
        for one, another in [
            *_same_texts(connection, owner, moved, now),
            *self._same_keys(connection, owner, moved, now),
        ]:
            if one not in over and another not in over and one != another:
                over[one] = another
        marks: dict[str, tuple[Status, str | None]] = {one: ("superseded", another) for one, another in over.items()}
        marks |= contradicted(self._facts_of_both(connection, owner, moved), set(moved), marks)
        before: dict[str, Any] = {}
        for part in in_parts(list(marks)):
            for each in self._repository.by_ids(connection, owner, part):
                before[each.id] = [each.status, each.superseded_by, marks[each.id][0]]
        for each_id in before:
            status, by = marks[each_id]
            changes = {"status": status, "superseded_by": by}
            self._repository.change(connection, owner, each_id, changes, now=now)
        return before

    def _facts_of_both(self, connection: Connection, owner: OwnerKey, moved: Sequence[str]) -> list[list[Memory]]:
        """Return the facts of one slot, or of the same words, where both had some."""
        arrived = set(moved)
        columns = select(memory.c.memory_id, memory.c.slot, memory.c.text_digest)
        rows = connection.execute(columns.where(memory.c.owner == owner, memory.c.status.in_(WEIGHED))).all()
        groups: defaultdict[object, list[str]] = defaultdict(list)
        for memory_id, slot, digest in rows:
            groups[bytes(digest)].append(memory_id)
            if slot is not None:
                groups[slot].append(memory_id)
        shared = [ids for ids in groups.values() if len({each in arrived for each in ids}) > 1]
        found: dict[str, Memory] = {}
        for part in in_parts(list({each for ids in shared for each in ids})):
            found |= {each.id: each for each in self._repository.by_ids(connection, owner, part)}
        return [[found[each] for each in ids if each in found] for ids in shared]

    def _same_keys(
        self, connection: Connection, owner: OwnerKey, moved: Sequence[str], now: datetime
    ) -> Iterable[tuple[str, str]]:
        """Return (older, newer) of values that are kept under one key."""
        arrived = set(moved)
        by_key: defaultdict[str | None, list[Memory]] = defaultdict(list)
        for each in self._repository.keyed(connection, owner, valid_at=now):
            if value_of(each) != each.text:
                by_key[each.key].append(each)
        for values in by_key.values():
            if len({each.id in arrived for each in values}) > 1:
                newest = max(values, key=lambda each: each.updated_at)
                yield from ((each.id, newest.id) for each in values if each is not newest)

    def _restore(
        self,
        connection: Connection,
        owner: OwnerKey,
        memory_id: str,
        changes: dict[str, Any],
        *,
        now: datetime,
        marked: Status,
    ) -> None:
        """Restore the memory unless it was changed since."""
        held = self._repository.by_id(connection, owner, memory_id)
        if held is None or held.status != marked:
            return
        try:
            self._repository.change(connection, owner, memory_id, changes, now=now, statuses=(marked,))
        except (MemoryNotFound, DamagedMemory):
            log.warning("merge.not_restored", extra={"owner": masked(owner)})


def contradicted(
    groups: Iterable[Sequence[Memory]], arrived: Collection[str], marks: Mapping[str, tuple[Status, str | None]]
) -> dict[str, tuple[Status, str | None]]:
    """Return the facts of one owner that contradict the other's, with their new status: the fact said last wins."""
    made: dict[str, tuple[Status, str | None]] = {}
    for group in groups:
        facts = [stated(each) for each in group if each.id not in marks]
        for one in sorted((each for each in facts if each.over_at is None), key=lambda each: each.said_at):
            if one.memory.id in made:
                continue
            others = [
                each
                for each in facts
                if (each.memory.id in arrived) is not (one.memory.id in arrived)
                and made.get(each.memory.id, ("", None))[1] != one.memory.id
                and (each.memory.status, one.memory.status) != ("pending", "active")
            ]
            decision = decided(one, others)
            if (mark := _mark(decision)) is not None:
                made[one.memory.id] = mark
                continue
            for each in decision.over:
                made.setdefault(each.memory.id, ("superseded", one.memory.id))
    return made


def _mark(decision: Decision) -> tuple[Status, str | None] | None:
    """Return the new status of a fact by the decision on it."""
    if decision.newer is not None:
        return ("superseded", decision.newer.memory.id)
    if decision.same is None:
        return None
    same = decision.same.memory
    return ("superseded", same.id) if decision.same.over_at is None else (same.status, same.superseded_by)


def _same_texts(
    connection: Connection, owner: OwnerKey, moved: Sequence[str], now: datetime
) -> Iterable[tuple[str, str]]:
    """Give (the text to be marked, the same text to be kept): the active one is kept, of equals the one that
    was there before.
    """
    live = (memory.c.owner == owner, memory.c.status.in_(LIVE), valid(now))
    columns = select(memory.c.memory_id, memory.c.text_digest, memory.c.status)
    arrived: dict[bytes, tuple[str, str]] = {}
    for part in in_parts(moved):
        for memory_id, digest, status in connection.execute(columns.where(*live, memory.c.memory_id.in_(part))):
            arrived[bytes(digest)] = (memory_id, status)
    ours = set(moved)
    for digests in in_parts(list(arrived)):
        same = select(memory.c.memory_id).where(memory.c.owner == owner, memory.c.text_digest.in_(digests))
        for memory_id, digest, status in connection.execute(columns.where(*live, memory.c.memory_id.in_(same))):
            other, its_status = arrived[bytes(digest)]
            if memory_id not in ours:
                yield (memory_id, other) if (status, its_status) == ("pending", "active") else (other, memory_id)


def _silenced(connection: Connection, owner: OwnerKey, arrived: Sequence[str]) -> list[str]:
    """Switch off arrived instructions that are there already, and the least important above the limit;
    return their ids.
    """
    order = (instruction.c.priority, instruction.c.created_at)
    rows = all_rows(
        connection,
        select(*instructions.STORED).where(instruction.c.owner == owner, instruction.c.active).order_by(*order),
    )
    encryption = encryption_of(connection)
    read = (instructions.as_instruction(row, encryption) for row in rows)
    held = [made for made in read if made is not None]
    ours = set(arrived)
    said = {(each.text, each.condition) for each in held if each.id not in ours and each.expires_at is None}
    silenced = [each.id for each in held if each.id in ours and (each.text, each.condition) in said]
    left = [each.id for each in held if each.id not in silenced]
    above = len(left) - MOST_INSTRUCTIONS
    if above > 0:
        arriving = [each for each in left if each in ours]
        silenced += arriving[:above]
        log.warning("merge.instructions_above_limit", extra={"owner": masked(owner), "switched_off": above})
    for instruction_id in silenced:
        _set_active(connection, owner, instruction_id, active=False)
    return silenced


def _set_active(connection: Connection, owner: OwnerKey, instruction_id: str, *, active: bool) -> None:
    here = (instruction.c.owner == owner, instruction.c.instruction_id == instruction_id)
    encryption = encryption_of(connection)
    for row in all_rows(connection, select(*instructions.STORED).where(*here)):
        made = instructions.as_instruction(row, encryption)
        if made is not None and made.active is not active:
            values = instructions.as_values(made.model_copy(update={"active": active}), encryption)
            connection.execute(update(instruction).where(*here).values(values))


def _marks_moved(
    connection: Connection, source: OwnerKey, target: OwnerKey, only: Sequence[str] | None = None
) -> list[str]:
    """Return the sessions whose memories were dropped together, unless the target has dropped one of the same name."""
    there = memory_collection.alias()
    known = select(there.c.session_id).where(
        there.c.owner == target, there.c.session_id == memory_collection.c.session_id
    )
    theirs = update(memory_collection).where(memory_collection.c.owner == source, ~known.exists())
    among = (
        [theirs]
        if only is None
        else [theirs.where(memory_collection.c.session_id.in_(each)) for each in in_parts(only)]
    )
    moved: list[str] = []
    for each in among:
        moved += connection.execute(each.values(owner=target).returning(memory_collection.c.session_id)).scalars()
    return moved


def _marks_left(connection: Connection, owner: OwnerKey) -> list[list[str]]:
    """Return (session, when it was dropped) of those that the other owner has too."""
    left = select(memory_collection.c.session_id, memory_collection.c.dropped_at)
    rows = connection.execute(left.where(memory_collection.c.owner == owner))
    return [[session_id, dropped_at.isoformat()] for session_id, dropped_at in rows]


def _marked_again(connection: Connection, marks: Iterable[Sequence[str]], owner: OwnerKey) -> None:
    for session_id, dropped_at in marks:
        mark = {"owner": owner, "session_id": session_id, "dropped_at": datetime.fromisoformat(dropped_at)}
        connection.execute(upsert(connection, memory_collection).values(mark).on_conflict_do_nothing())


def _other_names(moved: Mapping[str, str]) -> dict[str, str]:
    """Return the old ids by the new, where they differ."""
    return {new: old for old, new in moved.items() if new != old}
