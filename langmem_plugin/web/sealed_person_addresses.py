"""A person's key sealed in the address of a page, since addresses end up in histories and access logs."""

import base64
import binascii

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import select

from langmem_plugin.cached_property import cached_property
from langmem_plugin.database import Database
from langmem_plugin.database.operations_tables import secret

_PURPOSE = b"langmem console person"


class PersonRefs:
    """Seals keys with this database's own secret: alike in every process, and unreadable without the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @cached_property
    def _cipher(self) -> AESSIV:
        """The cipher, made when it is needed: a service also starts while the database is away."""
        with self._database.read() as connection:
            held = bytes(connection.execute(select(secret.c.value).where(secret.c.name == "audit")).scalar_one())
        return AESSIV(HKDF(SHA256(), 64, salt=None, info=_PURPOSE).derive(held))

    def ref(self, person: str) -> str:
        """The reference of a person, always the same, so that an address can be kept."""
        sealed = self._cipher.encrypt(person.encode("utf-8", "surrogatepass"), [_PURPOSE])
        return base64.urlsafe_b64encode(sealed).decode().rstrip("=")

    def person(self, ref: str) -> str | None:
        """The person behind a reference; None if it was not made here."""
        try:
            sealed = base64.urlsafe_b64decode(ref + "=" * (-len(ref) % 4))
            return self._cipher.decrypt(sealed, [_PURPOSE]).decode("utf-8", "surrogatepass")
        except (InvalidTag, binascii.Error, ValueError):
            return None
