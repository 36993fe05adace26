"""How the files of one conversation are named and encrypted: nobody recognises a picture by its hash."""

from dataclasses import dataclass

from sqlalchemy import Connection

from langmem_plugin.database.encryption import Encryption, Place, encryption_of
from langmem_plugin.database.encryption.encryption import NO_ENCRYPTION
from langmem_plugin.database.encryption.row_cipher import EXTRA_BYTES

_TABLE = "langmem_media"


@dataclass(frozen=True, slots=True)
class FileEncryption:
    encryption: Encryption
    thread: str

    @classmethod
    def of(cls, connection: Connection, thread: str) -> "FileEncryption":
        return cls(encryption_of(connection), thread)

    @property
    def encrypts(self) -> bool:
        return self.encryption.encrypts

    @property
    def extra_bytes(self) -> int:
        """The number of bytes that encryption adds to a file."""
        return EXTRA_BYTES if self.encrypts else 0

    def name(self, digest: str) -> str:
        """The name of a file of this SHA-256 in the database, and in a folder that keeps it."""
        return self.encryption.blinded(self.thread, f"{_TABLE}.sha256", digest).hex() if self.encrypts else digest

    def encrypted(self, name: str, data: bytes) -> bytes:
        return self.encryption.cipher.encrypt(self._place(name), data)

    def decrypted(self, name: str, stored: bytes) -> bytes:
        """Raises DecryptionRefused."""
        return self.encryption.cipher.decrypt(self._place(name), stored)

    def _place(self, name: str) -> Place:
        return Place(_TABLE, "file", self.thread, (name,))


PLAIN_FILES = FileEncryption(NO_ENCRYPTION, "")
