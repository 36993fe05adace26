"""The item that was just asked about or offered, taken up by a yes or by praise: "yes but at 7", "sounds good"."""

import re
from collections.abc import Sequence

from langmem_plugin.references.meant.by_properties import Described, best_described
from langmem_plugin.references.meant.candidate_lists import list_with, newest
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.meant.last_question import asks, asks_detail, asks_what_else, offers
from langmem_plugin.references.said.segments import Segment, heads
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.said.yes_or_no import agrees
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.name_matching import named_in
from langmem_plugin.references.shown.text_lists import behind_list
from langmem_plugin.references.shown.tool_results import reads
from langmem_plugin.references.text.atoms import is_known
from langmem_plugin.references.text.tokens import is_stop
from langmem_plugin.references.words import word_set
from langmem_plugin.references.words.type_nouns import THING

_SENTENCE = re.compile(r"[^.!?\n]*[.!?]*")
_BACK = 3  # sentences looked back at
_TELLING = {"name", "nickname", "typed", "code"}
"""Sorts of constraints of which one is enough."""


def remarked(ledger: Ledger) -> ItemEntry | None:
    """The one item that the last reply speaks of behind the list it showed: "… The albariño is best drunk this year."."""
    latest = ledger.shown_lists[-1] if ledger.shown_lists else None
    if latest is None or latest.turn < ledger.turn or len(latest.entries) < 2:
        return None
    for sentence in _sentences(_behind_the_list(ledger))[: -_BACK - 1 : -1]:
        if found := _told(sentence, ledger, named=False):
            return found[0] if len(found) == 1 else None
    return None


def _sentences(text: str) -> list[str]:
    return [each.strip() for each in _SENTENCE.findall(text) if each.strip()]


def _behind_the_list(ledger: Ledger) -> str:
    """What the last reply says after the lines of its list; its last paragraph where it had none."""
    latest = ledger.shown_lists[-1]
    if latest.kind != "list" or latest.turn < ledger.turn:
        return ledger.reply.rsplit("\n\n", 1)[-1]
    return behind_list(ledger.reply, latest.captions)


def offered(ledger: Ledger) -> ItemEntry | None:
    """The one item that the question at the end of the last reply is about, which it or the sentence before it names."""
    if not ledger.shown_lists:
        return None
    sentences = _sentences(_behind_the_list(ledger))
    if len(sentences) > 1 and "?" not in sentences[-1] and "?" in sentences[-2]:
        sentences.pop()  # "Do you want the larger? It is the better fit."
    if not sentences or "?" not in sentences[-1]:
        return None
    if (labelled := _by_label(sentences[-1], ledger)) is not None:
        return labelled
    latest = ledger.shown_lists[-1]
    spoken_of = bool(ledger.chosen) and latest.turn < ledger.turn and ledger.chosen[-1:] == ledger.focus[-1:]
    if len(latest.entries) == 1 and ledger.focus and Utterance(sentences[-1]).has("it"):
        return ledger.focus[-1]  # "Should I switch it to annual billing?"
    possible: list[ItemEntry] = []
    for sentence in sentences[: -_BACK - 1 : -1]:
        told = _told(sentence, ledger, named=spoken_of)
        both = [entry for entry in told if entry in possible] if possible and told else told
        if len(both) == 1:
            return both[0]
        possible = both if told else possible
    focus = ledger.focus[-1] if ledger.focus and (len(latest.entries) == 1 or spoken_of) else None
    return focus if not possible or focus in possible else None


def _by_label(question: str, ledger: Ledger) -> ItemEntry | None:
    """As in "Shall I book C?", "Want number 2?"."""
    latest = ledger.shown_lists[-1]
    phrases = Utterance(question, lettered=latest.lettered).phrases
    labels = [number for each in phrases if each.kind == "numbers" for number in each.numbers]
    return latest.at(labels[0]) if len(labels) == 1 else None


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
    if found is None or not (_TELLING & sorts or len(found.telling) > 1 or _worded(found, utterance)):
        return []
    names = [constraint.fits for constraint in found.reading.constraints if constraint.sort == "name"]
    called = [entry for place, entry in enumerate(found.listed.entries) if names and all(fits[place] for fits in names)]
    return called or found.entries  # a time or an amount beside a name is what is offered with it


def _worded(found: Described, utterance: Utterance) -> bool:
    """Whether a word of a value tells, behind a word that points: "el de Aranjuez"."""
    first = min(each.places.start for each in found.telling)
    before = utterance.marks[max(first - 2, 0) : first]
    return {each.sort for each in found.telling} == {"value"} and any(
        mark.has("the", "one", "this") or mark.text in ("el de", "la de") for mark in before
    )


def by_offer(utterance: Utterance, ledger: Ledger) -> Finding | None:
    verdict = agrees(utterance.text)
    words = [mark.text for mark in utterance.marks if mark.text[:1].isalpha()]
    if not words or (utterance.language.name == "es" and len(words) > 1 and words[0].split()[0] in ("y", "ya")):
        return None  # "and" and "already"
    if verdict is None or not verdict.yes or utterance.has("greeting") or asks_what_else(ledger.reply):
        return None
    entry = offered(ledger)
    if entry is None or _speaks_of_another(utterance, entry):
        return None
    return Finding([entry], utterance.text.strip(), "takes up what was just asked", "offered", list_with(entry, ledger))


_PRAISE = word_set(
    "good|great|perfect|fine|nice|works|work|cool|sweet|awesome|excellent|amazing|wonderful|lovely|super|ideal|okay|ok|alright|sounds|terrific|fantastic|genial|perfecto|bien|vale|excelente"
    "|מעולה|סבבה|יופי|מצוין|אחלה|מתאים|טוב|נשמע|מושלם|suena|encanta"
)
_YES = word_set("yes|yeah|yep|yup|sure|si|claro|definitely|absolutely|ok|okay|please|exactly|correct|right|כן|בטח")
_THANKS = word_set("thanks|thank you|thx|ty|gracias|תודה")
_TURNS = 3  # an offer is taken up within
_WORDS = 8  # of praise, at most
_OPENING = 5  # words that praise stands among
_BESIDE_PRAISE = 2  # words of another matter


def _speaks_of_another(utterance: Utterance, entry: ItemEntry) -> bool:
    """As in "approve the bot" of another: what is definite is no word of the item that was asked about."""
    known = entry.atoms | entry.kind_words | THING
    opening = [mark for mark in utterance.marks if mark.has("the") or mark.definite]
    nouns = [noun for nouns in utterance.definite_nouns[:1] for noun in nouns[:1]]
    direct = any(mark in utterance.marks[1:2] for mark in opening)
    return direct and bool(nouns) and not any(is_known(noun, known) for noun in nouns)


def by_agreement(utterance: Utterance, ledger: Ledger) -> Finding | None:
    """Takes up the one item just offered or shown; None where the assistant asked for a detail or for what else."""
    if not ledger.focus or not ledger.shown_lists or asks_detail(ledger.reply) or heads(utterance.marks):
        return None
    last, entry = ledger.shown_lists[-1], ledger.focus[-1]
    words = [word for mark in utterance.wanted_marks for word in mark.text.split()]
    takes_up = words[:1] and words[0] in _YES and offers(ledger.reply)
    alone = (
        len(last.entries) == 1
        and last.entries[0] is entry
        and ledger.turn - last.turn <= _TURNS
        and (not last.tool or reads(last.tool))
        and not utterance.has("search", "greeting")
    )
    if takes_up and (alone or ledger.chosen[-1:] == [entry]):
        reason = "takes up what was just offered"
    elif alone and ledger.turn - last.turn <= 1 and not takes_up and _praises(words, utterance, ledger.reply):
        reason = "agrees to the one just shown"
    else:
        return None
    return Finding([entry], utterance.text.strip(), reason, "agreed", list_with(entry, ledger))


def _praises(words: Sequence[str], utterance: Utterance, reply: str) -> bool:
    """Whether there is hardly more than praise, and thanks only in answer to a question."""
    content = [word for word in words if word[:1].isalpha()]
    return (
        len(content) <= _WORDS
        and not _PRAISE.isdisjoint(content[:_OPENING])
        and not utterance.marks[0].has("question")
        and (_THANKS.isdisjoint(words) or asks(reply))
        and sum(not is_stop(word) and word not in _PRAISE for word in content) <= _BESIDE_PRAISE
        and not asks_what_else(reply)
    )
