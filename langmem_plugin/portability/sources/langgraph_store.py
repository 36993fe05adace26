"""LangGraph's SqliteStore or PostgresStore: each item of a person's namespace is a memory of theirs."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from langmem_plugin.errors import InvalidInput
from langmem_plugin.portability import source_database
from langmem_plugin.portability.records import BadRecord, ImportedMemory, ImportedRecord
from langmem_plugin.portability.sources.plain_values import instant

OwnerOf = Callable[[tuple[str, ...]], str | None]
"""Gives the owner of a namespace; None for nobody's."""

_TEXTS = ("content", "text", "memory", "data", "value")
_AT_ONCE = 500
_ANYTHING, _OWNER = "*", "{owner}"


def records(path_or_url: str, *, owner_of: OwnerOf, text_field: str | None = None) -> Iterator[ImportedRecord]:
    """Its items in the order of their namespaces and keys.

    The text of a value is what stands under `text_field` (`profile.summary` is a field in a field), else under the
    first of content, text, memory, data and value, else all its fields in words. The whole value is in the memory's
    metadata. Raises InvalidInput if the database holds no store, StoreUnavailable if it cannot be read.
    """
    with source_database.opened(path_or_url) as connection:
        there = source_database.columns(connection, "store", "prefix", "key", "value")
        for row in _rows(connection, there):
            if isinstance(row, BadRecord):
                yield row
                continue
            prefix, key, value, created_at, updated_at, expires_at = row
            place = f"store {prefix!r:.200} key {key!r:.200}"
            if not (isinstance(prefix, str) and isinstance(key, str)):
                yield BadRecord(place=place, reason="its namespace or its key is no text")
                continue
            try:
                dates = {"created_at": created_at, "updated_at": updated_at, "expires_at": expires_at}
                fields = {name: at for name, said in dates.items() if (at := instant(said)) is not None}
                yield _memory(prefix, key, value, fields, place, owner_of, text_field)
            except (ValueError, RecursionError, OverflowError) as error:
                yield BadRecord(place=place, reason=str(error))


def owner_at(position: int) -> OwnerOf:
    """The part of the namespace at this place; -1 is the last one."""

    def owner_of(namespace: tuple[str, ...]) -> str | None:
        inside = -len(namespace) <= position < len(namespace)
        return namespace[position] if inside else None

    return owner_of


def owner_in(pattern: str) -> OwnerOf:
    """The part where the pattern has `{owner}`, as in `users.{owner}.facts`; `*` is any part.

    What a namespace has behind the pattern may be anything. Raises InvalidInput for a pattern without one owner.
    """
    parts = pattern.split(".")
    if parts.count(_OWNER) != 1:
        raise InvalidInput(f"{pattern!r} names no owner: give a number, or a pattern such as users.{{owner}}.facts")
    here = parts.index(_OWNER)

    def owner_of(namespace: tuple[str, ...]) -> str | None:
        if len(namespace) < len(parts):
            return None
        fits = all(part in {_ANYTHING, _OWNER, said} for part, said in zip(parts, namespace, strict=False))
        return namespace[here] if fits else None

    return owner_of


def owner_from(told: str) -> OwnerOf:
    """Reads the command line's option: a number is a place in the namespace, anything else a pattern."""
    return owner_at(int(told)) if told.lstrip("-").isdecimal() else owner_in(told)


def _rows(connection: Connection, there: Any) -> Iterator[Any]:
    """Their JSON as text, on both engines; a BadRecord for a row that SQLite cannot give."""
    json_as_text = "CAST(value AS TEXT)"
    dates = ", ".join(
        name if name in there else f"NULL AS {name}" for name in ("created_at", "updated_at", "expires_at")
    )
    columns = f"prefix, key, {json_as_text}, {dates}"
    query = text(f"SELECT {columns} FROM store ORDER BY prefix, key LIMIT {2**62} OFFSET :done")  # noqa: S608 - ours
    if connection.dialect.name == "postgresql":
        yield from connection.execute(query.execution_options(yield_per=_AT_ONCE), {"done": 0})
        return
    done = last = 0
    while True:
        try:
            for row in connection.execute(query, {"done": done}):
                done += 1
                yield row
        except DBAPIError as error:
            if done == last and done:  # the same again: it is not one row
                raise
            yield BadRecord(place=f"store row {done + 1}", reason=f"the database cannot give it ({error.orig})")
            done = last = done + 1
        else:
            return


def _memory(  # noqa: PLR0917 - the parts of one row
    prefix: str,
    key: str,
    value: str,
    fields: dict[str, Any],
    place: str,
    owner_of: OwnerOf,
    text_field: str | None,
) -> ImportedMemory:
    """Raises ValueError, which says why it is none."""
    owner = owner_of(tuple(prefix.split(".")))
    if owner is None:
        raise ValueError("its namespace names no owner: see --owner-from")
    try:
        held = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its value is no JSON ({error})") from error
    if not isinstance(held, dict):
        raise ValueError("its value is no JSON object")  # noqa: TRY004 - what somebody else wrote, not an argument
    said = _text(held, text_field)
    if not said.strip():
        raise ValueError("its value holds no text")
    if (said_at := fields.get("updated_at") or fields.get("created_at")) is not None:
        fields["said_at"] = said_at  # of what a program has put there nothing else is known
    whence = {"namespace": prefix.split("."), "key": key, "value": held}
    return ImportedMemory(
        phone=owner,
        text=said,
        source_id=f"langgraph-store:{json.dumps([prefix, key])}",
        place=place,
        fields={**fields, "metadata": {"langgraph_store": whence}},
    )


def _text(held: dict[str, Any], text_field: str | None) -> str:
    """Raises ValueError if the field that was asked for is not there."""
    if text_field is not None:
        found: Any = held
        for part in text_field.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if found is None:
            raise ValueError(f"its value has no {text_field!r}")
        return found if isinstance(found, str) else _in_words(found)
    for name in _TEXTS:
        found = held.get(name)
        if isinstance(found, str) and found.strip():
            return found
        if isinstance(found, dict) and found:
            return _text(found, None)
    return _in_words(held)


def _in_words(value: Any) -> str:
    """`name: Erin, city: Haifa`."""
    match value:
        case dict():
            return ", ".join(
                f"{name}: {_in_words(part)}" for name, part in value.items() if part not in (None, "", [], {})
            )
        case list():
            return ", ".join(map(_in_words, value))
        case str():
            return value
    return json.dumps(value)
