"""The export of Onyx's persistent memory: memories, instructions and categories as JSON, or memories as CSV."""

import csv
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.memory.memory_types import FACT_TYPES
from langmem_plugin.portability.imported_records import (
    ImportedCategory,
    ImportedInstruction,
    ImportedMemory,
    ImportedRecord,
    Remark,
)
from langmem_plugin.portability.sources.source_parsing import (
    each_read,
    instant,
    json_file,
    json_in,
    mapping,
    number,
    numbered,
    text_of,
)

_VERSION = "1"
_SOURCES = ("manual", "extracted_from_chat", "extracted_from_document", "api_import")
_LONGEST_CELL = 10_000_000
_TRUE = ("true", "t", "1", "yes")


def recognises(path: Path) -> bool:
    """Tells the format by the document's own keys, or the columns of the table."""
    if path.suffix == ".csv" and path.is_file():
        with path.open(encoding="utf-8-sig", newline="") as file:
            return {"fact", "fact_type"} <= set(next(csv.reader(file), []))
    found = json_in(path)
    return isinstance(found, dict) and {"memories", "user_id", "export_date"} <= found.keys()


def records(path: Path) -> Iterator[ImportedRecord]:
    """Raises UnreadableImport, also for an export of a newer version."""
    if path.suffix == ".csv":
        yield from _of_table(path)
        return
    found = json_file(path)
    if not isinstance(found, dict) or not isinstance(found.get("memories"), list):
        raise UnreadableImport(f"{path.name} is no export of Onyx: it has no list of memories")
    version = str(found.get("format_version", _VERSION))
    if version.partition(".")[0] != _VERSION:
        raise UnreadableImport(
            f"{path.name} has format {version[:20]}, and only {_VERSION}.x is known: import an older one"
        )
    user = found.get("user_id")
    whose = None if user is None else str(user)
    names = _names(found.get("categories"))
    readers: tuple[tuple[str, Callable[[Any, str], ImportedRecord]], ...] = (
        ("categories", partial(_category, whose)),
        ("memories", partial(_memory, whose, names)),
        ("standing_instructions", partial(_instruction, whose)),
    )
    for kind, read in readers:
        held = _parents_first(found.get(kind)) if kind == "categories" else found.get(kind) or []
        yield from each_read(numbered(f"{path.name} {kind}", held if isinstance(held, list) else [held]), read)


def _of_table(path: Path) -> Iterator[ImportedRecord]:
    csv.field_size_limit(_LONGEST_CELL)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        if "fact" not in (rows.fieldnames or ()):
            raise UnreadableImport(f"{path.name} is no table of Onyx's memories: it has no column 'fact'")
        placed = ((f"{path.name}:{rows.line_num}", row) for row in rows)
        try:
            yield from each_read(placed, _of_row)
        except csv.Error as error:
            yield Remark(place=f"{path.name}:{rows.line_num}", reason=f"this is no row of a table: {error}")


def _of_row(row: Mapping[str | None, Any], place: str) -> ImportedMemory:
    filled = {name: value for name, value in row.items() if name is not None and value}
    return _memory(text_of(filled, "user_id"), {}, filled, place)


def _memory(user: str | None, categories: Mapping[str, str], found: object, place: str) -> ImportedMemory:
    raw = mapping(found, "it")
    text = text_of(raw, "fact")
    if text is None:
        raise InvalidInput("it has no fact")
    if _flag(raw.get("is_deleted")):
        raise InvalidInput("it was deleted there")
    kind, source = text_of(raw, "fact_type"), text_of(raw, "source_type")
    category = text_of(raw, "category")
    fields: dict[str, Any] = {
        "fact_type": kind if kind in FACT_TYPES else "fact",
        "confidence": number(raw.get("confidence"), 1.0),
        "source_type": source if source in _SOURCES else "api_import",
        "source_id": text_of(raw, "source_id"),
        "category": categories.get(category, category) if category else None,
        "tags": _tags(raw.get("tags")),
        "private": _flag(raw.get("is_private", raw.get("private"))),
        "access_count": int(number(raw.get("access_count"), 0)),
        "expires_at": instant(raw.get("expires_at")),
        "last_accessed": instant(raw.get("last_accessed")),
    }
    created = instant(raw.get("created_at"))
    if created is not None:
        fields |= {"created_at": created, "updated_at": instant(raw.get("updated_at")) or created, "said_at": created}
    source_id = text_of(raw, "id") or f"{text}\0{raw.get('created_at')}"
    return ImportedMemory(phone=user, text=text, source_id=f"onyx:{source_id}", place=place, fields=fields)


def _instruction(user: str | None, found: object, place: str) -> ImportedInstruction:
    raw = mapping(found, "it")
    text = text_of(raw, "instruction")
    if text is None or _flag(raw.get("is_deleted")):
        raise InvalidInput("it has no instruction, or it was deleted there")
    return ImportedInstruction(
        phone=user,
        text=text,
        source_id=f"onyx:{text_of(raw, 'id') or text}",
        place=place,
        fields={
            "priority": int(number(raw.get("priority"), 1)),
            "condition": text_of(raw, "condition_expression"),
            "active": raw.get("is_active") is not False,
            "expires_at": instant(raw.get("expires_at")),
        },
    )


def _category(user: str | None, found: object, place: str) -> ImportedCategory:
    raw = mapping(found, "it")
    name, parent = text_of(raw, "name"), text_of(raw, "parent_category_id")
    if name is None:
        raise InvalidInput("it has no name")
    return ImportedCategory(
        phone=user,
        name=name,
        source_id=f"onyx:{text_of(raw, 'id') or name}",
        place=place,
        color=text_of(raw, "color"),
        description=text_of(raw, "description"),
        parent=parent and f"onyx:{parent}",
        created_at=instant(raw.get("created_at")),
    )


def _parents_first(categories: object) -> list[Any]:
    """Order them so that each comes behind its parent; what is in a ring comes last, and so at the top."""
    left = list(categories) if isinstance(categories, list) else []
    ordered: list[Any] = []
    while left:
        ids = {str(each.get("id")) for each in left if isinstance(each, dict)}
        below = [each for each in left if isinstance(each, dict) and str(each.get("parent_category_id")) in ids]
        held = set(map(id, below)) if len(below) < len(left) else set()
        ordered += [each for each in left if id(each) not in held]
        left = [each for each in left if id(each) in held]
    return ordered


def _names(categories: object) -> dict[str, str]:
    """The names of categories by their ids."""
    held = categories if isinstance(categories, list) else []
    return {
        str(each["id"]): str(each["name"]) for each in held if isinstance(each, dict) and {"id", "name"} <= each.keys()
    }


def _flag(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() in _TRUE)


def _tags(value: object) -> list[str]:
    """A list, or as PostgreSQL writes one into a table: {work,"new york"}."""
    if isinstance(value, list):
        return [str(each) for each in value]
    if not isinstance(value, str):
        return []
    return [each.strip() for row in csv.reader([value.strip().strip("{}[]")], skipinitialspace=True) for each in row]
