"""What a stretch of an utterance says of the things it means: each word or value with the items of a list it fits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import OSA

from langmem_plugin.references.said.segments import Segment, negated
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry, leaves
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.atoms import word_atoms
from langmem_plugin.references.text.tokens import key_words, normal, stem, words_of
from langmem_plugin.references.text.values import Value, likeness
from langmem_plugin.references.words.states import LONGEST_STATE, PROPERTIES, STATES
from langmem_plugin.references.words.type_nouns import NO_TYPE

_SAID_OF = frozenset(("not", "and", "polite", "punctuation", "this", "these", "it", "them", "the", "one", "all", "both", "choose", "indefinite"))
_SHORTEST_CODE = 2
_SHORTEST_NICKNAME, _LONGEST_LEFT_OUT = 3, 5
_DENIES = frozenset(("isn't", "isnt", "not", "no es", "שלא", "לא", "aren't", "arent"))


@dataclass(frozen=True, eq=False)
class Constraint:
    """Some words and how well they fit each item of a list, 0 to 1, in its order."""

    words: str
    sort: str
    """`name`, `nickname` (part of a word, or a slip), `value`, `typed`, `state`, `code` or `type`."""
    fits: tuple[float, ...]
    places: range

    @property
    def tells(self) -> bool:
        """Whether it fits some and not all."""
        return 0 < sum(fit > 0 for fit in self.fits) < len(self.fits)


@dataclass(frozen=True, eq=False)
class Reading:
    """All constraints of a stretch, and its content words that fit no item."""

    constraints: list[Constraint]
    unexplained: list[str]
    explained: int
    """Content words that fit some item."""
    strange: frozenset[int] = frozenset()
    """Places of the words that fit none."""


def read(segment: Segment, utterance: Utterance, listed: ShownList, taken: Sequence[tuple[int, int]] = ()) -> Reading:
    """`taken` are stretches of the text that other phrases have read."""
    marks = list(segment.marks)
    found: list[Constraint] = []
    unexplained: list[str] = []
    explained, strange = 0, set()
    covered: set[int] = {
        place for place, mark in enumerate(marks) if any(start <= mark.start and mark.end <= end for start, end in taken)
    }
    for constraint in _typed(marks, utterance, listed, covered):
        found.append(constraint)
        covered.update(constraint.places)
        explained += 1
    for constraint in _states(marks, listed, covered):
        found.append(constraint)
        covered.update(constraint.places)
        explained += 1
    for place, mark in enumerate(marks):
        if place in covered or not _content(mark, utterance, marks[place - 1] if place else None) or (mark.text[:1].isdigit() and _inside_value(mark, utterance)):
            continue
        fitting = _word(marks, place, listed)
        if fitting is None:
            unexplained.append(mark.text)
            strange.add(place)
        else:
            found.append(fitting)
            explained += 1
    return Reading(found, unexplained, explained, frozenset(strange))


def _content(mark: Mark, utterance: Utterance, before: Mark | None) -> bool:
    word = mark.text
    if not word[:1].isalnum() or (len(word) == 1 and not word.isdigit()):
        return False
    if mark.has("cardinal") and not word.isdigit():
        return False
    return not (word in utterance.language.stop or mark.has("polite", "not", "and", "question", "confirm", "one", "greeting", "idiom") or (mark.has("choose") and not (before is not None and before.has("the", "this"))))


def _word(marks: Sequence[Mark], place: int, listed: ShownList) -> Constraint | None:
    mark = marks[place]
    if mark.text[:1].isdigit():
        return _code(mark, place, listed)
    said = frozenset(word_atoms(mark.text) | {stem(word) for word in words_of(mark.text)})
    sort, fits = "", [0.0] * len(listed.entries)
    for index, entry in enumerate(listed.entries):
        how, fit = _fit(said, entry, listed, index)
        if fit > fits[index]:
            fits[index] = fit
            sort = how if not sort or _RANK[how] < _RANK[sort] else sort
    if not any(fits):
        flagged = _flagged(marks, place, listed)
        if flagged is not None:
            return flagged
        for index, entry in enumerate(listed.entries):
            if any(_nearly(word, _vocabulary(entry, listed, index)) for word in (mark.text, *said)):
                fits[index], sort = 0.8, "nickname"
    if not any(fits):
        return None
    if all(fits) and (flagged := _flagged(marks, place, listed)) is not None:
        return flagged
    if _turned_down(marks, place):
        if all(fits):
            return None
        return Constraint(mark.text, "state", tuple(float(not fit) for fit in fits), range(place, place + 1))
    return Constraint(mark.text, sort, tuple(fits), range(place, place + 1))


def _turned_down(marks: Sequence[Mark], place: int) -> bool:
    """As in "the dublin one who isnt benedict": what is denied of the thing meant."""
    return any(mark.text in _DENIES for mark in marks[max(place - 2, 0) : place]) and place > 1 or negated(marks, place)


def _inside_value(mark: Mark, utterance: Utterance) -> bool:
    return any(
        value.span[0] <= mark.start and mark.end <= value.span[1]
        for value in utterance.values
        if value.kind != "quantity" or value.unit
    )


def _code(mark: Mark, place: int, listed: ShownList) -> Constraint | None:
    """Digits that an id ends in, or that are a whole value: "ending in 33", "the 14s"."""
    digits = mark.text.removesuffix("s").removesuffix("'")
    if len(digits) < _SHORTEST_CODE:
        return None
    fits = tuple(
        float(
            any(
                str(value) == digits or (len(digits) > 1 and key_words(key)[-1:] and _identifies(key, value) and str(value).endswith(digits))
                for key, value in leaves(entry.item)
                if isinstance(value, (str, int)) and not isinstance(value, bool)
            )
        )
        for entry in listed.entries
    )
    return Constraint(mark.text, "code", fits, range(place, place + 1)) if any(fits) else None


def _identifies(key: str, value: str | int) -> bool:
    last = key_words(key)[-1]
    return last in _IDENTIFYING or (isinstance(value, str) and any(letter.isdigit() for letter in value) and " " not in value and ":" not in value and "." not in value)


_IDENTIFYING = frozenset(("id", "number", "code", "mask", "ref", "reference", "no", "sku", "plate", "account", "tracking"))
_RANK = {"name": 0, "nickname": 1, "value": 2, "type": 3}


def _fit(said: frozenset[str], entry: ItemEntry, listed: ShownList, index: int) -> tuple[str, float]:
    if any(said & words for words in entry.name_words):
        return ("type", 0.3) if said <= NO_TYPE else ("name", 1.0)
    if listed.captions and said & listed.caption_atoms[index]:
        return "value", 0.9
    if said & entry.atoms:
        return "value", 0.8
    if said & entry.kind_words or said & listed.nouns:
        return "type", 0.5
    return "", 0.0


def _vocabulary(entry: ItemEntry, listed: ShownList, index: int) -> frozenset[str]:
    names = frozenset().union(*entry.name_words) if entry.name_words else frozenset()
    return names | (listed.caption_atoms[index] if listed.captions else frozenset())


def _nearly(word: str, known: frozenset[str]) -> bool:
    """A nickname ("pete" of Peter, "ben" of Benedict) or one slip of the finger in a word of four letters or more."""
    if len(word) < _SHORTEST_NICKNAME or not word.isalpha():
        return False
    for other in known:
        if len(other) > 3 and other[0] == word[0] and ":" not in other:
            if other.startswith(word) and len(other) - len(word) <= _LONGEST_LEFT_OUT:
                return True
            if len(word) >= 5 and abs(len(other) - len(word)) <= 1 + (len(word) > 7):
                if OSA.distance(word, other, score_cutoff=1 + (len(word) > 7)) <= 1 + (len(word) > 7):
                    return True
    return False


def _typed(marks: Sequence[Mark], utterance: Utterance, listed: ShownList, covered: set[int]) -> list[Constraint]:
    """One for each stretch that says a value, by all that it may say."""
    readings: dict[tuple[int, int], list[Value]] = {}
    for value in utterance.values:
        readings.setdefault(value.span, []).append(value)
    found = []
    for (start, end), values in readings.items():
        places = [place for place, mark in enumerate(marks) if start <= mark.start and mark.end <= end]
        if not places or covered.intersection(places) or _counts(marks, places[0]):
            continue
        if all(value.kind == "quantity" and not value.unit for value in values) and _of_a_thing(marks, places[-1] + 1, utterance):
            continue
        fits = tuple(
            max((_alike(value, shown) for value in values for shown in _compared(value, listed, index)), default=0.0)
            for index in range(len(listed.entries))
        )
        best = max(fits, default=0.0)
        if best:
            closest = tuple(fit if fit == best else 0.0 for fit in fits)
            words = utterance.text[start:end]
            word = stem(normal(words))
            named = tuple(float(any(word in each for each in entry.name_words)) for entry in listed.entries)
            if any(named):
                found.append(Constraint(words, "name", named, range(places[0], places[-1] + 1)))
                continue
            found.append(Constraint(words, "typed", closest, range(places[0], places[-1] + 1)))
    return found


def _compared(said: Value, listed: ShownList, index: int) -> Sequence[Value]:
    """The values of an item that one said is compared with: a part of the day with when it starts, and no more."""
    shown = listed.values_of(index)
    if said.until is None:
        return [value for value in shown if value.until is None or said.kind != "time"]
    return [value for value in shown if value.kind == "time"][:1]


def _counts(marks: Sequence[Mark], place: int) -> bool:
    """As in "those two": how many, and no value."""
    return marks[place].has("cardinal") and place > 0 and marks[place - 1].has("these", "both")


def _of_a_thing(marks: Sequence[Mark], place: int, utterance: Utterance) -> bool:
    """Whether a number counts the word that follows it: "2 onions"."""
    return place < len(marks) and marks[place].text[:1].isalpha() and not marks[place].kinds and marks[place].text not in utterance.language.stop


def _alike(said: Value, shown: Value) -> float:
    """Of a price, people drop the cents: 0.4."""
    if found := likeness(said, shown):
        return found
    whole = said.kind == "money" or (said.kind == "quantity" and not said.unit)
    return 0.4 * (whole and shown.kind == "money" and said.amount == int(abs(shown.amount)) > 0)


def _states(marks: Sequence[Mark], listed: ShownList, covered: set[int]) -> list[Constraint]:
    found: list[Constraint] = []
    used = set(covered)
    for size in range(min(LONGEST_STATE, len(marks)), 0, -1):
        for start in range(len(marks) - size + 1):
            places = range(start, start + size)
            if used.intersection(places):
                continue
            words = " ".join(mark.text for mark in marks[start : start + size])
            told = STATES.get(words)
            if told is None:
                continue
            deny = negated(marks, start)
            best: Constraint | None = None
            for state, holds in told:
                seen = [_state_of(entry, state, listed, index) for index, entry in enumerate(listed.entries)]
                fits = tuple(float(each is not None and each is (holds is not deny)) for each in seen)
                candidate = Constraint(words, "state", fits, places)
                if any(fits) and (best is None or (candidate.tells and not best.tells)):
                    best = candidate
            if best is not None:
                found.append(best)
                used.update(places)
    return found


def _state_of(entry: ItemEntry, state: int, listed: ShownList, index: int) -> bool | None:
    """Whether a state holds of an item, by its flags, its empty fields, its words; None where nothing tells."""
    found = _states_of(entry).get(state)
    if found is None and listed.captions:
        found = _worded(words_of_text(listed.captions[index])).get(state)
    return found


def _states_of(entry: ItemEntry) -> Mapping[int, bool]:
    known = entry.__dict__.get("_states")
    if known is None:
        known = entry.__dict__["_states"] = _read_states(entry)
    return known  # type: ignore[no-any-return]


def _read_states(entry: ItemEntry) -> dict[int, bool]:
    found: dict[int, bool] = {}
    for key, value in _fields(entry):
        for state, holds in _worded(tuple(words for words in key if words not in ("is", "has", "at", "by", "date", "on"))).items():
            if isinstance(value, bool) or value is None or value == "":
                found.setdefault(state, holds is bool(value))
            elif isinstance(value, (int, float)) and ("delay" in key or "late" in key or "count" in key):
                found.setdefault(state, holds is bool(value))
            elif key[-1:] in (("at",), ("date",), ("on",)) :
                found.setdefault(state, holds)
        if isinstance(value, str) and len(value) <= 40:
            for state, holds in _worded(words_of_text(value)).items():
                found.setdefault(state, holds)
    return found


def _fields(entry: ItemEntry) -> list[tuple[tuple[str, ...], object]]:
    found: list[tuple[tuple[str, ...], object]] = []
    for key, value in entry.item.items():
        words = key_words(key)
        found.append((words, value))
        if isinstance(value, Mapping):
            found.extend((words + key_words(str(inner)), leaf) for inner, leaf in value.items())
    return found


@lru_cache(maxsize=4096)
def words_of_text(text: str) -> tuple[str, ...]:
    return tuple(normal(text.replace("_", " ").replace("-", " ")).replace("'", "").split())


def _worded(words: Sequence[str]) -> dict[int, bool]:
    found: dict[int, bool] = {}
    used: set[int] = set()
    for size in range(min(LONGEST_STATE, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            places = range(start, start + size)
            if used.intersection(places):
                continue
            told = STATES.get(" ".join(words[start : start + size]))
            if told is None:
                continue
            used.update(places)
            deny = any(word in ("not", "no", "never", "sin", "לא") for word in words[max(start - 2, 0) : start])
            for state, holds in told:
                found.setdefault(state, holds is not deny)
    return found


def _flagged(marks: Sequence[Mark], place: int, listed: ShownList) -> Constraint | None:
    """A property that things have or lack: "with parking", "no teacher", "que no tienen ascensor"."""
    word = marks[place].text
    named = {stem(word), *word_atoms(word)}
    named |= frozenset().union(*(PROPERTIES.get(each, frozenset()) for each in (word, *named)))
    deny = negated(marks, place)
    seen = [_has(entry, named) for entry in listed.entries]
    if len({each for each in seen if each is not None}) < 2:
        return None
    fits = tuple(float(each is not None and each is not deny) for each in seen)
    return Constraint(word, "state", fits, range(place, place + 1))


def _has(entry: ItemEntry, named: set[str] | frozenset[str]) -> bool | None:
    for key, value in _fields(entry):
        if named & {stem(word) for word in key} and not isinstance(value, Mapping):
            if isinstance(value, str) and value.lower() in ("none", "no", "n/a", "false", "-"):
                return False
            return bool(value)
        if isinstance(value, Mapping) and named & {stem(word) for word in key}:
            return bool(value)
    tags = [value for _, value in leaves(entry.item) if isinstance(value, str)]
    if any(named & set(words_of(tag)) for tag in tags):
        return True
    return None
