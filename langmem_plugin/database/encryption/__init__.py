"""Encrypts what is stored of a person with a key of their own, which a master key from the settings wraps.

A ciphertext is bound to the place it was made for: in any other row, column or table, and for any other owner, it is
refused. Deleting a person's key makes all that was encrypted for them unreadable, in every copy of the database.
"""

from langmem_plugin.database.encryption.encryption import PLAINTEXT, Encryption, Place, RowCipher, encryption_of

__all__ = ["PLAINTEXT", "Encryption", "Place", "RowCipher", "encryption_of"]
