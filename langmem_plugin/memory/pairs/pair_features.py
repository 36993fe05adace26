"""A new text held against a known one, as numbers: what both say, what is left over on each side, and the cues."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from langmem_plugin.facts import Relation, Statement, another_subject
from langmem_plugin.facts.changes import ended
from langmem_plugin.facts.marks import adds, marks_of
from langmem_plugin.facts.values import canonical, within
from langmem_plugin.memory.pairs.text_profile import Kind, Profile, Word, initial, profile

Features = dict[str, float]

_KINDS: Final[tuple[Kind, ...]] = ("number", "time", "day", "name", "role", "period", "word")
_MARKS: Final[tuple[Kind, ...]] = ("number", "time", "day")
_NAMING: Final = frozenset(("name", "role", "word"))
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
    """Of one pair; `rule` is what the rules say of it."""
    ours, theirs = profile(told.text), profile(held.text)
    of_new = {word: best_match(word, theirs) for word in ours.words if word.kind != "cue"}
    of_old = {word: best_match(word, ours) for word in theirs.words if word.kind != "cue"}
    found = _shares(of_new, of_old) | _kinds(of_new, of_old) | _cues(ours, theirs)
    found |= _subjects(ours, theirs, of_new, of_old)
    found |= _order(ours, theirs) | _sides(told, held, ours) | _read(told, held, rule)
    found["longer"] = max(-_MOST_SHARED, min(_MOST_SHARED, (len(ours.in_order) - len(theirs.in_order)) / 6))
    over = ended(told.text)
    found["ends it"] = float(any(within(each, held.text) for each in over))
    found["of one alone"] = float(_of_one_alone(of_new, ours.capitals & theirs.capitals) and not _tied(found))
    found["turned round"] = float(
        bool(found["names turned"] or found.pop("numbers turned")) and ours.forms == theirs.forms
    )
    passed = ours.passes and theirs.passes
    found["passed by another"] = float(passed and bool(found["names turned"] or found["other who"]))
    return found | _together(found)


def compare_candidates(rows: Sequence[Features]) -> None:
    """Adds to the features of each known text how it stands among the others that the same new one may concern."""
    ahead = _ahead([row["cov new"] + row["cov old"] for row in rows])
    shared = _ahead([row.pop("heavy shared") for row in rows])
    for row, lead, lead_shared in zip(rows, ahead, shared, strict=True):
        best = row["best"] = float(lead >= 0)
        row["ahead shared"] = lead_shared
        row["cov new x best"], row["cov old x best"] = row["cov new"] * best, row["cov old"] * best
        row["shared number x best"] = min(row["shared number"], 1.0) * best
        row["swap x best"] = max(row["marks swap"], row["swap name"], row["swap word"]) * best
        row["moving or now x best"] = row["moving or now"] * best
        row["moving or happened x ahead"] = row["moving or happened"] * lead


def _ahead(scores: Sequence[float]) -> list[float]:
    """By how much each is more than the most of the others."""
    others = (max((each for place, each in enumerate(scores) if place != at), default=0.0) for at in range(len(scores)))
    return [max(-3.0, min(3.0, score - other)) for score, other in zip(scores, others, strict=True)]


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
        "heavy left new": min(sum(word.weight * (1 - sure) for word, sure in of_new.items()), _MOST_LEFT),
        "heavy left old": min(sum(word.weight * (1 - sure) for word, sure in of_old.items()), _MOST_LEFT),
        "heavy shared": min(sum(word.weight * sure for word, sure in of_new.items()), _MOST_LEFT),
    }


def _share(matched: Mapping[Word, float]) -> float:
    whole = sum(word.weight for word in matched)
    return sum(word.weight * sure for word, sure in matched.items()) / whole if whole else 0.0


def _kinds(of_new: Mapping[Word, float], of_old: Mapping[Word, float]) -> Features:
    """What is left over on each side and what both say, by kind; a mark of one kind on each side is a swap."""
    left_new, left_old, shared = (dict[Kind, float].fromkeys(_KINDS, 0.0) for _ in range(3))
    for word, sure in of_new.items():
        left_new[word.kind] += 1 - sure
        shared[word.kind] += sure
    for word, sure in of_old.items():
        left_old[word.kind] += 1 - sure
    found = {f"left new {kind}": min(left_new[kind], 3.0) for kind in ("time", "day", "name")}
    found |= {f"left old {kind}": min(left_old[kind], 3.0) for kind in ("number", "day")}
    found |= {f"shared {kind}": min(shared[kind], 3.0) for kind in ("number", "time", "day", "word")}
    for kind in ("number", "period", "name", "word"):
        found[f"swap {kind}"] = float(left_new[kind] >= _NEARLY and left_old[kind] >= _NEARLY)
    new, old, both = (sum(each[kind] for kind in _MARKS) > 0 for each in (left_new, left_old, shared))
    things = shared["word"] + shared["name"] + shared["role"]
    found["marks old"] = float(old)
    found["marks swap"] = float(new and old)
    found["marks all"] = float(both and not new and not old)
    found["things"] = min(things, _MOST_SHARED)
    found["no things"] = float(things < _HALF)
    return found


def _cues(ours: Profile, theirs: Profile) -> Features:
    found = {f"new {cue}": float(cue in ours.cues) for cue in ("now", "fresh", "same", "change", "add")}
    found |= {f"old {cue}": float(cue in theirs.cues) for cue in ("now", "fresh", "change", "end")}
    moving = not _MOVING.isdisjoint(ours.cues)
    found["moving"] = float(moving)
    found["moving or now"] = float(moving or "now" in ours.cues)
    found["same moving"] = float(not _MOVING.isdisjoint(ours.cues & theirs.cues))
    found["moved before"] = found["moving or now"] * float(not {"now", "change", "end"}.isdisjoint(theirs.cues))
    turns = (("begin", "end"), ("end", "begin"))
    found["turned about"] = float(
        any(one in ours.cues - theirs.cues and two in theirs.cues - ours.cues for one, two in turns)
    )
    found["happened new"] = float(ours.happened > 0)
    found["moving or happened"] = float(moving or ours.happened > 0)
    found["now last"] = float(ours.now_last)
    return found


def _subjects(ours: Profile, theirs: Profile, of_new: Mapping[Word, float], of_old: Mapping[Word, float]) -> Features:
    begins = bool(of_new) and bool(of_old) and alike(next(iter(of_new)).form, next(iter(of_old)).form) > _HALF
    return {
        "roles new": float(len(ours.roles - theirs.roles)),
        "name new": float(any(sure < _HALF for word, sure in of_new.items() if word.kind == "name")),
        "first new": float(_begins_with_another(ours, of_new)),
        "first same": float(begins),
    }


def _tied(found: Features) -> bool:
    """Whether two texts have more in common than whom they name."""
    marks = any(found[f"shared {kind}"] for kind in _MARKS)
    return marks or any(found[name] for name in ("marks swap", "ends it", "rule decides", "same attribute"))


def _of_one_alone(of_new: Mapping[Word, float], capitals: frozenset[str]) -> bool:
    """Whether both have no more in common than whom they name: "Ben owes me 50" and "Ben sold his car"."""
    shared = [word for word, sure in of_new.items() if sure >= _HALF and word.kind in _NAMING]
    return len(shared) == 1 and all(word.kind != "word" or word.written in capitals for word in shared)


def _begins_with_another(one: Profile, matched: Mapping[Word, float]) -> bool:
    """Whether a text begins with a word that the other does not say: it may be somebody's name."""
    first = next(iter(matched), None)
    return first is not None and bool(one.begins) and first.written[:3] == one.begins[:3] and matched[first] < _HALF


def _order(ours: Profile, theirs: Profile) -> Features:
    """Whether both are built alike: of two texts of one pattern, what stands in one's place is another thing."""
    one, other = ([word.form for word in each.words] for each in (ours, theirs))
    steps = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    same = sum(end - start for tag, start, end, *_ in steps if tag == "equal")
    built = 2 * same / max(len(one) + len(other), 1)
    only_replaced = all(tag in ("equal", "replace") for tag, *_ in steps)
    another = any(
        tag == "replace"
        and end - start == stop - begin == 1
        and _tells_apart(ours.words[start], theirs)
        and _tells_apart(theirs.words[begin], ours)
        for tag, start, end, begin, stop in steps
    )
    shared = (ours.named | theirs.named | {"self"}) & ours.said & theirs.said
    first, last = ([*dict.fromkeys(word for word in each.in_order if word in shared)] for each in (ours, theirs))
    counted = [[word.form for word in each.words if word.kind == "number"] for each in (ours, theirs)]
    return {
        "built alike": built,
        "replaced once": float(sum(tag == "replace" for tag, *_ in steps) == 1) * built,
        "only replaced": float(only_replaced) * built,
        "another in its place": float(another and only_replaced and len(ours.in_order) == len(theirs.in_order)),
        "names turned": float(first != last),
        "numbers turned": float(counted[0] != counted[1] and sorted(counted[0]) == sorted(counted[1])),
        "bound otherwise": float(_bound_otherwise(ours, theirs)),
    }


def _sides(told: Statement, held: Statement, ours: Profile) -> Features:
    """Whether each says a side that the other does not, and nothing has changed: "the right eye", "the left eye"."""
    said, heard = _telling(told.text), _telling(held.text)
    swapped = bool(said - heard and heard - said)
    return {"other side": float(swapped and _MOVING.isdisjoint(ours.cues) and "now" not in ours.cues)}


def _bound_otherwise(ours: Profile, theirs: Profile) -> bool:
    """Whether one word binds another one in each, of words that both say: "allergic to peanuts", "allergic to Dana"."""
    return any(
        bound != held and bound in theirs.said and held in ours.said
        for word, bound in ours.bound - theirs.bound
        for other, held in theirs.bound - ours.bound
        if word == other
    )


def _tells_apart(word: Word, other: Profile) -> bool:
    return word.kind in ("word", "name") and word.weight >= 1 and best_match(word, other) < _HALF


def _read(told: Statement, held: Statement, rule: Relation) -> Features:
    """What the rules have read in both texts."""
    one, other = told.slot, held.slot
    return {
        "rule decides": float(rule.kind in _DECIDED),
        "rule keeps": float(rule.kind == "keeps_both"),
        "another subject": float(another_subject(told, held)),
        "other who": float(one is not None and other is not None and one.who != other.who),
        "same attribute": float(one is not None and other is not None and one.attribute == other.attribute),
        "adds new": float(adds(told.text, held.text)),
        "adds old": float(adds(held.text, told.text)),
    }


def _together(found: Features) -> Features:
    """What counts only beside something else."""
    quiet, still = 1 - found["moving"], 1 - found["moving or now"]
    return {
        "quiet x add": quiet * found["new add"],
        "quiet x cov new": quiet * found["cov new"],
        "quiet x cov old": quiet * found["cov old"],
        "quiet x name new": quiet * found["name new"],
        "still x cov new": still * found["cov new"],
        "moving or now x things": found["moving or now"] * found["things"],
        "moving or happened x marks all": found["moving or happened"] * found["marks all"],
        "moving or happened x first new": found["moving or happened"] * found["first new"],
        "marks swap x things": found["marks swap"] * found["things"],
    }
