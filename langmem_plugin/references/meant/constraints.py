"""What a stretch of an utterance says of the things it means: each word or value, with the items of a list it fits."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import OSA

from langmem_plugin.references.meant.codes import codes_said, digits_said
from langmem_plugin.references.meant.limits import Limit, within
from langmem_plugin.references.said.amounts import counted
from langmem_plugin.references.said.segments import NEGATIONS, does_not, is_not, negated
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry, leaves
from langmem_plugin.references.shown.list_properties import words_in
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.atoms import word_atoms
from langmem_plugin.references.text.tokens import is_stop, normal, stem, words_of
from langmem_plugin.references.text.values import Value, likeness
from langmem_plugin.references.words import word_set
from langmem_plugin.references.words.states import LONGEST_STATE, PROPERTIES, states_told
from langmem_plugin.references.words.type_nouns import NO_TYPE

_SHORTEST_NICKNAME, _LONGEST_LEFT_OUT = 3, 5  # "pete" of Peter
_SHORTEST_SLIP, _LONG = 5, 8  # letters of a word with one slip, and of one with two
_ROOT, _ENDINGS = 7, 4
_BESIDE_A_STATE = word_set("already|yet|still|too|also|even|only|ya|aun|todavia|כבר|עוד|עדיין|גם|שכבר|שעוד|שעדיין")
_FRAME = word_set(
    "everyone|everybody|everything|anyone|anything|whoever|whichever|those|between|under|over|above|below|entre|cual|cuales|quien|quienes|menos|hasta"
)
_ARTICLES = frozenset(("my", "el", "la", "los", "las", "את"))
_TWO_OR_MONDAY = frozenset(("שני", "שלישי"))
"""Without "יום" before it, "two" or "third" sooner than a day."""
_RANK = {"name": 0, "nickname": 1, "value": 2, "type": 3}


@dataclass(frozen=True, eq=False)
class Constraint:
    """Some words and how well they fit each item of a list, 0 to 1, in its order."""

    words: str
    sort: str
    """`name`, `nickname` (a name cut short, or with a slip), `value`, `typed`, `state`, `code` or `type`."""
    fits: tuple[float, ...]
    places: range
    """Of its words, among the marks of the stretch."""

    @property
    def tells(self) -> bool:
        """Whether it fits some and not all."""
        return 0 < sum(fit > 0 for fit in self.fits) < len(self.fits)


@dataclass(frozen=True, eq=False)
class Reading:
    """All constraints of a stretch, and the places of its content words that fit no item."""

    constraints: list[Constraint]
    strange: frozenset[int]


def read(
    marks: Sequence[Mark], utterance: Utterance, listed: ShownList, taken: Sequence[tuple[int, int]] = ()
) -> Reading:
    """`taken` are stretches of the text that other phrases have read."""
    covered = {
        place
        for place, mark in enumerate(marks)
        if any(start <= mark.start and mark.end <= end for start, end in taken)
    }
    found: list[Constraint] = []
    for way in (_codes, _values, _states):
        for constraint in way(marks, utterance, listed, covered):
            found.append(constraint)
            covered.update(constraint.places)
    strange: set[int] = set()
    for place, mark in enumerate(marks):
        if place in covered or not _tells(marks, place, utterance, listed):
            continue
        way_of = _code if mark.text[:1].isdigit() else _word
        fitting = way_of(marks, place, listed)
        if fitting is not None:
            found.append(fitting)
        else:
            strange.add(place)
    return Reading(found, frozenset(strange))


def _tells(marks: Sequence[Mark], place: int, utterance: Utterance, listed: ShownList) -> bool:
    """Whether a word has a content of its own."""
    mark = marks[place]
    word = mark.text
    if not place and len(marks) > 1 and word[0].isalpha() and _opens_object(marks[1]):
        return False  # "sell the coke": what is to be done
    if word in _BESIDE_A_STATE or word in NEGATIONS or word in _FRAME:
        return False
    if not word[:1].isalnum() or (len(word) == 1 and not word.isdigit()):
        return (
            place > 0 and place + 1 == len(marks) and mark.has("letter") and marks[place - 1].kinds <= {"labelled"}
        )  # "rack a"
    if word[0].isdigit():
        several = word[-1] == "s" and word[:-1].isdigit()  # "the 14s" are no seconds
        called = any(word in entry.labels for entry in listed.entries)
        return (
            several
            or called
            or not any(
                value.span[0] <= mark.start and mark.end <= value.span[1]
                for value in utterance.values
                if value.kind != "quantity" or value.unit
            )
        )
    if place and mark.has("confirm", "greeting") and stem(word) in listed.vocabulary:
        return True  # somebody called Vale
    if (
        mark.has("polite")
        and place + 1 < len(marks)
        and marks[place + 1].has("one")
        and stem(word) in listed.vocabulary
    ):
        return True  # "the ready ones"
    if len(marks) == 1 and mark.has("polite"):
        return stem(word) in listed.vocabulary  # "ready" of "everything ready but the goat"
    if mark.has("cardinal", "polite", "not", "and", "question", "confirm", "one", "greeting", "idiom"):
        return False
    verb = mark.has("choose") and not (place and marks[place - 1].has("the", "this"))
    return not verb and word not in utterance.language.stop


def _opens_object(mark: Mark) -> bool:
    return mark.has("the", "this", "these", "it", "them", "indefinite") or mark.text in _ARTICLES


def _codes(marks: Sequence[Mark], utterance: Utterance, listed: ShownList, covered: set[int]) -> Iterator[Constraint]:
    for words, fits, places in codes_said(marks, utterance, listed, covered):
        yield Constraint(words, "code", fits, places)


def _values(marks: Sequence[Mark], utterance: Utterance, listed: ShownList, covered: set[int]) -> Iterator[Constraint]:
    """One for each stretch that says a time, a date, an amount, by all that it may say."""
    for stretch in utterance.stretches:
        start, end = stretch.span
        places = [place for place, mark in enumerate(marks) if start <= mark.start and mark.end <= end]
        plain = all(value.kind == "quantity" for value in stretch.values)
        if not places or covered.intersection(places) or (plain and _counts(marks, places[0])):
            continue
        if len(places) == 1 and marks[places[0]].text in ("one", "for"):
            continue  # "the sourdough 1", "a pin 4 which"
        if utterance.text[start:end] in _TWO_OR_MONDAY:
            continue
        words = utterance.text[start:end]
        word = stem(normal(words))
        fits: tuple[float, ...]
        if stretch.upto is None and word in listed.name_words:
            sort, fits = (
                "name",
                tuple(float(any(word in each for each in entry.name_words)) for entry in listed.entries),
            )
        elif stretch.side:
            around = [mark.text for mark in marks if not is_stop(mark.text)]
            limit = Limit(stretch, words, around, utterance.language.name)
            sort, fits = "bound", _within(limit, marks, places, listed)
        else:
            label = _labels(marks, places)
            sort, fits = "typed", _nearest(stretch.values, label, listed)
            fits = fits if any(fits) else _by_figure(stretch.values, label, listed)
            if any(fits) and not all(fits) and is_not(marks, places[0]):
                fits = tuple(float(not fit) for fit in fits)  # "everything that isn't on wednesday"
        if any(fits) or sort == "bound":
            yield Constraint(words, sort, fits, range(places[0], places[-1] + 1))


def _within(limit: Limit, marks: Sequence[Mark], places: Sequence[int], listed: ShownList) -> tuple[float, ...]:
    """By the field that a word beside a single limit names, else by any."""
    if limit.stretch.upto is None:
        label = _labels(marks, [max(places[0] - 1, 0), places[-1]]) | _labels(marks, places)
        if label and (fits := within(limit, listed, label)):
            return fits
    return within(limit, listed)


def _nearest(values: Sequence[Value], label: frozenset[str], listed: ShownList) -> tuple[float, ...]:
    """How near each item's values come; those of the field that a word beside names, where there is one: "floor 2"."""
    known = label and any(words & label for words in listed.entries[0].fields.values())
    for fields in (label, frozenset[str]()) if known else (frozenset[str](),):
        near = [0.0] * len(listed.entries)
        for value in values:
            for index, shown in _compared(value, listed, fields):
                near[index] = max(near[index], _alike(value, shown))
        if (best := max(near, default=0.0)) > 0:
            return tuple(fit if fit == best else 0.0 for fit in near)
    return ()


def _by_figure(values: Sequence[Value], label: frozenset[str], listed: ShownList) -> tuple[float, ...]:
    """Which items hold the very number somewhere, whatever it measures: "3 credits", "the eight ninety" of 890 cents;
    a small one only where a word beside it names the field.
    """
    figures = {value.amount for value in values if value.kind in ("quantity", "money")}
    figures |= {round(value.amount * _MINOR) for value in values if value.kind == "money" and value.amount % 1}
    places = {
        place
        for figure in figures
        for place, words in listed.figures.get(figure, ())
        if figure >= _LARGE or figure % 1 or words & label
    }
    fits = tuple(float(place in places) for place in range(len(listed.entries)))
    return fits if any(fits) and not all(fits) else ()


_MINOR, _LARGE = 100, 10


def _labels(marks: Sequence[Mark], places: Sequence[int]) -> frozenset[str]:
    """What may name the field of a number: the words right before and behind it."""
    beside = [marks[place] for place in (places[0] - 1, places[-1] + 1) if 0 <= place < len(marks)]
    found: frozenset[str] = frozenset()
    for mark in beside:
        if is_stop(mark.text):
            continue
        said = frozenset({mark.text, stem(mark.text), *word_atoms(mark.text)})
        found |= said.union(*(PROPERTIES.get(word, frozenset()) for word in said))
    return found


def _counts(marks: Sequence[Mark], place: int) -> bool:
    """Whether a number says how many, and not which: "those two", "2 of them"."""
    first, behind = marks[place], marks[place + 1 : place + 3]
    if len(behind) > 1 and behind[0].has("of") and behind[1].has("them", "these", "it", "this"):
        return True
    told = first.has("digit") or marks[place - 1].has("these", "both", "the")
    return bool(first.count and counted(marks)) and told


def _compared(said: Value, listed: ShownList, fields: frozenset[str]) -> list[tuple[int, Value]]:
    """The places of items and the values, of some fields where given, that one said is compared with: a part of the day
    with when each of them starts, and no more.
    """
    near = listed.values_of(fields) if fields else listed.values_near(said)
    if said.until is None:
        return [(index, shown) for index, shown in near if shown.until is None or said.kind != "time"]
    return list({index: shown for index, shown in reversed(near) if shown.kind == "time"}.items())


def _alike(said: Value, shown: Value) -> float:
    """Of a price, people drop the cents: 0.4."""
    if said.kind != shown.kind and "quantity" not in (said.kind, shown.kind):
        return 0.0
    if found := likeness(said, shown):
        return found
    whole = said.kind == "money" or (said.kind == "quantity" and not said.unit)
    return 0.4 * (whole and shown.kind == "money" and said.amount == int(abs(shown.amount)) > 0)


def _states(marks: Sequence[Mark], _: Utterance, listed: ShownList, covered: set[int]) -> Iterator[Constraint]:
    """The longest words for a state first: "fully booked", "nobody"."""
    used = set(covered)
    for size in range(min(LONGEST_STATE, len(marks)), 0, -1):
        for start in range(len(marks) - size + 1):
            places = range(start, start + size)
            words = " ".join(mark.text for mark in marks[start : start + size])
            told = states_told(words)
            agrees = not start and marks[0].has("confirm")
            other = agrees or (size == 1 and _stands_before(marks, start))
            if not told or other or used.intersection(places):
                continue
            deny = negated(marks, start)
            found = [
                Constraint(words, "state", _in_state(listed, state, wanted=holds is not deny, deny=deny), places)
                for state, holds in told
            ]
            best = max(found, key=lambda each: (each.tells, any(each.fits)))
            if any(best.fits):
                yield best
                used.update(places)


def _stands_before(marks: Sequence[Mark], place: int) -> bool:
    """As "on" in "any news on the order", which is no state."""
    following = marks[place + 1] if place + 1 < len(marks) else None
    return (
        marks[place].has("preposition")
        and following is not None
        and (following.has("the") or not following.has("punctuation", "polite", "and"))
    )


def _in_state(listed: ShownList, state: int, *, wanted: bool, deny: bool) -> tuple[float, ...]:
    """Of what is denied, also those fit of which nothing is known: "the ones that aren't delivered"."""
    told = [listed.states_of(index).get(state) for index in range(len(listed.entries))]
    if deny and True in told and False not in told and not wanted:
        return tuple({True: 0.0, False: 1.0, None: 0.5}[each] for each in told)
    return tuple(float(each is wanted) for each in told)


def _word(marks: Sequence[Mark], place: int, listed: ShownList) -> Constraint | None:
    """A word of a name, of a value, of a type; else a property; else a name cut short or mistyped."""
    mark = marks[place]
    said = frozenset(word_atoms(mark.text) | {stem(word) for word in words_of(mark.text)})
    known = not said.isdisjoint(listed.known_words)
    near = [_fit(said, entry, listed, index) for index, entry in enumerate(listed.entries)] if known else []
    deny = negated(marks, place)
    flagged = _property(marks, place, said, listed) if deny or all(fit for _, fit in near) else None
    if flagged is not None:
        return flagged
    if not known:
        slips = {place for word in {mark.text, *said} for place in _slips(word, listed)}
        near = [("nickname", 0.8) if index in slips else ("", 0.0) for index in range(len(listed.entries))]
    fits = tuple(fit for _, fit in near)
    if not any(fits):
        return None
    sort = min((how for how, fit in near if fit), key=_RANK.__getitem__)
    if not all(fits) and (
        is_not(marks, place) or _lacks(marks, place, listed) or (sort == "name" and does_not(marks, place))
    ):
        return Constraint(mark.text, "state", tuple(float(not fit) for fit in fits), range(place, place + 1))
    return Constraint(mark.text, sort, fits, range(place, place + 1))


_WITHOUT = word_set("without|w/o|w out|w/out|sin|בלי|ללא|non")


def _lacks(marks: Sequence[Mark], place: int, listed: ShownList) -> bool:
    """As in "the ones without nuts"; not where items say so themselves: "sin gluten", "NUT_FREE"."""
    before = [mark.text for mark in marks[max(place - 3, 0) : place] if not mark.has("indefinite", "the")]
    if not before or before[-1] not in _WITHOUT:
        return False
    word = re.escape(marks[place].text)
    told = re.compile(rf"\b(?:no|non|not|without|sin|בלי|ללא) {word}|\b{word} (?:free|less|libre)\b")
    texts = (value for entry in listed.entries for _, value in leaves(entry.item) if isinstance(value, str))
    return not any(told.search(" ".join(words_in(text))) for text in (*texts, *listed.captions))


def _fit(said: frozenset[str], entry: ItemEntry, listed: ShownList, index: int) -> tuple[str, float]:
    if any(said & words for words in entry.name_words) or not said.isdisjoint(entry.labels):
        return ("type", 0.3) if said <= NO_TYPE else ("name", 1.0)
    if listed.captions and said & listed.caption_atoms[index]:
        return "value", 0.9
    if said & entry.atoms:
        return "value", 0.8
    return ("type", 0.5) if said & entry.kind_words or said & listed.nouns else ("", 0.0)


def _slips(word: str, listed: ShownList) -> set[int]:
    """The places of items that a word is a nickname of ("pete", "ben" of Benedict), or one slip of the finger away
    from, two if it is long.
    """
    if len(word) < _SHORTEST_NICKNAME or not word.isalpha():
        return set()
    spelled = listed.spellings.get(word[0], {})
    return {place for other, places in spelled.items() if _nearly(word, other) for place in places}


def _nearly(word: str, other: str) -> bool:
    apart = abs(len(word) - len(other))
    if word[:_ROOT] == other[:_ROOT] and min(len(word), len(other)) > _ROOT and apart <= _ENDINGS:
        return True  # "cardiologist" of cardiology
    if len(other) <= _SHORTEST_NICKNAME or ":" in other:
        return False
    if other.startswith(word) and apart <= _LONGEST_LEFT_OUT and (word.isascii() or len(word) > _SHORTEST_NICKNAME):
        return True
    slips = 1 + (len(word) >= _LONG)
    if len(word) < _SHORTEST_SLIP or apart > slips + 1:
        return False
    pairs = ((word, other), (_sound(word), _sound(other)))
    return any(OSA.distance(first, second, score_cutoff=slips) <= slips for first, second in pairs)


@lru_cache(4096)
def _sound(word: str) -> str:
    """A word by its sound: "biskit" is near to biscuit."""
    return _TWICE.sub(r"\1", word.replace("ph", "f").translate(_SOUNDS))


_SOUNDS, _TWICE = str.maketrans("cqzyw", "kksiv"), re.compile(r"(.)\1")


def _code(marks: Sequence[Mark], place: int, listed: ShownList) -> Constraint | None:
    fits = digits_said(marks[place], listed)
    return Constraint(marks[place].text, "code", fits, range(place, place + 1)) if fits else None


def _property(marks: Sequence[Mark], place: int, said: frozenset[str], listed: ShownList) -> Constraint | None:
    """What things have or lack: "with parking", "no teacher", "que no tienen ascensor"."""
    word = marks[place].text
    named = said.union(*(PROPERTIES.get(each, frozenset()) for each in (word, *said)))
    seen = [_has(entry, named) for entry in listed.entries]
    seen = _unknown_left_out(seen, named, listed) if True in seen and not all(seen) else seen
    deny = negated(marks, place)
    if True not in seen or all(seen) or (deny and False not in seen):
        return None
    fits = tuple(float(each is not None and each is not deny) for each in seen)
    return Constraint(word, "state", fits, range(place, place + 1))


def _unknown_left_out(seen: Sequence[bool | None], named: frozenset[str], listed: ShownList) -> list[bool | None]:
    """Of a flag, what is empty says neither yes nor no."""
    flags = [
        [value for name, value in entry.item.items() if entry.fields.get(name, frozenset()) & named]
        for entry in listed.entries
    ]
    if not any(isinstance(value, bool) for values in flags for value in values):
        return list(seen)
    return [
        None if values and all(value is None for value in values) else has
        for has, values in zip(seen, flags, strict=True)
    ]


def _has(entry: ItemEntry, named: frozenset[str]) -> bool | None:
    for word, there in entry.properties.items():
        if word in named:
            return there
    return True if named & entry.atoms else None
