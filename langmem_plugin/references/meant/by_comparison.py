"""Items at an end of a scale: "the cheapest", "the two longest", "the second earliest"."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from langmem_plugin.references.meant.candidate_lists import candidate_lists, of_type, type_words
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.said.order_phrases import is_superlative
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.utterance import NEAR as QUOTED
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.atoms import word_atoms
from langmem_plugin.references.text.tokens import is_stop, normal, stem
from langmem_plugin.references.text.values import comparable
from langmem_plugin.references.text.word_nearness import NEAR, nearness
from langmem_plugin.references.words import Comparison, word_set
from langmem_plugin.references.words.field_names import AGE, CLOCK, DEBT, DISTANCE, DUE, DURATION, PRICE, RECENT, SIZE
from langmem_plugin.references.words.states import PROPERTIES, states_told
from langmem_plugin.references.words.time_and_money import KEYS, MEASURES, MINUTES

THAN = frozenset(("than", "que el", "que la", "מאשר"))


def by_comparison(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """In the first of the last three lists that has a field to compare by, and the noun that follows names it first."""
    comparison = phrase.comparison
    if comparison is None:
        return None
    if comparison.fields == DURATION and comparison.direction > 0 and _asks_for_earliest(phrase, utterance):
        comparison = Comparison(CLOCK, -1)
        phrase = replace(phrase, comparison=comparison)
    rank = phrase.numbers[0] if phrase.numbers else 0
    said = type_words([mark.text for mark in utterance.marks if not is_stop(mark.text)])
    newest_turn = max((each.turn for each in ledger.shown_lists if len(each.entries) > 1), default=0)
    for candidate in candidate_lists(utterance, ledger, phrase.nouns)[:3]:
        listed = of_type(candidate, phrase.nouns)
        if len(listed.entries) == 1 and ledger.shown_lists[0].narrowed:
            return Finding(listed.entries, utterance.words(phrase), "the only one of these", "comparison", listed)
        if len(listed.entries) < 2:
            continue
        if listed.turn < newest_turn and listed is candidate and not said & listed.known_words:
            return None  # an older list has a field to compare by, the one just shown has none
        if _is_state(utterance.words(phrase), listed):
            return None
        measured = _measures(phrase, utterance)
        named = _of_scale(listed.entries, _named_fields(listed.entries, measured, utterance.atoms), comparison)
        near = _near_fields(listed.entries, measured, comparison, utterance.language.name)
        found = _end_of(listed.entries, phrase, rank, named, near)
        if found is not None:
            entries, field = found
            words = utterance.words(phrase)
            reason = f"by {field} among the {len(listed.entries)} last shown"
            called = _all_fields(listed.entries).get(field, frozenset())
            evidence = {
                "superlative": float(is_superlative(normal(words), utterance.language.name)),
                "called so": float(not called.isdisjoint(comparison.fields)),
                "field named": float(field in named),
                "field near": near.get(field, 0.0),
                "several": float(len(entries) > 1),
            }
            return Finding(entries, words, reason, "comparison", listed, evidence=evidence)
    return None


def _is_state(words: str, listed: ShownList) -> bool:
    """As "late" is of loans of which some are overdue."""
    for state, holds in states_told(normal(words)):
        told = [listed.states_of(place).get(state) is holds for place in range(len(listed.entries))]
        if any(told) and not all(told):
            return True
    return False


def _end_of(
    entries: Sequence[ItemEntry], phrase: Phrase, rank: int, named: Sequence[str], near: Mapping[str, float]
) -> tuple[list[ItemEntry], str] | None:
    """By a field that the words name, by one that the comparison is about, by one that is called something like it; of
    moments the likest before any: "which closes first".
    """
    comparison = phrase.comparison
    if comparison is None:
        return None
    found = _at_end(entries, named, comparison.direction, phrase.count, rank)
    if found is None and comparison.fields == CLOCK:
        found = _at_end(entries, list(near), comparison.direction, phrase.count, rank)
    found = found or extreme(entries, comparison, phrase.count, rank)
    return found or _at_end(entries, list(near), comparison.direction, phrase.count, rank)


_AGO = word_set("ago|since|hace|מזמן|מאז")
_NOT_YET = word_set("havent|haven't|hasnt|hasn't|never")


def _asks_for_earliest(phrase: Phrase, utterance: Utterance) -> bool:
    """As in "the one I made longest ago", "the one we haven't touched the longest"."""
    behind = [mark for mark in utterance.marks if mark.start >= phrase.end and not mark.has("punctuation")][:1]
    if behind:
        return behind[0].text in _AGO
    clause: list[str] = []
    for mark in reversed(utterance.before(phrase.start, len(utterance.marks))):
        if mark.has("punctuation", "and"):
            break
        clause.append(mark.text)
    return not _NOT_YET.isdisjoint(clause)


def _of_scale(entries: Sequence[ItemEntry], named: Sequence[str], comparison: Comparison) -> list[str]:
    """Those named that a comparison can be about: no numbers that are names; of money and time only what is measured so,
    where anything is: "the cheapest ticket" is none by ticketNum.
    """
    if not named:
        return []
    words = _all_fields(entries)
    typed = _typed_fields(entries, comparison)
    return [
        name
        for name in named
        if not words[name] & KEYS["nothing"]
        and (not typed or name in typed or not words[name].isdisjoint(comparison.fields))
    ]


def _measures(phrase: Phrase, utterance: Utterance) -> Sequence[str]:
    """The words that may name the field: the nouns behind; before it too where it goes with any: "battery is lowest"."""
    comparison = phrase.comparison
    if comparison is None or len(comparison.fields) == 1:
        return (*(comparison.fields if comparison else ()), *phrase.nouns)
    if not set(SIZE) <= set(comparison.fields) and comparison.fields != CLOCK:
        return phrase.nouns
    before = [mark.text for mark in utterance.before(phrase.start, 3) if not mark.has("punctuation", "choose", "and")]
    behind = [mark.text for mark in utterance.marks if phrase.end <= mark.start < phrase.end + QUOTED]
    return (*phrase.nouns, *behind[:3], *before)


def _named_fields(entries: Sequence[ItemEntry], nouns: Sequence[str], said: frozenset[str]) -> list[str]:
    """Fields that the nouns behind a superlative name: "the highest copay", "the most spots left"."""
    wanted = []
    for noun in nouns:
        forms = {noun, stem(noun), *word_atoms(noun), noun.removesuffix("d"), noun.removesuffix("ed")}
        if not forms & entries[0].kind_words:
            wanted.append(forms.union(*(PROPERTIES.get(form, frozenset()) for form in forms)))
    ranked = []
    for name, words in _all_fields(entries).items():
        stems = {stem(word) for word in words}
        hits = sum(bool(each & stems) for each in wanted)
        if hits:
            ranked.append((-hits - len(stems & said), len(words), name))
    return [name for _, _, name in sorted(ranked)]


def _near_fields(
    entries: Sequence[ItemEntry], nouns: Sequence[str], comparison: Comparison, language: str
) -> dict[str, float]:
    """Fields that are called something like the nouns, or measured in them, the nearest first, with how near they are.

    Moments are compared by nothing but moments, and numbers that are names by nothing.
    """
    clocked = {"date", "time"} <= set(_KINDS.get(comparison.fields, ()))
    said = [noun for noun in nouns if not is_stop(noun)]
    units = {measured for noun in said if (measured := _unit(noun))}
    near: dict[str, float] = {}
    for name, words in _all_fields(entries).items():
        shown = {(value.kind, value.unit) for value in entries[0].values.get(name, ())}
        moments = any(kind in ("date", "time") for kind, _ in shown)
        if moments is clocked and not words & _NAMES:
            near[name] = 1.0 if shown & units else nearness(said, words, language)
    ordered = sorted((name for name, each in near.items() if each >= NEAR), key=lambda name: -near[name])
    return {name: near[name] for name in ordered}


def _unit(noun: str) -> tuple[str, str] | None:
    """The kind and unit of the values that a noun counts: "miles", "days"."""
    if noun in MEASURES:
        return "quantity", MEASURES[noun][1]
    return ("duration", "") if noun in MINUTES else None


def extreme(
    entries: Sequence[ItemEntry], comparison: Comparison, count: int = 1, rank: int = 0
) -> tuple[list[ItemEntry], str] | None:
    """The `count` entries at the meant end of the scale, best first, and the field's name; None when no field can be
    compared or the end is shared by more entries than asked for. `rank` 2 is the second from that end.
    """
    fields = [*_fields(entries, comparison), *_typed_fields(entries, comparison)]
    direction = comparison.direction
    if comparison.fields == AGE:
        known = _all_fields(entries)
        ages = [name for name in fields if known.get(name, frozenset()) & _AGES]
        fields, direction = (ages, -direction) if ages else (fields, direction)
    found = _at_end(entries, fields, direction, count, rank)
    instead = _INSTEAD.get(comparison.fields)
    if found is None and instead is not None:
        found = _at_end(entries, _fields(entries, Comparison(instead, direction)), direction, count, rank)
    return found


_INSTEAD = {DURATION: DISTANCE, CLOCK: DURATION}
"""A way is long too, and who has the shortest wait comes first."""
_AGES = frozenset(("age", "edad", "גיל"))


def _all_fields(entries: Sequence[ItemEntry]) -> dict[str, frozenset[str]]:
    return {name: words for entry in entries for name, words in entry.fields.items()}


def _at_end(
    entries: Sequence[ItemEntry], fields: Sequence[str], direction: int, count: int, rank: int
) -> tuple[list[ItemEntry], str] | None:
    for name in fields:
        values = zip(_measured(entries, name), entries, strict=True)
        known = [(value, entry) for value, entry in values if value is not None and math.isfinite(value)]
        if len(known) < max(2, (len(entries) + 1) // 2) or len({value for value, _ in known}) < 2:
            continue
        if sum(value < 0 for value, _ in known) * 2 > len(known):  # spendings: the biggest is the farthest from 0
            known = [(-value, entry) for value, entry in known]
        known.sort(key=lambda pair: -direction * pair[0])
        if rank:
            same = sum(value == known[rank - 1][0] for value, _ in known) if rank <= len(known) else 0
            return ([known[rank - 1][1]], name) if same == 1 else None
        if count < len(known) and known[count - 1][0] == known[count][0]:
            continue
        return [entry for _, entry in known[:count]], name
    return None


def _measured(entries: Sequence[ItemEntry], name: str) -> list[float | None]:
    """A field of the entries as numbers that can be ordered; what holds several things counts them."""
    values = [entry.field_value(name) for entry in entries]
    if any(isinstance(value, (list, tuple)) for value in values):
        return [float(len(value)) if isinstance(value, (list, tuple)) else None for value in values]
    return comparable([entry.values.get(name, []) for entry in entries])


_NAMES = KEYS["nothing"] | word_set("ref|reference|num|number|serial|folio|mcc|nr")
"""What fields are called whose numbers are names."""
_KINDS = {
    PRICE: ("money",),
    DEBT: ("money",),
    DURATION: ("duration",),
    CLOCK: ("date", "time"),
    DUE: ("date", "time"),
    RECENT: ("date", "time"),
    AGE: ("date",),
}
"""What a comparison looks at, whatever the field is called."""


def _typed_fields(entries: Sequence[ItemEntry], comparison: Comparison) -> list[str]:
    """Fields whose values are of the kind that is compared."""
    kinds = _KINDS.get(comparison.fields, ())
    found = [
        name
        for name in entries[0].values
        if sum(any(value.kind in kinds for value in entry.values.get(name, ())) for entry in entries) * 2 > len(entries)
    ]
    return sorted(found, key=lambda name: any(value.unit == "year" for value in entries[0].values[name]))


def _fields(entries: Sequence[ItemEntry], comparison: Comparison) -> list[str]:
    """Fields whose name holds one of the comparison's words, in that order of preference."""
    ranked = []
    for name, words in _all_fields(entries).items():
        ranks = [rank for rank, wanted in enumerate(comparison.fields) if wanted in words or stem(wanted) in words]
        if ranks and not words & _NAMES:
            ranked.append((min(ranks), len(words), name))
    return [name for _, _, name in sorted(ranked)]
