"""Keys as every database holds them, their masked form for screens, and scopes that no input can name."""

import re
from typing import Any

from pydantic import GetCoreSchemaHandler, ValidatorFunctionWrapHandler
from pydantic_core.core_schema import CoreSchema, no_info_wrap_validator_function

from langmem_plugin.errors import InvalidInput

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LONGEST = 1_000  # bytes; PostgreSQL indexes a row of keys of up to 2,704 bytes
_SCOPE = "\x1f"
_SERVICES = frozenset({"c.us", "s.whatsapp.net", "lid", "g.us", "broadcast"})


class IdentifierKey(str):
    """The key that all spellings of one identifier become; a person may have several."""

    __slots__ = ()


class OwnerKey(IdentifierKey):
    """The key of an owner: a person, whatever identifiers they have, a group, or a scope.

    Only `database.owners_and_erasures` and the database itself make one; all behind the verbs that take an owner asks
    for this type.
    """

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_wrap_validator_function(_as_owner, handler(str))


def _as_owner(value: Any, as_text: ValidatorFunctionWrapHandler) -> OwnerKey:
    # A scope that was read from a row stays a scope, and a text that looks like one stays a text.
    return value if isinstance(value, OwnerKey) else OwnerKey(as_text(value))


class ScopeKey(OwnerKey):
    """The owner of what belongs to no one person. It begins with a character that no input may hold, and the tables
    take it as this type only: a text that somebody passes as an owner is never a scope.
    """

    __slots__ = ()

    @classmethod
    def named(cls, name: str) -> "ScopeKey":
        return cls(_SCOPE + name)


def owner_as_stored(owner: str) -> OwnerKey:
    """Return an owner that was read from the database: the key of a scope becomes a Scope again."""
    return ScopeKey(owner) if owner.startswith(_SCOPE) else OwnerKey(owner)


def owner_to_store(owner: str) -> str:
    """Return the owner as text for the database. Raises InvalidInput for one that looks like a scope or cannot be
    stored.
    """
    if isinstance(owner, ScopeKey):
        return str(owner)
    if owner.startswith(_SCOPE) or _UNSTORABLE.search(owner) or len(owner.encode()) > _LONGEST:
        raise InvalidInput(f"this cannot be an owner: use at most {_LONGEST} bytes of text without control characters")
    return str(owner)


def usable(key: str) -> IdentifierKey:
    """Return the key unchanged. Raises InvalidInput for control characters, half a character or a key that is
    too long.
    """
    if _CONTROLS.search(key):
        raise InvalidInput("control characters cannot be part of a person's or conversation's key: leave them out")
    return IdentifierKey(owner_to_store(key))


def masked(phone: str) -> str:
    """Return a part of the key: enough to tell two people apart in a log, too little to call one."""
    name, at, kind = phone.rpartition("@")
    if kind not in _SERVICES:  # the text behind another @ may be a name
        name, at, kind = phone, "", ""
    name = name.rpartition(":")[2]
    return f"…{name[-3:]}{at}{kind}" if len(name) > 6 else f"…{at}{kind}"  # noqa: PLR2004 - a short key would be shown whole
