"""The texts of the offline model: results as lists or things with details, and questions in the person's language."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from langmem_plugin.offline.argument_schema import Argument, Json, is_id, title_of
from langmem_plugin.offline.english import QUESTIONS
from langmem_plugin.references import Resolution
from langmem_plugin.references.shown.plain_data import plain
from langmem_plugin.references.words import Language

_MOST_NAMED, _LONGEST = 6, 60
_NONE = "Nothing found."
_TELLING_FIELDS = 3
_SHORT = 15  # characters of a word that may stand in a row with others


def result_text(results: Sequence[BaseMessage]) -> str:
    """Fit for a text message and the same every time; an error is said as the tool said it."""
    return "\n".join(_said(result) for result in results) or "Done."


def _said(result: BaseMessage) -> str:
    text = str(result.text).strip()
    if result.content == []:  # what LangGraph makes of an empty list
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
    """Title and facts on one line; what it consists of below, without numbers: those are for choosing."""
    title = title_of(item)
    facts = _facts(item, title)
    lines = [f"{title} ({', '.join(facts)})" if title and facts else title or ", ".join(facts)]
    for name, value in item.items():
        if isinstance(value, Mapping):
            lines.append(f"{_spoken(name).capitalize()}: {', '.join(_facts(value, ''))}")
        elif (
            isinstance(value, list)
            and value
            and all(isinstance(part, str) and len(part) <= _SHORT and " " not in part for part in value)
        ):
            lines.append(f"{_spoken(name).capitalize()}: {', '.join(value)}")
        elif isinstance(value, list) and value:
            lines.append(f"{_spoken(name).capitalize()}:")
            lines.extend(f"• {_part(part)}" for part in value)
    return "\n".join(line for line in lines if line) or "Done."


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


def asked_of(meant: Resolution, language: Language) -> str:
    """Which of several things is meant, or that the words point at nothing shown; "" where it is clear."""
    texts = QUESTIONS[language.name]
    if meant.unresolved:
        return texts["nothing"].format(words=f" {texts['or']} ".join(f"“{each}”" for each in meant.unresolved))
    if not meant.candidates:
        return ""
    told = [f"{place}. {title_of(item)[:_LONGEST]}" for place, item in enumerate(meant.candidates[:_MOST_NAMED], 1)]
    more = f" … ({len(meant.candidates)})" if len(meant.candidates) > _MOST_NAMED else ""
    return texts["which_of"].format(names=f"{', '.join(told[:-1])} {texts['or']} {told[-1]}{more}")


def asked_for(missing: Argument, meant: Resolution, language: Language) -> str:
    texts = QUESTIONS[language.name]
    if meant.question or missing.is_id:
        return asked_of(meant, language) or texts["which"].format(name=missing.spoken.removesuffix(" id"))
    described = missing.schema.get("description")
    return texts["what"].format(name=missing.spoken) + (f" ({described})" if described else "")


def cannot(tools: list[Json], language: Language) -> str:
    return QUESTIONS[language.name]["no_tool" if tools else "no_tools"]
