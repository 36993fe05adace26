"""The categories of a person: a tree of names with colours, and the memories that are in them, however spelled."""

import re
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, TypedDict, Unpack

from sqlalchemy import Connection, delete, func, insert, select, update

from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.audit_recording import Done, record, record_all
from langmem_plugin.database.encryption import Encryption, encryption_of
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.memory_tables import memory_category as table
from langmem_plugin.database.owners_and_erasures import owner_key
from langmem_plugin.database.schema import in_parts
from langmem_plugin.errors import CategoryNotFound, InvalidInput
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep import memory_row_mapping
from langmem_plugin.memory.keep.changes_and_checksums import Damages, SealedTable, all_rows, begin_change
from langmem_plugin.memory.keep.memory_row_mapping import valid
from langmem_plugin.memory.memory_types import plain, storable

SEALED = SealedTable(
    table,
    table.c.category_id,
    words=("name", "description"),
    beside=("name", "description", "color", "parent_id", "created_at"),
    checked=("category_id", "owner", "name", "color", "description", "parent_id", "created_at"),
)
_STORED = SEALED.stored()
DEFAULT_COLOR = "#3b82f6"
MOST_CATEGORIES = 500
_LONGEST_NAME, _LONGEST_DESCRIPTION = 100, 1_000
COLOR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True)
class Category:
    """One of a person's own categories; `parent_id` is that of the category it belongs to, None at the top.

    The memories in it are those whose `category` is its name, in any case.
    """

    category_id: str
    name: str
    color: str
    description: str | None
    parent_id: str | None
    created_at: datetime


def listed(
    connection: Connection, owner: OwnerKey, damaged: Callable[[str], object] = lambda _: None
) -> list[Category]:
    """Return all categories of the owner, parents before children; `damaged` is told the ids of those
    that cannot be read.
    """
    encryption, found = encryption_of(connection), []
    for row in all_rows(connection, select(*_STORED).where(table.c.owner == owner)):
        values = SEALED.read(row, encryption)
        if values is None:
            damaged(row.category_id)
        else:
            del values["owner"]
            found.append(Category(**values))
    return list(in_order(found))


def store(connection: Connection, owner: OwnerKey, categories: Iterable[Category]) -> None:
    encryption = encryption_of(connection)
    rows = [_values(owner, each, encryption) for each in categories]
    if rows:
        connection.execute(insert(table), rows)


def in_order(categories: Collection[Category]) -> Iterator[Category]:
    """Give each category before its children, and those of one parent by their names. One whose parent is
    gone is at the top.
    """
    known = {each.category_id for each in categories}
    children: dict[str | None, list[Category]] = {}
    for each in sorted(categories, key=lambda each: (plain(each.name), each.category_id), reverse=True):
        children.setdefault(each.parent_id if each.parent_id in known else None, []).append(each)
    waiting = children.pop(None, [])
    while waiting:
        yield (first := waiting.pop())
        waiting += children.pop(first.category_id, [])


def named(categories: Iterable[Category], name: str) -> Category | None:
    return next((each for each in categories if plain(each.name) == plain(name)), None)


def within(categories: Sequence[Category], above: Collection[str]) -> list[Category]:
    """Return the categories with these ids and all below them. The categories are in order."""
    found: dict[str, Category] = {}
    for each in categories:
        if each.category_id in above or each.parent_id in found:
            found[each.category_id] = each
    return list(found.values())


def names_within(categories: Sequence[Category], names: Iterable[str]) -> frozenset[str]:
    """Return the names, as they are compared (`plain`), whether or not they are a category's, and those of all below
    them.
    """
    asked = frozenset(map(plain, names))
    above = {each.category_id for each in categories if plain(each.name) in asked}
    return asked.union(plain(each.name) for each in within(categories, above))


def _values(owner: OwnerKey, made: Category, encryption: Encryption) -> dict[str, Any]:
    return SEALED.values({"owner": owner, **asdict(made)}, encryption)


class CategoryChanges(TypedDict, total=False):
    """The fields of a category that may change; `parent_id=None` puts it at the top."""

    name: str
    color: str
    description: str | None
    parent_id: str | None


class Categories:
    """The categories of every owner, in one database.

    Every change is one of the owner's numbered changes, so that no two writers give one name twice, or make two
    categories parents of each other. A name is there once, in whatever case and spacing. Memories keep the name, as
    text: a category has those of its name, also where they were stored before it was made.
    """

    def __init__(self, database: Database, damages: Damages, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._damages = damages
        self._now = now

    def list_categories(self, owner: str | int) -> list[Category]:
        """Return the categories as a tree is read: each, then those below it; those of one parent by their names."""
        owner = owner_key(self._database, owner)
        with self._database.read() as connection:
            return self.all_of(connection, owner)

    def create(
        self,
        owner: str | int,
        name: str,
        *,
        color: str = DEFAULT_COLOR,
        description: str | None = None,
        parent_id: str | None = None,
    ) -> Category:
        """Create a category; memories that have its name already are in it from now on.

        Raises InvalidInput for a name that is there, blank or longer than 100 characters, a color that is not
        #rrggbb, or where the owner has 500; CategoryNotFound for a parent that is not theirs.
        """
        owner = owner_key(self._database, owner)
        made = _checked(Category(str(uuid.uuid4()), name, color, description, parent_id, self._now()))
        with self._database.write() as connection:
            begin_change(connection, owner)
            self._store(connection, owner, made, self.all_of(connection, owner))
            return made

    def take_in(self, owner: str | int, category: Category) -> tuple[str, bool]:
        """Store a category of another database as it is, where the owner has neither its id nor its name.

        Return the id under which it is there, and whether it was stored. It is put at the top where its parent is not
        there. Raises InvalidInput as `create` does.
        """
        owner = owner_key(self._database, owner)
        made = _checked(category)
        with self._database.write() as connection:
            begin_change(connection, owner)
            there = self.all_of(connection, owner)
            ids = {each.category_id for each in there}
            if made.category_id in ids:
                return made.category_id, False
            if (same := named(there, made.name)) is not None:
                return same.category_id, False
            self._store(connection, owner, made if made.parent_id in ids else replace(made, parent_id=None), there)
            return made.category_id, True

    def update(self, owner: str | int, category_id: str, **changes: Unpack[CategoryChanges]) -> Category:
        """Change what is named. With another name its memories have that too, in the same transaction.

        Raises CategoryNotFound for an id that is not theirs, InvalidInput as `create` does and for a parent that is
        the category itself or below it; then nothing is changed.
        """
        owner = owner_key(self._database, owner)
        with self._database.write(patience=BULK_WORK) as connection:
            begin_change(connection, owner)
            there = self.all_of(connection, owner)
            before = _one(there, category_id)
            after = _checked(replace(before, **changes))
            others = [each for each in there if each is not before]
            _refuse_taken(others, after.name)
            if after.parent_id is not None and after.parent_id != before.parent_id:
                _one(there, after.parent_id)
                if any(each.category_id == after.parent_id for each in within(there, {category_id})):
                    raise InvalidInput("a category cannot be below itself: choose another parent")
            _rewrite(connection, owner, after)
            if after.name != before.name:
                recategorize(connection, owner, before.name, after.name)
            record(connection, "category.changed", owner=owner, subject=category_id, content=after.name)
        return after

    def delete(self, owner: str | int, category_id: str) -> None:
        """Delete a category. Those below it and its memories move up to its parent; at the top they have none then.

        A damaged one goes without its memories being touched. Raises CategoryNotFound.
        """
        owner = owner_key(self._database, owner)
        with self._database.write(patience=BULK_WORK) as connection:
            begin_change(connection, owner)
            there = self.all_of(connection, owner)
            here = (table.c.owner == owner, table.c.category_id == category_id)
            if not connection.execute(delete(table).where(*here)).rowcount:
                raise _not_found(category_id)
            by_id = {each.category_id: each for each in there}
            gone = by_id.get(category_id)  # None: it is damaged, and nobody knows its name and parent any more
            parent = None if gone is None or gone.parent_id is None else by_id.get(gone.parent_id)
            for child in [each for each in there if each.parent_id == category_id]:
                _rewrite(connection, owner, replace(child, parent_id=None if parent is None else parent.category_id))
            if gone is not None:
                recategorize(connection, owner, gone.name, None if parent is None else parent.name)
            record(connection, "category.removed", owner=owner, subject=category_id)

    def counts(self, owner: str | int) -> dict[str, tuple[int, datetime | None]]:
        """Count by name: (active memories, when one of them was used last), those below it not counted.

        First come the categories that are stored, in their order; then the names that memories have and no
        category is stored for.
        """
        owner = owner_key(self._database, owner)
        active = (memory.c.owner == owner, memory.c.status == "active", valid(self._now()))
        counted = select(memory.c.category, func.count(), func.max(memory.c.last_accessed))
        with self._database.read() as connection:
            names = {plain(each.name): each.name for each in self.all_of(connection, owner)}
            spelled = spellings(connection, owner)
            rows = connection.execute(counted.where(*active).group_by(memory.c.category)).all()
        found: dict[str, tuple[int, datetime | None]] = dict.fromkeys(names.values(), (0, None))
        for stored, many, used in sorted(rows, key=lambda row: plain(spelled.get(row[0], ""))):
            if stored not in spelled:
                continue
            name = names.setdefault(plain(spelled[stored]), spelled[stored])
            before, used_before = found.get(name, (0, None))
            found[name] = (before + many, max(filter(None, (used_before, used)), default=None))
        return found

    def all_of(self, connection: Connection, owner: OwnerKey) -> list[Category]:
        """Return the categories in the caller's transaction, as `list_categories` does."""
        return listed(connection, owner, lambda each: self._damages.report("category", owner, each))

    def _store(self, connection: Connection, owner: OwnerKey, made: Category, there: Sequence[Category]) -> None:
        if len(there) >= MOST_CATEGORIES:
            raise InvalidInput(f"{MOST_CATEGORIES} categories are there: delete one before adding another")
        _refuse_taken(there, made.name)
        if made.parent_id is not None:
            _one(there, made.parent_id)
        store(connection, owner, [made])
        record(connection, "category.added", owner=owner, subject=made.category_id, content=made.name)


def _one(categories: Sequence[Category], category_id: str) -> Category:
    found = next((each for each in categories if each.category_id == category_id), None)
    if found is None:
        raise _not_found(category_id)
    return found


def _not_found(category_id: str) -> CategoryNotFound:
    return CategoryNotFound(f"there is no category {category_id}: list the categories for their ids")


def _refuse_taken(categories: Sequence[Category], name: str) -> None:
    if (taken := named(categories, name)) is not None:
        raise InvalidInput(f"there is a category {taken.name!r} already, {taken.category_id}: choose another name")


def _rewrite(connection: Connection, owner: OwnerKey, after: Category) -> None:
    values = _values(owner, after, encryption_of(connection))
    here = (table.c.owner == owner, table.c.category_id == after.category_id)
    connection.execute(update(table).where(*here).values(values))


def _checked(made: Category) -> Category:
    """Return the category as it is stored: the name with single spaces, the colour in small letters, no
    description that is blank.
    """
    if not isinstance(made.name, str) or not (name := " ".join(made.name.split())):
        raise InvalidInput("a category needs a name: pass a text that is not blank")
    if len(name) > _LONGEST_NAME:
        raise InvalidInput(f"the name of a category has at most {_LONGEST_NAME} characters: this has {len(name)}")
    if not isinstance(made.color, str) or not COLOR.fullmatch(made.color):
        raise InvalidInput("the color of a category is # and six hexadecimal digits, such as #3b82f6")
    description = (made.description or "").strip() or None
    if description is not None and len(description) > _LONGEST_DESCRIPTION:
        raise InvalidInput(f"the description of a category has at most {_LONGEST_DESCRIPTION} characters")
    if storable(name) != name or storable(description or "") != (description or ""):
        raise InvalidInput("a category holds a NUL or half a character, which no database stores: leave it out")
    return replace(made, name=name, color=made.color.lower(), description=description)


def spellings(connection: Connection, owner: OwnerKey) -> dict[str, str]:
    """Return the categories that the owner's memories have, by what the column holds for them: the
    name or its digest.
    """
    has_one = (memory.c.owner == owner, memory.c.category.is_not(None))
    encryption = encryption_of(connection)
    if not encryption.encrypts:
        held = connection.execute(select(memory.c.category).where(*has_one).distinct())
        return {each: each for each in held.scalars()}
    names: dict[str, str] = {}
    examples = select(memory.c.category, func.min(memory.c.memory_id), func.max(memory.c.memory_id))
    for digest, *ids in connection.execute(examples.where(*has_one).group_by(memory.c.category)).all():
        rows = select(*memory_row_mapping.STORED).where(memory.c.owner == owner, memory.c.memory_id.in_(ids))
        for row in all_rows(connection, rows):
            if (made := memory_row_mapping.as_memory(row, encryption)) is not None and made.category is not None:
                names[digest] = made.category
    return names


def stored_as(connection: Connection, owner: OwnerKey, names: Collection[str]) -> list[str]:
    """Return the spellings in the column of these names, which are given as `plain` has them."""
    return [stored for stored, name in spellings(connection, owner).items() if plain(name) in names]


def recategorize(connection: Connection, owner: OwnerKey, name: str, category: str | None) -> None:
    """Give the memories of the category `name`, in whatever state, another one or none.

    Their texts stay as they were said: only their revisions rise. Damaged ones stay as they are.
    """
    encryption, mine = encryption_of(connection), select(*memory_row_mapping.STORED).where(memory.c.owner == owner)
    spelled = in_parts(stored_as(connection, owner, {plain(name)}))
    rows = [row for part in spelled for row in all_rows(connection, mine.where(memory.c.category.in_(part)))]
    held = [made for row in rows if (made := memory_row_mapping.as_memory(row, encryption)) is not None]
    number, _ = begin_change(connection, owner, len(held))
    for change, made in enumerate(held, number + 1 - len(held)):
        after = made.model_copy(update={"category": category, "revision": made.revision + 1})
        values = memory_row_mapping.as_values(after, encryption) | {"change": change}
        here = (memory.c.owner == owner, memory.c.memory_id == made.id)
        connection.execute(update(memory).where(*here).values(values))
    record_all(connection, [Done("memory.changed", owner, made.id) for made in held])
