"""What the rules make of texts: what is worth storing, which facts are in it, what a new fact does to an old one.

python -m benchmarks.writing --data ../shared/evaldata [--show]

`--data` is the folder with store_or_not_dev.jsonl (LAPS, MIT, and LoCoMo, CC BY-NC 4.0) and everyday_dev.jsonl, which
are no part of this project. facts_*.jsonl and changes_*.jsonl beside this file were written for it: rules are tuned
on the first half of each, and believed on the unseen one.

A fact found is right where one of those written down is about the same subject (the speaker, the same role or name, or
a thing whose words stand in the quote, a thing of their own, or those they say "we" with), of the same class of
attributes (the same name, a common word, or the same category in langmem_plugin/facts/attributes.py), of the same value
(its words, numbers and all, contain the other's in some form or share half of them; or the value is when it began or
ended) and agrees on whether it is so ("former employer" is an employer no more; a standing order says it in its words).
Each fact written down is found at most once; what is found twice is wrong. What is told besides is not missed: the name
by which a fact is told ("my sister Amara lives in Lagos"), a second fact that a right one says whole ("nights at Hotel
Miramar"). The rows with no fact count too: whatever is found in them is wrong.
"""

import argparse
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from langmem_plugin.facts import Statement, classify, statements
from langmem_plugin.facts.attributes import ATTRIBUTES, attribute_of
from langmem_plugin.facts.value_comparison import canonical, within
from langmem_plugin.languages.language_words import LANGUAGES, words
from langmem_plugin.languages.text_normalization import plain
from langmem_plugin.memory import MemoryService

_HERE = Path(__file__).parent
_EVERYDAY_AT = datetime(2026, 11, 26, 12, tzinfo=UTC)
_FACTS = ("facts_tuning.jsonl", "facts_unseen.jsonl")
_CHANGES = ("changes_tuning.jsonl", "changes_unseen.jsonl", "changes_pairs.jsonl", "changes_pairs_unseen.jsonl")
_STORE = "store_or_not_dev.jsonl"
_EVERYDAY = "everyday_dev.jsonl"
_POSSESSIVES = frozenset(word for language in LANGUAGES for word in language.possessives)
_OWN_PLACES = words(
    "company|business|shop|office|flat|house|apartment|empresa|negocio|tienda|oficina|piso|casa|חברה|עסק|חנות|משרד|דירה"
)
_PETS = ("pet", "dog", "cat")
_TOGETHER = frozenset(("family", "household", "farm", "team", "band", "company", "business", "shop"))
_ROLES = {" ".join(phrase): role for language in LANGUAGES for phrase, role in language.people.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="the folder that holds store_or_not_dev.jsonl")
    parser.add_argument("--show", action="store_true", help="list what was missed and what was wrong")
    said = parser.parse_args()
    if said.data is not None:
        classification(said.data / _STORE, show=said.show)
        everyday(said.data / _EVERYDAY, show=said.show)
    for name in _FACTS:
        if rows := _rows(_HERE / name):
            extraction(name, rows, show=said.show)
    for name in _CHANGES:
        if rows := _rows(_HERE / name):
            changes(name, rows, show=said.show)


def classification(path: Path, *, show: bool) -> None:
    """Precision, recall and F1 of "worth storing"."""
    if not (rows := _rows(path)):
        return
    print(f"{'worth storing':34} {'precision':>9} {'recall':>7} {'F1':>6}")
    for part in ("laps", "locomo", "all"):
        counts: Counter[tuple[bool, bool]] = Counter()
        for row in rows:
            if part in (row["source"], "all"):
                got = classify(row["utterance"]).should_store
                counts[got, bool(row["store"])] += 1
                if show and part == "laps" and got != bool(row["store"]):
                    print("  ", "missed" if row["store"] else "wrong ", "|", row["utterance"][:140])
        print(f"  {part:32} {_scores(counts[True, True], counts[True, False], counts[False, True])}")


def everyday(path: Path, *, show: bool) -> None:
    """How many messages in everyday words that hold something, and that hold nothing, something was read in.

    What is expected is written in other words, so whether it is right is for a reader: `--show` lists it.
    """
    counts: Counter[tuple[bool, bool]] = Counter()
    rows = _rows(path)
    for row in rows:
        found = statements(row["message"], said_at=_EVERYDAY_AT)
        counts[bool(row["expect"]), bool(found)] += 1
        if show and found:
            print("  ", row["message"], "|", "; ".join(row["expect"]), "=>", "; ".join(each.text for each in found))
    if rows:
        held, empty = (counts[each, True] + counts[each, False] for each in (True, False))
        print(
            f"everyday: read in {counts[True, True]} of {held} that hold a fact ({counts[True, True] / held:.1%}), "
            f"and in {counts[False, True]} of {empty} that hold none"
        )


def extraction(name: str, rows: list[dict], *, show: bool) -> None:
    """Precision and recall of the facts, and of "holds a fact", by language."""
    print(f"{name:34} {'precision':>9} {'recall':>7} {'F1':>6}")
    by_language: dict[str, Counter[str]] = {}
    stored: Counter[tuple[bool, bool]] = Counter()
    for row in rows:
        found = statements(row["text"], said_at=datetime.fromisoformat(row["said_at"]))
        stored[bool(classify(row["text"]).should_store), bool(row["store"])] += 1
        told, open_facts = judged(found, row["facts"])
        for statement, outcome in told:
            for part in (row["lang"], "all"):
                by_language.setdefault(part, Counter())[outcome] += 1
            if show and outcome == "wrong":
                print(
                    "   wrong ",
                    row["text"],
                    "|",
                    statement.slot and statement.slot.key,
                    "=",
                    statement.value,
                    statement.negated,
                    statement.over,
                )
        for part in (row["lang"], "all"):
            by_language.setdefault(part, Counter())["missed"] += len(open_facts)
        if show:
            for fact in open_facts:
                print(
                    "   missed", row["text"], "|", fact["who"], fact["attribute"], "=", fact["value"], fact["negated"]
                )
    for part, counts in sorted(by_language.items()):
        print(f"  {part:32} {_scores(counts['right'], counts['wrong'], counts['missed'])}")
    print(f"  {'worth storing':32} {_scores(stored[True, True], stored[True, False], stored[False, True])}")


def changes(name: str, rows: list[dict], *, show: bool) -> None:
    """Each story is told step by step; what the relation of each fact to those held says is compared with the expected.

    Through a memory service, as an application tells them: each step is remembered as said when it was said. What was
    said before what holds now is told "late", and has to be history at once.
    """
    told: Counter[tuple[str, str]] = Counter()
    right: Counter[str] = Counter()
    with MemoryService("sqlite://") as memory:
        for story in rows:
            ids: list[str] = []
            for step in story["steps"]:
                made = memory.remember(story["id"], step["text"], said_at=datetime.fromisoformat(step["said_at"]))
                ids.append(made.id)
                expected = "late" if step.get("late") else step["expect"]
                got = "late" if made.outcome == "stored" and made.status == "superseded" else made.outcome
                concerned = {ids[index] for index in step.get("concerns", ())} if expected == "superseded" else set()
                well = got == ("stored" if expected == "keep_both" else expected) and concerned <= set(made.concerned)
                told[expected, got] += 1
                right[expected] += well
                if show and not well:
                    print("   wrong ", story["id"], step["text"], "| expected", expected, "got", got)
    print(f"{name:34} {'right':>9}")
    for expected in sorted({expected for expected, _ in told}):
        count = sum(number for (each, _), number in told.items() if each == expected)
        print(f"  {expected:32} {right[expected] / count:9.1%}   ({right[expected]} of {count})")
    print(f"  {'all':32} {sum(right.values()) / max(told.total(), 1):9.1%}   ({sum(right.values())} of {told.total()})")
    both = sum(number for (each, _), number in told.items() if each in ("keep_both", "stored"))
    for got in ("superseded", "duplicate"):
        lost = sum(told[each, got] for each in ("keep_both", "stored"))
        print(f"  {f'what should be kept, {got}':32} {lost / max(both, 1):9.1%}   ({lost} of {both})")


def judged(found: list[Statement], facts: list[dict]) -> tuple[list[tuple[Statement, str]], list[dict]]:
    """Each statement with "right", "wrong" or "known", and the facts that were missed.

    The name of somebody's own is as well told by whom a fact is of: "sister amara" lives in Lagos. So it is not missed
    where it was written down as a fact of its own, and "known", neither right nor wrong, where it was not.
    """
    missed, told = list(facts), []
    for statement in found:
        right = next((fact for fact in missed if is_right(statement, fact)), None)
        if right is not None:
            missed.remove(right)
        known = right is None and any(_names(fact["who"], statement) for fact in facts)
        told.append((statement, "right" if right is not None else "known" if known else "wrong"))
    kept = [statement for statement, outcome in told if outcome == "right"]
    return told, [fact for fact in missed if not any(_tells_too(statement, fact) for statement in kept)]


def _tells_too(statement: Statement, fact: dict) -> bool:
    """Whether one statement tells this fact besides its own: "nights at Hotel Miramar", the hours and the employer."""
    whole = within(fact["value"], statement.value or "") and is_right(statement, fact)
    return whole or _named_by(plain(statement.slot.who), fact)


def _names(who: str, statement: Statement) -> bool:
    """Whether the statement says no more than `who` does: "partner steph" of "my fiancée is Steph"."""
    words = plain(who).split()
    return (
        statement.slot is not None
        and statement.slot.who == "self"
        and statement.slot.attribute in _roles(plain(who))
        and plain(statement.value or "").split() == words[-len((statement.value or "").split()) :]
    )


def _named_by(head: str, fact: dict) -> bool:
    """Whether the fact is a name that `head` holds with its role: "husband avi" of the husband who is called Avi."""
    role, value = _ROLES.get(plain(fact["attribute"]), fact["attribute"]), plain(fact["value"])
    heads = {f"{each} {name}" for each in (_PETS if role in _PETS else (role,)) for name in (value, value.split()[0])}
    return fact["who"] == "self" and not fact["negated"] and head in heads


def is_right(statement: Statement, fact: dict) -> bool:
    """Whether a statement says what `fact` says, loosely: see above."""
    if statement.slot is None or statement.value is None:
        return False
    if plain(statement.value) == plain(fact["who"]) and statement.slot.attribute == plain(fact["value"]):
        return True  # "Anil is our CFO", of the CFO or of Anil
    ours, theirs = _positive(statement.slot.attribute), _positive(fact["attribute"])
    negated = (
        {statement.negated ^ ours[1], statement.over ^ ours[1]} if statement.over else {statement.negated ^ ours[1]}
    )
    return (
        _same_subject(statement, fact)
        and (_same_class(ours[0], theirs[0]) or ours[0] == plain(fact["who"]))
        and (_same_value(statement.value, fact["value"]) or _same_time(statement, fact["value"]))
        and (ours[0] == "instruction" or (fact["negated"] ^ theirs[1]) in negated)  # "never …" is part of an order
    )


def _positive(attribute: str) -> tuple[str, bool]:
    head, _, rest = attribute.partition(" ")
    if head in ("former", "past", "previous"):
        return rest, True
    return ("like", True) if attribute in ("dislike", "dislikes") else (attribute, False)


def _same_subject(statement: Statement, fact: dict) -> bool:
    who, wanted = statement.slot.who, plain(fact["who"])
    if who == wanted or (who == "self" and wanted in _TOGETHER):
        return True
    ours, theirs = _role_and_name(who), _role_and_name(wanted)
    if ours & theirs:
        return True
    if who == "self" and statement.slot.attribute in (_roles(wanted) | theirs | {wanted}):
        return True  # "my husband's name is Tomas": self/husband, or husband/name
    if wanted == "self" and (set(who.split()) <= set(fact["attribute"].split()) or _is_own_thing(who, statement)):
        return True  # "bank card/pin", or self/"bank card pin"; "bar/password" of our bar
    quoted = canonical(statement.quote)
    return not (theirs & set(_ROLES.values())) and wanted != "self" and bool(canonical(wanted) & quoted)


def _is_own_thing(who: str, statement: Statement) -> bool:
    said = set(plain(statement.quote).split())
    return not _roles(who) and (who in _OWN_PLACES or not _POSSESSIVES.isdisjoint(said))


def _roles(who: str) -> set[str]:
    words = who.split()
    return {_ROLES[head] for length in (3, 2, 1) if (head := " ".join(words[:length])) in _ROLES}


def _role_and_name(who: str) -> set[str]:
    words = who.split()
    for length in (3, 2, 1):
        head = " ".join(words[:length])
        role = _ROLES.get(head) or (head if head in _ROLES.values() else None)
        if role is not None:
            return set(words[length:]) or {role, *words}
    return set(words)


def _same_class(ours: str, theirs: str) -> bool:
    if theirs == "name" and ours in _ROLES.values():
        return True
    if ours == theirs or set(ours.split()) & set(theirs.split()):
        return True
    if theirs not in ATTRIBUTES or ours in ("decision", "instruction", "routine", "possession"):
        return True  # a name of the writer's own
    return attribute_of(ours).category == attribute_of(theirs).category


def _same_value(ours: str, theirs: str) -> bool:
    one, other = canonical(ours), canonical(theirs)
    return within(ours, theirs) or within(theirs, ours) or len(one & other) * 2 >= len(one | other) > 0


def _same_time(statement: Statement, value: str) -> bool:
    """As in "divorced since 2021", where the year was written down as the value."""
    return bool(statement.valid_from or statement.valid_to) and within(value, statement.quote)


def _rows(path: Path) -> list[dict]:
    if not path.exists():
        print(f"{path.name}: not there ({path}), skipped")
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _scores(right: int, wrong: int, missed: int) -> str:
    precision, recall = right / max(right + wrong, 1), right / max(right + missed, 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return f"{precision:9.1%} {recall:7.1%} {f1:6.3f}   ({right} right, {wrong} wrong, {missed} missed)"


if __name__ == "__main__":
    main()
