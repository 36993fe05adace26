"""What a text points at without naming or describing it: by a pronoun, a type noun, a question, an agreement."""

from collections.abc import Sequence
from itertools import pairwise

from langmem_plugin.references.meant.by_agreement import by_agreement
from langmem_plugin.references.meant.by_field import by_part, by_question, part_of
from langmem_plugin.references.meant.by_pronoun import by_plural, by_singular, names_a_time
from langmem_plugin.references.meant.by_type import by_action, by_type, place_spoken_of
from langmem_plugin.references.meant.candidate_lists import list_with
from langmem_plugin.references.meant.finding import Finding, Unclear
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.segments import CLAUSE, NEGATIONS, Segment, heads
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.text.atoms import word_atoms
from langmem_plugin.references.text.tokens import is_stop, stem
from langmem_plugin.references.words import phrases
from langmem_plugin.references.words.type_nouns import NO_TYPE, THING

_SAYING = frozenset(
    phrases("remember|know|think|hope|said|say|mean|means|sure|note|glad|recuerda|tell|believe|guess|like")
)
_NEAR_FOCUS = 2
_HAVING = frozenset(
    phrases("has|have|had|are|were|do|does|did|can|could|will|would|need|needs|cost|costs|start|starts")
)
_OWNED = frozenset(phrases("my|our|mi|el|la"))


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
    if any(head <= place for head in heads(marks)) or (
        phrase.kind in ("it", "its") and _stands_for_a_noun(marks[:place], ledger)
    ):
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
        return any(part_of(entry, phrase.nouns) for entry in ledger.focus[-_NEAR_FOCUS:] if phrase.nouns)
    return True


def _stands_for_a_noun(before: Sequence[Mark], ledger: Ledger) -> bool:
    """As in "el verdejo donde lo puse", "my mum pays on friday, remind her": a thing of which nothing was shown."""
    focus = [*ledger.focus[-1:], *ledger.shown_lists[-1].entries]
    known = (THING | NO_TYPE).union(*(entry.atoms | entry.kind_words for entry in focus), ledger.shown_lists[-1].nouns)
    for mark, noun in pairwise(before):
        content = noun.text[:1].isalpha() and not noun.kinds and not is_stop(noun.text)
        if (
            content
            and (mark.has("the") or mark.text in _OWNED)
            and not ({stem(noun.text), *word_atoms(noun.text)} & known)
        ):
            return True
    return False
