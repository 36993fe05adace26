"""The store of people's wrapped keys: apart from what they encrypt, so that a copy of that alone opens nothing."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    String,
    Table,
    delete,
    func,
    select,
    update,
)

from langmem_plugin.database.encryption.encryption import KeyStatus, OwnerKey
from langmem_plugin.database.encryption.master_keys import MasterKeys
from langmem_plugin.database.engine import Database
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.errors import ConfigurationError

KEY_TABLES = MetaData()

_store = Table(  # one row
    "langmem_key_store",
    KEY_TABLES,
    Column("one", Integer, primary_key=True, autoincrement=False),
    Column("store_id", String, nullable=False),
    Column("salt", LargeBinary, nullable=False),  # keys the digests of owners: no phone lies here
)
_master = Table(  # by which keys of LANGMEM_KEYS the others may be wrapped
    "langmem_master_key",
    KEY_TABLES,
    Column("name", String, primary_key=True),
    Column("check", LargeBinary, nullable=False),
)
_owner = Table(
    "langmem_owner_key",
    KEY_TABLES,
    Column("owner_digest", LargeBinary, primary_key=True),
    Column("key_id", LargeBinary, nullable=False),
    Column("wrapped_by", String, nullable=False),
    Column("wrapped", LargeBinary, nullable=False),
)
_KEY_ID, _KEY = 4, 32


class KeyStore:
    """Over an open database, which it closes at the end; `is_shared` where it is the one that the keys encrypt.

    Raises ConfigurationError where people's keys are wrapped by master keys that were not given, or by others of the
    same name.
    """

    def __init__(self, database: Database, keys: MasterKeys, *, is_shared: bool) -> None:
        self._database = database
        self.is_shared = is_shared
        self._keys = keys
        with database.write() as connection:
            unless_there = insert_unless_there(_store)[connection.dialect.name]
            connection.execute(unless_there, {"one": 1, "store_id": os.urandom(8).hex(), "salt": os.urandom(16)})
            self.store_id, self._salt = connection.execute(select(_store.c.store_id, _store.c.salt)).one()
            self._check(connection)

    def key_of(self, owner: str, by: Connection | None = None) -> OwnerKey | None:
        with self._database.read() if by is None else nullcontext(by) as connection:
            return self._found(connection, self._digest(owner))

    def make_key(self, owner: str, by: Connection | None = None) -> OwnerKey:
        """The owner's key, a new one unless another process was faster."""
        digest, made = self._digest(owner), OwnerKey(os.urandom(_KEY_ID), os.urandom(_KEY))
        with self._database.write() if by is None else nullcontext(by) as connection:
            unless_there = insert_unless_there(_owner)[connection.dialect.name]
            connection.execute(unless_there, self._row(digest, made))
            return self._found(connection, digest) or made

    def shred(self, owner: str, by: Connection | None = None) -> bool:
        """Deletes the owner's key for good; whether there was one. What it encrypted can be read no more."""
        with self._database.write() if by is None else nullcontext(by) as connection:
            gone = delete(_owner).where(_owner.c.owner_digest == self._digest(owner))
            return bool(connection.execute(gone).rowcount)

    def scrub(self) -> None:
        self._database.scrub([_owner.name])

    def rotate(self) -> Iterator[int]:
        """Wraps by the newest master key what another one wraps; how many were wrapped so far, part by part."""
        newest, done = self._keys.newest, 0
        others = _owner.c.wrapped_by != newest.name
        while True:
            with self._database.write() as connection:
                part = connection.execute(select(_owner).where(others).limit(500)).all()
                for row in part:
                    new = self._row(row.owner_digest, self._opened(row))
                    connection.execute(update(_owner).where(_owner.c.owner_digest == row.owner_digest).values(new))
                if not part:
                    connection.execute(delete(_master).where(_master.c.name != newest.name))
                    return
            done += len(part)
            yield done

    def status(self) -> KeyStatus:
        with self._database.read() as connection:
            counted = select(_owner.c.wrapped_by, func.count()).group_by(_owner.c.wrapped_by)
            return KeyStatus(self._keys.newest.name, dict(tuple(row) for row in connection.execute(counted)))

    def close(self) -> None:
        self._database.close()

    def _check(self, connection: Connection) -> None:
        for name, check in connection.execute(select(_master.c.name, _master.c.check)).all():
            given = self._keys.named(name)
            if given is not None and given.check != check:
                raise ConfigurationError(f"LANGMEM_KEYS: the key {name} is not the one that was used under this name")
        used = set(connection.execute(select(_owner.c.wrapped_by).distinct()).scalars())
        if missing := sorted(name for name in used if self._keys.named(name) is None):
            raise ConfigurationError(
                f"LANGMEM_KEYS lacks {', '.join(missing)}: keys of people are wrapped by it; put it behind the others "
                "until `langmem keys rotate` has wrapped them anew"
            )
        unless_there = insert_unless_there(_master)[connection.dialect.name]
        connection.execute(unless_there, [{"name": key.name, "check": key.check} for key in self._keys])

    def _found(self, connection: Connection, digest: bytes) -> OwnerKey | None:
        row = connection.execute(select(_owner).where(_owner.c.owner_digest == digest)).one_or_none()
        return None if row is None else self._opened(row)

    def _opened(self, row: Row[Any]) -> OwnerKey:
        master = self._keys.named(row.wrapped_by)
        secret = None if master is None else master.unwrap(row.wrapped, row.owner_digest + row.key_id)
        if secret is None:
            raise ConfigurationError(
                f"a person's key cannot be unwrapped by {row.wrapped_by}: LANGMEM_KEYS lacks it, or the row was changed"
            )
        return OwnerKey(row.key_id, secret)

    def _row(self, digest: bytes, key: OwnerKey) -> dict[str, bytes | str]:
        newest = self._keys.newest
        wrapped = newest.wrap(key.secret, digest + key.key_id)
        return {"owner_digest": digest, "key_id": key.key_id, "wrapped_by": newest.name, "wrapped": wrapped}

    def _digest(self, owner: str) -> bytes:
        return hashlib.blake2b(owner.encode(), key=self._salt, digest_size=16).digest()
