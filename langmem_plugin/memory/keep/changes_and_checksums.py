"""Numbered changes of an owner, and rows with checksums and with words encrypted for them; reports of damage."""

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple, TypeVar

from sqlalchemy import (
    JSON,
    BigInteger,
    BindParameter,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Float,
    Row,
    Select,
    String,
    Table,
    Text,
    bindparam,
    cast,
    select,
    type_coerce,
    update,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, TypeDecorator, TypeEngine

from langmem_plugin.cached_property import cached_property
from langmem_plugin.database.encryption import Encryption, Place
from langmem_plugin.database.memory_tables import memory, memory_owner
from langmem_plugin.database.prepared_statements import Prepared
from langmem_plugin.database.schema import Instant, Json, Name, Tags, inserts, name_to_store, to_store
from langmem_plugin.errors import DecryptionRefused
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.lru_cache import LruCache

log = event_log(__name__)

_COLUMNS = memory_owner.c.owner, memory_owner.c.change, memory_owner.c.rebuild, memory_owner.c.salt
_MOST_KNOWN = 10_000
_AT_ONCE = 1_000  # rows
_DIGEST_BYTES = 16
_RAW: Mapping[type, TypeEngine[Any]] = {Instant: BigInteger(), Float: NullType(), Tags: Text()}


class OwnerState(NamedTuple):
    """The state of an owner, which changes with every write; `salt` changes with an erasure."""

    owner: OwnerKey
    change: int
    rebuild: int
    salt: bytes


OwnerStates = dict[OwnerKey, OwnerState]


def states_of(connection: Connection, owners: Iterable[OwnerKey]) -> OwnerStates:
    """Return the states of those owners of whom anything was ever kept."""
    rows = _STATES.all(connection, {"owners": list(dict.fromkeys(owners))})
    return {row[0]: OwnerState(OwnerKey(row[0]), *row[1:]) for row in rows}


def begin_change(connection: Connection, owner: OwnerKey, numbers: int = 1) -> tuple[int, bytes]:
    """Take so many numbers of changes; return the last one, and the owner's salt.

    On PostgreSQL the owner's other writers wait here until this transaction ends.
    """
    salt = os.urandom(16)
    row = _BEGIN.first(connection, {"of_owner": owner, "numbers": numbers, "salt": salt})
    assert row is not None  # noqa: S101 - an insert that returns gives a row
    return int(row[0]), bytes(row[1])


def _beginning(insert: Any) -> Any:
    numbers = bindparam("numbers", type_=memory_owner.c.change.type)
    first = {"owner": bindparam("of_owner"), "change": numbers, "rebuild": 0, "salt": bindparam("salt")}
    return (
        insert.values(first)
        .on_conflict_do_update(index_elements=["owner"], set_={"change": memory_owner.c.change + numbers})
        .returning(memory_owner.c.change, memory_owner.c.salt)
    )


_BEGIN = Prepared(inserts(memory_owner, _beginning))


def begin_removal(connection: Connection, owner: OwnerKey) -> None:
    """Begin a change that deletes rows, which no later read can see: all readers start again."""
    number, _ = begin_change(connection, owner)
    connection.execute(update(memory_owner).where(memory_owner.c.owner == owner).values(rebuild=number))


class Names(TypeDecorator[Sequence[str]]):
    """Short texts that a statement is given as one value, however many they are."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(postgresql.ARRAY(String()) if dialect.name == "postgresql" else JSON())

    def process_bind_param(self, value: Sequence[str] | None, dialect: Dialect) -> list[str]:  # noqa: ARG002
        return [name_to_store(each) for each in value or ()]


class _IsAny(FunctionElement[bool]):
    type = Boolean()
    inherit_cache = True


@compiles(_IsAny, "sqlite")
def _in_json(condition: _IsAny, compiler: SQLCompiler, **options: Any) -> str:
    column, texts = (compiler.process(each, **options) for each in condition.clauses)
    return f"{column} IN (SELECT value FROM json_each({texts}))"  # noqa: S608 - compiled


@compiles(_IsAny, "postgresql")
def _in_array(condition: _IsAny, compiler: SQLCompiler, **options: Any) -> str:
    column, texts = (compiler.process(each, **options) for each in condition.clauses)
    return f"{column} = ANY ({texts})"


def is_any(column: Column[Any], texts: Sequence[str] | BindParameter[Any]) -> ColumnElement[bool]:
    """Return the condition that a column is one of the texts, which may be many.

    Not IN: from its sixth run on a connection on, PostgreSQL compares each of the owner's rows with each text.
    """
    given = texts if isinstance(texts, BindParameter) else bindparam(None, list(texts), type_=Names, unique=True)
    return _IsAny(column, given)


_STATES = Prepared(select(*_COLUMNS).where(is_any(memory_owner.c.owner, bindparam("owners", type_=Names))))


def owned(
    connection: Connection, owner: OwnerKey, row_id: Column[Any], ids: Sequence[str], *also: ColumnElement[bool]
) -> set[str]:
    """Return those of the ids that the owner has, in whatever state, also where the row is damaged."""
    mine = select(row_id).where(row_id.table.c.owner == owner, is_any(row_id, ids), *also)
    return set(connection.execute(mine).scalars())


def owners_of_memory(connection: Connection, memory_id: str) -> list[str]:
    """Return the owners of a memory: mostly one; more where a person's data was imported for another as well."""
    return list(connection.execute(select(memory.c.owner).where(memory.c.memory_id == memory_id)).scalars())


Kind = Literal["memory", "instruction", "category", "message", "memory vector", "message vector"]

AnyRow = Row[*tuple[Any, ...]]
_Read = TypeVar("_Read")


class Damages:
    """The damaged rows that this process has met. `mend` is told of a vector, which can be made anew from its text."""

    def __init__(self) -> None:
        self.mend: Callable[[Kind, OwnerKey, str], None] = lambda _kind, _owner, _row_id: None
        self._known: LruCache[tuple[Kind, OwnerKey, str], bool] = LruCache(_MOST_KNOWN)

    def report(self, kind: Kind, owner: OwnerKey, row_id: str) -> None:
        """Report a damaged row once, as an ERROR; text and key of the row are not told."""
        if self._known.get((kind, owner, row_id)):
            return
        self._known.put((kind, owner, row_id), value=True, size=1)
        event = kind.replace(" ", "_") + ".damaged"
        log.error(event, extra={"owner": masked(owner), "row_id": row_id})
        if kind.endswith("vector"):
            self.mend(kind, owner, row_id)

    def whole(
        self, kind: Kind, rows: Iterable[Sequence[Any]], read: Callable[[Any, Encryption], _Read | None], by: Encryption
    ) -> Iterator[_Read]:
        """Give what the rows hold, which begin with owner and id; what is damaged is reported and left out."""
        for row in rows:
            made = read(row, by)
            if made is None:
                self.report(kind, *row[:2])
            else:
                yield made

    def forget(self, kind: Kind, owner: OwnerKey, row_id: str) -> None:
        """Forget that a row was damaged: it is whole now."""
        self._known.drop((kind, owner, row_id))


def all_rows(
    connection: Connection, statement: Select[Any], parameters: Mapping[str, Any] | None = None
) -> Sequence[AnyRow]:
    return connection.execute(statement, parameters).all()


def each_row(
    connection: Connection, statement: Select[Any], parameters: Mapping[str, Any] | None = None
) -> Iterator[AnyRow]:
    """Give the rows one by one, for very many: else PostgreSQL's driver holds them all, twice."""
    yield from connection.execute(statement, parameters, execution_options={"yield_per": _AT_ONCE})


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def checksum_of_values(*values: Any) -> int:
    """Return a checksum of JSON values in this order, instants among them; the same in every release,
    for it is stored.
    """
    return zlib.crc32(_written(values))


def digest_of_values(*values: Any) -> str:
    """Return a digest where somebody may change the values on purpose, to be kept where nobody else can write."""
    return hashlib.blake2b(_written(values), digest_size=16).hexdigest()


def checksum_of_vector(owner: OwnerKey, model: str, row_id: str, stored: bytes) -> int:
    return zlib.crc32(stored, zlib.crc32(f"{owner}\n{model}\n{row_id}".encode("utf-8", "surrogatepass")))


def instant_of(stored: int | None) -> datetime | None:
    """Return the instant of the microseconds in a column. Raises TypeError or OverflowError for what
    never was an instant.
    """
    return None if stored is None else _EPOCH + timedelta(microseconds=stored)


def _written(values: tuple[Any, ...]) -> bytes:
    return _AS_JSON.encode(values).encode()


def microseconds(value: datetime) -> int:
    return (value - _EPOCH) // timedelta(microseconds=1)


_AS_JSON = json.JSONEncoder(default=microseconds, separators=(",", ":"))


Blinding = Callable[[Encryption, OwnerKey, Column[Any], Any], Any]


@dataclass(frozen=True)
class SealedTable:
    """A table whose words are one encrypted value where there are keys; else a checksum tells that a row is whole.

    `words` are encrypted, and believed only where the columns `beside` are as they were then, which are told in this
    order; of those `blinded`, by which rows are looked for, a digest stays. `checked` are those of the checksum, and
    `checked_since` younger ones, which count where they hold something; those `unread` are the database's own.
    """

    table: Table
    row_id: Column[Any]
    words: tuple[str, ...]
    beside: tuple[str, ...]
    checked: tuple[str, ...]
    checked_since: tuple[str, ...] = ()
    blinded: Mapping[str, Blinding] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> list[Column[Any]]:
        return [column for column in self.table.c if column.name not in self.unread]

    def stored(self) -> list[ColumnElement[Any]]:
        """Return the columns as they are stored: a damaged value could not be turned into what it means."""
        return [_as_stored(column).label(column.name) for column in self.columns]

    def values(self, values: Mapping[str, Any], encryption: Encryption) -> dict[str, Any]:
        """Return the columns of a row; an encrypted one has no checksum, which would tell whether a guess is right."""
        if not encryption.encrypts:
            return {**values, "sealed": None, "checksum": self._checksum(values)}
        words = {name: values[name] for name in self.words}
        bare = {**values, **{name: self._bare(encryption, values["owner"], name, words[name]) for name in words}}
        digest = digest_of_values(*(bare[name] for name in self.beside))
        place = self._place(values["owner"], values[self.row_id.name])
        sealed = encryption.cipher.encrypt(place, json.dumps([words, digest], separators=(",", ":")).encode())
        return {**bare, "sealed": sealed, "checksum": None}

    def read(self, row: Sequence[Any], encryption: Encryption) -> dict[str, Any] | None:
        """Read a row that begins with `stored`; None where it does not hold what was written, or is in plain and should
        not be.
        """
        values = dict(zip((column.name for column in self.columns), row, strict=False))
        written, sealed = values.pop("checksum"), values.pop("sealed")
        try:
            for name, as_meant in self._meanings.items():
                values[name] = as_meant(values[name])
            if sealed is not None or encryption.encrypts:
                words, digest = self.opened(values["owner"], values[self.row_id.name], sealed, encryption)
                return values | words if digest == digest_of_values(*(values[name] for name in self.beside)) else None
            checksum = self._checksum(values)
        except (TypeError, ValueError, OverflowError, AttributeError, DecryptionRefused):
            return None
        return values if written in (None, checksum) else None

    def opened(self, owner: OwnerKey, row_id: str, sealed: Any, encryption: Encryption) -> tuple[dict[str, Any], str]:
        """Decrypt the words, and the digest of the rest of the row. Raises DecryptionRefused."""
        if not isinstance(sealed, bytes):
            raise DecryptionRefused(f"a row of {self.table.name} is not encrypted: restore it from a backup")
        try:
            words, digest = json.loads(encryption.cipher.decrypt(self._place(owner, row_id), sealed))
        except ValueError as error:  # a database without keys: there it is no ciphertext either
            raise DecryptionRefused(f"a row of {self.table.name} is not what was stored: restore a backup") from error
        return words, digest

    @cached_property
    def _meanings(self) -> dict[str, Callable[[Any], Any]]:
        kinds = ((column.name, _READ.get(type(column.type))) for column in self.columns)
        return {name: as_meant for name, as_meant in kinds if as_meant is not None}

    def _checksum(self, values: Mapping[str, Any]) -> int:
        later = {name: values[name] for name in self.checked_since if values[name] is not None}
        return checksum_of_values(*(values[name] for name in self.checked), *([later] if later else []))

    def _bare(self, encryption: Encryption, owner: OwnerKey, name: str, word: Any) -> Any:
        """Return what stays of a word in an encrypted row."""
        column = self.table.c[name]
        if name in self.blinded:
            return None if word is None else self.blinded[name](encryption, owner, column, word)
        if word is not None:
            _checked(column, word)
        return None if column.nullable else ""

    def _place(self, owner: OwnerKey, row_id: str) -> Place:
        return Place(self.table.name, "sealed", owner, (row_id,))


_READ: Mapping[type, Callable[[Any], Any]] = {
    Instant: instant_of,
    Tags: lambda stored: stored.strip("\n").split("\n") if stored else (),
    Json: json.loads,
}


def _as_stored(column: Column[Any]) -> ColumnElement[Any]:
    if isinstance(column.type, Json):
        return cast(column, Text)
    raw = _RAW.get(type(column.type))
    return column if raw is None else type_coerce(column, raw)


def _checked(column: Column[Any], text: str) -> str:
    return name_to_store(text) if isinstance(column.type, Name) else to_store(text)


def blinded(encryption: Encryption, owner: OwnerKey, column: Column[Any], text: str) -> str:
    """Return the digest in place of `text` in an encrypted row. Raises InvalidInput for a text that
    no row could hold.
    """
    return encryption.blinded(owner, column.name, _checked(column, text))[:_DIGEST_BYTES].hex()


def blinded_slot(encryption: Encryption, owner: OwnerKey, column: Column[Any], slot: str) -> str:
    """Return a slot with a slash and the digest of the attribute at its end, where the slot in plain ends
    in the attribute.
    """
    whole = blinded(encryption, owner, column, slot)
    _, slash, attribute = slot.partition("/")
    return f"{whole}/{blinded(encryption, owner, column, attribute)}" if slash else whole


def blinded_digest(encryption: Encryption, owner: OwnerKey, said: str) -> bytes:
    return encryption.blinded(owner, "text_digest", to_store(said))[:_DIGEST_BYTES]


def as_stored(
    encryption: Encryption, owner: OwnerKey, column: Column[Any], texts: Sequence[str], blind: Blinding = blinded
) -> list[str]:
    """Return the stored forms of these texts in rows: digests where rows are encrypted; none for an
    owner without a key.
    """
    if not encryption.encrypts:
        return list(texts)
    return [blind(encryption, owner, column, text) for text in texts] if encryption.has_key(owner) else []
