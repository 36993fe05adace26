"""The item that the assistant just asked about, taken up by a yes: "yes but at 7" to "Should I book the 7:40?"."""

import re

from langmem_plugin.references.meant.by_properties import best_described
from langmem_plugin.references.meant.candidate_lists import list_with, newest
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.meant.last_question import asks_what_else
from langmem_plugin.references.said.segments import Segment
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.said.yes_or_no import agrees
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.name_matching import named_in

_SENTENCE = re.compile(r"[^.!?\n]*[.!?]*")
_BACK = 3  # sentences looked back at
_TELLING = {"name", "nickname", "typed", "code"}
"""Sorts of constraints of which one is enough."""


def offered(ledger: Ledger) -> ItemEntry | None:
    """The one item that the question at the end of the last reply is about, which it or the sentence before it names."""
    sentences = [each.strip() for each in _SENTENCE.findall(ledger.reply.rsplit("\n\n", 1)[-1]) if each.strip()]
    if not sentences or "?" not in sentences[-1] or not ledger.shown_lists:
        return None
    latest = ledger.shown_lists[-1]
    spoken_of = bool(ledger.chosen) and latest.turn < ledger.turn and ledger.chosen[-1:] == ledger.focus[-1:]
    for sentence in sentences[: -_BACK - 1 : -1]:
        found = _told(sentence, ledger, named=spoken_of)
        if len(found) == 1:
            return found[0]
        if found:
            return None
    return ledger.focus[-1] if ledger.focus and (len(latest.entries) == 1 or spoken_of) else None


def _told(sentence: str, ledger: Ledger, *, named: bool) -> list[ItemEntry]:
    """The items that a sentence of a reply names or describes; only by names, times and the like where it is `named`."""
    latest = [entry for listed in newest(ledger) for entry in listed.entries]
    mentioned = {id(mention.entry): mention.entry for mention in named_in(sentence, latest)}
    if mentioned:
        return list(mentioned.values())
    utterance = Utterance(sentence)
    whole = Segment(utterance.marks, 0, len(sentence))
    found = best_described(whole, utterance, ledger)
    sorts = {each.sort for each in found.telling} if found is not None else set()
    if named and not sorts & {"name", "typed", "code"}:
        return []
    if found is None or not (_TELLING & sorts or len(found.telling) > 1):
        return []
    names = [constraint.fits for constraint in found.reading.constraints if constraint.sort == "name"]
    called = [entry for place, entry in enumerate(found.listed.entries) if names and all(fits[place] for fits in names)]
    entries = called or found.entries  # a time or an amount beside a name is what is offered with it
    return entries if len(entries) == 1 else []


def by_offer(utterance: Utterance, ledger: Ledger) -> Finding | None:
    verdict = agrees(utterance.text)
    words = [mark.text for mark in utterance.marks if mark.text[:1].isalpha()]
    if not words or (len(words) > 1 and words[0].split()[0] in ("y", "ya")):
        return None  # "and" and "already" in Spanish
    if verdict is None or not verdict.yes or utterance.has("greeting") or asks_what_else(ledger.reply):
        return None
    entry = offered(ledger)
    if entry is None:
        return None
    return Finding([entry], utterance.text.strip(), "takes up what was just asked", "offered", list_with(entry, ledger))
