"""The shape of a language's words: one instance per language file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

_Value = TypeVar("_Value")


def phrases(text: str) -> tuple[str, ...]:
    """Split a `|`-separated table cell; a phrase may hold spaces."""
    return tuple(part.strip() for part in text.split("|") if part.strip())


def word_set(text: str) -> frozenset[str]:
    """The same, to look words up in."""
    return frozenset(phrases(text))


@dataclass(frozen=True)
class Comparison:
    """What a comparative looks at: names of fields, and which end of the scale is meant (-1 least, +1 most)."""

    fields: tuple[str, ...]
    direction: int


@dataclass(frozen=True, eq=False)
class Language:
    """One language. Every phrase is in normal form: lower case, no accents or vowel points, single spaces.

    `kinds` maps a grammatical kind (see said/phrase.py) to the phrases of that kind; `ordinals` and `cardinals` carry
    their number; `comparisons` maps a comparative or superlative form to what it compares. `attributes` maps
    an asked-for property to the names a field may have. `prefixes` are letters written onto the next word, of which
    `articles` make it definite.
    """

    name: str
    kinds: Mapping[str, tuple[str, ...]]
    ordinals: Mapping[str, int]
    cardinals: Mapping[str, int]
    comparisons: Mapping[str, Comparison]
    attributes: Mapping[str, tuple[str, ...]]
    concepts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prefixes: str = ""
    articles: str = ""
    weekdays: Mapping[str, int] = field(default_factory=dict)
    months: Mapping[str, int] = field(default_factory=dict)
    stop: frozenset[str] = frozenset()


def cells(table: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The phrases of each cell."""
    return {kind: phrases(cell) for kind, cell in table.items()}


def comparisons(least: Mapping[tuple[str, ...], str], most: Mapping[tuple[str, ...], str]) -> dict[str, Comparison]:
    """From the fields with the forms that ask for the least of them, and for the most: one entry per form."""
    return {
        form: Comparison(fields, direction)
        for fields in dict.fromkeys((*least, *most))
        for direction, table in ((-1, least), (1, most))
        for form in phrases(table.get(fields, ""))
    }


def named(table: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """One entry per form of the `a|b|c` keys."""
    return {form: fields for forms, fields in table.items() for form in phrases(forms)}


def numbered(cells: str, start: int = 1, step: int = 1) -> dict[str, int]:
    """Number the cells of "one|uno; two" from `start`: each lists every form of that number."""
    return {form: start + step * place for place, cell in enumerate(cells.split(";")) for form in phrases(cell)}


def by_form(table: Mapping[_Value, str]) -> dict[str, _Value]:
    """One entry per form of the cells."""
    return {form: value for value, cell in table.items() for form in phrases(cell)}


def translated(text: str) -> dict[str, tuple[str, ...]]:
    """From "pescado: fish; lentejas: lentil|lentils": one entry per form."""
    rows = (row.split(":") for row in text.split(";"))
    return {form: phrases(english) for forms, english in rows for form in phrases(forms)}


def grouped(*cells: str) -> dict[str, frozenset[str]]:
    """Each word with all those that share a cell with it."""
    groups: dict[str, frozenset[str]] = {}
    for cell in cells:
        members = word_set(cell)
        groups |= {member: groups.get(member, frozenset()) | members for member in members}
    return groups
