"""A person's own categories: a tree of names with colours, and the memories that are in them."""

import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypedDict, Unpack

from sqlalchemy import Connection, delete, func, select, update

from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.audit_trail import record
from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.memory_tables import memory_category as table
from langmem_plugin.database.owners import owner_key
from langmem_plugin.errors import CategoryNotFound, InvalidInput
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import category_rows
from langmem_plugin.memory.categorized_memories import recategorize, spellings
from langmem_plugin.memory.category_rows import Category, CategoryTree, named, within
from langmem_plugin.memory.damaged_rows import Damages
from langmem_plugin.memory.filters import valid
from langmem_plugin.memory.models import plain, storable
from langmem_plugin.memory.owner_changes import begin_change

DEFAULT_COLOR = "#3b82f6"
MOST_CATEGORIES = 500
_LONGEST_NAME, _LONGEST_DESCRIPTION = 100, 1_000
COLOR = re.compile(r"#[0-9a-fA-F]{6}")


class CategoryChanges(TypedDict, total=False):
    """What may change in a category; `parent_id=None` puts it at the top."""

    name: str
    color: str
    description: str | None
    parent_id: str | None


class Categories:
    """Of every owner, in one database. Every change is one of the owner's numbered changes, so that no two writers
    name the same, or each other's parent.

    A name is there once, in whatever case and spacing. Memories keep the name, as text: a category has those of its
    name, also where they were stored before it was made.
    """

    def __init__(self, database: Database, damages: Damages, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._damages = damages
        self._now = now

    def list_categories(self, owner: str | int) -> list[Category]:
        """As a tree is read: each category, then what is below it; those of one parent by their names."""
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
        """Memories that have its name already are in it from now on.

        Raises InvalidInput for a name that is there, blank or longer than 100 characters, a color that is not
        #rrggbb, or where the owner has 500; CategoryNotFound for a parent that is not theirs.
        """
        owner = owner_key(self._database, owner)
        made = _checked(Category(str(uuid.uuid4()), name, color, description, parent_id, self._now()))
        with self._database.write() as connection:
            begin_change(connection, owner)
            self._store(connection, owner, made, self.all_of(connection, owner))
            return made

    def take_in(self, owner: str | int, category: Category) -> bool:
        """Stores one of another database as it is; False where the owner has its id or its name already.

        At the top where its parent is not there. Raises InvalidInput as `create` does.
        """
        owner = owner_key(self._database, owner)
        made = _checked(category)
        with self._database.write() as connection:
            begin_change(connection, owner)
            there = self.all_of(connection, owner)
            ids = {each.category_id for each in there}
            if made.category_id in ids or named(there, made.name) is not None:
                return False
            self._store(connection, owner, made if made.parent_id in ids else replace(made, parent_id=None), there)
            return True

    def update(self, owner: str | int, category_id: str, **changes: Unpack[CategoryChanges]) -> Category:
        """Changes what is named. With another name its memories have that too, in the same transaction.

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
                if after.parent_id in within(there, category_id):
                    raise InvalidInput("a category cannot be below itself: choose another parent")
            _rewrite(connection, owner, after)
            if after.name != before.name:
                recategorize(connection, owner, before.name, after.name)
            record(connection, "category.changed", owner=owner, subject=category_id, content=after.name)
        return after

    def delete(self, owner: str | int, category_id: str) -> None:
        """What is below it moves up to its parent, and so do its memories; at the top they have no category then.

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
        """By name: (active memories, when one of them was used last), those below it not counted.

        First the categories that are stored, in their order; then what memories have and no category is stored for.
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

    def under(self, owner: str | int, name: str) -> frozenset[str]:
        """The name and those of all below it, casefolded and with single spaces."""
        owner = owner_key(self._database, owner)
        with self._database.read() as connection:
            return CategoryTree(self.all_of(connection, owner)).below([name])

    def all_of(self, connection: Connection, owner: OwnerKey) -> list[Category]:
        """The same as `list_categories`, in the caller's transaction."""
        return category_rows.listed(connection, owner, lambda each: self._damages.report("category", owner, each))

    def _store(self, connection: Connection, owner: OwnerKey, made: Category, there: Sequence[Category]) -> None:
        if len(there) >= MOST_CATEGORIES:
            raise InvalidInput(f"{MOST_CATEGORIES} categories are there: delete one before adding another")
        _refuse_taken(there, made.name)
        if made.parent_id is not None:
            _one(there, made.parent_id)
        category_rows.store(connection, owner, [made])
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
    values = category_rows.as_values(owner, after, encryption_of(connection))
    here = (table.c.owner == owner, table.c.category_id == after.category_id)
    connection.execute(update(table).where(*here).values(values))


def _checked(made: Category) -> Category:
    """As it is stored: the name with single spaces, the colour in small letters, no description that is blank."""
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
