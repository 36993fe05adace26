"""The results of tools as lists of items: from JSON of any nesting, artifacts, MCP content, tables, numbered text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage

from langmem_plugin.cached_property import cached_property
from langmem_plugin.references.shown.lists_in_text import read_lines, read_table
from langmem_plugin.references.shown.shown_items import ItemEntry, has_identity
from langmem_plugin.references.shown.tool_data import plain, structured
from langmem_plugin.references.tokens import key_words
from langmem_plugin.references.words import KEYS

_ENVELOPE, _ACKNOWLEDGING = frozenset(KEYS["envelope"]), frozenset(KEYS["acknowledging"])
_READING, _DONE = frozenset(KEYS["reading"]), frozenset(KEYS["done"])
MOST_ITEMS = 2_000
"""The most items of one result: nobody is shown more, and a reply's lines are compared with each."""


@dataclass(eq=False)
class ResultList:
    """One list of items as a tool returned it, with what was asked for."""

    entries: list[ItemEntry]
    tool: str = ""
    nouns: frozenset[str] = frozenset()
    weak: bool = False
    """True for an acknowledgement ("status": "ok"), which is nothing to point at."""

    @cached_property
    def postings(self) -> dict[str, list[ItemEntry]]:
        """The entries that hold each word or value."""
        found: dict[str, list[ItemEntry]] = {}
        for entry in self.entries:
            for atom in entry.atoms:
                found.setdefault(atom, []).append(entry)
        return found


def result_lists(message: ToolMessage, tool: str) -> list[ResultList]:
    """Return the lists of items in a tool message, in order. An artifact that holds more items than the text is
    preferred.
    """
    from_text = _collect(structured(message.content), tool)
    if message.artifact is None:
        return from_text
    artifact = plain(message.artifact)
    if isinstance(artifact, Mapping):
        for key in ("structured_content", "structuredContent"):
            if artifact.get(key) is not None:
                artifact = artifact[key]
    from_artifact = _collect(artifact, tool)
    textual = all(set(entry.item) <= {"number", "text"} for result_list in from_text for entry in result_list.entries)
    return from_artifact if _size(from_artifact) > _size(from_text) or (_size(from_artifact) and textual) else from_text


def _size(found: list[ResultList]) -> int:
    return sum(len(result_list.entries) for result_list in found if not result_list.weak)


def tool_nouns(tool: str) -> frozenset[str]:
    """Return the nouns in a tool's name: `search_recipes` is about recipes."""
    words = key_words(tool)
    return frozenset(word for place, word in enumerate(words) if word not in _READING or (word == "list" and place))


def _key_nouns(key: str) -> frozenset[str]:
    """Return the nouns that a key gives to the things under it: none for `results` or `search_results`, both words of
    `grocery_list`.
    """
    words = frozenset(key_words(key))
    return words if words - _ENVELOPE - _READING else frozenset()


def reads(tool: str) -> bool:
    """Tell by its name whether a tool looks things up (`search_hotels`) and does not act (`book_hotel`)."""
    words = key_words(tool)
    return not words or words[0] in _READING


def _collect(data: Any, tool: str) -> list[ResultList]:
    found: list[ResultList] = []
    _walk(data, tool_nouns(tool), tool, found, 0)
    room = MOST_ITEMS
    for result_list in found:
        result_list.entries = result_list.entries[:room]
        room -= len(result_list.entries)
    return [result_list for result_list in found if result_list.entries]


def _entry(item: dict[str, Any], nouns: frozenset[str], position: int, key: str = "") -> ItemEntry:
    parts = {}
    for name, value in item.items():
        if isinstance(value, (list, tuple)) and value and all(isinstance(part, dict) for part in value):
            parts[name] = [_entry(part, frozenset(key_words(name)), index) for index, part in enumerate(value)]
    return ItemEntry(item, key, position, nouns, parts)


def _list(
    items: list[dict[str, Any]], nouns: frozenset[str], tool: str, keys: list[str] | None = None, *, weak: bool = False
) -> ResultList:
    entries = [_entry(item, nouns, index, keys[index] if keys else "") for index, item in enumerate(items)]
    return ResultList(entries, tool, nouns, weak)


def _walk(data: Any, nouns: frozenset[str], tool: str, found: list[ResultList], depth: int) -> None:
    if depth > 6:
        return
    if isinstance(data, str):
        found.extend(_from_text(data, nouns, tool))
    elif isinstance(data, (list, tuple)):
        items = [item for item in data if isinstance(item, dict)]
        if items:
            inner = _unwrapped(items)
            found.append(_list(inner or items, nouns, tool))
        elif data and all(isinstance(item, (str, int, float)) for item in data):
            texts = [{"number": index, "text": item} for index, item in enumerate(data, 1)]
            found.append(_list(texts, nouns, tool))
        elif data:
            for item in data:
                _walk(item, nouns, tool, found, depth + 1)
    elif isinstance(data, dict) and data:
        _walk_dict(data, nouns, tool, found, depth)


def _unwrapped(items: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """Return the recipes of `[{"recipe": {...}}, {"recipe": {...}}]`; None for items of another form."""
    if all(len(item) == 1 and isinstance(next(iter(item.values())), dict) for item in items):
        return [next(iter(item.values())) for item in items]
    return None


def _walk_dict(data: dict[str, Any], nouns: frozenset[str], tool: str, found: list[ResultList], depth: int) -> None:
    scalars = {
        key: value for key, value in data.items() if not isinstance(value, (dict, list, tuple)) and value is not None
    }
    lists = {key: value for key, value in data.items() if isinstance(value, (list, tuple)) and value}
    dicts = {key: value for key, value in data.items() if isinstance(value, dict) and value}
    tables = {key: value for key, value in lists.items() if any(isinstance(part, (dict, list)) for part in value)}
    envelope = [key for key in (*tables, *dicts) if set(key_words(key)[-1:]) & _ENVELOPE]
    named = has_identity(scalars)
    titled = named and any(set(key_words(key)) & {"name", "title", "subject"} for key in scalars)
    few = len(scalars) <= 3
    if envelope and not titled:
        parts = {key: data[key] for key in envelope}
    elif named or not (few or tables):
        weak = not titled and not reads(tool) and _acknowledges(scalars)
        found.append(_list([data], nouns, tool, weak=weak))
        return
    elif not tables and few and len(dicts) > 1 and _alike(list(dicts.values())):
        found.append(_list(list(dicts.values()), nouns, tool, list(dicts)))
        return
    else:
        parts = tables or (dicts if few else {}) or (lists if len(scalars) <= 2 else {})
    for key, part in parts.items():
        _walk(part, nouns | _key_nouns(key), tool, found, depth + 1)
    if not parts:
        weak = all(set(key_words(key)) & _ACKNOWLEDGING for key in data)
        only = next(iter(scalars.values())) if len(scalars) == 1 and not lists and not weak else None
        in_text = _from_text(only, nouns, tool) if isinstance(only, str) else []
        several = in_text and len(in_text[0].entries) > 1
        found.extend(in_text if several else [_list([data], nouns, tool, weak=weak)])


def _acknowledges(scalars: dict[str, Any]) -> bool:
    """Tell whether a dict only says that something was done, as `{"status": "saved", "recipe_id": "r2"}`."""
    done = {
        str(value).lower()
        for key, value in scalars.items()
        if set(key_words(key)) & {"status", "success", "ok", "result", "message"}
    }
    return len(scalars) <= 3 and bool(done & _DONE)


def _alike(values: list[dict[str, Any]]) -> bool:
    """Tell whether dicts are of one shape, as items of one list are; those of `{"user": …, "order": …}` are not."""
    first = set(values[0])
    return all(len(first & set(value)) * 2 >= min(len(first), len(value)) for value in values[1:])


def _from_text(text: str, nouns: frozenset[str], tool: str) -> list[ResultList]:
    rows: list[dict[str, Any]] = list(read_table(text))
    rows = rows or [
        line_item(line.number or index, line.text, line.details) for index, line in enumerate(read_lines(text), 1)
    ]
    return [_list(rows, nouns, tool)] if rows else []


def line_item(number: int, text: str, details: Mapping[str, str]) -> dict[str, Any]:
    """Return the item of a list that exists only as text: its number, its words and its `key: value` lines."""
    return {"number": number, "text": text, **details}
