"""Jarvis's `data/memory.json`: a value under each key, with when it was saved and changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.memory.write.key_value_memory import as_text
from langmem_plugin.portability.imported_records import ImportedMemory, ImportedRecord
from langmem_plugin.portability.sources.source_parsing import (
    each_read,
    instant,
    json_file,
    json_in,
    mapping,
    numbered,
    text_of,
)


def recognises(path: Path) -> bool:
    """Tells whether every entry of the file is a key with a value."""
    found = json_in(path)
    return (
        isinstance(found, dict)
        and bool(found)
        and all(isinstance(each, dict) and "value" in each for each in found.values())
    )


def records(path: Path) -> Iterator[ImportedRecord]:
    """The file does not say whose it is. A value that is no object, as in its first version, is a value without dates.

    Raises UnreadableImport.
    """
    found = json_file(path)
    if not isinstance(found, dict):
        raise UnreadableImport(f"{path.name} is no memory.json: it has to be an object of keys")
    yield from each_read(numbered(f"{path.name} record", found.items()), _memory)


def _memory(entry: tuple[str, Any], place: str) -> ImportedMemory:
    key, raw = entry[0].strip(), entry[1]
    held = {"value": raw} if isinstance(raw, str) else mapping(raw, "it")
    value = text_of(held, "value")
    if value is None or not key:
        raise InvalidInput("it has no key, or no text as its value")
    created = instant(held.get("created_at"))
    updated = instant(held.get("updated_at")) or created
    dates = {"created_at": created, "updated_at": updated, "said_at": updated}
    fields = {"key": key, "fact_type": "preference" if "preference" in key else "fact"}
    return ImportedMemory(
        phone=None,
        text=as_text(key, value),
        source_id=f"jarvis:{key}",
        place=place,
        fields=fields | {name: at for name, at in dates.items() if at is not None},
    )
