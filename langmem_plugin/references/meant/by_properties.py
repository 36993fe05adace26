"""Items described, by parts of their names, by their values, by the state they are in: "the unpaid one from march"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langmem_plugin.references.meant.candidate_lists import newest, without
from langmem_plugin.references.meant.constraints import Constraint, Reading, read
from langmem_plugin.references.meant.finding import Finding, Unclear
from langmem_plugin.references.said.amounts import counted, is_plural
from langmem_plugin.references.said.requests import is_verb
from langmem_plugin.references.said.segments import Segment, heads
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.atoms import atoms
from langmem_plugin.references.text.tokens import stem
from langmem_plugin.references.words import word_set
from langmem_plugin.references.words.type_nouns import GROUPS, THING

_OLDER, _CONFLICT = 0.25, 0.4  # what a list loses for each newer one, and for words that fit nothing that is left
_HUNG = 0.3  # what a word gains that hangs on the head of a description: "la de soto"
_WEIGHTS = {
    "code": 1.2,
    "name": 1.0,
    "typed": 1.0,
    "bound": 1.0,
    "state": 0.9,
    "value": 0.8,
    "nickname": 0.7,
    "type": 0.3,
}
_WHO = word_set("who|whos|who's|which|quien|quienes|cuales|מי")
_REQUESTS = ("can", "could", "puedes", "puede")
_IT_IS = frozenset(("it's", "its", "son", "es", "at"))
_INDEFINITE = frozenset(("a", "an", "another", "new", "un", "una", "otro", "otra", "nuevo", "nueva"))


@dataclass(frozen=True, eq=False)
class Described:
    """The items of a list that fit a description best, and what tells how far that can be trusted."""

    listed: ShownList
    entries: list[ItemEntry]
    reading: Reading
    telling: list[Constraint]
    conflicts: int
    score: float
    closest: list[ItemEntry]
    """Of the entries, those that fit best word by word."""

    @property
    def words(self) -> list[str]:
        return [constraint.words for constraint in self.telling]


def described(
    marks: Sequence[Mark], utterance: Utterance, listed: ShownList, taken: Sequence[tuple[int, int]] = ()
) -> Described:
    """Of a list; no entries where nothing said tells its items apart."""
    reading = read(marks, utterance, listed, taken)
    if not reading.constraints:
        return Described(listed, [], reading, [], 0, 0.0, [])
    alone = len(listed.entries) == 1
    hung = heads(marks)
    telling = sorted(
        (constraint for constraint in reading.constraints if constraint.tells or (alone and constraint.sort == "name")),
        key=lambda constraint: (
            -_WEIGHTS[constraint.sort] * max(constraint.fits) - _HUNG * (constraint.places.start - 1 in hung)
        ),
    )
    kept = list(range(len(listed.entries)))
    conflicts, used = 0, []
    for constraint in telling:
        fitting = [place for place in kept if constraint.fits[place]]
        if fitting:
            kept = fitting
            used.append(constraint)
        else:
            conflicts += 1
    score = sum(_WEIGHTS[constraint.sort] for constraint in reading.constraints) - _CONFLICT * conflicts
    unmet = any(constraint.sort == "bound" and not any(constraint.fits) for constraint in reading.constraints)
    if unmet and not any(constraint.sort == "name" for constraint in used):
        used = []  # a limit that no field tells of, and not "bid up to 12 on the monkfish"
    near = {place: sum(_WEIGHTS[each.sort] * each.fits[place] for each in used) for place in kept}
    best = max(near.values(), default=0.0)
    entries, closest = (
        [listed.entries[place] for place in places] if used else []
        for places in (kept, [place for place in kept if near[place] == best])
    )
    return Described(listed, entries, reading, used, conflicts, score, closest)


def best_described(
    segment: Segment, utterance: Utterance, ledger: Ledger, taken: Sequence[tuple[int, int]] = (), least: int = 1
) -> Described | None:
    """In the list that the description fits best, newest first where several fit alike; None where it fits none, or
    fewer than the `least` it speaks of.
    """
    best: Described | None = None
    best_score = 0.0
    for age, listed in enumerate(newest(ledger)):
        found = described(segment.marks, utterance, listed, taken)
        score = found.score - _OLDER * age
        if len(found.entries) >= least and (best is None or score > best_score):
            best, best_score = found, score
    return best


def by_properties(
    segment: Segment,
    utterance: Utterance,
    ledger: Ledger,
    taken: Sequence[tuple[int, int]] = (),
    turned_down: Sequence[ItemEntry] = (),
) -> Finding | Unclear | None:
    """What a piece describes, without what others turn down; unclear where it points at one and fits several."""
    count = counted(segment.marks)
    found = best_described(segment, utterance, ledger, taken, max(count, 1))
    if found is None and count > max((len(listed.entries) for listed in newest(ledger)), default=0):
        count, found = 0, best_described(segment, utterance, ledger, taken)  # "the 8 kw ones"
    if found is None or _is_new(segment.marks, found, english=utterance.language.name == "en"):
        return None
    if _is_when(segment.marks, found, utterance):
        return None
    if kept := without(found.entries, turned_down):
        found = replace(found, entries=kept, closest=without(found.closest, turned_down))
    limits = any(each.sort == "bound" for each in found.telling) and not any(mark.has("one") for mark in segment.marks)
    several = count > 1 or limits or _plural(segment, found)
    evidence = _features(found, segment, ledger)
    if count > 1 and len(found.entries) > count:
        return Unclear(found.entries)
    if len(found.entries) > 1 and not several and len(found.closest) == 1:
        found = replace(found, entries=found.closest)
    if len(found.entries) > 1 and not several:
        pointing = heads(segment.marks) or evidence["definite word"]
        return Unclear(found.entries) if pointing and not utterance.has("search") else None
    reason = f"what fits {', '.join(found.words)} of those shown"
    first = min(constraint.places.start for constraint in found.telling)
    last = max(constraint.places.stop for constraint in found.telling)
    words = utterance.text[segment.marks[first].start : segment.marks[last - 1].end]
    name = next(iter(found.entries[0].names), "")
    whole = re.search(re.escape(name), utterance.text, re.IGNORECASE) if words.lower() in name.lower() else None
    words = whole[0] if whole is not None else words  # with the stop words of a name: "Dining out"
    return Finding(found.entries, words, reason, "description", found.listed, evidence=evidence)


def _is_when(marks: Sequence[Mark], found: Described, utterance: Utterance) -> bool:
    """As in "book it for seven", "get it to them before friday": when something is to be done with what is pointed at."""
    first = min(constraint.places.start for constraint in found.telling)
    timed = {
        utterance.text[slice(*stretch.span)]
        for stretch in utterance.stretches
        if any(value.kind in ("time", "date") for value in stretch.values)
    }
    return (
        all(constraint.words in timed for constraint in found.telling)
        and not heads(marks)
        and any(mark.has("it") for mark in marks[:first])
    )


def _is_new(marks: Sequence[Mark], found: Described, *, english: bool) -> bool:
    """As in "open a new urgent one", "set an alarm at 9": something that an indefinite article brings up."""
    first = min(constraint.places.start for constraint in found.telling)
    hung = heads(marks)
    until = min(hung) if hung else first
    before = marks[:until] if hung else marks[:first]
    had = {
        each.places.start for each in found.telling if each.sort in ("state", "bound")
    }  # "with a battery", "under a tenner"
    inside = {place for each in found.telling for place in each.places}  # "a quarter of an hour"
    articles = [
        place
        for place, mark in enumerate(before)
        if mark.text in _INDEFINITE and (english or mark.text != "a") and place + 1 not in had and place not in inside
    ]
    definite = [
        place
        for place, mark in enumerate(before)
        if (mark.has("the", "this", "these") or mark.definite) and not marks[place + 1].has("weekday", "month", "digit")
    ]
    sorts = {constraint.sort for constraint in found.telling}
    typed = sorts == {"typed"}
    if marks[0].text in _IT_IS and typed:
        return True
    if first > 1 and marks[0].has("question") and marks[1].text in _INDEFINITE:
        return True  # "whats a lounge"
    last = max(constraint.places.stop for constraint in found.telling)
    kind = marks[last].text if last < len(marks) else ""
    if stem(kind) != kind and stem(kind) in GROUPS and not hung and not definite:
        return True  # "chicken recipes"
    counted = (
        first > 0 and marks[first - 1].has("cardinal") and not marks[first - 1].has("digit", "one") and not definite
    )
    sought = any(mark.has("search") for mark in marks) and not hung and not definite
    if counted or sought:
        return True
    if not articles:
        return False
    return until - articles[-1] <= 3 if hung else not definite or definite[-1] < articles[-1]


def _plural(segment: Segment, found: Described) -> bool:
    """Whether a description speaks of several."""
    if segment.marks[0].text in _WHO and not any(mark.has("one") for mark in segment.marks):
        return True
    for mark in segment.marks:
        named = any(mark.text in each.words.split() for each in found.telling)
        if not named and is_plural(mark):
            return True
        if mark.has("one") and mark.text.startswith(("los ", "las ")):
            return True
        noun = stem(mark.text)
        if (
            noun != mark.text
            and mark.text.endswith("s")
            and (noun in GROUPS or noun in THING or noun in found.listed.nouns)
        ):
            return True
        named_alone = not any(each.has("the", "these", "all", "cardinal") for each in segment.marks) and any(
            mark.text == each.words and each.sort == "name" for each in found.telling
        )  # "gwens running late"
        if noun != mark.text and mark.text.endswith("s") and mark.text in found.words and not mark.text.endswith("'s"):
            return not named_alone
    return False


def _seen(found: Described) -> float:
    """Which share of the words that tell stood in the lines that showed the items; people rarely say what they never saw."""
    if not found.listed.captions:
        return 0.0
    chosen = [place for place, entry in enumerate(found.listed.entries) if any(entry is each for each in found.entries)]
    shown = frozenset[str]().union(*(found.listed.caption_atoms[place] for place in chosen))
    return sum(bool(atoms(each.words) & shown) for each in found.telling) / len(found.telling)


def _features(found: Described, segment: Segment, ledger: Ledger) -> dict[str, float]:
    """What tells whether a description points at something shown, rather than saying something new."""
    marks = list(segment.marks)
    first = min(constraint.places.start for constraint in found.telling)
    before = marks[max(first - 2, 0) : first]
    definite = (
        any(
            mark.has("the", "this", "these", "its") or mark.text in ("el", "la", "los", "las", "del", "al")
            for mark in before
        )
        or marks[first].definite
    )
    sorts = {constraint.sort for constraint in found.telling}
    strange = {place for place in found.reading.strange if place or not is_verb(marks[0].text)}
    total = len(found.reading.constraints) + len(strange)
    return {
        "definite word": float(definite),
        "unexplained": min(len(strange), 4) / 4,
        "before strange": float(any(constraint.places.start - 1 in strange for constraint in found.telling)),
        "general": float(
            marks[0].has("question")
            and marks[0].text not in _REQUESTS
            and not definite
            and not heads(marks)
            and len(strange) > 0
            and sorts <= {"name", "nickname", "value"}
        ),
        "first word": float(first == 0),
        "replaced": float(first == 1 and marks[0].has("revise")),
        "only state": float(sorts == {"state"}),
        "only typed": float(sorts == {"typed"}),
        "headed value": float(bool(heads(marks)) and bool(sorts & {"typed", "state", "code"})),
        "alone": float(len(found.listed.entries) == 1),
        "conflicts": float(found.conflicts > 0),
        "seen": _seen(found),
        "told": float(bool(found.listed.captions)),
        "typed": float("typed" in sorts or "code" in sorts),
        "coded": float("code" in sorts),
        "named": float("name" in sorts),
        "only nickname": float(sorts == {"nickname"}),
        "told twice": float(len(found.telling) > 1),
        "prepositioned": float(first > 0 and marks[first - 1].has("preposition") and not definite),
        "just shown": float(ledger.turn - found.listed.turn <= 1),
        "short": float(total <= 3),
        "list size": min(len(found.listed.entries), 10) / 10,
    }
