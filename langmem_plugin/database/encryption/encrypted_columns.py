"""Which columns are encrypted, and in which form: whoever reads or writes one of them passes here.

The place of a value is its column and the whole key of its row, as the table defines it. A new column of words, JSON or
bytes is one line here, or one with its reason in
tests/database/test_encrypted_columns.py.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, LargeBinary, Table, bindparam, select, tuple_, update

from langmem_plugin.database.conversation_tables import (
    acknowledged,
    checkpoint,
    decision,
    incoming,
    media,
    message,
    pending,
    question,
    session,
    value,
)
from langmem_plugin.database.encryption.encryption import MARK, Place, RowCipher
from langmem_plugin.database.memory_tables import extraction_job
from langmem_plugin.database.people_tables import person, person_name
from langmem_plugin.database.prepared_statements import given
from langmem_plugin.database.schema import Json
from langmem_plugin.errors import DecryptionRefused, SessionRefused

Key = Sequence[str | int]
"""All of a row's primary key, in the table's order: whose it is comes first."""

_ENCRYPTED, _ESCAPED = "\x02LM1:", "\x02LM1="  # begin a text that is encrypted, and a plain one that looks like it
_EITHER = _ENCRYPTED[:-1]


ENCRYPTED: list["EncryptedColumn"] = []
"""Every column that is encrypted."""
_AT_ONCE = 100


@dataclass(frozen=True, eq=False)
class EncryptedColumn:
    """Bytes are stored as bytes; words and JSON as a text. None, and a JSON value that is empty, stay what they are.

    `refusal` is what a refused value raises.
    """

    column: Column[Any]
    refusal: type[DecryptionRefused] = DecryptionRefused

    def __post_init__(self) -> None:
        ENCRYPTED.append(self)

    def encrypted(self, connection: Connection, key: Key, plain: Any) -> Any:
        """The value as it is to be stored in the row of this key."""
        return self.encrypted_by(connection.get_execution_options()["langmem_cipher"], key, plain)

    def decrypted(self, connection: Connection, key: Key, stored: Any) -> Any:
        """Reads what was encrypted for the row of this key. Raises `refusal`."""
        return self.decrypted_by(connection.get_execution_options()["langmem_cipher"], key, stored)

    def encrypted_by(self, cipher: RowCipher, key: Key, plain: Any) -> Any:
        if plain is None or (self.is_json and not plain):
            return plain
        if not cipher.encrypts:
            is_taken = isinstance(plain, str) and plain.startswith(_EITHER)
            return f"{_ESCAPED}{plain}" if is_taken and not self.is_json else plain
        if self.is_binary:
            return cipher.encrypt(self.place(key), plain)
        as_bytes = (json.dumps(plain) if self.is_json else plain).encode("utf-8", "surrogatepass")
        return _ENCRYPTED + base64.b64encode(cipher.encrypt(self.place(key), as_bytes)).decode()

    def decrypted_by(self, cipher: RowCipher, key: Key, stored: Any) -> Any:
        if stored is None or (self.is_json and not stored):
            return stored
        try:
            if self.is_binary:
                return cipher.decrypt(self.place(key), bytes(stored))
            if not isinstance(stored, str) or not stored.startswith(_ENCRYPTED):
                if cipher.encrypts:
                    cipher.decrypt(self.place(key), b"")  # refuses what is not encrypted
                is_escaped = isinstance(stored, str) and stored.startswith(_ESCAPED) and not self.is_json
                return stored.removeprefix(_ESCAPED) if is_escaped else stored
            plain = cipher.decrypt(self.place(key), _from_base64(stored)).decode("utf-8", "surrogatepass")
            return json.loads(plain) if self.is_json else plain
        except DecryptionRefused as error:
            if isinstance(error, self.refusal):
                raise
            raise self.refusal(str(error), lacks_key=error.lacks_key) from error

    def place(self, key: Key) -> Place:
        return Place(self.column.table.name, self.column.name, str(key[0]), tuple(key[1:]))

    @property
    def is_binary(self) -> bool:
        return isinstance(self.column.type, LargeBinary)

    @property
    def is_json(self) -> bool:
        return isinstance(self.column.type, Json)


MESSAGE = EncryptedColumn(message.c.payload, SessionRefused)
CHECKPOINT = EncryptedColumn(checkpoint.c.payload, SessionRefused)
VALUE = EncryptedColumn(value.c.payload, SessionRefused)
PENDING = EncryptedColumn(pending.c.payload, SessionRefused)
MEDIA = EncryptedColumn(media.c.payload, SessionRefused)
DECISION = EncryptedColumn(decision.c.payload, SessionRefused)
INCOMING = EncryptedColumn(incoming.c.payload, SessionRefused)
ACKNOWLEDGED = EncryptedColumn(acknowledged.c.payload, SessionRefused)
REPLY = EncryptedColumn(incoming.c.reply, SessionRefused)
QUESTION = EncryptedColumn(question.c.payload, SessionRefused)
CLIENT_NAME = EncryptedColumn(session.c.client_name, SessionRefused)
CLIENT_PHONE = EncryptedColumn(session.c.client_phone, SessionRefused)
EXTRACTED_FACTS = EncryptedColumn(extraction_job.c.facts, SessionRefused)
EXTRACTION_ERROR = EncryptedColumn(extraction_job.c.error, SessionRefused)
CONSENT_TEXT = EncryptedColumn(person.c.consent_text)
PERSON_NAME = EncryptedColumn(person_name.c.name)


def _from_base64(stored: str) -> bytes:
    try:
        return base64.b64decode(stored.removeprefix(_ENCRYPTED), validate=True)
    except (binascii.Error, ValueError):
        return MARK  # of nothing: refused as what it is not


def bind_anew(
    connection: Connection, table: Table, where: Sequence[ColumnElement[bool]], before: Mapping[str, str | int]
) -> None:
    """For the rows where they are now; `before` is what of their key was another.

    Raises DecryptionRefused for a row that was not encrypted for where it was, and the caller's transaction ends: under
    another key it could not be read again, not even when its own came back.
    """
    columns = [each for each in ENCRYPTED if each.column.table is table]
    if not columns or not connection.get_execution_options()["langmem_cipher"].encrypts:
        return
    key_columns = list(table.primary_key)
    keys = connection.execute(select(*key_columns).where(*where)).all()
    this = given(*key_columns)
    changing = (
        update(table).where(*this).values({each.column.name: bindparam(f"new_{each.column.name}") for each in columns})
    )
    for start in range(0, len(keys), _AT_ONCE):
        part = keys[start : start + _AT_ONCE]
        stored = select(*key_columns, *(each.column for each in columns)).where(tuple_(*key_columns).in_(part))
        changes: list[dict[str, Any]] = []
        for row in connection.execute(stored).mappings():
            key = {column.name: row[column.name] for column in key_columns}
            old: Key = tuple({**key, **before}.values())
            values = {
                f"new_{each.column.name}": each.encrypted(
                    connection, tuple(key.values()), each.decrypted(connection, old, row[each.column.name])
                )
                for each in columns
            }
            changes.append({**{f"of_{name}": part for name, part in key.items()}, **values})
        connection.execute(changing, changes)
