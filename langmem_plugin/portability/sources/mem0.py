"""A mem0 export: what its `get_all()` gives, written as JSON; its memories, each its user_id's."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.portability.imported_records import ImportedMemory, ImportedRecord
from langmem_plugin.portability.sources.source_parsing import each_read, instant, json_file, json_in, mapping, numbered

_LISTS = ("results", "memories")
_KEPT = ("hash", "agent_id", "app_id", "run_id", "actor_id", "role")
_LONGEST_CATEGORY = 100


def records(path: Path) -> Iterator[ImportedRecord]:
    """Raises UnreadableImport if the file is no such export."""
    items = _items(json_file(path))
    if items is None:
        raise UnreadableImport(f"{path.name} is no mem0 export: it has no list of results, as get_all() gives them")
    return each_read(numbered(f"{path.name} record", items), _memory)


def recognises(path: Path) -> bool:
    """Tell whether its first memory has what mem0 gives each: an id, the memory and its hash."""
    first = next(iter(_items(json_in(path)) or ()), None)
    return isinstance(first, dict) and {"memory", "id", "hash"} <= first.keys()


def _items(held: Any) -> list[Any] | None:
    if isinstance(held, dict):
        held = next((held[name] for name in _LISTS if name in held), None)
    return held if isinstance(held, list) else None


def _memory(found: Any, place: str) -> ImportedMemory:
    """Raises InvalidInput, which says why it is none. The JavaScript client writes `createdAt` for `created_at`."""
    raw = {
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(name)).lower(): value for name, value in mapping(found, "it").items()
    }
    text, source_id = raw.get("memory"), raw.get("id")
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput("it has no text under `memory`")
    if not isinstance(source_id, str | int) or not str(source_id).strip():
        raise InvalidInput("it has no `id`, by which it would be known the next time")
    str(source_id).encode()  # half a character is a ValueError, and no id
    user = raw.get("user_id")
    if isinstance(user, bool) or not isinstance(user, str | int | None):
        raise InvalidInput("its `user_id` is no text")
    if user is None and raw.get("agent_id"):
        raise InvalidInput("it is what an agent knows of itself, of no person")
    dates = {
        "created_at": instant(raw.get("created_at")),
        "updated_at": instant(raw.get("updated_at")),
        "expires_at": instant(raw.get("expiration_date")),
    }
    dates["said_at"] = dates["updated_at"] or dates["created_at"]  # mem0 takes a fact from a message as it comes
    fields: dict[str, Any] = {name: at for name, at in dates.items() if at is not None}
    kept = {name: raw[name] for name in _KEPT if raw.get(name) is not None}
    fields["metadata"] = dict(mapping(raw.get("metadata") or {}, "its metadata")) | ({"mem0": kept} if kept else {})
    told = raw.get("categories")
    if categories := [
        each for each in (told if isinstance(told, list) else ()) if isinstance(each, str) and each.strip()
    ]:
        fields |= {"tags": tuple(categories), "category": categories[0][:_LONGEST_CATEGORY]}
    if raw.get("role") == "assistant":
        fields["status"] = "pending"  # nobody has said it: the person is asked
    return ImportedMemory(
        phone=None if user is None else str(user), text=text, source_id=f"mem0:{source_id}", place=place, fields=fields
    )
