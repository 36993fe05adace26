"""What tells the items of a list apart: each value, flag, empty field and end of a scale that some have and others not."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal, get_args

from langmem_plugin.lru import cached_if_short
from langmem_plugin.references.shown.items import ItemEntry, leaves
from langmem_plugin.references.text.tokens import WORD, is_stop, normal, spaced, stem
from langmem_plugin.references.text.values import Value, comparable, parts_of_date
from langmem_plugin.references.words import ENGLISH

Kind = Literal[
    "text", "line", "flag", "no flag", "empty", "filled", "most", "least", "none of", "some of", "word", "date"
]
KINDS: tuple[Kind, ...] = get_args(Kind)

_MOST_WORDS, _MOST_LETTERS, _MOST_FIELDS, _MOST_PROPERTIES = 20, 160, 200, 400
_LETTERS, _WORDS_OF_VALUE = re.compile(r"[^\W\d_]{2,}"), 2
_MONTHS, _WEEKDAYS = (
    {number: form for form, number in reversed([*forms.items()])} for forms in (ENGLISH.months, ENGLISH.weekdays)
)
"""What each is called in full."""
_PARTS_OF_DAY = ["night", "morning", "afternoon", "evening"]
_ENDS = {
    "date": ("latest newest last recent", "earliest soonest first next oldest"),
    "time": ("latest last", "earliest soonest first"),
    "duration": ("longest slowest", "shortest quickest fastest"),
    "money": ("dearest expensive priciest", "cheapest lowest"),
    "quantity": ("most highest biggest largest", "least lowest smallest fewest"),
}
"""What the most and the least of a kind of value are called, whatever the field."""


@dataclass(frozen=True, eq=False)
class Property:
    """What the items at `places` of a list have. `words` say it, `field` are those of the field's name; all in normal
    form.
    """

    kind: Kind
    field: tuple[str, ...]
    words: tuple[str, ...]
    places: frozenset[int]


def properties_of(entries: Sequence[ItemEntry], lines: Sequence[str] = ()) -> list[Property]:
    """In the order of the fields; `lines` are what the reply called each item. What all items have is left out."""
    found = chain(_of_fields(entries), _of_lines(lines), _of_words(entries, lines), _of_dates(entries))
    return list(islice((each for each in found if 0 < len(each.places) < len(entries)), _MOST_PROPERTIES))


@cached_if_short(8192)
def words_in(text: str) -> tuple[str, ...]:
    return tuple(WORD.findall(normal(text[:_MOST_LETTERS].replace("_", " ").replace("-", " "))))[:_MOST_WORDS]


def _field_words(path: str) -> tuple[str, ...]:
    return words_in(spaced(path.replace(".", " ")))


def _of_lines(lines: Sequence[str]) -> Iterator[Property]:
    for place, line in enumerate(lines):
        yield Property("line", (), words_in(line), frozenset((place,)))


def _of_words(entries: Sequence[ItemEntry], lines: Sequence[str]) -> Iterator[Property]:
    """Each word that several items hold, whatever they say beside it."""
    holders: dict[str, set[int]] = {}
    for place, entry in enumerate(entries):
        texts = [value for _, value in leaves(entry.item) if isinstance(value, str)]
        for word in frozenset().union(*map(words_in, (*texts, *lines[place : place + 1]))):
            if word[0].isalpha() and not is_stop(word):
                holders.setdefault(stem(word), set()).add(place)
    for word, places in sorted(holders.items()):
        if len(places) > 1:
            yield Property("word", (), (word,), frozenset(places))


def _of_dates(entries: Sequence[ItemEntry]) -> Iterator[Property]:
    """The months, days of the week and parts of the day that items name."""
    groups: dict[tuple[tuple[str, ...], str], set[int]] = {}
    for place, entry in enumerate(entries):
        for path, values in entry.values.items():
            field = _field_words(path)
            for value in values:
                for name in _named(value):
                    groups.setdefault((field, name), set()).add(place)
    for (field, name), places in groups.items():
        yield Property("date", field, (name,), frozenset(places))


def _named(value: Value) -> Iterator[str]:
    if value.kind == "time" and value.until is None:
        yield _PARTS_OF_DAY[int(value.amount // 60) % 24 // 6]
    elif value.kind == "date":
        parts = parts_of_date(value)
        yield from (_MONTHS[int(month)] for month in parts.get("month", ()))
        yield from (_WEEKDAYS[int(day)] for day in parts.get("weekday", ()))


def _of_fields(entries: Sequence[ItemEntry]) -> Iterator[Property]:
    everywhere = frozenset(range(len(entries)))
    for path, held in _fields(entries).items():
        field = _field_words(path)
        groups: dict[tuple[Kind, tuple[str, ...]], set[int]] = {}
        for place in everywhere:
            for group in _groups(held.get(place)):
                groups.setdefault(group, set()).add(place)
        for (kind, words), places in groups.items():
            yield Property(kind, field, words, frozenset(places))
            if kind == "empty":
                yield Property("filled", field, (), everywhere - places)
        yield from _ends(entries, path, field, held)


def _fields(entries: Sequence[ItemEntry]) -> dict[str, dict[int, object]]:
    """By path, what each item holds there; mappings are opened three deep."""
    found: dict[str, dict[int, object]] = {}

    def opened(value: Mapping[str, object], place: int, path: str, depth: int) -> None:
        for key, inner in islice(value.items(), _MOST_FIELDS):
            name = f"{path}.{key}" if path else str(key)
            if isinstance(inner, Mapping) and depth:
                opened(inner, place, name, depth - 1)
            else:
                found.setdefault(name, {})[place] = inner

    for place, entry in enumerate(entries):
        opened(entry.item, place, "", 2)
    return found


def _groups(value: object) -> Iterator[tuple[Kind, tuple[str, ...]]]:
    """What is said of an item by one value."""
    if isinstance(value, bool):
        yield ("flag" if value else "no flag"), ()
    elif value is None or value in ("", [], {}):
        yield "empty", ()
    elif isinstance(value, str):
        yield "text", words_in(value)
    elif isinstance(value, (list, tuple)):
        for _, part in leaves(value):
            if isinstance(part, str):
                yield "text", words_in(part)


def _ends(
    entries: Sequence[ItemEntry], path: str, field: tuple[str, ...], held: Mapping[int, object]
) -> Iterator[Property]:
    """Which items have the most and the least of a field that can be ordered, and which have none and some of it."""
    values = [entry.values.get(path, []) for entry in entries]
    if any(
        isinstance(each, str) and len(_LETTERS.findall(each[:_MOST_LETTERS])) > _WORDS_OF_VALUE
        for each in held.values()
    ):
        return  # "Tax return 2024"
    ordered = comparable(values)
    if not any(values):
        figures = (held.get(place) for place in range(len(entries)))
        ordered = [
            float(each) if isinstance(each, (int, float)) and not isinstance(each, bool) else None for each in figures
        ]
    known = {place: amount for place, amount in enumerate(ordered) if amount is not None}
    if len(known) * 2 <= len(entries) or len(set(known.values())) < 2:
        return
    kind = next((each[0].kind for each in values if each), "quantity")
    ends: tuple[tuple[Kind, float], tuple[Kind, float]] = ("most", max(known.values())), ("least", min(known.values()))
    for (end, amount), words in zip(ends, _ENDS[kind], strict=True):
        yield Property(
            end, field, tuple(words.split()), frozenset(place for place, each in known.items() if each == amount)
        )
    if min(known.values()) == 0:
        none = frozenset(place for place, amount in known.items() if amount == 0)
        yield Property("none of", field, (), none)
        yield Property("some of", field, (), frozenset(known) - none)
