"""A person's categories as rows and as a tree: read only if they are what was written, parents before children."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Connection, insert, select, type_coerce

from langmem_plugin.database.encryption import Encryption, Place, encryption_of
from langmem_plugin.database.memory_tables import memory_category as table
from langmem_plugin.errors import DecryptionRefused
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import checksums
from langmem_plugin.memory.damaged_rows import AnyRow, all_rows
from langmem_plugin.memory.models import plain
from langmem_plugin.memory.sealed_rows import seal, unseal
from langmem_plugin.notebook_view import Cells, Name, card

STORED = [
    (type_coerce(column, BigInteger) if column.name == "created_at" else column).label(column.name)
    for column in table.c
]
_WORDS = ("name", "description")
_BESIDE = (*_WORDS, "color", "parent_id", "created_at")  # of an encrypted row, as they were when it was sealed


@dataclass(frozen=True)
class Category:
    """One of a person's own categories; `parent_id` is that of the one it belongs to, None at the top.

    What is in it are the memories whose `category` is its name, in any case.
    """

    category_id: str
    name: str
    color: str
    description: str | None
    parent_id: str | None
    created_at: datetime

    def cells(self) -> Cells:
        return {
            "category": self.name,
            "color": self.color,
            "for": self.description,
            "in": None if self.parent_id is None else Name(self.parent_id),
            "id": Name(self.category_id),
        }

    def _repr_html_(self) -> str:
        return card("A category", self.cells())


def listed(
    connection: Connection, owner: OwnerKey, damaged: Callable[[str], object] = lambda _: None
) -> list[Category]:
    """All of the owner's, parents before children; `damaged` is told the ids of those that cannot be read."""
    encryption, found = encryption_of(connection), []
    for row in all_rows(connection, select(*STORED).where(table.c.owner == owner)):
        made = as_category(row, encryption)
        if made is None:
            damaged(row.category_id)
        else:
            found.append(made)
    return list(in_order(found))


def store(connection: Connection, owner: OwnerKey, categories: Iterable[Category]) -> None:
    encryption = encryption_of(connection)
    rows = [as_values(owner, each, encryption) for each in categories]
    if rows:
        connection.execute(insert(table), rows)


def in_order(categories: Collection[Category]) -> Iterator[Category]:
    """Each before its children, and those of one parent by their names. What has no parent any more is at the top."""
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


def within(categories: Sequence[Category], category_id: str) -> set[str]:
    """The ids of the category and of all below it. The categories are in order."""
    found = {category_id}
    for each in categories:
        if each.parent_id in found:
            found.add(each.category_id)
    return found


class CategoryTree:
    """A person's categories by their names: asked for in any case, given as they are compared (`plain`)."""

    def __init__(self, categories: Sequence[Category] = ()) -> None:
        self.categories = categories  # in order
        names = {each.category_id: plain(each.name) for each in categories}
        self._parent = {plain(each.name): names[each.parent_id] for each in categories if each.parent_id in names}

    def below(self, names: Iterable[str]) -> frozenset[str]:
        """The names with those of all below them, whether or not they are a category's."""
        found = set(map(plain, names))
        for each in self.categories:
            if self._parent.get(plain(each.name)) in found:
                found.add(plain(each.name))
        return frozenset(found)

    def above(self, name: str) -> list[str]:
        """The name, and those above it from the bottom up."""
        found = [plain(name)]
        while (parent := self._parent.get(found[-1])) is not None and parent not in found:
            found.append(parent)
        return found


def as_values(owner: OwnerKey, made: Category, encryption: Encryption) -> dict[str, Any]:
    """The columns of `made`; its words encrypted where everything is."""
    values = asdict(made) | {"owner": owner}
    if not encryption.encrypts:
        return values | {"sealed": None, "checksum": _checksum(owner, made)}
    words = {name: values[name] for name in _WORDS}
    stored = values | {"name": "", "description": None}
    place = _place(owner, made.category_id)
    sealed = seal(encryption.cipher, place, words, [stored[name] for name in _BESIDE])
    return stored | {"sealed": sealed, "checksum": None}


def as_category(row: AnyRow, encryption: Encryption) -> Category | None:
    """Of a row of STORED; None where it does not hold what was written, or is in plain and should not be."""
    values = {column.name: value for column, value in zip(table.c, row, strict=True)}
    written, sealed, owner = values.pop("checksum"), values.pop("sealed"), values.pop("owner")
    try:
        values["created_at"] = checksums.instant(values["created_at"])
        if sealed is not None or encryption.encrypts:
            place = _place(owner, values["category_id"])
            values |= unseal(encryption.cipher, place, sealed, [values[name] for name in _BESIDE])
        made = Category(**values)
        if sealed is None and written not in (None, _checksum(owner, made)):
            return None
    except (TypeError, ValueError, OverflowError, DecryptionRefused):
        return None
    return made


def _place(owner: OwnerKey, category_id: str) -> Place:
    return Place(table.name, "sealed", owner, (category_id,))


def _checksum(owner: OwnerKey, made: Category) -> int:
    return checksums.of_values(
        made.category_id, owner, made.name, made.color, made.description, made.parent_id, made.created_at
    )
