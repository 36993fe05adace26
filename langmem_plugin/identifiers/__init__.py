"""One key per person: every spelling of an identifier becomes the same key, any other text is a key byte for byte."""

from langmem_plugin.identifiers.identifier_parsers import identified, is_group, normalised, refuse_unknown, thread_key
from langmem_plugin.identifiers.keys_and_masking import (
    IdentifierKey,
    OwnerKey,
    ScopeKey,
    masked,
    owner_as_stored,
    owner_to_store,
    usable,
)

__all__ = [
    "IdentifierKey",
    "OwnerKey",
    "ScopeKey",
    "identified",
    "is_group",
    "masked",
    "normalised",
    "owner_as_stored",
    "owner_to_store",
    "refuse_unknown",
    "thread_key",
    "usable",
]
