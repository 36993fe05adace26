"""One key per person: every spelling of an identifier becomes the same key, all else is a key byte for byte."""

from langmem_plugin.identifiers.identifier import Identifier, Kind
from langmem_plugin.identifiers.keys import ScopeKey, masked, owner_as_stored, owner_to_store, usable
from langmem_plugin.identifiers.reading import identified, is_group, normalised, thread_key

__all__ = [
    "Identifier",
    "Kind",
    "ScopeKey",
    "identified",
    "is_group",
    "masked",
    "normalised",
    "owner_as_stored",
    "owner_to_store",
    "thread_key",
    "usable",
]
