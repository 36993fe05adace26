"""In which order the ways of finding are asked what an utterance means. Pure and deterministic."""

from dataclasses import replace

from langmem_plugin.references.meant.by_agreement import by_agreement
from langmem_plugin.references.meant.by_choice import Closeness, by_choice, choices
from langmem_plugin.references.meant.by_description import by_description
from langmem_plugin.references.meant.by_field import by_part, by_question
from langmem_plugin.references.meant.by_group import other_of_two
from langmem_plugin.references.meant.by_name import by_name
from langmem_plugin.references.meant.by_phrase import PICKING, by_phrase
from langmem_plugin.references.meant.by_pronoun import by_plural, by_singular
from langmem_plugin.references.meant.by_type import by_action, by_type, place_spoken_of
from langmem_plugin.references.meant.candidate_lists import list_with
from langmem_plugin.references.meant.finding import Decision, Finding, Unclear
from langmem_plugin.references.said.cursor import marks_before
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.ledger import Ledger

_LISTS_KNOWN = 3
"""Newest lists whose words are never taken for typos."""
_BESIDE = ("from", "to", "with", "than", "de", "con", "a")


def decide(text: str, ledger: Ledger, closeness: Closeness | None = None) -> Decision:
    """What a text points at in the ledger, which has settled all results before it.

    Phrases that pick by themselves come first, then answers to a choice, names, and at last pointing words.
    """
    if not ledger.shown_lists or not text.strip():
        return Decision()
    known = frozenset().union(*(listed.vocabulary for listed in ledger.shown_lists[-_LISTS_KNOWN:]))
    utterance = Utterance(text, known)
    if _wants_another(utterance):
        return Decision()
    picked = _picked(utterance, ledger)
    return picked if picked is not None else _found(utterance, ledger, closeness)


def _wants_another(utterance: Utterance) -> bool:
    kinds = {phrase.kind for phrase in utterance.phrases}
    return "another" in kinds and not kinds & {"numbers", "all_but"}


def _picked(utterance: Utterance, ledger: Ledger) -> Decision | None:
    """What a number, order, group or comparison settled, also that nothing is meant; None when nothing did."""
    picking = [phrase for phrase in utterance.phrases if phrase.kind in PICKING]
    if any(phrase.kind == "numbers" for phrase in picking):
        picking = [phrase for phrase in picking if phrase.kind != "both"]  # "both work, go with the first"
    findings = []
    for phrase in (_corrected(phrase, utterance) for phrase in picking):
        finding = by_phrase(phrase, utterance, ledger)
        if finding is not None and finding.entries and phrase.negated:
            finding = other_of_two(finding)
        if finding is not None and finding.entries:
            findings.append(finding)
    settled = findings or any(phrase.kind in ("numbers", "neither", "all_but") for phrase in picking)
    return Decision(findings) if settled else None


def _corrected(phrase: Phrase, utterance: Utterance) -> Phrase:
    """As in "not 2, 3": the numbers behind the first are meant."""
    if phrase.kind == "numbers" and phrase.negated and len(phrase.numbers) > 1 and "," in utterance.words(phrase):
        return replace(phrase, numbers=phrase.numbers[1:], negated=False)
    return phrase


def _found(utterance: Utterance, ledger: Ledger, closeness: Closeness | None) -> Decision:
    """What is named, described or pointed at."""
    chosen = by_choice(utterance, ledger, closeness)
    if chosen is not None:
        return _decision(chosen)
    named = by_name(utterance, ledger)
    if isinstance(named, Unclear):
        return _decision(named)
    if utterance.has("not") and not utterance.wanted_marks:  # all that was said turns something down
        return _decision(other_of_two(named) if named is not None else None)
    if named is not None and named.sort == "name":
        return Decision([*_that_beside(named, utterance, ledger), named])
    found = named or _pointed_at(utterance, ledger)
    offered = choices(ledger)
    if isinstance(found, Finding) and offered is not None and found.entries[0] in offered.entries:
        return Decision(unclear=list(offered.entries))
    return _decision(found or by_description(utterance, ledger))


def _decision(found: Finding | Unclear | None) -> Decision:
    if isinstance(found, Unclear):
        return Decision(unclear=found.entries)
    return Decision([found] if found is not None else [])


def _that_beside(named: Finding, utterance: Utterance, ledger: Ledger) -> list[Finding]:
    """As in "move 50 from that to Groceries": a pronoun after a preposition is a second item beside a named one."""
    found = []
    for phrase in utterance.phrases:
        before = marks_before(utterance.marks, phrase.start, 1)
        if phrase.kind in ("this", "it") and not phrase.nouns and before and before[0].text in _BESIDE:
            finding = by_singular(phrase, utterance, ledger)
            if isinstance(finding, Finding) and not any(
                entry is other for entry in finding.entries for other in named.entries
            ):
                found.append(finding)
    return found


def _pointed_at(utterance: Utterance, ledger: Ledger) -> Finding | Unclear | None:
    """What a pronoun, a type noun, a question or an agreement points at."""
    pointing = [phrase for phrase in utterance.phrases if not phrase.negated]
    singular = [phrase for phrase in pointing if phrase.kind in ("this", "it", "its", "there", "their")]
    for phrase in pointing:
        if phrase.kind in ("these", "them") and (plural := by_plural(phrase, utterance, ledger)) is not None:
            return plural
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
