"""The words of a language as every room reads them: one data file each, `en.json`, `es.json`, `he.json`."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final

from langmem_plugin.languages.calendar_names import months, weekdays


class Phrases:
    """Phrases, each a tuple of words, looked up by their first word."""

    def __init__(self, each: Iterable[tuple[str, ...]] = ()) -> None:
        self._each = tuple(each)
        self.by_first = defaultdict[str, list[tuple[str, ...]]](list)
        for phrase in sorted(self, key=len, reverse=True):
            self.by_first[phrase[0]].append(phrase)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self._each)

    def begin(self, words: Sequence[str]) -> int:
        """Return how many of the words the longest phrase takes that they begin with."""
        known = self.by_first.get(words[0], ()) if words else ()
        return next((len(each) for each in known if tuple(words[: len(each)]) == each), 0)


def phrases(text: str) -> Phrases:
    """Split a `|`-separated table cell into phrases."""
    return Phrases(tuple(part.split()) for part in text.split("|") if part.strip())


def words(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split("|") if part.strip())


def named(table: Mapping[str, str]) -> dict[tuple[str, ...], str]:
    """Map each phrase to what it means; the table maps each meaning to a cell of phrases."""
    return {phrase: meant for meant, cell in table.items() for phrase in phrases(cell)}


def meanings(cells: Mapping[str, str]) -> dict[str, str]:
    """Map each word to what it means; the words of a meaning stand in its cell."""
    return {word: meant for meant, cell in cells.items() for word in words(cell)}


@dataclass(frozen=True, eq=False)
class Language:
    """One language. Every word is plain: lower case, no accents or vowel points, contractions written out.

    `selves` are the speaker; `possessives` make what stands beside them the speaker's (before it, or after it where
    `possessive_after`). `people` maps a phrase to its role in English, `attributes` a noun to what it is of somebody.
    `predicates` maps an attribute, with "-" where it is then not so and "+" where it will be, to patterns of words, one
    after each semicolon (`facts/statement_patterns.py` says how they are written). A value begins behind `articles`,
    ends at one of `cuts` or where one of `opens` begins a clause, and is none where it begins with a word of
    `no_values`.

    `was` are those of the `copulas` that tell of the past. `conditional` makes all after it a mere idea, `reported`
    another's words, `momentary` something that will not hold for long, unless one of `events` is told of it. `implied`
    begin a clause whose speaker is left out. `telling` are words by which facts that are else alike differ ("left",
    "second"), by `beside` a fact may be so beside another. `recurring` is a pattern of what comes again and again,
    `scheduled` are things of theirs that do. `empty` words say nothing that tells one fact from another. `life_events`
    are by what people tell an event that ends facts which it does not name ("got laid off"):
    `facts/attribute_relations.json` says which. A word of `governing` behind it names what else ended. `sending` are
    those of `asks` that begin a message to somebody else ("tell"). `whether` begins a clause that is no statement,
    `pasts` are verbs of the past with the present that they may be told as.

    `guards` are patterns, held against plain text, of words after which a fact is not believed or not sure, whoever
    read it. `denies` are words by which a clause says that something is not so, but for the idioms `denies_not`; of a
    fact also those of `denying`. `corrects` takes back the value before it but for `idle` uses of such words, `jokes`
    all that was said before it. `keeps_not` asks that it is not remembered, `not_me` takes back that it is about the
    speaker. `plays` is a part that is played or a story that is made up; `automated` is no person's text. `when`
    names a time, beside the calendar's words, `since` one that is long ago. `mocks` makes the reader without a model
    silent, one of `laughs` behind a fact is a doubt. A fact that stands with a word of `hinges` is not sure, nor one
    behind `nested` or `aims`, or behind a clause with `whether`, unless the speaker `tells` it or a time or place is
    `placed` before it; `unheld` are verbs of the past.
    """

    name: str
    selves: frozenset[str]
    others: frozenset[str]
    possessives: frozenset[str]
    people: Mapping[tuple[str, ...], str]
    bare_people: frozenset[str]
    attributes: Mapping[tuple[str, ...], str]
    predicates: Mapping[str, str]
    copulas: Phrases
    was: frozenset[str]
    fillers: frozenset[str]
    leads: Phrases
    remember: Phrases
    negations: frozenset[str]
    ended: Phrases
    ended_after: Phrases
    joins: frozenset[str]
    cuts: frozenset[str]
    articles: frozenset[str]
    questions: frozenset[str]
    asks: frozenset[str]
    conditional: Phrases
    reported: Phrases
    events: frozenset[str]
    momentary: Phrases
    moods: frozenset[str]
    pronouns: frozenset[str]
    common: frozenset[str]
    wishes: Phrases
    needs: Phrases
    always: frozenset[str]
    frequencies: frozenset[str]
    names_it: Phrases
    instead: Phrases
    leading: frozenset[str]
    determiners: frozenset[str]
    clause_openers: frozenset[str]
    before_relative: frozenset[str]
    objects: frozenset[str]
    hours: str
    between: frozenset[str]
    governing: frozenset[str]
    idle_in_values: frozenset[str]
    same_words: tuple[str, ...]
    parts_of_day: Mapping[str, str]
    own_labels: frozenset[str]
    sensitive: Mapping[str, Any]
    beside: Phrases
    adjectives_after: frozenset[str]
    illnesses: str
    pointing: frozenset[str]
    remember_that: Phrases
    introducing: Phrases
    favorites: frozenset[str]
    scheduled: frozenset[str]
    recurring: str
    trade_forms: str
    first_person: str
    trades: frozenset[str]
    adjectives: frozenset[str]
    honorifics: frozenset[str]
    implied: frozenset[str]
    opens: frozenset[str]
    no_more: frozenset[str]
    listing: frozenset[str]
    no_values: Mapping[str, frozenset[str]]
    addressed: frozenset[str]
    periods: frozenset[str]
    composing: frozenset[str]
    sending: frozenset[str]
    courtesies: frozenset[str]
    manners: frozenset[str]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    numbers: Mapping[str, int]
    times: Mapping[str, Phrases]
    dated: Mapping[str, str]
    telling: Mapping[str, str]
    changed: Phrases
    empty: frozenset[str]
    whether: frozenset[str]
    pasts: frozenset[str]
    guards: Mapping[str, str]
    orders: Mapping[str, Any]
    changes: Mapping[str, str]
    life_events: Mapping[str, Phrases]
    possessive_after: bool = False
    drops_subject: bool = False
    contractions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("people", "attributes"), named),
    "telling": meanings,
    "no_values": lambda cells: {name: words(cell) for names, cell in cells.items() for name in names.split("|")},
    **dict.fromkeys(("times", "life_events"), lambda cells: {name: phrases(cell) for name, cell in cells.items()}),
    "contractions": lambda cells: {short: tuple(full.split()) for short, full in cells.items()},
}
"""The reader of each field that is neither taken as it stands in its file nor a cell of words."""


def _language(name: str) -> Language:
    found = json.loads(files(__package__).joinpath(f"{name}.json").read_text("utf-8"))
    told = {
        key: _READ.get(key, _CELLS.get(str(Language.__annotations__[key]), lambda cell: cell))(cell)
        for key, cell in found.items()
    }
    return Language(name=name, months=months(name), weekdays=weekdays(name), **told)


_CELLS: Final[Mapping[str, Callable[[str], Any]]] = {
    str(frozenset[str]): words,
    str(Phrases): phrases,
}
LANGUAGES: Final = tuple(map(_language, ("en", "he", "es")))
