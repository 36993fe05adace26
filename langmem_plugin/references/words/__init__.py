"""The words for reading references: a data file per language, read once. Edit the file, not the code."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class Scale:
    """A scale to compare by: the words of fields that hold it, and the phrases that ask for the least and the most."""

    fields: frozenset[str]
    least: frozenset[str]
    most: frozenset[str]


@dataclass(frozen=True, eq=False)
class Language:
    """The words of one language. Every phrase is in normal form: lower case, no accents or vowel points, single spaces.

    `kinds` maps a grammatical kind (said/utterance_words.py) to its phrases; `concepts` maps a word of a thing to English;
    `prefixes` are letters written onto the next word, of which `articles` make it definite, `joins` say "and" and
    `froms` "from".
    """

    name: str
    kinds: Mapping[str, tuple[str, ...]]
    ordinals: Mapping[str, int]
    cardinals: Mapping[str, int]
    weekdays: Mapping[str, int]
    months: Mapping[str, int]
    scales: Mapping[str, Scale]
    answers: Mapping[str, tuple[str, ...]]
    concepts: Mapping[str, tuple[str, ...]]
    prefixes: str
    articles: str
    joins: str
    froms: str
    stop: frozenset[str]


def phrases(cell: str) -> tuple[str, ...]:
    """Split a `|`-separated cell; a phrase may hold spaces."""
    return tuple(" ".join(part.split()) for part in cell.split("|") if part.strip())


def _numbered(cells: str, start: int = 1) -> dict[str, int]:
    """Number the cells of "one | uno; two" from `start`."""
    return {form: number for number, cell in enumerate(cells.split(";"), start) for form in phrases(cell)}


@cache
def _read(name: str) -> Language:
    data = tomllib.loads((resources.files(__name__) / f"{name}.toml").read_text("utf-8"))
    return Language(
        name=name,
        kinds={kind: phrases(cell) for kind, cell in data["kinds"].items()},
        ordinals=_numbered(data["ordinals"]),
        cardinals=_numbered(data["cardinals"]),
        weekdays=_numbered(data["weekdays"], 0),
        months=_numbered(data["months"]),
        scales={name: Scale(*(frozenset(phrases(cell)) for cell in cells)) for name, cells in data["scales"].items()},
        answers={answer: phrases(cell) for answer, cell in data["answers"].items()},
        concepts={form: phrases(cell) for forms, cell in data.get("concepts", {}).items() for form in phrases(forms)},
        prefixes=data["prefixes"],
        articles=data["articles"],
        joins=data["joins"],
        froms=data["froms"],
        stop=frozenset(phrases(data["stop"])),
    )


KEYS: Mapping[str, tuple[str, ...]] = {
    name: phrases(cell)
    for name, cell in tomllib.loads((resources.files(__name__) / "keys.toml").read_text("utf-8")).items()
}
"""The words of the fields and names of tools' data."""
LANGUAGES: tuple[Language, ...] = tuple(map(_read, ("en", "he", "es")))
ENGLISH = LANGUAGES[0]
SCALES: Mapping[str, frozenset[str]] = {
    name: frozenset[str]().union(*(each.scales[name].fields for each in LANGUAGES if name in each.scales))
    for name in ENGLISH.scales
}
"""The words of fields, in every language, by what they tell: data may be in another language than the talk about it."""
