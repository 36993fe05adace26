"""Items by their place in a list, and whole lists: "number 2", "the last two", "both", "the other one", "the one after it"."""

import re
from collections.abc import Sequence

from langmem_plugin.references.meant.by_offer import offered
from langmem_plugin.references.meant.by_properties import described
from langmem_plugin.references.meant.candidate_lists import (
    best_list,
    candidate_lists,
    newest,
    of_type,
    type_words,
    without,
)
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry, long_part
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.tokens import normal, stem
from langmem_plugin.references.words.type_nouns import GROUPS, THING

_SMALLEST_ID = 100
"""Numbers below are counted, never taken for an id."""


def by_numbers(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """Every number must be in the list; a number printed beside an item counts before its place."""
    lists = candidate_lists(utterance, ledger, phrase.nouns)
    if not lists or _foreign(phrase.nouns, ledger):
        return None
    if phrase.lettered:
        lists = [listed for listed in lists if listed.lettered] or lists
    printed = utterance.has("label", "digit", "marker")
    listed = next((listed for listed in lists if not printed or listed.starts_by(min(phrase.numbers))), lists[0])
    among = listed if printed else of_type(listed, phrase.nouns)
    alone = among is not listed and len(among.entries) == 1 and not type_words(phrase.nouns) & GROUPS.keys()
    if alone and phrase.numbers[0] not in (1, -1):
        return None  # "the second jacket" of one
    listed = among
    if len(listed.entries) == 1 and not listed.numbered and not alone:
        listed = _sequence(listed, ledger)
    found = []
    for number in phrase.numbers:
        if number == 0:
            entry = listed.entries[len(listed.entries) // 2] if len(listed.entries) % 2 else None
        else:
            placed = None if printed else listed.in_order(number)
            entry = placed or listed.at(number) or _identified(number, listed, ledger)
        if entry is None:
            return None
        found.append(entry)
    words = utterance.words(phrase)
    reason = f"{words!r} of the {len(listed.entries)} last listed"
    known = listed.known_words | THING | GROUPS.keys()
    strange = not printed and bool(phrase.nouns) and not type_words(phrase.nouns[:1]) & known
    evidence = {"strange noun": float(strange)}
    return Finding(found, words, reason, "number" if printed else "ordinal", listed, evidence=evidence)


def by_end(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "the first two", "the last two"."""
    listed, count = best_list(utterance, ledger, phrase.nouns), phrase.count
    if listed is None or count > len(listed.entries):
        return None
    if phrase.kind == "first":
        return Finding(
            listed.entries[:count], utterance.words(phrase), f"the first {count} last listed", "ordinal", listed
        )
    return Finding(listed.entries[-count:], utterance.words(phrase), f"the last {count} listed", "ordinal", listed)


def by_previous(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "the previous one": what was spoken of before the item in focus."""
    if len(ledger.focus) < 2:
        return None
    return Finding([ledger.focus[-2]], utterance.words(phrase), "the one spoken of before", "older")


def _sequence(last: ShownList, ledger: Ledger) -> ShownList:
    """Single items of one result, offered one after another, count as a list in that order."""
    entries: list[ItemEntry] = []
    for earlier in ledger.shown_lists:
        if earlier.sources == last.sources or (earlier.tool == last.tool and earlier.tool):
            entries += [entry for entry in earlier.entries if not any(entry is other for other in entries)]
    return ShownList(entries, [None] * len(entries), last.turn, "prose", last.nouns, last.tool, sources=last.sources)


def _identified(number: int, listed: ShownList, ledger: Ledger) -> ItemEntry | None:
    """The item whose id a number too large to count is: "order 1042"."""
    if number <= len(listed.entries) or number < _SMALLEST_ID:
        return None
    pool = [entry for earlier in reversed(ledger.shown_lists) for entry in earlier.entries]
    return next((entry for entry in pool if str(number) in entry.identity), None)


def _foreign(nouns: Sequence[str], ledger: Ledger) -> bool:
    """Whether the noun counted is a type that nothing shown has, where the types of what was shown are known."""
    loose = GROUPS.get(stem(nouns[0])) if nouns else None
    if not loose:
        return False
    known = frozenset().union(*(entry.kind_words for listed in ledger.shown_lists[-8:] for entry in listed.entries))
    return not loose & known and any(word in GROUPS for word in known)


def by_all(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "all of them"; "everything" of a single item is its longest part."""
    wanted = type_words(phrase.nouns)
    words = utterance.words(phrase)
    last = ledger.shown_lists[-1]
    part = long_part(last.entries[0]) if len(last.entries) == 1 else None
    if part is not None and words.lower() in ("everything", "todo", "הכל", "הכול"):
        return Finding([last.entries[0]], words, f"the {part} of the one last shown", "part", last, part)
    listed = best_list(utterance, ledger, phrase.nouns)
    if listed is None or (phrase.count and phrase.count != len(listed.entries)):
        return None
    if (
        wanted
        and not any(wanted & entry.kind_words for entry in listed.entries)
        and not wanted & type_words(tuple(listed.nouns))
    ):
        return None
    return Finding(list(listed.entries), words, f"all {len(listed.entries)} last shown", "group", listed)


def by_both(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """The two of a list, else the two that the person spoke of."""
    listed = best_list(utterance, ledger, phrase.nouns)
    listed = of_type(listed, phrase.nouns) if listed is not None else None
    if listed is not None and len(listed.entries) == 2:
        return Finding(list(listed.entries), utterance.words(phrase), "the two last shown", "group", listed)
    if len(ledger.chosen) == 2:
        return Finding(list(ledger.chosen), utterance.words(phrase), "the two spoken of", "group", listed)
    return None


def by_other(
    phrase: Phrase,
    utterance: Utterance,
    ledger: Ledger,
    turned_down: Sequence[ItemEntry],
    beside: Sequence[Mark] = (),
) -> Finding | None:
    """Of two, or of two that the words `beside` describe, the one that was not turned down here, asked about or last
    spoken of.
    """
    asked = offered(ledger)
    known = turned_down or ([asked] if asked is not None else ledger.focus[-1:])
    for listed in newest(ledger):
        fitting = described(beside, utterance, listed, [(phrase.start, phrase.end)])
        among = fitting.entries if len(listed.entries) > 1 and len(fitting.telling) > 0 else listed.entries
        rest = without(among, known)
        if len(rest) == 1 and len(rest) < len(among):
            return Finding(rest, utterance.words(phrase), "the one that was not just spoken of", "other", listed)
    return None


def by_others(phrase: Phrase, utterance: Utterance, ledger: Ledger, turned_down: Sequence[ItemEntry]) -> Finding | None:
    """As in "the others", "the other 3": of the last list, those not spoken of since; else those it left out."""
    listed = next((each for each in newest(ledger) if len(each.entries) > 1), None)
    if listed is None:
        return None
    known = turned_down or [entry for entry in ledger.chosen if any(entry is other for other in listed.entries)]
    rest = without(listed.entries, known)
    if phrase.count and phrase.count != len(rest):
        rest = without([entry for source in listed.sources for entry in source.entries], listed.entries)
    if not (known or phrase.count) or not rest or (phrase.count and phrase.count != len(rest)):
        return None
    return Finding(rest, utterance.words(phrase), "those that were not spoken of", "other", listed)


_ONE = r"(?:one|1|el|la|el de|la de|el que esta|la que esta|el que viene|la que viene|la q viene|el q viene|זה|זאת|זו|האחד|האחת|ההוא|ההיא)\s+"
_NEAR = r"(?:right |just |directly |immediately |justo |ש?ממש |בדיוק )?"
_IT = r"(?: (?:it|that|this|him|her|them|that one|this one|de ese|de esa|de este|de ella|de el|del))?"
_END = r"(?=\s*\W*$|\s*[,.;!?]| (?:in|on|en|pls|please|decile|dile) )"
_AFTER = re.compile(
    rf"\b{_ONE}{_NEAR}(?:after|below|under|underneath|following|beneath|debajo|despues|siguiente){_IT}\s*\W*$"
    rf"|\b{_ONE}{_NEAR}(?:after|below|underneath|beneath|debajo|despues){_IT}{_END}"
    rf"|\b{_ONE}justo despues de ella"
    r"|\b(?:the )?next (?:one|1)\b|\b(?:el|la) (?:siguiente|que sigue|q sigue|de despues|de abajo)\b|(?:ש?אחריו|ש?אחריה|שאחרי|הבא בתור|הבאה בתור|ש?מתחתיו|ש?מתחתיה|הבא אחריו|הבאה אחריה)(?!\w)",
)
_BEFORE = re.compile(
    rf"\b{_ONE}{_NEAR}(?:before|above|over|preceding|antes|arriba|encima){_IT}\s*\W*$"
    rf"|\b{_ONE}{_NEAR}(?:before|above|preceding|antes|arriba|encima){_IT}{_END}"
    r"|\b(?:el|la) (?:anterior|de antes|de arriba)\b|(?:ש?לפניו|ש?לפניה|שלפני|ש?מעליו|ש?מעליה|הקודם לו|הקודמת לה|שלפני זה)(?!\w)",
)


def _next_to(known: ItemEntry, step: int, listed: ShownList, utterance: Utterance) -> Finding | None:
    """None where the list ends there."""
    place = next(place for place, entry in enumerate(listed.entries) if entry is known) + step
    if not 0 <= place < len(listed.entries):
        return None
    reason = f"the one {'after' if step > 0 else 'before'} it in the list"
    return Finding([listed.entries[place]], utterance.text.strip(), reason, "neighbour", listed)


_BESIDE_NAMED = re.compile(
    r"\b(?:one|1|whatever is|what is|thing|item)\s+(?:right |just )?(before|after|above|below|under|following|preceding) (?!it\b|that\b|this\b|him\b|her\b|them\b|last\b|the last\b)(?=[^\W\d])"
)


def beside_named(utterance: Utterance) -> re.Match[str] | None:
    """Whether an utterance means what stands beside a thing it names: "the one before the eye exam"."""
    return _BESIDE_NAMED.search(normal(utterance.text))


def step_beside(utterance: Utterance) -> int:
    """1 for "the one after it", -1 for "the one before it", else 0."""
    said = normal(utterance.text)
    return 1 if _AFTER.search(said) else -1 if _BEFORE.search(said) else 0


def by_neighbour(utterance: Utterance, ledger: Ledger, turned_down: Sequence[ItemEntry]) -> Finding | None:
    """Beside what is named, or was turned down here, else beside the item in focus."""
    if (named := beside_named(utterance)) is not None:
        marks = [mark for mark in utterance.marks if mark.start >= named.end()]
        for among in newest(ledger):
            known = described(marks, utterance, among).entries if len(among.entries) > 1 else []
            if len(known) == 1:
                step = -1 if named[1] in ("before", "above", "preceding") else 1
                return _next_to(known[0], step, among, utterance)
        return None
    step = step_beside(utterance)
    anchor = turned_down[-1] if turned_down else ledger.focus[-1] if ledger.focus else None
    if not step or anchor is None:
        return None
    several = (each for each in reversed(ledger.shown_lists) if len(each.entries) > 1)
    listed = next((each for each in several if any(entry is anchor for entry in each.entries)), None)
    return _next_to(anchor, step, listed, utterance) if listed is not None else None
