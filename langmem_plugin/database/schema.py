"""The common base of all tables: one metadata, instants and texts that are the same on both engines, owners that no
input can forge.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, ClassVar, TypeVar

from sqlalchemy import JSON, BigInteger, Column, Connection, Dialect, Index, MetaData, String, Table, Text, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DontWrapMixin
from sqlalchemy.types import TypeDecorator

from langmem_plugin.database.prepared_statements import Prepared
from langmem_plugin.errors import InvalidInput, WriteConflict
from langmem_plugin.identifiers import IdentifierKey, owner_as_stored, owner_to_store
from langmem_plugin.logs import event_log

log = event_log(__name__)

metadata = MetaData()

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_ESCAPED = "\x1b"
_AT_ONCE = 500  # ids in one IN list
_LONGEST_NAME = 1_000  # bytes; an index of PostgreSQL holds 2,704 of a row
TRIES = 4  # the first, and three more


def inserts(table: Table, made: Callable[[Any], Any]) -> dict[str, Any]:
    """Return, by the dialect's name, what is made of an INSERT that can say what happens where the row is there."""
    return {"sqlite": made(sqlite.insert(table)), "postgresql": made(postgresql.insert(table))}


def insert_unless_there(table: Table, *returned: Column[Any]) -> dict[str, Any]:
    """Return, by the dialect's name, an INSERT that changes and returns nothing where the row exists already."""

    def unless_there(insert: Any) -> Any:
        return insert.on_conflict_do_nothing().returning(*returned) if returned else insert.on_conflict_do_nothing()

    return inserts(table, unless_there)


def upsert(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Return an INSERT that can say what happens where the row exists already."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def put(connection: Connection, table: Table, key: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Insert the row of this key, or change these values where it exists already."""
    inserted = upsert(connection, table).values(**key, **values)
    connection.execute(inserted.on_conflict_do_update(index_elements=[*key], set_=values))


def in_parts(many: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """Return the ids in parts, each as many as one IN list takes."""
    return (many[start : start + _AT_ONCE] for start in range(0, len(many), _AT_ONCE))


def partial_index(name: str, *columns: Any, where: Any, unique: bool = False) -> Index:
    """Return an index of those rows alone that meet the condition."""
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


class Checked:
    """A type of column whose values may have been damaged on disk or by hand: the rest of the row is read anyway."""

    told: ClassVar[set[str]] = set()
    column: Column[Any] | None = None

    def damaged(self) -> None:
        """Report damage, once for each column."""
        if (name := str(self.column)) not in self.told:
            self.told.add(name)
            log.error("row.damaged", extra={"column": name})


@event.listens_for(Column, "after_parent_attach")
def _known_to_its_type(column: Column[Any], _table: Table) -> None:
    if isinstance(column.type, Checked):
        column.type.column = column


class Instant(Checked, TypeDecorator[datetime]):
    """A UTC instant as whole microseconds since 1970: eight bytes, sortable, the same on both engines. A damaged one
    reads as 1970.
    """

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive datetime cannot be stored: give it a time zone")
        delta = value - _EPOCH
        return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        try:
            return _EPOCH + timedelta(microseconds=value)
        except (TypeError, OverflowError):
            self.damaged()
            return _EPOCH


class Json(Checked, TypeDecorator[Any]):
    """A list or an object as JSON, or that JSON encrypted. A damaged one reads as an empty one."""

    impl = JSON
    cache_ok = True

    def __init__(self, shape: type[list[Any]] | type[dict[str, Any]]) -> None:
        super().__init__(none_as_null=True)
        self.shape = shape

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        read = super().result_processor(dialect, coltype) or (lambda stored: stored)

        def checked(stored: Any) -> Any:
            try:
                value = read(stored)
            except (TypeError, ValueError, RecursionError):
                value = b""
            if value is None or isinstance(value, (self.shape, str)):
                return value
            self.damaged()
            return self.shape()

        return checked


class InvalidText(InvalidInput, DontWrapMixin):
    """The text cannot be stored or looked for; nothing was read or stored."""


class Words(TypeDecorator[str]):
    """A text. One that PostgreSQL cannot store is refused here, on both engines, because every statement
    passes here.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return to_store(value) if isinstance(value, str) else value


class Tags(TypeDecorator[tuple[str, ...]]):
    """A column of plain tags, each between two line ends, so that one LIKE finds a whole tag on both engines."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is None or isinstance(value, str):  # a string is a pattern to compare with
            return value and to_store(value)
        return to_store("".join(f"\n{tag}" for tag in value) + "\n") if value else ""

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...]:  # noqa: ARG002
        return tuple(value.strip("\n").split("\n")) if value else ()


class Rows(Checked, TypeDecorator[frozenset[int]]):
    """A column of row numbers, kept as the first and the last of each unbroken range. Damaged ones read as none.

    The highest alone would not do: each process gives numbers of its own, so a later message may have a lower one.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Collection[int] | None, dialect: Dialect) -> str:  # noqa: ARG002
        stretches: list[list[int]] = []
        for row in sorted(value or ()):
            if stretches and row == stretches[-1][1] + 1:
                stretches[-1][1] = row
            else:
                stretches.append([row, row])
        return json.dumps(stretches, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> frozenset[int]:  # noqa: ARG002
        try:
            return frozenset(row for first, last in json.loads(value or "[]") for row in range(first, last + 1))
        except (TypeError, ValueError):
            self.damaged()
            return frozenset()


class Name(TypeDecorator[str]):
    """A short text by which a row may be found: together with its owner it fits into an index of PostgreSQL."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return name_to_store(value) if isinstance(value, str) else value


class GivenName(TypeDecorator[str]):
    """A text that is never looked for, with any content and of any length: what PostgreSQL cannot store is escaped."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is None or not (_UNSTORABLE.search(value) or value.startswith(_ESCAPED)):
            return value
        return _ESCAPED + json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is None or not value.startswith(_ESCAPED):
            return value
        return str(json.loads(value.removeprefix(_ESCAPED)))


def name_to_store(text: str) -> str:
    """Return the text unchanged. Raises InvalidInput if it is too long for a Name, or PostgreSQL could not store it."""
    if len(to_store(text).encode()) > _LONGEST_NAME:
        raise InvalidText(f"a key, tag, category or id has at most {_LONGEST_NAME} bytes: this has more")
    return text


def to_store(text: str) -> str:
    """Return the text unchanged. Raises InvalidInput if PostgreSQL could not store it."""
    if _UNSTORABLE.search(text):
        raise InvalidText("a text holds a NUL or half a character, which no database stores: leave it out")
    return text


class InvalidOwner(InvalidInput, DontWrapMixin):
    """The owner that was passed can be nobody's key; nothing was read or stored."""


class Owner(TypeDecorator[str]):
    """The owner of a row. A text that looks like a scope's key is refused here, because every statement passes here."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is None:
            return None
        try:
            return owner_to_store(value)
        except InvalidInput as error:
            raise InvalidOwner(str(error)) from error

    def process_result_value(self, value: str | None, dialect: Dialect) -> IdentifierKey | None:  # noqa: ARG002
        return None if value is None else owner_as_stored(value)


class Identifying(Owner):
    """An identifier, which may belong to a person whose key is another."""

    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Dialect) -> IdentifierKey | None:  # noqa: ARG002
        return None if value is None else IdentifierKey(value)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_One = TypeVar("_One")


def insert_new(
    connection: Connection,
    table: Table,
    made: Iterable[_One],
    values: Callable[[int, _One], Mapping[str, Any]],
    draw_again: Callable[[_One], _One],
) -> list[_One]:
    """Store each of `made`, and return them as they were stored; `values` gives a row for its index and itself.

    Raises WriteConflict when four ids in a row were taken.
    """
    stored: list[_One] = []
    for at, drawn in enumerate(made):
        for left in reversed(range(TRIES)):
            row = values(at, drawn)
            # Nothing fails when a row is there: on PostgreSQL a failed insert would end the whole transaction.
            if _inserting(table, *row).run(connection, row):
                break
            if not left:
                raise all_taken(table.name)
            drawn = draw_again(drawn)  # noqa: PLW2901
        stored.append(drawn)
    return stored


@cache
def _inserting(table: Table, *columns: str) -> Prepared:
    return Prepared({name: each.values(dict.fromkeys(columns)) for name, each in insert_unless_there(table).items()})


def all_taken(what: str) -> WriteConflict:
    return WriteConflict(
        f"{TRIES} ids in a row that were drawn for {what} are taken: the source of random numbers repeats itself; "
        "nothing was written, restart the process and try again"
    )
