"""What a text points at without naming or describing it: by a pronoun, a type noun, a question, an agreement."""

import re
from collections.abc import Sequence

from langmem_plugin.references.meant.by_offer import by_agreement, remarked
from langmem_plugin.references.meant.by_type import by_action, by_part, by_question, by_type, part_of, place_spoken_of
from langmem_plugin.references.meant.candidate_lists import best_list, list_with
from langmem_plugin.references.meant.finding import Finding, Unclear
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.segments import CLAUSE, NEGATIONS, Segment, heads
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import long_part
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.text.tokens import normal, stem
from langmem_plugin.references.words import LANGUAGES, word_set
from langmem_plugin.references.words.type_nouns import NO_TYPE, THING

_OF_WHOLES = word_set(
    "order|push|send|share|print|export|clear|email|buy|checkout|pide|pidelo|pidela|envia|manda|imprime|תזמין|תזמיני|שלח|שלחי|תשלח|תשלחי"
)
"""What is done with a grocery list as a whole: "order it"."""
_IDIOM = re.compile(
    r"\b(?:got|worth|forget|leave|like|liked|love|loved|hate|get|thanks?|gracias|hurts|hurt|drop)\b|תודה|עזוב"
)
"""With "it" or "that" these mostly speak of no item: "got it", "leave it"."""
_BETWEEN = ("from", "to", "with", "than", "de", "con", "a", "into")
_NEAR_FOCUS = 4
_WEEKDAYS_AND_MONTHS = frozenset(form for language in LANGUAGES for form in (*language.weekdays, *language.months))


def by_singular(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | Unclear | None:
    """As in "save it": the item in focus; unclear where a list was shown since."""
    if phrase.kind != "its" and (names_a_time(phrase.nouns) or phrase.nouns[:1] in (("new",), ("someone",))):
        return None
    words = utterance.words(phrase)
    last = ledger.shown_lists[-1]
    focus = ledger.focus[-1] if ledger.focus else None
    if len(last.entries) > 1:
        spoken_of = ledger.turn > last.turn and any(focus is entry for entry in last.entries)
        whole = last.collective and not phrase.one and any(mark.text in _OF_WHOLES for mark in utterance.marks)
        if whole and not spoken_of:
            return Unclear([])
        told_all = len(last.entries) > 2 and len(last.entries) == sum(len(each.entries) for each in last.sources)
        if (last.kind in ("list", "all") or told_all) and not spoken_of:
            if (spoken := remarked(ledger)) is not None:
                return Finding([spoken], words, "the one last spoken of", "pointing", last, evidence={"remarked": 1.0})
            if (
                utterance.has("greeting", "search", "question")
                or _IDIOM.search(normal(utterance.text))
                or (last.turn < ledger.turn and not phrase.one)
            ):
                return None
            return Unclear(list(last.entries), beside=_beside(phrase, utterance))
    if focus is not None and (phrase.explicit or _thing_like(phrase.nouns)):
        return Finding([focus], words, "the one last spoken of", "pointing", list_with(focus, ledger))
    return None


def by_plural(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "add them", "those ingredients": a part of the item in focus, else what was last shown together."""
    if names_a_time(phrase.nouns):
        return None
    words = utterance.words(phrase)
    # What was last spoken of may be a mere confirmation ("saved") of what has the part.
    for entry in ledger.focus[: -_NEAR_FOCUS - 1 : -1] if phrase.nouns else ():
        part = part_of(entry, phrase.nouns)
        if part is not None:
            reason = f"the {part} of the one last spoken of"
            return Finding([entry], words, reason, "part", list_with(entry, ledger), part)
    last = ledger.shown_lists[-1]
    if len(last.entries) == 1 and last.entries[-1:] == ledger.focus[-1:] and not phrase.nouns and not phrase.count:
        part = long_part(last.entries[0])
        if part is not None:
            return Finding([last.entries[0]], words, f"the {part} of the one last shown", "part", last, part)
    listed = best_list(utterance, ledger, phrase.nouns)
    if listed is None or (phrase.count and phrase.count != len(listed.entries)):
        return None
    return Finding(list(listed.entries), words, "what was last shown together", "together", listed)


def _beside(phrase: Phrase, utterance: Utterance) -> bool:
    """As in "move 50 from that to Groceries": after a preposition, so that another may be named as well."""
    before = utterance.before(phrase.start, 1)
    return bool(before) and before[0].text in _BETWEEN


def _thing_like(nouns: Sequence[str]) -> bool:
    """Whether nouns say no more than "thing", or nothing that is a property or a time."""
    stems = {stem(noun) for noun in nouns}
    return not stems & NO_TYPE or bool(stems & THING)


def names_a_time(nouns: Sequence[str]) -> bool:
    """As in "this Sunday", "that week"."""
    return bool(nouns) and (nouns[0] in _WEEKDAYS_AND_MONTHS or stem(nouns[0]) in NO_TYPE)


_SAYING = word_set("remember|know|think|hope|said|say|mean|means|sure|note|glad|recuerda|tell|believe|guess|like")
_HAVING = word_set("has|have|had|are|were|do|does|did|can|could|will|would|need|needs|cost|costs|start|starts")


def by_pointing(wanted: Sequence[Segment], utterance: Utterance, ledger: Ledger) -> Finding | Unclear | None:
    pointing = [
        phrase
        for phrase in utterance.phrases
        if any(segment.holds(phrase) for segment in wanted) and _points(phrase, utterance, ledger)
    ]
    for phrase in pointing:
        if phrase.kind in ("these", "them") and (plural := by_plural(phrase, utterance, ledger)) is not None:
            return plural
    singular = [phrase for phrase in pointing if phrase.kind in ("this", "it", "its", "there", "their")]
    there = next((phrase for phrase in singular if phrase.kind == "there"), None)
    if there is not None and (place := place_spoken_of(ledger)) is not None:
        words = utterance.words(there)
        return Finding([place], words, "the place last spoken of", "pointing", list_with(place, ledger))
    found: Finding | Unclear | None = None
    for way in (by_part, by_type, by_action):
        if (found := way(utterance, ledger)) is not None:
            return found
    for phrase in singular:
        if (found := by_singular(phrase, utterance, ledger)) is not None:
            return found
    return by_question(utterance, ledger) or by_agreement(utterance, ledger)


def _points(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> bool:
    """Whether a pronoun points at something shown: not at what the same text describes before it, and not as in
    "remember that I am allergic".
    """
    marks = utterance.marks
    place = next((place for place, mark in enumerate(marks) if mark.start >= phrase.start), len(marks))
    if any(head <= place for head in heads(marks)):
        return False
    if phrase.kind == "this" and not phrase.one:
        said = place > 0 and marks[place - 1].text in _SAYING
        following = marks[place + 1] if place + 1 < len(marks) else None
        if said or (following is not None and following.text in CLAUSE):
            return False
        if place and following is not None and following.text in NEGATIONS | _HAVING:
            counts = marks[place - 1].has("cardinal", "one", "all", "both") or not marks[place - 1].kinds
            if counts and marks[place].text in ("that", "thats", "that's"):
                return False  # "the two that havent hit reserve"
    if phrase.kind == "its" and utterance.words(phrase) == "her" and (not phrase.nouns or names_a_time(phrase.nouns)):
        return True  # "book her", "can I meet her saturday"
    if phrase.kind in ("its", "their"):
        return any(part_of(entry, phrase.nouns) for entry in ledger.focus[-2:] if phrase.nouns)
    return True
