"""The result of a tool in words for a person: a list by numbers, a thing with its facts."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from langmem_plugin.references.shown.shown_items import ItemEntry
from langmem_plugin.references.shown.tool_data import plain

_NONE = "Nothing found."
_TELLING_FIELDS = 3
_SHORT = 15  # characters of a word that may stand in a row with others


def result_text(results: Sequence[BaseMessage]) -> str:
    """Return a text fit for a text message and the same every time; an error in the words of the tool."""
    return "\n".join(_said(result) for result in results) or "Done."


def _said(result: BaseMessage) -> str:
    text = str(result.text).strip()
    if result.content == []:  # LangGraph makes this of an empty list
        return _NONE
    if getattr(result, "status", "") == "error" or text[:1] not in ("[", "{"):
        return text or "Done."
    try:
        data = plain(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return _list(data) if isinstance(data, list) else _thing(data)


def _list(items: Sequence[Any]) -> str:
    if not items:
        return _NONE
    if len(items) == 1 and isinstance(items[0], Mapping):
        return _thing(items[0])
    return "\n".join(f"{number}. {_line(item)}" for number, item in enumerate(items, 1))


def _line(item: Any) -> str:
    if not isinstance(item, Mapping):
        return _value(item)
    title = title_of(item)
    telling = _facts(item, title)[:_TELLING_FIELDS]
    return f"{title} ({', '.join(telling)})" if title and telling else title or ", ".join(telling)


def _thing(item: Mapping[str, Any]) -> str:
    """Return title and facts on one line; below them the parts of the item, without numbers: those are for choosing."""
    title = title_of(item)
    facts = _facts(item, title)
    lines = [f"{title} ({', '.join(facts)})" if title and facts else title or ", ".join(facts)]
    for name, value in item.items():
        if isinstance(value, Mapping):
            lines.append(f"{_spoken(name).capitalize()}: {', '.join(_facts(value, ''))}")
        elif isinstance(value, list) and value and all(map(_is_short, value)):
            lines.append(f"{_spoken(name).capitalize()}: {', '.join(value)}")
        elif isinstance(value, list) and value:
            lines.append(f"{_spoken(name).capitalize()}:")
            lines.extend(f"• {_part(part)}" for part in value)
    return "\n".join(line for line in lines if line) or "Done."


def _is_short(part: Any) -> bool:
    return isinstance(part, str) and len(part) <= _SHORT and " " not in part


def _part(part: Any) -> str:
    if isinstance(part, Mapping) and all(isinstance(value, str) for value in part.values()):
        return " ".join(value for name, value in part.items() if value and not is_id(name))
    return _line(part)


def _facts(item: Mapping[str, Any], title: str) -> list[str]:
    facts = []
    for name, value in item.items():
        if is_id(name) or value in (None, "", title) or isinstance(value, list | dict) or value is False:
            continue
        if value is True:
            facts.append(_spoken(name))
        elif isinstance(value, str) and "_" not in name:
            facts.append(value)
        elif isinstance(value, int) and name.endswith("s") and "_" not in name:
            facts.append(f"{value} {name if value != 1 else name.removesuffix('s')}")  # 35 minutes
        else:
            facts.append(f"{_spoken(name)} {_value(value)}")
    return facts


def _value(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def is_id(name: str) -> bool:
    """Tell whether a field, or an argument, of this name holds an id."""
    return name in ("id", "uuid") or name.endswith(("_id", "_ids", "Id"))


def title_of(item: Mapping[str, Any]) -> str:
    """Return the item's name; "" if it has none."""
    return next(iter(ItemEntry(dict(item)).names), "")
