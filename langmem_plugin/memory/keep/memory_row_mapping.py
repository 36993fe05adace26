"""Map a memory to its row and back: checked before it is stored, and read only if it is what was written."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import BindParameter, ColumnElement, or_

from langmem_plugin.database.encryption import Encryption
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.errors import DecryptionRefused, InvalidInput
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.logs import event_log
from langmem_plugin.memory.keep.changes_and_checksums import SealedTable, blinded, blinded_digest, blinded_slot
from langmem_plugin.memory.memory_types import Memory, as_tags, bare

log = event_log(__name__)

_LEVELS = 50  # levels of metadata; every reader goes down through them again
_WORDS = ("text", "summary_text", "quote", "key", "category", "tags", "metadata", "slot", "source_id")
MARK = "store"
_PARTS = {"namespace", "key", "value", "text"}


def digest_of(encryption: Encryption, owner: OwnerKey, salt: bytes, text: str, key: str | None) -> bytes:
    """Return a digest that is equal for texts that say the same under the same key, and different for every owner.

    With keys it is made with the owner's own key: the salt, which lies beside, lets nobody tell whether they
    have guessed a text.
    """
    said = f"{key or ''}\n{bare(text)}"
    if encryption.encrypts:
        return blinded_digest(encryption, owner, said)
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), key=salt, digest_size=16).digest()


SEALED = SealedTable(
    memory,
    memory.c.memory_id,
    words=_WORDS,
    beside=(
        *_WORDS,
        *("fact_type", "confidence", "source_type", "session_id", "private", "superseded_by"),
        *("said_at", "valid_from", "valid_to", "expires_at", "created_at"),
    ),
    checked=(  # state, counters and the time of change, which change by themselves, are left out
        *("memory_id", "owner", "text", "fact_type", "key", "confidence", "source_type", "source_id", "session_id"),
        *("summary_text", "category", "tags", "metadata", "private", "superseded_by", "expires_at", "created_at"),
    ),
    checked_since=("slot", "quote", "said_at", "valid_from", "valid_to"),
    blinded={
        **dict.fromkeys(("key", "category", "source_id"), blinded),
        "slot": blinded_slot,
        "tags": lambda encryption, owner, column, tags: tuple(blinded(encryption, owner, column, tag) for tag in tags),
        "metadata": lambda *_: {},
    },
    unread=("change", "position", "text_digest"),
)
STORED = SEALED.stored()


def as_memory(row: Sequence[Any], encryption: Encryption) -> Memory | None:
    """Read a row that begins with the columns STORED; None where it does not hold what was written, or is in plain
    and should not be.
    """
    values = SEALED.read(row, encryption)
    try:
        return None if values is None else Memory(id=values.pop("memory_id"), **values)
    except ValidationError:
        return None


Searched = tuple[Any, Any, Any, Any, Any, Any]
"""The searched parts of a memory: text, category, tags as in a plain row, key, summary, slot."""


def searched(encryption: Encryption, owner: OwnerKey, memory_id: str, plain: Searched, sealed: Any) -> Searched | None:
    """Return the searched parts before the row is read whole, as it is when it is shown; None where they cannot be had.

    `plain` are the columns.
    """
    if sealed is None and not encryption.encrypts:
        return plain
    try:
        words, _ = SEALED.opened(owner, memory_id, sealed, encryption)
    except DecryptionRefused:
        return None
    tags = "".join(f"\n{tag}" for tag in words["tags"]) + "\n"
    return words["text"], words["category"], tags, words["key"], words["summary_text"], words.get("slot")


def validated(values: Mapping[str, Any]) -> Memory:
    """Return the memory of the values. Raises InvalidInput, naming the field that cannot be stored."""
    try:
        return Memory.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"{field} of a memory: {first['msg']}") from error


def as_values(made: Memory, encryption: Encryption) -> dict[str, Any]:
    """Return the columns of `made`, except those that are the database's own; encrypted where there are keys."""
    values = made.model_dump()
    values["memory_id"] = values.pop("id")
    return SEALED.values(values, encryption)


def checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields as they are stored. What JSON cannot hold is left out of `metadata`, with a warning."""
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
    """Return the value. Raises ValueError where it is nested deeper than that."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        if not levels:
            raise ValueError("nested too deep")
        _within(levels - 1, part)
    return value


def mark_of(metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the mark of a store in the metadata; None for a memory that no store made."""
    mark = metadata.get(MARK)
    return mark if isinstance(mark, dict) and mark.keys() >= _PARTS else None


def value_with(mark: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the value as it was put; where the memory has another text since, with that one."""
    value: dict[str, Any] = json.loads(mark["value"])
    if text == mark["text"]:
        return value
    texts = [name for name, held in value.items() if isinstance(held, str)]
    return {**value, texts[0]: text} if len(texts) == 1 else {**value, "content": text}


def corrected(metadata: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the metadata of a memory that has this text now."""
    mark = mark_of(metadata)
    if mark is None or mark["text"] == text:
        return dict(metadata)
    return {**metadata, MARK: {**mark, "value": json.dumps(value_with(mark, text)), "text": text}}


def valid(now: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    return or_(memory.c.expires_at.is_(None), memory.c.expires_at > now)
