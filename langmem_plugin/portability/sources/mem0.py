"""A mem0 export: what its `get_all()` gives, as JSON; a list of pages or JSON lines as well."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.portability.records import ImportedMemory, ImportedRecord
from langmem_plugin.portability.sources.plain_values import each_read, instant

_LISTS = ("results", "memories")
_OF_WHOM = ("user_id", "userId")
_WHEN = {"created_at": ("created_at", "createdAt"), "updated_at": ("updated_at", "updatedAt")}
_KEPT = ("hash", "agent_id", "agentId", "app_id", "appId", "run_id", "runId", "actor_id", "role")
_LONGEST_CATEGORY = 100


def records(path: Path) -> Iterator[ImportedRecord]:
    """Its memories, each its user_id's.

    Raises UnreadableImport if the file is no such export.
    """
    return each_read(_items(path), f"{path.name} record", _memory)


def recognises(path: Path) -> bool:
    """Tells whether its first memory has what mem0 gives each: an id, the memory and its hash."""
    try:
        first = next(_items(path), None)
    except (UnreadableImport, OSError):
        return False
    return isinstance(first, dict) and "memory" in first and "id" in first and "hash" in first


def _items(path: Path) -> Iterator[Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableImport(f"{path.name} is no text in UTF-8: export it as JSON") from error
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        yield from _lines(path, text, error)
        return
    for page in whole if _is_pages(whole) else [whole]:
        yield from _listed(page, path)


def _lines(path: Path, text: str, error: Exception) -> Iterator[Any]:
    """JSON lines; a line that is none is given as the text it is."""
    read = 0
    for line in text.splitlines():
        if line.strip():
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                found = line
            if not read and not isinstance(found, dict):
                raise UnreadableImport(
                    f"{path.name} is no JSON ({error}): write what get_all() gives by json.dump"
                ) from error
            read += 1
            yield found
    if not read:
        raise UnreadableImport(f"{path.name} is empty: write what get_all() gives by json.dump")


def _is_pages(whole: Any) -> bool:
    return isinstance(whole, list) and bool(whole) and all(isinstance(each, dict) and _list_in(each) for each in whole)


def _list_in(page: dict[str, Any]) -> str | None:
    return next((name for name in _LISTS if isinstance(page.get(name), list)), None)


def _listed(page: Any, path: Path) -> list[Any]:
    if isinstance(page, dict):
        if (name := _list_in(page)) is not None:
            page = page[name]
        elif "memory" in page:
            page = [page]
    if not isinstance(page, list):
        raise UnreadableImport(f"{path.name} is no mem0 export: it has no list of results, as get_all() gives them")
    return page


def _memory(found: Any, place: str) -> ImportedMemory:
    """Raises InvalidInput, which says why it is none."""
    if not isinstance(found, dict):
        raise InvalidInput("it is no JSON object")
    text, source_id = found.get("memory"), found.get("id")
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput("it has no text under `memory`")
    if not isinstance(source_id, str | int) or not str(source_id).strip():
        raise InvalidInput("it has no `id`, by which it would be known the next time")
    str(source_id).encode()  # half a character is a ValueError, and no id
    metadata = found.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise InvalidInput("its `metadata` is no JSON object")
    user = next((found[name] for name in _OF_WHOM if found.get(name) is not None), None)
    if isinstance(user, bool) or not isinstance(user, str | int | None):
        raise InvalidInput("its `user_id` is no text")
    if user is None and (found.get("agent_id") or found.get("agentId")):
        raise InvalidInput("it is what an agent knows of itself, of no person")
    kept = {name: found[name] for name in _KEPT if found.get(name) is not None}
    fields: dict[str, Any] = {
        "metadata": metadata | ({"mem0": kept} if kept else {}),
        **{name: when for name, names in _WHEN.items() if (when := _instant(found, names)) is not None},
    }
    if (said_at := fields.get("updated_at") or fields.get("created_at")) is not None:
        fields["said_at"] = said_at  # mem0 takes a fact from a message as it comes
    if (expires := _instant(found, ("expiration_date", "expirationDate"))) is not None:
        fields["expires_at"] = expires
    told = found.get("categories")
    if categories := [
        each for each in (told if isinstance(told, list) else ()) if isinstance(each, str) and each.strip()
    ]:
        fields |= {"tags": tuple(categories), "category": categories[0][:_LONGEST_CATEGORY]}
    return ImportedMemory(
        phone=None if user is None else str(user),
        text=text,
        source_id=f"mem0:{source_id}",
        place=place,
        fields=fields,
        said_by_assistant=found.get("role") == "assistant",
    )


def _instant(found: Mapping[str, Any], names: tuple[str, ...]) -> datetime | None:
    """Raises InvalidInput for what is none."""
    said = next((found[name] for name in names if found.get(name) is not None), None)
    if said is not None and not isinstance(said, str):
        raise InvalidInput(f"`{names[0]}` is no date: {str(said)[:40]!r}")
    try:
        return instant(said)
    except InvalidInput as error:
        raise InvalidInput(f"`{names[0]}` is no date: {str(said)[:40]!r}") from error
