"""A memory as a row and back: checked before it is stored, and read only if it is what was written."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import BigInteger, Column, ColumnElement, Text, cast, type_coerce

from langmem_plugin.database.memory_tables import memory
from langmem_plugin.errors import InvalidInput
from langmem_plugin.logs import event_log
from langmem_plugin.memory import checksums
from langmem_plugin.memory.damaged_rows import AnyRow
from langmem_plugin.memory.models import Memory, as_tags

log = event_log(__name__)

_LEVELS = 50  # of metadata; whoever reads it goes down into it again

_INSTANTS = (
    "said_at",
    "valid_from",
    "valid_to",
    "doubted_at",
    "asked_at",
    "expires_at",
    "last_accessed",
    "created_at",
    "updated_at",
)
_SINCE_CHECKSUMS = ("slot", "quote", "said_at", "valid_from", "valid_to")


def _as_stored(column: Column[Any]) -> ColumnElement[Any]:
    if column.name in _INSTANTS:
        return type_coerce(column, BigInteger)
    if column.name == "tags":
        return type_coerce(column, Text)
    return cast(column, Text) if column.name == "metadata" else column


_COLUMNS: list[Column[Any]] = [
    column for column in memory.c if column.name not in ("change", "position", "text_digest")
]
# As they are stored: what is damaged could not be turned into what it means.
STORED: list[ColumnElement[Any]] = [_as_stored(column).label(column.name) for column in _COLUMNS]


def as_memory(row: AnyRow) -> Memory | None:
    """Of a row that begins with the columns STORED; None where it does not hold what was written."""
    values = {column.name: value for column, value in zip(_COLUMNS, row, strict=False)}
    written = values.pop("checksum")
    try:
        for name in _INSTANTS:
            values[name] = checksums.instant(values[name])
        values["tags"] = values["tags"].strip("\n").split("\n") if values["tags"] else ()
        values["metadata"] = json.loads(values["metadata"])
        made = Memory(id=values.pop("memory_id"), **values)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return None
    return made if written in (None, checksum_of(made)) else None


def checksum_of(made: Memory) -> int:
    """Over what does not change by itself: its state, its counters and when it changed are left out.

    A row from before a field was there is still what was written.
    """
    later = {name: value for name in _SINCE_CHECKSUMS if (value := getattr(made, name)) is not None}
    return checksums.of_values(
        made.id,
        made.owner,
        made.text,
        made.fact_type,
        made.key,
        made.confidence,
        made.source_type,
        made.source_id,
        made.session_id,
        made.summary_text,
        made.category,
        made.tags,
        made.metadata,
        made.private,
        made.superseded_by,
        made.expires_at,
        made.created_at,
        *([later] if later else []),
    )


def validated(values: Mapping[str, Any]) -> Memory:
    """Raises InvalidInput, naming the field that cannot be stored."""
    try:
        return Memory.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"{field} of a memory: {first['msg']}") from error


def as_values(made: Memory) -> dict[str, Any]:
    """The columns of `made`, except those that are the database's own."""
    values = made.model_dump()
    values["memory_id"] = values.pop("id")
    return values | {"checksum": checksum_of(made)}


def checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as they are stored. What JSON cannot hold is left out of `metadata`, with a warning."""
    stored = dict(fields)
    if "tags" in stored:
        stored["tags"] = as_tags(stored["tags"])
    if "metadata" in stored:
        stored["metadata"] = {
            str(name): kept for name, value in stored["metadata"].items() if (kept := _as_json(name, value)) is not None
        }
    return stored


def _as_json(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    try:
        return _within(_LEVELS, json.loads(json.dumps(value, allow_nan=False)))  # as it will be read
    except (TypeError, ValueError, RecursionError):
        log.warning("memory.metadata_dropped", extra={"field": str(name)})
        return None


def _within(levels: int, value: Any) -> Any:
    """The value. Raises ValueError where it is nested deeper than that."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        if not levels:
            raise ValueError("nested too deep")
        _within(levels - 1, part)
    return value
