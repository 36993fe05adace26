"""Items described, by parts of their names, by their values, by the state they are in: "the unpaid one from march"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langmem_plugin.references.meant.candidate_lists import newest
from langmem_plugin.references.meant.constraints import Constraint, Reading, read
from langmem_plugin.references.meant.finding import Finding, Unclear
from langmem_plugin.references.said.amounts import counted
from langmem_plugin.references.said.segments import TELLING, Segment, heads, of_oneself
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.atoms import atoms
from langmem_plugin.references.text.tokens import stem
from langmem_plugin.references.words import phrases
from langmem_plugin.references.words.type_nouns import GROUPS, THING

_OLDER, _CONFLICT = 0.25, 0.4  # what a list loses for each newer one, and for words that fit nothing that is left
_WEIGHTS = {
    "name": 1.0,
    "typed": 1.0,
    "code": 1.2,
    "state": 0.9,
    "nickname": 0.7,
    "value": 0.8,
    "type": 0.3,
    "bound": 1.0,
}
_PLURAL = frozenset(
    phrases(
        "ones|those|these|everyone|everybody|everything|anyone|whoever|ppl|people|guys|things|stuff|los|las|todos|todas|quienes|cuales|אלה|אלו|כולם|כל|שתי|שני|שתיהן|שניהם|מי|both|all|any|every|each|ambos|ambas|todo"
    )
)
_WHO = frozenset(phrases("who|whos|who's|which|quien|quienes|cuales|מי"))
_REQUESTS = ("can", "could", "puedes", "puede")
_SHORT_NICKNAME = 5  # letters
_EARLY = 2  # words that "tell" and "ask" stand among
_GOALS = frozenset(("for", "to", "until", "till", "para", "hasta", "a"))
_RECEIVING = frozenset(("to", "with", "para", "con"))
_MORE = frozenset(("more", "mas", "extra", "additional", "another"))
_CALLING = TELLING | frozenset(
    phrases("ask|call|ring|email|ping|chase|nudge|thank|llama|pregunta|preguntale|llamale|תתקשר|תתקשרי|תשאל|תשאלי")
)
_NEW_BEHIND = frozenset(("חדש", "חדשה", "nuevo", "nueva"))
_IT_IS = frozenset(("it's", "its", "son", "es"))
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
    telling = sorted(
        (constraint for constraint in reading.constraints if constraint.tells or (alone and constraint.sort == "name")),
        key=lambda constraint: -_WEIGHTS[constraint.sort] * max(constraint.fits),
    )
    pointed = any(mark.has("it", "this", "them") for mark in marks)
    told = [
        each
        for each in telling
        if not (heads(marks) and _is_goal(each, marks, telling)) and not (pointed and _aimed(each, marks))
    ]
    kept = list(range(len(listed.entries)))
    conflicts, used = 0, []
    for constraint in told:
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


def _is_goal(constraint: Constraint, marks: Sequence[Mark], telling: Sequence[Constraint]) -> bool:
    """As in "put the orchard ones down for saturday": when it is to be, behind what it is."""
    first = constraint.places.start
    aimed = constraint.sort == "typed" and first > 1 and marks[first - 1].text in _GOALS
    return aimed and any(other.sort != "typed" and other.places.stop < first - 1 for other in telling)


def _aimed(constraint: Constraint, marks: Sequence[Mark]) -> bool:
    """As in "book it for 6 ppl", "give it to wendy"."""
    first = constraint.places.start
    given = first > 1 and marks[first - 1].text in _RECEIVING and marks[first - 2].has("it", "them")
    return given or (constraint.sort == "typed" and first > 1 and marks[first - 1].text in _GOALS - {"a"})


def best_described(
    segment: Segment, utterance: Utterance, ledger: Ledger, taken: Sequence[tuple[int, int]] = ()
) -> Described | None:
    """In the list that the description fits best, newest first where several fit alike; None where it fits none."""
    best: Described | None = None
    best_score = 0.0
    for age, listed in enumerate(newest(ledger)):
        found = described(segment.marks, utterance, listed, taken)
        score = found.score - _OLDER * age
        if found.entries and (best is None or score > best_score):
            best, best_score = found, score
    return best


def by_properties(
    segment: Segment, utterance: Utterance, ledger: Ledger, taken: Sequence[tuple[int, int]] = ()
) -> Finding | Unclear | None:
    """What a piece describes; unclear where it points at one and fits several."""
    if of_oneself(segment.marks):
        return None
    found = best_described(segment, utterance, ledger, taken)
    if found is None or _is_new(segment.marks, found, english=utterance.language.name == "en"):
        return None
    count = counted(segment.marks)
    limits = any(each.sort == "bound" for each in found.telling) and not any(mark.has("one") for mark in segment.marks)
    several = count > 1 or limits or _plural(segment, found)
    evidence = _features(found, segment, ledger) | {"counted": float(count > 1)}
    if count > 1 and len(found.entries) < count:
        return None
    if count > 1 and len(found.entries) > count:
        return Unclear(found.entries)
    if len(found.entries) > 1 and not several and len(found.closest) == 1:
        found = replace(found, entries=found.closest)
        evidence["closest"] = 1.0
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


def _is_new(marks: Sequence[Mark], found: Described, *, english: bool) -> bool:
    """As in "open a new urgent one", "set an alarm at 9": something that an indefinite article brings up."""
    first = min(constraint.places.start for constraint in found.telling)
    hung = heads(marks)
    until = min(hung) if hung else first
    before = marks[:until] if hung else marks[:first]
    had = {each.places.start for each in found.telling if each.sort == "state"}  # "with a battery"
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
    last = max(constraint.places.stop for constraint in found.telling)
    kind = marks[last].text if last < len(marks) else ""
    if stem(kind) != kind and stem(kind) in GROUPS and not hung and not definite:
        return True  # "chicken recipes"
    counted = (
        first > 0 and marks[first - 1].has("cardinal") and not marks[first - 1].has("digit", "one") and not definite
    )
    more = any(mark.text in _MORE for mark in marks[first + 1 : first + 2]) and marks[first].has("digit")
    sought = any(mark.has("search") for mark in marks) and not hung and not definite
    newly = last < len(marks) and marks[last].text in _NEW_BEHIND
    if counted or sought or more or newly:
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
        if not named and (mark.text in _PLURAL or mark.has("all", "both", "these", "them")):
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


def _possessive(word: str, names: frozenset[str]) -> bool:
    """As "priyas" of Priya."""
    return word.endswith("s") and word not in names and word.removesuffix("s").removesuffix("'") in names


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
    names = frozenset().union(*(words for entry in found.entries for words in entry.name_words)) or frozenset()
    said = {stem(constraint.words) for constraint in found.telling}
    strange = found.reading.strange
    nearly = {"name"} if sorts & {"nickname"} else set[str]()
    total = len(found.reading.constraints) + len(strange)
    last = max(constraint.places.stop for constraint in found.telling)
    begins = min([place for place in heads(marks) if place < first] or [first])
    return {
        "definite word": float(definite),
        "indefinite word": float(
            any(mark.has("indefinite", "cardinal", "another") or mark.text == "new" for mark in before)
        ),
        "coverage": len(found.reading.constraints) / max(total, 1),
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
        "inside strange": float(any(begins <= place < last for place in strange)),
        "behind strange": float(definite and not heads(marks) and last in strange),
        "half known": float(
            definite
            and len(found.telling) == 1
            and not heads(marks)
            and bool({first - 1, found.telling[0].places.stop} & strange)
        ),
        "of somebody": float(any(_possessive(marks[each.places.stop - 1].text, names) for each in found.telling)),
        "first word": float(first == 0),
        "only state": float(sorts == {"state"}),
        "only typed": float(sorts == {"typed"}),
        "typed bare": float(
            all(constraint.sort == "typed" and max(constraint.fits) < 1 for constraint in found.telling)
        ),
        "code": float(any(constraint.sort == "code" and len(constraint.words) > 2 for constraint in found.telling)),
        "headed value": float(bool(heads(marks)) and bool(sorts & {"typed", "state", "code"})),
        "definite name": float(definite and bool(sorts & {"name", "nickname"})),
        "early": float(first <= _EARLY),
        "early name": float(first <= _EARLY and bool(sorts & {"name", "nickname"})),
        "told name": float(
            first <= _EARLY + 1 and "name" in sorts | nearly and any(mark.text in _CALLING for mark in marks[:2])
        ),
        "explained": float(not strange),
        "explained state": float(not strange and bool(sorts & {"state", "bound"})),
        "which": float(marks[0].has("question") and bool(sorts & {"state", "bound", "typed"})),
        "bound": float("bound" in sorts),
        "alone": float(len(found.listed.entries) == 1),
        "conflicts": float(found.conflicts > 0),
        "name": float("name" in sorts),
        "name share": len(said & names) / max(len(names), 1),
        "nickname": float("nickname" in sorts),
        "definite nickname": float(definite and sorts == {"nickname"}),
        "seen": _seen(found),
        "unseen name": float(bool(found.listed.captions) and "name" in sorts and not _seen(found)),
        "told": float(bool(found.listed.captions)),
        "slipped strange": float(
            any(
                each.sort == "nickname" and bool({each.places.start - 1, each.places.stop} & strange)
                for each in found.telling
            )
        ),
        "short nickname": float(
            any(each.sort == "nickname" and len(each.words) <= _SHORT_NICKNAME for each in found.telling)
        ),
        "goal": float(
            first > 0 and marks[first - 1].text in _GOALS and any(mark.has("it", "this", "them") for mark in marks)
        ),
        "typed": float("typed" in sorts or "code" in sorts),
        "state": float("state" in sorts),
        "value only": float(sorts <= {"value"}),
        "older": float(found.listed is not ledger.shown_lists[-1]),
        "just shown": float(ledger.turn - found.listed.turn <= 1),
        "short": float(total <= 3),
        "long": float(total >= 7),
        "list size": min(len(found.listed.entries), 10) / 10,
    }
