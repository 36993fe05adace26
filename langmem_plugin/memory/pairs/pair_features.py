"""A new text held against a known one, as numbers: what both say, what is left over on each side, and the cues."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from langmem_plugin.facts import Relation, Statement, another_subject
from langmem_plugin.facts.marks import adds
from langmem_plugin.memory.pairs.text_profile import Kind, Profile, Word, initial, profile

Features = dict[str, float]

_KINDS: Final[tuple[Kind, ...]] = ("number", "time", "day", "name", "role", "period", "word")
_MARKS: Final[tuple[Kind, ...]] = ("number", "time", "day")
_EXACT: Final = frozenset(("number", "time", "day", "period", "role"))
_MOVING: Final = frozenset(("change", "amount", "end", "correct", "paid", "back"))
_DECIDED: Final = frozenset(("duplicate", "supersedes"))
_HEBREW_BEFORE: Final = frozenset("ושהבלכמנית")
_HEBREW_AFTER: Final = ("ים", "ימ", "ות", "תי", "נו", "ית", "ה", "ת", "י", "ו")
# How surely two words are one: of one beginning, of one root, or but for a slip of the finger.
_ROOT, _LONGER, _MUCH_LONGER, _BEGINNING, _SWAPPED, _LEFT_OUT, _MISTYPED = 0.85, 0.8, 0.6, 0.7, 0.75, 0.65, 0.6
_NEARLY = 0.9
_HALF = 0.5
_SHORTEST, _SHORTEST_TYPED, _SHORTEST_BEGINNING = 3, 4, 5
_MOST_SHARED, _MOST_LEFT = 2.0, 6.0


def features(told: Statement, held: Statement, rule: Relation) -> Features:
    """The features of one pair; `rule` is the relation by the rules."""
    ours, theirs = profile(told.text), profile(held.text)
    of_new = {word: best_match(word, theirs) for word in ours.words if word.kind != "cue"}
    of_old = {word: best_match(word, ours) for word in theirs.words if word.kind != "cue"}
    found = _shares(of_new, of_old) | _kinds(of_new, of_old) | _cues(ours, theirs)
    found |= _subjects(ours, theirs, of_new, of_old) | _order(ours, theirs) | _read(told, held, rule)
    found["of one alone"] = float(_of_one_alone(of_new, found, ours.capitals & theirs.capitals))
    quiet = 1 - found.pop("moving")
    return found | {f"quiet x {name}": quiet * found[name] for name in ("new add", "cov new", "cov old")}


def _of_one_alone(of_new: Mapping[Word, float], found: Features, capitals: frozenset[str]) -> bool:
    """True where both share only the name of a person: "Ben owes me 50" and "Ben sold his car"."""
    shared = [word for word, sure in of_new.items() if sure >= _HALF and word.kind not in ("period", "cue")]
    tied = found["rule decides"] or found["same attribute"]
    return not tied and len(shared) == 1 and (shared[0].kind in ("name", "role") or shared[0].written in capitals)


def compare_candidates(rows: Sequence[Features]) -> None:
    """Adds to the features of each known text how it stands among the others that the same new one may concern."""
    ahead = _ahead([row["cov new"] + row["cov old"] for row in rows])
    shared = _ahead([row.pop("heavy shared") for row in rows])
    for row, lead, lead_shared in zip(rows, ahead, shared, strict=True):
        best = row["best"] = float(lead >= 0)
        row["ahead shared"] = lead_shared
        row["shared number x best"] = min(row["shared number"], 1.0) * best
        row |= {f"{name} x best": row[name] * best for name in ("cov new", "cov old", "moving or now")}
        row["moving or happened x ahead"] = row["moving or happened"] * lead


def _ahead(scores: Sequence[float]) -> list[float]:
    """The lead of each score over the best of the others."""
    others = (max((each for place, each in enumerate(scores) if place != at), default=0.0) for at in range(len(scores)))
    return [max(-3.0, min(3.0, score - other)) for score, other in zip(scores, others, strict=True)]


def nearness(new: str, old: str) -> float:
    """How much both say, roughly: by the words that are the same in both."""
    ours, theirs = profile(new), profile(old)
    return sum(word.weight for word in ours.words if word.form in theirs.forms)


@lru_cache(65_536)
def alike(one: str, other: str) -> float:
    """How surely two words are one: 1 for the same, less for other endings or a slip of the finger."""
    if one == other:
        return 1.0
    short, long = sorted((one, other), key=len)
    if len(short) < _SHORTEST or any(word[0].isdigit() or word[0] == "=" for word in (one, other)):
        return 0.0
    if all("\u05d0" <= word[0] <= "\u05ea" for word in (one, other)):
        return _ROOT if _root(one) == _root(other) else _slip(short, long)
    if len(short) >= _SHORTEST_TYPED and long.startswith(short):
        return _LONGER if len(long) - len(short) <= _SHORTEST else _MUCH_LONGER
    common = next((at for at, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short))
    if common >= _SHORTEST_BEGINNING or (common >= _SHORTEST_TYPED and common >= _BEGINNING * len(long)):
        return _BEGINNING
    return _slip(short, long)


def best_match(word: Word, other: Profile) -> float:
    """How surely a word is said in another text too."""
    if word.kind in _EXACT:
        beside = other.words if word.kind == "time" else other.times
        return 1.0 if word.form in other.forms else max((_same_time(word, each) for each in beside), default=0.0)
    spoken = other.spoken.get(initial(word.form), frozenset())
    return 1.0 if word.form in spoken else max((alike(word.form, each) for each in spoken), default=0.0)


def _same_time(one: Word, other: Word) -> float:
    if {one.kind, other.kind} == {"time"} and "?" in one.form + other.form:
        return float(_of_twelve(one.form) == _of_twelve(other.form))
    if {one.kind, other.kind} == {"time", "number"}:
        time, number = (one, other) if one.kind == "time" else (other, one)
        if number.form.isdigit() and len(number.form) < _SHORTEST:
            return _NEARLY * (_of_twelve(time.form) == (int(number.form) % 12, "00"))
    return 0.0


def _of_twelve(time: str) -> tuple[int, str]:
    hour, _, minute = time[1:].rstrip("?").partition(":")
    return int(hour) % 12, minute


def _slip(short: str, long: str) -> float:
    if len(short) < _SHORTEST_TYPED or len(long) - len(short) > 1 or short[0] != long[0]:
        return 0.0
    if len(short) < len(long):
        return _LEFT_OUT if any(long[:at] + long[at + 1 :] == short for at in range(len(long))) else 0.0
    apart = [at for at in range(len(short)) if short[at] != long[at]]
    if len(apart) == 1 and len(short) > _SHORTEST_TYPED:
        return _MISTYPED
    swapped = len(apart) == 2 and apart[1] == apart[0] + 1 and short[apart[0]] == long[apart[1]]  # noqa: PLR2004
    return _SWAPPED if swapped and short[apart[1]] == long[apart[0]] else 0.0


@lru_cache(16_384)
def _root(word: str) -> str:
    """The letters of a Hebrew word's root, more or less: without what is written onto it, and without vowels."""
    while len(word) > _SHORTEST and word[0] in _HEBREW_BEFORE:
        word = word[1:]
    ending = next((each for each in _HEBREW_AFTER if word.endswith(each) and len(word) - len(each) >= 2), "")  # noqa: PLR2004
    bare = word[: len(word) - len(ending)]
    return bare.replace("ו", "").replace("י", "") or bare


def _shares(of_new: Mapping[Word, float], of_old: Mapping[Word, float]) -> Features:
    new, old = _share(of_new), _share(of_old)
    return {
        "cov new": new,
        "cov old": old,
        "cov both": new * old,
        "heavy left old": min(sum(word.weight * (1 - sure) for word, sure in of_old.items()), _MOST_LEFT),
        "heavy shared": min(sum(word.weight * sure for word, sure in of_new.items()), _MOST_LEFT),
    }


def _share(matched: Mapping[Word, float]) -> float:
    whole = sum(word.weight for word in matched)
    return sum(word.weight * sure for word, sure in matched.items()) / whole if whole else 0.0


def _kinds(of_new: Mapping[Word, float], of_old: Mapping[Word, float]) -> Features:
    """Count the words left over on each side and those shared, by kind; one mark of a kind on each side is a swap."""
    left_new, left_old, shared = (dict[Kind, float].fromkeys(_KINDS, 0.0) for _ in range(3))
    for word, sure in of_new.items():
        left_new[word.kind] += 1 - sure
        shared[word.kind] += sure
    for word, sure in of_old.items():
        left_old[word.kind] += 1 - sure
    found = {f"left new {kind}": min(left_new[kind], 3.0) for kind in ("time", "day", "name")}
    for kind in ("number", "period"):
        found[f"swap {kind}"] = float(left_new[kind] >= _NEARLY and left_old[kind] >= _NEARLY)
    things = shared["word"] + shared["name"] + shared["role"]
    found["shared number"] = min(shared["number"], 3.0)
    found["marks old"] = float(sum(left_old[kind] for kind in _MARKS) > 0)
    found["things"] = min(things, _MOST_SHARED)
    found["no things"] = float(things < _HALF)
    return found


def _cues(ours: Profile, theirs: Profile) -> Features:
    moving = not _MOVING.isdisjoint(ours.cues)
    return {
        "moving": float(moving),
        "moving or now": float(moving or "now" in ours.cues),
        "moving or happened": float(moving or ours.happened > 0),
        "new add": float("add" in ours.cues),
        "turned about": float(
            ("begin" in ours.cues - theirs.cues and "end" in theirs.cues - ours.cues)
            or ("end" in ours.cues - theirs.cues and "begin" in theirs.cues - ours.cues)
        ),
    }


def _subjects(ours: Profile, theirs: Profile, of_new: Mapping[Word, float], of_old: Mapping[Word, float]) -> Features:
    begins = bool(of_new) and bool(of_old) and alike(next(iter(of_new)).form, next(iter(of_old)).form) > _HALF
    return {
        "roles new": float(len(ours.roles - theirs.roles)),
        "name new": float(any(sure < _HALF for word, sure in of_new.items() if word.kind == "name")),
        "first new": float(_begins_with_another(ours, of_new)),
        "first same": float(begins),
    }


def _begins_with_another(one: Profile, matched: Mapping[Word, float]) -> bool:
    """True where a text begins with a word that the other does not hold: it may be somebody's name."""
    first = next(iter(matched), None)
    return first is not None and bool(one.begins) and first.written[:3] == one.begins[:3] and matched[first] < _HALF


def _order(ours: Profile, theirs: Profile) -> Features:
    """Compare the order of words: where two texts follow one pattern, a word in another's place is another thing."""
    one, other = ([word.form for word in each.words] for each in (ours, theirs))
    steps = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    same = sum(end - start for tag, start, end, *_ in steps if tag == "equal")
    another = all(tag in ("equal", "replace") for tag, *_ in steps) and any(
        tag == "replace"
        and end - start == stop - begin == 1
        and _tells_apart(ours.words[start], theirs)
        and _tells_apart(theirs.words[begin], ours)
        for tag, start, end, begin, stop in steps
    )
    shared = (ours.named | theirs.named | {"self"}) & set(ours.in_order) & set(theirs.in_order)
    named = ([*dict.fromkeys(word for word in each.in_order if word in shared)] for each in (ours, theirs))
    counted = ([word.form for word in each.words if word.kind == "number"] for each in (ours, theirs))
    turned = any(first != last and sorted(first) == sorted(last) for first, last in (tuple(named), tuple(counted)))
    return {
        "built alike": 2 * same / max(len(one) + len(other), 1),
        "another in its place": float(another and len(ours.in_order) == len(theirs.in_order)),
        "turned round": float(turned and ours.forms == theirs.forms),
    }


def _tells_apart(word: Word, other: Profile) -> bool:
    return word.kind in ("word", "name") and word.weight >= 1 and best_match(word, other) < _HALF


def _read(told: Statement, held: Statement, rule: Relation) -> Features:
    """The findings of the rules in both texts."""
    one, other = told.slot, held.slot
    return {
        "rule decides": float(rule.kind in _DECIDED),
        "another subject": float(another_subject(told, held)),
        "same attribute": float(one is not None and other is not None and one.attribute == other.attribute),
        "adds new": float(adds(told.text, held.text)),
        "adds old": float(adds(held.text, told.text)),
    }
