"""Move what is kept of one owner to another, row by row and in the caller's transaction, and back."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Table,
    bindparam,
    delete,
    insert,
    literal,
    select,
    update,
)

from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.memory_tables import (
    history_message,
    history_vector,
    memory,
    memory_access,
    memory_category,
    memory_vector,
    standing_instruction,
)
from langmem_plugin.database.schema import in_parts
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.find import past_messages
from langmem_plugin.memory.instructions import instructions
from langmem_plugin.memory.keep import categories
from langmem_plugin.memory.keep.categories import Category
from langmem_plugin.memory.keep.memory_rows import FOUND_BY, STORED, as_memory, as_values, digest_of
from langmem_plugin.memory.keep.rows import all_rows, begin_change, begin_removal, owned
from langmem_plugin.memory.keep.stored_vectors import HeldVector, opened_vector, vector_place, vector_values
from langmem_plugin.memory.models import plain

Renamed = Mapping[str, str]
"""New ids by the old, where the new owner had a row of the same id already."""


class OwnerMove:
    """The move from `source` to `target`, inside a write transaction: every row, whatever its state, damaged
    ones as they are.

    Rows that arrive take new change numbers, and the owner they leave starts its readers again. What is encrypted is
    encrypted anew with the key of who gets it; what cannot be decrypted stays as it is, so that nobody can read it
    there, and can be read again where it is given back.
    """

    def __init__(self, connection: Connection, source: OwnerKey, target: OwnerKey) -> None:
        self._connection = connection
        self._source = source
        self._target = target
        self._encryption = encryption_of(connection)
        for owner in sorted((source, target)):  # one order, so that two moves wait in turn
            begin_change(connection, owner)
        begin_removal(connection, source)

    def memories(self, memory_ids: Sequence[str], names: Renamed | None = None) -> dict[str, str]:
        """Move those of the memories that are there, with vectors and uses, under the ids of `names`; return the
        new ids by the old.

        A name that the new owner has already gives way to a new one.
        """
        moved: dict[str, str] = {}
        for part in in_parts(memory_ids):
            moved |= self._part_of_memories(part, names or {}, moved)
        self._delete(memory, memory.c.memory_id, memory_vector, memory_vector.c.memory_id, list(moved))
        return moved

    def messages(self, message_ids: Sequence[str], names: Renamed | None = None) -> dict[str, str]:
        """Move messages, which can be searched; as `memories`."""
        moved: dict[str, str] = {}
        for part in in_parts(message_ids):
            moved |= self._part_of_messages(part, names or {})
        ids = history_message.c.message_id, history_vector.c.message_id
        self._delete(history_message, ids[0], history_vector, ids[1], list(moved))
        return moved

    def instructions(self, instruction_ids: Sequence[str]) -> list[str]:
        """Move the instructions that are there; their ids are unique."""
        table = standing_instruction
        here = (table.c.owner == self._source, table.c.instruction_id.in_(instruction_ids))
        rows = all_rows(self._connection, select(*instructions.STORED).where(*here))
        self._connection.execute(update(table).where(*here).values(owner=self._target))
        for row in rows:
            made = instructions.as_instruction(row, self._encryption)
            if made is not None:
                values = instructions.as_values(made.model_copy(update={"owner": self._target}), self._encryption)
                there = (table.c.owner == self._target, table.c.instruction_id == made.id)
                anew = {name: values[name] for name in ("sealed", "checksum")}
                self._connection.execute(update(table).where(*there).values(anew))
        return [row.instruction_id for row in rows]

    def _part_of_memories(self, part: Sequence[str], names: Renamed, before: dict[str, str]) -> dict[str, str]:
        here = (memory.c.owner == self._source, memory.c.memory_id.in_(part))
        rows = all_rows(
            self._connection, select(*STORED, memory.c.text_digest).where(*here).order_by(memory.c.position)
        )
        if not rows:
            return {}
        wanted = {row.memory_id: names.get(row.memory_id, row.memory_id) for row in rows}
        taken = owned(self._connection, self._target, memory.c.memory_id, list(wanted.values()))
        renamed = {old: str(uuid.uuid4()) if new in taken else new for old, new in wanted.items()}
        number, salt = begin_change(self._connection, self._target, len(rows))
        for table in (memory, memory_vector, memory_access):
            self._copy(table, table.c.memory_id, renamed)
        values, sealed_values = [], []
        for change, row in enumerate(rows, number + 1 - len(rows)):
            new, made = renamed[row.memory_id], as_memory(row, self._encryption)
            digest, checksum, by = row.text_digest, row.checksum, row.superseded_by
            if made is not None:
                by = names.get(by, (before | renamed).get(by, by))
                made = made.model_copy(update={"id": new, "owner": self._target, "superseded_by": by})
                digest = digest_of(self._encryption, self._target, salt, made.text, made.key)
                anew = as_values(made, self._encryption)
                checksum = anew["checksum"]
                if self._encryption.encrypts:
                    sealed_values.append({f"new_{name}": anew[name] for name in FOUND_BY} | {"of_id": new})
            values.append({"of_id": new, "n": change, "d": digest, "c": checksum, "s": by})
        arrived = update(memory).where(memory.c.owner == self._target, memory.c.memory_id == bindparam("of_id"))
        self._connection.execute(
            arrived.values(
                change=bindparam("n"),
                position=bindparam("n"),
                text_digest=bindparam("d"),
                checksum=bindparam("c"),
                superseded_by=bindparam("s"),
            ),
            values,
        )
        if sealed_values:
            anew_encrypted: dict[str, Any] = {name: bindparam(f"new_{name}") for name in FOUND_BY}
            self._connection.execute(arrived.values(anew_encrypted), sealed_values)
        self._vectors_anew(memory_vector, memory_vector.c.memory_id, renamed)
        return renamed

    def _part_of_messages(self, part: Sequence[str], names: Renamed) -> dict[str, str]:
        table = history_message
        here = (table.c.owner == self._source, table.c.message_id.in_(part))
        rows = all_rows(self._connection, select(*past_messages.STORED).where(*here).order_by(table.c.change))
        if not rows:
            return {}
        wanted = {row.message_id: names.get(row.message_id, row.message_id) for row in rows}
        taken = owned(self._connection, self._target, table.c.message_id, list(wanted.values()))
        of_session = {row.message_id: row.session_id for row in rows}
        # A message in two sessions goes by both ids, as in the search.
        renamed = {old: f"{of_session[old]}/{new}" if new in taken else new for old, new in wanted.items()}
        named_anew = [new for old, new in renamed.items() if wanted[old] in taken]
        twice = owned(self._connection, self._target, table.c.message_id, named_anew)
        renamed = {old: str(uuid.uuid4()) if new in twice else new for old, new in renamed.items()}
        number, _ = begin_change(self._connection, self._target, len(rows))
        for each in (table, history_vector):
            self._copy(each, each.c.message_id, renamed)
        values = []
        for change, row in enumerate(rows, number + 1 - len(rows)):
            new, message = renamed[row.message_id], past_messages.as_message(row, self._encryption)
            sealed, checksum = row.sealed, row.checksum
            if message is not None:
                named = replace(message, message_id=new)
                anew = past_messages.as_values(self._target, named, row.of_session, self._encryption)
                sealed, checksum = anew["sealed"], anew["checksum"]
            values.append({"of_id": new, "n": change, "x": sealed, "c": checksum})
        self._connection.execute(
            update(table)
            .where(table.c.owner == self._target, table.c.message_id == bindparam("of_id"))
            .values(change=bindparam("n"), sealed=bindparam("x"), checksum=bindparam("c")),
            values,
        )
        self._vectors_anew(history_vector, history_vector.c.message_id, renamed)
        return renamed

    def _copy(self, table: Table, id_column: Column[Any], renamed: Renamed) -> None:
        """Copy the rows inside the database, so that no byte changes, damaged ones neither."""
        same = [old for old, new in renamed.items() if old == new]
        for old_ids, new in [(same, None), *(([old], new) for old, new in renamed.items() if old != new)]:
            if not old_ids:
                continue
            changed: dict[str, ColumnElement[Any]] = {"owner": literal(self._target, table.c.owner.type)}
            if new is not None:
                changed[id_column.name] = literal(new, id_column.type)
            names = [column.name for column in table.columns]
            rows = select(*(changed.get(name, table.c[name]) for name in names))
            here = rows.where(table.c.owner == self._source, id_column.in_(old_ids))
            # A vector is found by its model: without one, all of the owner's are read.
            for each in [here.where(table.c.model == model) for model in self._models(table)] or [here]:
                self._connection.execute(insert(table).from_select(names, each))

    def _vectors_anew(self, table: Table, id_column: Column[Any], renamed: Renamed) -> None:
        """Encrypt anew the vectors that are whole, or write their checksums anew: both hold the owner."""
        source, target = self._source, self._target
        columns = select(table.c.model, id_column, table.c.vector, table.c.checksum)
        here = columns.where(table.c.owner == source, id_column.in_(renamed))
        rows = [
            row
            for model in self._models(table)
            for row in self._connection.execute(here.where(table.c.model == model)).all()
        ]
        values: list[dict[str, Any]] = []
        for model, old, stored, checksum in rows:
            new, held = renamed[old], HeldVector(stored, checksum)
            whole = opened_vector(self._encryption, vector_place(table, source, model, old), held)
            if whole is not None:
                anew = vector_values(self._encryption, vector_place(table, target, model, new), whole)
                values.append({"of_model": model, "of_id": new, "v": anew["vector"], "c": anew["checksum"]})
        there = (table.c.owner == target, table.c.model == bindparam("of_model"), id_column == bindparam("of_id"))
        if values:
            written = update(table).where(*there).values(vector=bindparam("v"), checksum=bindparam("c"))
            self._connection.execute(written, values)

    def _models(self, table: Table) -> list[str]:
        if "model" not in table.c:
            return []
        held = select(table.c.model).where(table.c.owner == self._source).distinct()
        return list(self._connection.execute(held).scalars())

    def _delete(
        self, table: Table, id_column: Column[Any], vectors: Table, id_of_vector: Column[Any], ids: Sequence[str]
    ) -> None:
        """Delete the copied rows; vectors first, or the deletion of each row would search all vectors that are left."""
        for model in self._models(vectors):
            of_model = (vectors.c.owner == self._source, vectors.c.model == model)
            for part in in_parts(ids):
                self._connection.execute(delete(vectors).where(*of_model, id_of_vector.in_(part)))
        for part in in_parts(ids):
            self._connection.execute(delete(table).where(table.c.owner == self._source, id_column.in_(part)))


def ids_of(connection: Connection, owner: OwnerKey, row_id: Column[Any], order: Column[Any]) -> Sequence[str]:
    """Return the ids of all the owner's rows of one table, in any state."""
    held = select(row_id).where(row_id.table.c.owner == owner)
    return connection.execute(held.order_by(order)).scalars().all()


Record = dict[str, Any]
"""The record of a move of categories.

`categories`: the old ids by the new; `categories_of_both`: by the old id what took its place, with its color, when it
was made and its parent.
"""


def move(connection: Connection, source: OwnerKey, target: OwnerKey) -> Record:
    """Move all of `source` to `target`; return what moved. Both may have more than 500 together: none is left out."""
    arriving, there = categories.listed(connection, source), categories.listed(connection, target)
    names = {plain(each.name): each for each in there}
    taken = set(_ids(connection, target))
    ids: dict[str, str] = {}
    record: Record = {"categories": {}, "categories_of_both": {}}
    made: list[Category] = []
    for each in arriving:
        old, parent = each.category_id, None if each.parent_id is None else ids.get(each.parent_id)
        if (same := names.get(plain(each.name))) is not None:
            ids[old] = same.category_id
            beside = [each.color, each.created_at.isoformat(), each.parent_id]
            record["categories_of_both"][old] = [same.category_id, *beside]
            continue
        new = str(uuid.uuid4()) if old in taken else old
        ids[old] = new
        record["categories"][new] = old
        made.append(replace(each, category_id=new, parent_id=parent))
    connection.execute(
        delete(memory_category).where(memory_category.c.owner == source, memory_category.c.category_id.in_(ids))
    )
    categories.store(connection, target, made)
    for damaged in _ids(connection, source):
        if damaged not in taken:
            _handed(connection, source, target, damaged)
            record["categories"][damaged] = damaged
    return record


def take_back(connection: Connection, record: Mapping[str, Any], holder: OwnerKey, owner: OwnerKey) -> None:
    """Give rows that moved and `holder` still has back to the owner; those that both had are there twice again.

    A category whose parent does not come along belongs to the nearest above it that does, else it is at the top.
    """
    held = {each.category_id: each for each in categories.listed(connection, holder)}
    there = {plain(each.name) for each in categories.listed(connection, owner)}
    taken = set(_ids(connection, owner))
    moved: Mapping[str, str] = record.get("categories", {})
    back = {
        new: old
        for new, old in moved.items()
        if old not in taken and new in held and plain(held[new].name) not in there
    }
    of_both = {
        old: each
        for old, each in record.get("categories_of_both", {}).items()
        if old not in taken and each[0] in held and plain(held[each[0]].name) not in there
    }
    named_there = back | {each[0]: old for old, each in of_both.items()}
    made = {
        old: replace(held[new], category_id=old, parent_id=_above(held, new, named_there)) for new, old in back.items()
    }
    for old, (same, color, created_at, parent) in of_both.items():
        copy = replace(held[same], category_id=old, color=color, created_at=datetime.fromisoformat(created_at))
        made[old] = replace(copy, parent_id=None)
        if parent in made and not _is_below(made, parent, old):
            made[old] = replace(made[old], parent_id=parent)
    stays = {each: each for each in held if each not in back}
    left = [replace(held[each], parent_id=_above(held, each, stays)) for each in stays if held[each].parent_id in back]
    gone = [*back, *(each.category_id for each in left)]
    connection.execute(
        delete(memory_category).where(memory_category.c.owner == holder, memory_category.c.category_id.in_(gone))
    )
    categories.store(connection, holder, left)
    categories.store(connection, owner, made.values())
    unread = set(_ids(connection, holder)) - held.keys()
    for damaged in unread & moved.keys():
        if damaged not in taken and damaged not in made:
            _handed(connection, holder, owner, damaged)


def _above(held: Mapping[str, Category], category_id: str, names: Mapping[str, str]) -> str | None:
    """Return the name, by `names`, of the nearest above it that has one."""
    above = held[category_id].parent_id
    while above is not None and above not in names:
        above = held[above].parent_id if above in held else None
    return None if above is None else names[above]


def _is_below(made: Mapping[str, Category], category_id: str, top: str) -> bool:
    at: str | None = category_id
    while at is not None and at != top:
        at = made[at].parent_id if at in made else None
    return at == top


def _ids(connection: Connection, owner: OwnerKey) -> list[str]:
    return list(
        connection.execute(select(memory_category.c.category_id).where(memory_category.c.owner == owner)).scalars()
    )


def _handed(connection: Connection, source: OwnerKey, target: OwnerKey, category_id: str) -> None:
    """Hand over a damaged category as it is: given back, it can be restored."""
    here = (memory_category.c.owner == source, memory_category.c.category_id == category_id)
    connection.execute(update(memory_category).where(*here).values(owner=target))
