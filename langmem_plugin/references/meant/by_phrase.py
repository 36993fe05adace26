"""What the phrases of a piece pick by themselves: a number, an order, a group, a comparison, "all but …"."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from langmem_plugin.references.meant.by_comparison import by_comparison
from langmem_plugin.references.meant.by_nearest_property import LEFT_OUT, nearest_properties
from langmem_plugin.references.meant.by_position import (
    by_all,
    by_both,
    by_end,
    by_numbers,
    by_other,
    by_others,
    by_previous,
)
from langmem_plugin.references.meant.by_properties import described
from langmem_plugin.references.meant.candidate_lists import best_list, newest, type_words, without
from langmem_plugin.references.meant.constraints import read
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.said.amounts import is_plural
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.segments import Segment, heads, segments
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.words import word_set
from langmem_plugin.references.words.type_nouns import GROUPS, THING

_MOST = 12
"""Phrases of a piece, and pieces behind an exception, that are looked into."""
_RELATIVE = word_set(
    "that|thats|that's|who|whos|who's|whose|which|where|under|over|above|below|between|before|after|not|מי|מתחת|מעל|entre|antes|debajo|i|im|i'm|ive|we|que|q|lo que|with|without|w|from|con|sin"
)
_INSIDE = frozenset(("in", "on", "at", "by", "en", "del"))
_TOGETHER = word_set("lot|bunch|group|pack|set|grupo|lote|כולם|כולן")
_OF_SOME = frozenset(("comparison", "first", "last"))
_OF = frozenset(("de", "de las", "de los", "de la", "del", "las de", "los de", "with", "con"))
_INFINITIVE = re.compile(r"\w{2,}[aei]r")
_WHICH = frozenset(("that", "which", "who", "with"))
Way = Callable[[Phrase, Utterance, Ledger], Finding | None]
"""None when the list does not hold what was asked for."""


def by_phrases(
    segment: Segment, utterance: Utterance, ledger: Ledger, turned_down: Sequence[ItemEntry]
) -> Finding | None:
    """All that the phrases of a piece pick, as one finding."""
    picking = [phrase for phrase in utterance.phrases if phrase.kind in PICKING and segment.holds(phrase)]
    if any(phrase.kind == "numbers" for phrase in picking):
        picking = [phrase for phrase in picking if phrase.kind not in ("both", "all")]  # "both work, go with the first"
    if any(phrase.kind == "comparison" for phrase in picking):
        picking = [phrase for phrase in picking if phrase.kind != "all"]  # "the shortest of them all"
    found: list[Finding] = []
    for phrase in picking[:_MOST]:
        if of_a_part(phrase, utterance):
            continue
        if phrase.kind == "comparison" and (inner := _picks_for(phrase, picking, utterance)) is not None:
            few = PICKING[inner.kind](inner, utterance, ledger)  # "the cheaper of the first two"
            if few is not None and len(few.entries) == 1:
                continue  # "cuéntame más del número 3"
            if few is None or few.listed is None:
                return None
            return by_comparison(phrase, utterance, _only(few.entries, few.listed, ledger))
        if phrase.kind == "others":
            finding = by_others(phrase, utterance, ledger, turned_down)
        elif phrase.kind == "other":
            finding = by_other(phrase, utterance, ledger, turned_down, segment.marks)
        else:
            among = narrowed(phrase, segment, utterance, ledger)
            unread = among is ledger and (
                (phrase.kind == "all" and _restricted(phrase, segment))
                or (phrase.kind in _OF_SOME and _of_others(phrase, segment, utterance, ledger))
            )
            finding = None if unread else PICKING[phrase.kind](phrase, utterance, among)
            if finding is not None and among is not ledger:
                finding = replace(finding, evidence={**finding.evidence, "narrowed": 1.0})
        if finding is not None and finding.entries:
            found.append(finding)
    if not found:
        return None
    entries: list[ItemEntry] = []
    for finding in found:
        entries += without(finding.entries, entries)
    return replace(found[0], entries=entries)


def _picks_for(phrase: Phrase, picking: Sequence[Phrase], utterance: Utterance) -> Phrase | None:
    """What picks those that a phrase compares, as "first two" does behind "the cheaper of"."""
    for inner in picking:
        between = [mark for mark in utterance.marks if phrase.end <= mark.start < inner.start]
        behind = inner.start >= phrase.end and all(mark.has("of", "the") for mark in between)
        joined = bool(between) or utterance.words(phrase).split()[-1] in _OF  # "la más barata de las dos primeras"
        if inner.kind in ("first", "last", "numbers") and behind and joined:
            return inner
    return None


def _of_others(phrase: Phrase, segment: Segment, utterance: Utterance, ledger: Ledger) -> bool:
    """As in "la más barata de las de clase a", "the last 3 commits": of things that nothing shown tells of."""
    behind = [mark for mark in segment.marks if mark.start >= phrase.end][:6]
    if behind[:1] and (behind[0].has("of", "these") or behind[0].text in _OF):
        inner = behind[1:]
        if inner[:1] and utterance.language.name == "es" and _INFINITIVE.fullmatch(inner[0].text):
            return False  # "la más cara de renovar"
    elif phrase.kind in ("first", "last") and utterance.language.name == "en":
        inner = behind[:1]
    else:
        return False
    if heads(inner[:1]) and any(mark.text[:1].isalpha() and not mark.has("selects") for mark in inner[1:3]):
        return True
    listed = ledger.shown_lists[-1]
    strange = read(inner, utterance, listed).strange if inner else frozenset()
    known = listed.known_words | THING | GROUPS.keys() | _TOGETHER
    return any(not type_words([inner[place].text]) & known for place in strange)


def _restricted(phrase: Phrase, segment: Segment) -> bool:
    """As in "everything I'm waiting for", "כל מה שלא שמעתי": not all, whatever the rest of it means."""
    behind = [mark for mark in segment.marks if mark.start >= phrase.end and not mark.has("punctuation")][:2]
    said = [mark.text for mark in behind]
    if (
        len(behind) == 2
        and behind[0].text in _INSIDE
        and not behind[1].has("selects", "the", "these", "them", "it", "this")
    ):
        return True  # "everything in rack a"
    relative = len(said) == 2 and said[0] in ("מה", "מי") and said[1][0] == "ש"
    return relative or (bool(said) and (said[0] in _RELATIVE or (said[0][0] == "ש" and len(said[0]) > len("של"))))


def of_a_part(phrase: Phrase, utterance: Utterance) -> bool:
    """As in "the last 3 songs of party", "the first 4 minutes", "everything is fine", "A27": nothing shown is counted."""
    behind = [mark for mark in utterance.marks if mark.start >= phrase.end][:5]
    following = behind[0].text if behind else ""
    if phrase.kind in ("all", "both"):
        return following in ("is", "are", "was", "were", "work", "works", "look", "sound", "seem")
    beside = utterance.text[max(phrase.start - 1, 0) : phrase.start] + utterance.text[phrase.end : phrase.end + 1]
    if (
        phrase.kind == "numbers"
        and phrase.end - phrase.start > 1
        and any(letter.isascii() and letter.isalpha() for letter in beside)
    ):
        return True
    if phrase.kind not in ("first", "last", "numbers") or not behind:
        return False
    noun = behind[0].text[:1].isalpha() and not behind[0].kinds
    within = any(mark.text in _INSIDE for mark in utterance.before(phrase.start, 2))
    if (
        noun
        and within
        and not phrase.one
        and not type_words([behind[0].text]) & (utterance.known | THING | GROUPS.keys())
    ):
        return True  # "there's a typo in the first line"
    parts = noun and len(behind) > 2 and behind[1].has("of") and not behind[2].has("the", "these", "them", "this")
    return parts or (phrase.kind != "numbers" and behind[0].has("unit"))


def _by_exception(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """What the words before "except" fit, all of a list where there are none, without what those behind it mean."""
    listed = best_list(utterance, ledger)
    if listed is None:
        return None
    inside = [mark for mark in utterance.marks if phrase.start <= mark.start and mark.end <= phrase.end]
    turn = next((place for place, mark in enumerate(inside) if mark.has("except")), 0)
    if (restricted := _restricted_to(inside[:turn], listed, utterance, ledger)) is None:
        return None
    listed, among = restricted
    left_out: list[ItemEntry] = []
    for inner in phrase.inner:
        finding = PICKING[inner.kind](inner, utterance, ledger) if inner.kind in PICKING else None
        if finding is not None:
            left_out.extend(finding.entries)
    chances: list[float] = []
    for place, (marks, joined) in enumerate(() if left_out else islice(_excepted(inside[turn + 1 :], listed), _MOST)):
        excepted = described(marks, utterance, listed).entries
        if not excepted and (not place or joined):
            for near in nearest_properties(marks, utterance, ledger)[:1]:
                excepted = near.entries
                chances.append(near.chance)
        left_out += without(excepted, left_out)
    rest = without(among, left_out)
    if left_out and len(rest) == len(among):
        among = listed.entries  # "mark them all low except the login one"
        rest = without(among, left_out)
    if not left_out or not rest or len(rest) == len(among):
        return None
    reason = f"the {len(among)} last shown without {len(left_out)}"
    evidence = {"left out by meaning": min(chances)} if chances else {}
    return Finding(rest, utterance.words(phrase), reason, "exclusion", listed, evidence=evidence)


def _restricted_to(
    said: Sequence[Mark], listed: ShownList, utterance: Utterance, ledger: Ledger
) -> tuple[ShownList, list[ItemEntry]] | None:
    """The items that the words before an exception speak of, and of which list; None where nothing shown is so."""
    which = [mark for mark in said if not mark.has("all")]
    for candidate in newest(ledger) if which else ():
        fitting = described(which, utterance, candidate).entries
        if len(fitting) > 1:
            return candidate, fitting
    if not which or not read(which, utterance, listed).strange:
        return listed, listed.entries
    if any(mark.has("the", "one", "these") or mark.definite for mark in which):
        for near in nearest_properties(which, utterance, ledger)[:1]:
            if near.chance >= LEFT_OUT and len(near.entries) > 1:
                return near.listed, near.entries  # "all the usable ones minus boots"
    if len(said) > 1 and said[1].text in _WHICH:
        return None  # "all that have wifi except the cedar" where nothing is said to have it
    return listed, listed.entries


def _excepted(marks: Sequence[Mark], listed: ShownList) -> Iterator[tuple[Sequence[Mark], bool]]:
    """The pieces of what stands behind an exception, and whether each goes on with "and", as a Hebrew word does by
    itself.
    """
    verb = next((place for place in range(1, len(marks)) if _asks(marks, place)), len(marks))
    for piece in segments(marks[:verb], ()):
        starts = [
            0,
            *(place for place, mark in enumerate(piece.marks) if place and _goes_on(mark, listed)),
            len(piece.marks),
        ]
        for start, end in pairwise(starts):
            yield piece.marks[start:end], piece.joined or start > 0


_NAMING = ("the", "of", "preposition", "this", "indefinite")


def _asks(marks: Sequence[Mark], place: int) -> bool:
    """As "תשלח" does in "כולם חוץ מהאתר תשלח לי": what is to be done with the others; not in "all but the book"."""
    return marks[place].has("choose") and not marks[place].has(*_NAMING) and not marks[place - 1].has(*_NAMING)


def _goes_on(mark: Mark, listed: ShownList) -> bool:
    """Not of "vanilla" and the like, which begin with the letter that joins."""
    return mark.text[0] == "ו" and len(mark.text) >= _SHORTEST_JOINED and mark.text not in listed.known_words


_SHORTEST_JOINED = 4


def _by_itself(_phrase: Phrase, _utterance: Utterance, _ledger: Ledger) -> None:
    """For kinds that pick nothing by themselves."""


PICKING: dict[str, Way] = {
    "numbers": by_numbers,
    "first": by_end,
    "last": by_end,
    "previous": by_previous,
    "all": by_all,
    "both": by_both,
    "other": _by_itself,
    "others": _by_itself,
    "all_but": _by_exception,
    "comparison": by_comparison,
}
"""By kind of phrase; each of these kinds picks by itself."""


_NARROWED = frozenset(("all", "both", "comparison", "first", "last"))
_PURPOSE = word_set("for|to|para|on|pls|please|ל")
_OLDER = 0.5  # words that a newer list may fit worse by


def narrowed(phrase: Phrase, segment: Segment, utterance: Utterance, ledger: Ledger) -> Ledger:
    """The ledger as if no more had been shown than what fits the words that a phrase stands with; itself where those
    tell nothing.
    """
    inside = [mark for mark in segment.marks if phrase.start <= mark.start < phrase.end]
    if phrase.kind not in _NARROWED or any(mark.has("digit", "label", "marker") for mark in inside):
        return ledger
    marks = _attached(phrase, segment)
    taken = [(phrase.start, phrase.end)]
    best, most = None, 0.0
    for age, listed in enumerate(newest(ledger) if marks else ()):
        found = described(marks, utterance, listed, taken)
        fitting = len(found.reading.constraints) - _OLDER * age
        if fitting > most and len(listed.entries) > 1:
            best, most = found, fitting
    if best is None or (not best.entries and best.reading.strange):
        return ledger
    entries = best.entries or best.listed.entries
    least = 2 if phrase.kind in ("all", "both") else 1
    if phrase.kind == "comparison" and len(entries) == 1 and len(best.listed.entries) > 1 and _of_several(marks):
        return ledger  # "the smallest of the open ones" are not one
    if len(entries) < least or (best.listed is ledger.shown_lists[-1] and len(entries) == len(best.listed.entries)):
        return ledger
    return _only(entries, best.listed, ledger)


def _of_several(marks: Sequence[Mark]) -> bool:
    return any(is_plural(mark) for mark in marks)


def _only(entries: list[ItemEntry], listed: ShownList, ledger: Ledger) -> Ledger:
    fewer = ledger.copy()
    fewer.shown_lists = [listed.of(entries)]
    return fewer


def _attached(phrase: Phrase, segment: Segment) -> list[Mark]:
    """The words behind a phrase, up to what it is wanted for, and those that stand first of all: "for boxes take the
    fastest".
    """
    after = [mark for mark in segment.marks if mark.start >= phrase.end]
    grouped = phrase.kind in ("all", "both")  # "both on the 6th" says which, "the cheapest for the 6th" what for
    purpose = next((place for place, mark in enumerate(after) if mark.text in _PURPOSE and not grouped), len(after))
    opening = list(segment.marks[1:3]) if segment.marks[0].text in _PURPOSE else []
    owner = [mark for mark in segment.marks if mark.end <= phrase.start][-1:]
    owned = [
        mark for mark in owner if mark.text.endswith("s") and mark.text[:1].isalpha() and not mark.kinds
    ]  # "petes newer one"
    return [mark for mark in opening if mark.end <= phrase.start and mark not in owned] + owned + after[:purpose]
