"""The value of a tool's argument that comes from the conversation: an item's field, an earlier result or call."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langmem_plugin.references.meant.resolution import Resolution
from langmem_plugin.references.meant.resolver import resolve
from langmem_plugin.references.shown.ledger import text_of
from langmem_plugin.references.shown.plain_data import plain, structured
from langmem_plugin.references.shown.tool_results import tool_nouns
from langmem_plugin.references.text.tokens import key_words, normal, stem, words_of
from langmem_plugin.references.words import phrases

_ALIKE = (
    "destination location place address target",
    "folder directory dir destination path",
    "file filename document source path name match",
    "receiver recipient to sender user username friend attendee",
    "content message body text file description note",
    "value distance number result",
    "symbol stock ticker",
    "password passcode pin",
    "city location town place area",
    "date day time when start",
    "amount price total sum cost",
    "query keyword topic search term subject",
    "title name subject",
    "phone number telephone",
    "email mail address",
    "item product article",
    "insurance premium cost fee",
    "order purchase booking",
    "ticket issue case",
    "tweet post status",
    "url link website",
)
_SYNONYMS: dict[str, frozenset[str]] = {}
for _line in _ALIKE:
    _words = frozenset(_line.split())
    for _word in _words:
        _SYNONYMS[_word] = _SYNONYMS.get(_word, frozenset()) | _words
_MODIFIERS = frozenset(phrases("old|new|current|from|to|previous|original|my|the|your|is|of|target|source|end|start"))
_LEAD = re.compile(r"^(?:it'?s|it is|my|the|sure,?|ok,?|yes,?)\s+", re.IGNORECASE)
_VALUE = re.compile(
    r"[\"'“]([^\"'“”]+)[\"'”]|((?<![\w.+-])[\w.+-]++@[\w.-]+\w)|(\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?)|(\S+)"
)


@dataclass(frozen=True)
class Fact:
    """A scalar seen in the conversation: where (a key path), in which call, and whether the call returned
    it.
    """

    value: Any
    path: tuple[str, ...]
    tool: str
    place: int
    returned: bool
    failed: bool = False
    """The call it belongs to gave nothing."""


def argument(
    tool: str, name: str, utterance: str, messages: Sequence[BaseMessage], *, resolution: Resolution | None = None
) -> Any | None:
    """The value for argument `name` of `tool` that earlier results and calls give; None when nothing there fits.

    In order of weight: the field of that name in the item the utterance means, then values under the same or an alike
    name in results and calls, newer before older, those the utterance names before others. Pure, as `resolve`.
    """
    meant = resolution if resolution is not None else resolve(utterance, messages)
    wanted = _wanted(name)
    if len(wanted) == 1 and wanted[0] in ("id", "name", "number"):
        wanted = [*sorted(stem(word) for word in tool_nouns(tool)), *wanted]
    facts = list(_facts(messages))
    last = max((fact.place for fact in facts), default=0)
    said = f" {' '.join(words_of(utterance))} "
    from_items = [value for item in meant.items for value in item.values()]
    best: tuple[float, Any] | None = None
    for fact in facts:
        score = _fit(wanted, said, fact)
        if score <= 0:
            continue
        score += 0.3 * fact.returned - 0.12 * (last - fact.place) - 1.5 * fact.failed
        if score >= 1.5 and fact.returned and any(value is not None and value == fact.value for value in from_items):
            score += 2.5
        spoken = " ".join(words_of(str(fact.value)))
        if len(spoken) > 1 and f" {spoken} " in said:
            score += 1.0
        if best is None or score > best[0]:
            best = (score, fact.value)
    plain_item = _plain_item(meant)
    if plain_item is not None and (best is None or best[0] < 4.5):
        best = (4.5, plain_item)
    if best is None or best[0] <= 1.0:
        told = _told(wanted, messages)
        if told is not None:
            return told
    if best is None:
        return None
    value = best[1]
    return value.rsplit("/", 1)[-1] if isinstance(value, str) and "file" in wanted and "path" not in wanted else value


def _plain_item(meant: Resolution) -> Any | None:
    """The text of the one item meant, when it is nothing but a text and was counted out ("the last one")."""
    if (
        len(meant.references) != 1
        or len(meant.references[0].items) != 1
        or meant.references[0].sort not in ("number", "ordinal")
    ):
        return None
    item = meant.references[0].items[0]
    return item["text"] if set(item) == {"number", "text"} else None


def _wanted(name: str) -> list[str]:
    return [stem(word) for word in key_words(re.sub(r"\[\d+\]", "", name)) if not word.isdigit()]


def _fit(wanted: Sequence[str], said: str, fact: Fact) -> float:
    """How well a fact's name fits an argument's: 4 for the same name, less for an alike one, 0 for none."""
    key = [stem(word) for word in key_words(fact.path[-1])] if fact.path else []
    key = [word for word in key if word not in ("list", "current") or len(key) == 1] or key
    if not key or not wanted:
        return 0.0
    context = {stem(word) for part in fact.path[:-1] for word in key_words(part)} | {
        stem(word) for word in key_words(fact.tool)
    }
    if key == list(wanted):
        return 4.0
    head, wanted_head = key[-1], wanted[-1]
    core = [word for word in wanted if word not in _MODIFIERS]
    key_core = [word for word in key if word not in _MODIFIERS]
    if "old" in wanted and "new" in key:
        return 0.0
    if core and core == key_core:
        age = next((word for word in ("old", "previous", "original", "new") if word in key), "")
        return 3.6 + (
            1.5
            if age and f" {age} " in said
            else -0.8
            if age in ("old", "previous", "original")
            else 0.3
            if age
            else 0.0
        )
    if head == wanted_head:
        rest = set(core[:-1])
        if not rest or rest <= context | set(key) or not set(key_core[:-1]):
            covered = len(rest & (context | set(key))) / len(rest) if rest else 1.0
            return 2.0 + 1.4 * covered - (0.6 if rest and not covered else 0.0)
        return 1.2 if rest & set(key) else 0.0
    alike = _SYNONYMS.get(wanted_head, frozenset()) | {wanted_head}
    if head in alike:
        return 1.8 + (0.3 if set(core) & (context | set(key)) else 0.0)
    if set(core) & set(key):
        return 1.1
    if set(core) & context and head in ("id", "result", "value", "name", "output"):
        return 1.5 if wanted_head in ("id", "name") else 1.2
    return 0.0


def _facts(messages: Sequence[BaseMessage]) -> Iterator[Fact]:
    place = 0
    empty = {
        message.tool_call_id
        for message in messages
        if isinstance(message, ToolMessage)
        and (message.status == "error" or message.content in ("null", "None", ""))
        and message.artifact is None
    }
    tools: dict[str | None, str] = {}
    for message in messages:
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                place += 1
                tools[call.get("id")] = call["name"]
                failed = call.get("id") in empty
                for fact in _scalars(plain(call["args"]), (), call["name"], place, returned=False):
                    yield replace(fact, failed=failed)
        elif isinstance(message, ToolMessage):
            tool = message.name or tools.get(message.tool_call_id, "")
            content = structured(message.content)
            if message.artifact is not None and isinstance(content, str):
                content = plain(message.artifact)
            if isinstance(content, (str, int, float)) and content != "":
                yield Fact(content, ("result",), tool, place, returned=True)
            yield from _scalars(content, (), tool, place, returned=True)


def _scalars(value: object, path: tuple[str, ...], tool: str, place: int, *, returned: bool) -> Iterator[Fact]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _scalars(inner, (*path, str(key)), tool, place, returned=returned)
    elif isinstance(value, (list, tuple)):
        # Reversed, so that among equals the first of a list comes last and wins.
        for inner in reversed(value):
            yield from _scalars(inner, path, tool, place, returned=returned)
    elif value is not None and value != "" and not isinstance(value, bool) and path:
        yield Fact(value, path, tool, place, returned)


def _told(wanted: Sequence[str], messages: Sequence[BaseMessage]) -> str | None:
    """`… my verification code is 984520`, or a short answer to a question about it: newest first."""
    core = [word for word in wanted if word not in _MODIFIERS]
    if not core:
        return None
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if not isinstance(message, HumanMessage):
            continue
        said = text_of(message)
        for phrase in (" ".join(core), core[-1]):
            found = re.search(
                rf"\b{re.escape(phrase)}s?\b[^.\n]{{0,12}}?(?:\bis\b|:|=|\bto\b|\bcalled\b|\bnamed\b)\s*", normal(said)
            )
            if found and (value := _VALUE.match(said, found.end())):
                return next(group for group in value.groups() if group).rstrip(".,;!?")
        asked = normal(text_of(messages[place - 1])) if place and isinstance(messages[place - 1], AIMessage) else ""
        if len(said.split()) <= 4 and "?" in asked and " ".join(core) in asked.rsplit(".", 1)[-1]:
            return _LEAD.sub("", said).strip(" .!?")
    return None
