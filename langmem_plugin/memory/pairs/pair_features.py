"""A new text held against a known one, as numbers: what both say, what is left over on each side, and the cues."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from langmem_plugin.facts import Relation, Statement
from langmem_plugin.facts.marks import adds, marks_of
from langmem_plugin.facts.tokens import plain
from langmem_plugin.facts.values import canonical
from langmem_plugin.memory.pairs.cue_words import TRANSFERS
from langmem_plugin.memory.pairs.text_profile import Kind, Profile, Word, profile

Features = dict[str, float]

_KINDS: Final[tuple[Kind, ...]] = ("number", "time", "day", "name", "role", "period", "word")
_MARKS: Final[tuple[Kind, ...]] = ("number", "time", "day")
_NAMING: Final = frozenset(("name", "role", "word"))
_EXACT: Final = frozenset(("number", "time", "day", "period", "role"))
_CUES: Final = (
    *("now", "change", "amount", "end", "correct", "paid", "add"),
    *("still", "begin", "back", "past", "not", "when"),
)
_MOVING: Final = frozenset(("change", "amount", "end", "correct", "paid", "back"))
_REASONS: Final = ("about somebody", "there can be several", "may be about", "something more", "ends")
_HEBREW_BEFORE: Final = frozenset("ושהבלכמנית")
_HEBREW_AFTER: Final = ("ים", "ימ", "ות", "תי", "נו", "ית", "ה", "ת", "י", "ו")
# How surely two words are one: of one beginning, of one root, or but for a slip of the finger.
_ROOT, _LONGER, _MUCH_LONGER, _BEGINNING, _SWAPPED, _LEFT_OUT, _MISTYPED = 0.85, 0.8, 0.6, 0.7, 0.75, 0.65, 0.6
_WRITTEN = re.compile(r"[^\W\d_]++")
_NEARLY = 0.9
_HALF = 0.5
_SHORTEST, _SHORTEST_TYPED, _SHORTEST_BEGINNING = 3, 4, 5


def features(new: str, old: str, told: Statement, held: Statement, rule: Relation) -> Features:
    """Of one pair; `rule` is what the rules say of it."""
    ours, theirs = profile(new), profile(old)
    of_new = {word: best_match(word, theirs) for word in ours.words if word.kind != "cue"}
    of_old = {word: best_match(word, ours) for word in theirs.words if word.kind != "cue"}
    found = _shares(of_new, of_old)
    found |= _kinds(of_new, of_old)
    found |= _cues(ours, theirs)
    found |= _subjects(ours, theirs, of_new, of_old)
    found |= _order(new, old, ours, theirs)
    found |= _read(told, held, rule)
    found["adds new"], found["adds old"] = float(adds(new, old)), float(adds(old, new))
    found["length"] = min(ours.length, 30) / 10
    found["longer"] = _within((ours.length - theirs.length) / 6, 2.0)
    passed = not TRANSFERS.isdisjoint(ours.spelled) and not TRANSFERS.isdisjoint(theirs.spelled)
    found["passed by another"] = float(passed and bool(found["names turned"] or found.get("other who")))
    found["of one alone"] = float(_of_one_alone(new, old, of_new) and not found["marks swap"])
    found |= _together(found)
    return found


def compare_candidates(rows: Sequence[Features]) -> None:
    """Adds to the features of each known text how it stands among the others that the same new one may concern."""
    by_both = [row["cov new"] + row["cov old"] for row in rows]
    for name, scores in (
        ("ahead", by_both),
        ("ahead said", [row["cov new"] for row in rows]),
        ("ahead shared", [row["heavy shared"] for row in rows]),
    ):
        for at, row in enumerate(rows):
            others = (score for place, score in enumerate(scores) if place != at)
            row[name] = _within(scores[at] - max(others, default=0.0), 3.0)
    for row in rows:
        row["best"] = float(row["ahead"] >= 0)
        row["moving x ahead"] = row["moving or happened"] * row["ahead"]
        row["moving x best"] = row["moving or happened"] * row["best"]
        row["now x ahead"] = row["new now"] * row["ahead"]


def nearness(new: str, old: str) -> float:
    """How much both say, roughly: by the words that are the same in both."""
    ours, theirs = profile(new), profile(old)
    return sum(word.weight for word in ours.words if word.form in theirs.forms)


def of_one_thing(new: Statement, old: Statement) -> bool:
    """Whether both say the same of the same thing but for the value: no word of theirs names another one."""
    if _telling(new.text) != _telling(old.text):
        return False
    for one, other in ((new, old), (old, new)):
        value, beside = canonical(one.value or ""), profile(other.text)
        said = (word for word in profile(one.text).words if word.kind in _NAMING and word.written not in value)
        if any(best_match(word, beside) < _HALF for word in said):
            return False
    return True


def _telling(text: str) -> set[str]:
    return {mark for mark in marks_of(text) if mark.startswith("telling")}


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
        return max((_same_mark(word, each) for each in other.words), default=0.0)
    told = (alike(word.form, each.form) for each in other.words if each.kind in ("word", "name", "cue"))
    found = max(told, default=0.0)
    return found if found == 1.0 else max(found, max((alike(word.form, stem) for stem in other.stems), default=0.0))


def _same_mark(one: Word, other: Word) -> float:
    if one.form == other.form:
        return 1.0
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
        "cov min": min(new, old),
        "cov max": max(new, old),
        "heavy left new": min(sum(word.weight * (1 - sure) for word, sure in of_new.items()), 6.0),
        "heavy left old": min(sum(word.weight * (1 - sure) for word, sure in of_old.items()), 6.0),
        "heavy shared": min(sum(word.weight * sure for word, sure in of_new.items()), 6.0),
    }


def _share(matched: Mapping[Word, float]) -> float:
    whole = sum(word.weight for word in matched)
    return sum(word.weight * sure for word, sure in matched.items()) / whole if whole else 0.0


def _kinds(of_new: Mapping[Word, float], of_old: Mapping[Word, float]) -> Features:
    """What is left over on each side and what both say, by kind; a mark of one kind on each side is a swap."""
    found: Features = {}
    left_new, left_old, shared = (dict[Kind, float].fromkeys(_KINDS, 0.0) for _ in range(3))
    for word, sure in of_new.items():
        left_new[word.kind] += 1 - sure
        shared[word.kind] += sure
    for word, sure in of_old.items():
        left_old[word.kind] += 1 - sure
    for kind in _KINDS:
        found[f"left new {kind}"] = min(left_new[kind], 3.0)
        found[f"left old {kind}"] = min(left_old[kind], 3.0)
        found[f"shared {kind}"] = min(shared[kind], 3.0)
        found[f"swap {kind}"] = float(left_new[kind] >= _NEARLY and left_old[kind] >= _NEARLY)
    new, old, both = (sum(each[kind] for kind in _MARKS) > 0 for each in (left_new, left_old, shared))
    things = shared["word"] + shared["name"] + shared["role"]
    found["marks new"], found["marks old"] = float(new), float(old)
    found["marks swap"] = float(new and old)
    found["marks all"] = float(both and not new and not old)
    found["things"] = min(things, 4.0)
    found["no things"] = float(things < _HALF)
    return found


def _cues(ours: Profile, theirs: Profile) -> Features:
    found = {f"new {cue}": float(cue in ours.cues) for cue in _CUES}
    found |= {f"old {cue}": float(cue in theirs.cues) for cue in _CUES}
    moving = not _MOVING.isdisjoint(ours.cues)
    found["moving"] = float(moving)
    found["moving or now"] = float(moving or "now" in ours.cues)
    found["moving new only"] = float(moving and _MOVING.isdisjoint(theirs.cues))
    found["same moving"] = float(not _MOVING.isdisjoint(ours.cues & theirs.cues))
    found["not differs"] = float(("not" in ours.cues) != ("not" in theirs.cues))
    found["end differs"] = float("end" in ours.cues - theirs.cues)
    found["happened new"] = float(ours.happened > 0)
    found["happened differs"] = float(ours.happened > 0 and not theirs.happened)
    found["moving or happened"] = float(moving or ours.happened > 0)
    return found


def _subjects(ours: Profile, theirs: Profile, of_new: Mapping[Word, float], of_old: Mapping[Word, float]) -> Features:
    new, old = ours.roles - theirs.roles, theirs.roles - ours.roles
    return {
        "roles new": float(len(new)),
        "roles old": float(len(old)),
        "roles same": float(not ours.roles.isdisjoint(theirs.roles)),
        "roles differ": float(bool(new and old)),
        "self both": float(ours.of_self and theirs.of_self),
        "self new only": float(ours.of_self and not theirs.of_self),
        "self old only": float(theirs.of_self and not ours.of_self),
        "name new": float(any(sure < _HALF for word, sure in of_new.items() if word.kind == "name")),
        "name old": float(any(sure < _HALF for word, sure in of_old.items() if word.kind == "name")),
        "first new": float(_begins_with_another(ours, of_new)),
        "first old": float(_begins_with_another(theirs, of_old)),
        "first same": float(
            bool(of_new) and bool(of_old) and alike(next(iter(of_new)).form, next(iter(of_old)).form) > _HALF
        ),
    }


def _of_one_alone(new: str, old: str, of_new: Mapping[Word, float]) -> bool:
    """Whether both have no more in common than whom they name: "Ben owes me 50" and "Ben sold his car"."""
    capitals = _capitals(new) & _capitals(old)
    shared = [word for word, sure in of_new.items() if sure >= _HALF and word.kind in _NAMING]
    return bool(shared) and all(word.kind != "word" or word.written in capitals for word in shared)


def _capitals(text: str) -> set[str]:
    return {plain(word) for word in _WRITTEN.findall(text) if word[0].isupper()}


def _begins_with_another(one: Profile, matched: Mapping[Word, float]) -> bool:
    """Whether a text begins with a word that the other does not say: it may be somebody's name."""
    first = next(iter(matched), None)
    return first is not None and bool(one.begins) and first.written[:3] == one.begins[:3] and matched[first] < _HALF


def _order(new: str, old: str, ours: Profile, theirs: Profile) -> Features:
    """Whether both are built alike: of two texts of one pattern, what stands in one's place is another thing."""
    one, other = ([word.form for word in each.words] for each in (ours, theirs))
    steps = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    same = sum(end - start for tag, start, end, *_ in steps if tag == "equal")
    built = 2 * same / max(len(one) + len(other), 1)
    replaced = sum(tag == "replace" for tag, *_ in steps)
    places = [
        at
        for at, (tag, start, end, begin, stop) in enumerate(steps)
        if tag == "replace"
        and end - start == stop - begin == 1
        and _tells_apart(ours.words[start], theirs)
        and _tells_apart(theirs.words[begin], ours)
    ]
    before = [at > 0 and steps[at - 1][0] == "equal" for at in places]
    behind = [at + 1 < len(steps) and steps[at + 1][0] == "equal" for at in places]
    first, last = (_named_in_order(each, ours, theirs) for each in (ours, theirs))
    counted = [[word.form for word in each.words if word.kind == "number"] for each in (ours, theirs)]
    numbers = counted[0] != counted[1] and sorted(counted[0]) == sorted(counted[1])
    said, told = (_telling(text) for text in (new, old))
    return {
        "built alike": built,
        "replaced once": float(replaced == 1) * built,
        "only replaced": float(all(tag in ("equal", "replace") for tag, *_ in steps)) * built,
        "replaced word": float(bool(places)) * built,
        "another in its place": float(
            bool(places)
            and all(tag in ("equal", "replace") for tag, *_ in steps)
            and len(ours.in_order) == len(theirs.in_order)
        ),
        "replaced between": float(any(a and b for a, b in zip(before, behind, strict=True))) * built,
        "replaced before": float(any(behind)) * built,
        "names turned": float(first != last),
        "numbers turned": float(numbers),
        "turned round": float((first != last or numbers) and set(one) == set(other)),
        "telling new": float(bool(said - told)),
        "telling old": float(bool(told - said)),
        "telling swap": float(bool(said - told and told - said)),
        "other side": float(
            bool(said - told and told - said) and _MOVING.isdisjoint(ours.cues) and "now" not in ours.cues
        ),
    }


def _tells_apart(word: Word, other: Profile) -> bool:
    return word.kind in ("word", "name") and word.weight >= 1 and best_match(word, other) < _HALF


def _named_in_order(one: Profile, *both: Profile) -> list[str]:
    """The speaker and the names that both say, in the order in which one text says them."""
    named = [{"self", *(word.form for word in each.words if word.kind == "name")} for each in both]
    said = [set(each.in_order) for each in both]
    shared = (named[0] | named[1]) & said[0] & said[1]
    return list(dict.fromkeys(word for word in one.in_order if word in shared))


def _read(told: Statement, held: Statement, rule: Relation) -> Features:
    """What the rules have read in both texts, and why they keep both."""
    found = {
        "no slot new": float(told.slot is None),
        "no slot old": float(held.slot is None),
        "rule unrelated": float(rule.kind == "unrelated"),
        "rule keeps": float(rule.kind == "keeps_both"),
    }
    found |= {f"reason {each}": float(each in rule.reason) for each in _REASONS}
    if told.slot is not None and held.slot is not None:
        found["same who"] = float(told.slot.who == held.slot.who)
        found["other who"] = float(told.slot.who != held.slot.who)
        found["same attribute"] = float(told.slot.attribute == held.slot.attribute)
        found["same slot"] = float(told.slot.key == held.slot.key)
    return found


def _together(found: Features) -> Features:
    """What counts only beside something else."""
    moving, quiet, things = found["moving"], 1 - found["moving"], min(found["things"], 2.0)
    return {
        "moving x things": moving * things,
        "moving x no things": moving * found["no things"],
        "moving x marks swap": found["moving or now"] * found["marks swap"],
        "moving x cov old": moving * found["cov old"],
        "moving x roles new": moving * found["roles new"],
        "moving x first new": moving * found["first new"],
        "moving x add": moving * found["new add"],
        "quiet x add": quiet * found["new add"],
        "now x swap": found["new now"] * max(found["marks swap"], found["swap name"], found["swap word"]),
        "end x cov old": found["new end"] * found["cov old"],
        "quiet x cov new": quiet * found["cov new"],
        "quiet x cov old": quiet * found["cov old"],
        "quiet x marks all": quiet * found["marks all"],
        "quiet x marks new": quiet * found["marks new"],
        "quiet x name new": quiet * found["name new"],
        "marks swap x things": found["marks swap"] * things,
    }


def _within(value: float, most: float) -> float:
    return max(-most, min(most, value))
