"""LangGraph's SqliteStore or PostgresStore: each item of a person's namespace is a memory of theirs."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from sqlalchemy import Row, text

from langmem_plugin.portability import source_database
from langmem_plugin.portability.imported_records import ImportedMemory, ImportedRecord
from langmem_plugin.portability.sources.source_parsing import each_read, instant

_TEXTS = ("content", "text", "memory", "data", "value")
_DATES = ("created_at", "updated_at", "expires_at")
_AT_ONCE = 500
_LONGEST = 1_000_000  # characters of a value


def records(path_or_url: str, *, owner_at: int | None = None) -> Iterator[ImportedRecord]:
    """Yield its items in the order of their namespaces and keys.

    An item is of whom the namespace names at `owner_at`, where 0 is its first part and -1 its last; if that is None, of
    the person whom the import is asked for. The text of a value is what stands under the first of content, text,
    memory, data and value, else all its fields in words. The whole value is in the memory's metadata. Raises
    InvalidInput if the database holds no store, StoreUnavailable if it cannot be read.
    """
    with source_database.opened(path_or_url) as connection:
        there = source_database.columns(connection, "store", "prefix", "key", "value")
        dates = ", ".join(each if each in there else f"NULL AS {each}" for each in _DATES)
        value = f"CASE WHEN length(CAST(value AS TEXT)) <= {_LONGEST} THEN CAST(value AS TEXT) END AS value"
        query = text(f"SELECT prefix, key, {value}, {dates} FROM store ORDER BY prefix, key")  # noqa: S608 - ours
        rows = connection.execute(query.execution_options(yield_per=_AT_ONCE))
        placed = ((f"store {row.prefix!r:.200} key {row.key!r:.200}", row) for row in rows)
        yield from each_read(placed, partial(_memory, owner_at))


def _memory(owner_at: int | None, row: Row[Any], place: str) -> ImportedMemory:
    """Raises ValueError, which says why it is none."""
    if not (isinstance(row.prefix, str) and isinstance(row.key, str)):
        raise ValueError("its namespace or its key is no text")  # noqa: TRY004 - what somebody else wrote
    namespace = row.prefix.split(".")
    if owner_at is not None and not -len(namespace) <= owner_at < len(namespace):
        raise ValueError("its namespace names no owner there: see --owner-at")
    if row.value is None:
        raise ValueError(f"its value has more than {_LONGEST:,} characters")
    try:
        held = json.loads(row.value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its value is no JSON ({error})") from error
    if not isinstance(held, dict):
        raise ValueError("its value is no JSON object")  # noqa: TRY004
    said = _text(held)
    if not said.strip():
        raise ValueError("its value holds no text")
    fields = {name: at for name in _DATES if (at := instant(getattr(row, name))) is not None}
    if (said_at := fields.get("updated_at") or fields.get("created_at")) is not None:
        fields["said_at"] = said_at  # of what a program has put there nothing else is known
    whence = {"namespace": namespace, "key": row.key, "value": held}
    return ImportedMemory(
        phone=None if owner_at is None else namespace[owner_at],
        text=said,
        source_id=f"langgraph-store:{json.dumps([row.prefix, row.key])}",
        place=place,
        fields={**fields, "metadata": {"langgraph_store": whence}},
    )


def _text(held: dict[str, Any]) -> str:
    for name in _TEXTS:
        found = held.get(name)
        if isinstance(found, str) and found.strip():
            return found
        if isinstance(found, dict) and found:
            return _text(found)
    return _in_words(held)


def _in_words(value: Any) -> str:
    """Return `name: Erin, city: Haifa`."""
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
