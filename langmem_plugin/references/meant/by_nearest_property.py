"""Items by the property whose words come nearest in meaning to what was said: "the bunny" of a RABBIT, "refund allowed"."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.cached_property import cached_property
from langmem_plugin.references.meant.candidate_lists import newest
from langmem_plugin.references.said.amounts import counted, is_plural
from langmem_plugin.references.said.requests import is_verb
from langmem_plugin.references.said.segments import NEGATIONS
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.list_properties import KINDS, Property, words_in
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.tokens import is_stop
from langmem_plugin.references.words import Comparison, word_set
from langmem_plugin.references.words.word_vectors import vector

Matrix = NDArray[np.float32]

_MOST_LISTS, _MOST_ITEMS = 2, 60
_LIGHT = [
    "the",
    "this",
    "these",
    "it",
    "them",
    "one",
    "punctuation",
    "polite",
    "choose",
    "confirm",
    "greeting",
    "and",
    "question",
    "indefinite",
    "of",
    "its",
    "search",
    "preposition",
    "there",
]
"""Kinds of words that describe little."""
_EMPTY = word_set(
    "the|this|that|these|those|it|one|ones|i|my|whichever|whoever|whatever|everyone|everybody|anyone|anything|else|el|la|los|las|את|זה|זאת|מי|מה"
)
_LITTLE = 0.15
_SAID = 16  # words of a description
_SAME = 0.99
_LIKENESSES = (
    "said",
    "said of it",
    "said of field",
    "best",
    "best field",
    "covered",
    "covered field",
    "exact",
    "exact field",
)
_SIZES = ("single", "single, plural", "several, one", "several, plural", "counted", "miscounted", "share", "length")
_BY_KIND = ("said", "best", "best field", "covered")
FEATURES = (
    *_LIKENESSES,
    "age",
    *_SIZES,
    *(f"{kind}, {name}" for name in _BY_KIND for kind in KINDS),
    *KINDS,
    *(f"{kind}, denied" for kind in KINDS),
    "end",
    "any end",
    "any end, est",
)
_OF_ONE_SIDE = ("said of it", "said of field")
_TELLING = (*(name for name in _LIKENESSES if name not in _OF_ONE_SIDE), "share", "any end", *KINDS)
"""Features that tell too how far the nearest can be trusted."""
_TELLING_COLUMNS = [FEATURES.index(name) for name in _TELLING]
MOST_NEAR = 12
LEFT_OUT = 0.3
"""From which chance on what is left out is known by its meaning alone."""


def _read(stored: Mapping[str, float]) -> Matrix:
    return np.array([stored[name] for name in FEATURES], dtype=np.float32)


_weights = _read(json.loads(files(__package__).joinpath("nearest_property.json").read_text("utf-8")))


def use(weights: Mapping[str, float]) -> None:
    """Weigh by others: for judging them before they are stored."""
    global _weights  # noqa: PLW0603
    _weights = _read(weights)


@dataclass(frozen=True, eq=False)
class Near:
    """Items that have a property, and how likely it is the one described, of all that tell the shown items apart."""

    listed: ShownList
    entries: list[ItemEntry]
    chance: float
    score: float
    """Log odds against the best of all; 0 for that."""
    nearest: Property
    word: str
    """Of those said, the one that came nearest."""
    evidence: Mapping[str, float]
    """How near it came, and in which way."""

    @property
    def reason(self) -> str:
        return f"{self.word} is nearest to {' '.join((*self.nearest.field, *self.nearest.words))[:60]}"


@dataclass(frozen=True, eq=False)
class Description:
    """The words that may describe something, with how much each says."""

    marks: Sequence[Mark]
    utterance: Utterance

    @cached_property
    def words(self) -> list[tuple[str, float]]:
        found: list[tuple[str, float]] = []
        marks = [mark for mark in self.marks if not mark.has("punctuation")]
        for place, mark in enumerate(marks):
            if mark.text in _EMPTY or mark.text in NEGATIONS or mark.has("not", "all"):
                continue
            opens = (
                not place
                and len(marks) > 1
                and (is_verb(mark.text) or marks[1].has("the", "this", "these", "it", "them"))
            )
            light = opens or is_stop(mark.text) or mark.has(*_LIGHT)
            found += [(word, _LITTLE if light else 1.0) for word in words_in(mark.text)]
        return found[:_SAID]

    @cached_property
    def vectors(self) -> Matrix:
        return np.array([vector(word, self.utterance.language.name) for word, _ in self.words])

    @cached_property
    def weights(self) -> Matrix:
        return np.array([weight for _, weight in self.words], dtype=np.float32)

    @property
    def tells(self) -> bool:
        return any(weight == 1 for _, weight in self.words)

    @cached_property
    def traits(self) -> dict[str, float]:
        """What the words around say of the things meant: whether they lack something, are several, at which end."""
        ends = [mark.values.get("comparison") for mark in self.marks]
        end = next((each.direction for each in reversed(ends) if isinstance(each, Comparison)), 0)
        if any(mark.has("most") for mark in self.marks):
            end = 1
        elif any(mark.has("least") for mark in self.marks):
            end = -1
        one = any((mark.has("one") and mark.text != "ones") or mark.has("this", "it") for mark in self.marks)
        return {
            "denied": float(any(mark.has("not") or mark.text in NEGATIONS for mark in self.marks)),
            "end": float(end),
            "plural": float(any(is_plural(mark) for mark in self.marks)),
            "one": float(one),
            "count": float(counted(self.marks)),
            "est": float(any(word.endswith("est") for word, _ in self.words)),
        }


def features(said: Description, listed: ShownList, age: int) -> tuple[Matrix, list[str]]:
    """Values of shape (properties, FEATURES), and of each property the word said that came nearest."""
    table = listed.properties
    alike = table.likeness(said.words, said.vectors, said.utterance.language.name)
    weights, traits = said.weights, said.traits
    full = weights == 1
    both = np.maximum(alike.own, alike.field)
    total = weights.sum()
    shared, heavy = weights @ both / total, weights * full / total
    best, best_field = alike.own[full].max(axis=0), alike.field[full].max(axis=0)
    single, several = table.sizes == 1, table.sizes > 1
    counts = traits["count"] > 0
    side = table.sides
    columns = (
        shared,
        weights @ alike.own / total,
        weights @ alike.field / total,
        best,
        best_field,
        alike.covered,
        alike.covered_field,
        heavy @ (alike.own > _SAME),
        heavy @ (alike.field > _SAME),
        np.full(len(side), age),
        single,
        single * traits["plural"],
        several * traits["one"],
        several * traits["plural"],
        counts & (table.sizes == traits["count"]),
        counts & (table.sizes != traits["count"]),
        table.sizes / len(listed.entries),
        table.lengths,
    )
    by_kind = [table.of_kind * values[:, None] for values in (shared, best, best_field, alike.covered)]
    ends = (side * traits["end"], np.abs(side) * abs(traits["end"]), np.abs(side) * traits["est"])
    found = np.column_stack((*columns, *by_kind, table.of_kind, table.of_kind * traits["denied"], *ends))
    nearest = np.where(full[:, None], both, 0).argmax(axis=0)
    return found.astype(np.float32), [said.words[place][0] for place in nearest]


def nearest_properties(marks: Sequence[Mark], utterance: Utterance, ledger: Ledger) -> list[Near]:
    """The likeliest first, each set of items once; [] where nothing said describes."""
    said = Description(marks, utterance)
    lists = described_lists(ledger)
    if not said.tells or not lists:
        return []
    told = [(listed, *features(said, listed, age)) for age, listed in enumerate(lists)]
    scores = [values @ _weights for _, values, _ in told]
    highest = float(max(of_list.max() for of_list in scores))
    total = float(sum(np.exp(of_list - highest).sum() for of_list in scores))
    found: list[tuple[float, int, int]] = []
    for number, (listed, of_list) in enumerate(zip(lists, scores, strict=True)):
        sets = listed.properties.sets
        chances = np.bincount(sets, np.exp(of_list - highest)) / total
        best = np.zeros(len(chances), dtype=np.intp)
        order = np.argsort(of_list, kind="stable")
        best[sets[order]] = order  # the last that is written is the highest
        nearest = np.argsort(-chances, kind="stable")[:MOST_NEAR]
        found += [(float(chances[one]), number, int(best[one])) for one in nearest]
    found.sort(key=lambda each: -each[0])
    return [
        _near(told[number], chance, float(scores[number][place]) - highest, place)
        for chance, number, place in found[:MOST_NEAR]
    ]


def _near(told: tuple[ShownList, Matrix, list[str]], chance: float, score: float, place: int) -> Near:
    listed, values, words = told
    each = listed.properties.properties[place]
    evidence = dict(zip(_TELLING, map(float, values[place, _TELLING_COLUMNS]), strict=True))
    entries = [listed.entries[item] for item in sorted(each.places)]
    return Near(listed, entries, chance, score, each, words[place], evidence)


def described_lists(ledger: Ledger) -> list[ShownList]:
    """The newest lists of several items that something tells apart, newest first."""
    several = (listed for listed in newest(ledger) if 1 < len(listed.entries) <= _MOST_ITEMS)
    return [listed for listed in several if listed.properties.properties][:_MOST_LISTS]
