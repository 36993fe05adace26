"""The shape of a language's words: one instance per language file."""

from collections.abc import Mapping
from dataclasses import dataclass, field


def phrases(text: str) -> tuple[str, ...]:
    """Split a `|`-separated table cell; a phrase may hold spaces."""
    return tuple(part.strip() for part in text.split("|") if part.strip())


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


def comparisons(table: Mapping[tuple[str, ...], tuple[str, str]]) -> dict[str, Comparison]:
    """From the fields with the forms that ask for the least of them and for the most: one entry per form."""
    return {
        form: Comparison(fields, direction)
        for fields, cells in table.items()
        for direction, cell in zip((-1, 1), cells, strict=True)
        for form in phrases(cell)
    }


def named(table: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """One entry per form of the `a|b|c` keys."""
    return {form: fields for forms, fields in table.items() for form in phrases(forms)}


def numbered(cells: str, start: int = 1) -> dict[str, int]:
    """Number the cells of "one|uno; two" from `start`: each lists every form of that number."""
    return {form: number for number, cell in enumerate(cells.split(";"), start) for form in phrases(cell)}


def grouped(*cells: str) -> dict[str, frozenset[str]]:
    """Each word with all those that share a cell with it."""
    groups: dict[str, frozenset[str]] = {}
    for cell in cells:
        members = frozenset(phrases(cell))
        groups |= {member: groups.get(member, frozenset()) | members for member in members}
    return groups
