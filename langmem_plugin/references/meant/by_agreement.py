"""The item just offered, taken up by a yes or by praise: "sounds good", "yes please"."""

from langmem_plugin.references.meant.candidate_lists import list_with
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.meant.last_question import asks, asks_detail, asks_what_else, offers
from langmem_plugin.references.said.segments import heads
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.tool_results import reads
from langmem_plugin.references.text.tokens import is_stop
from langmem_plugin.references.words import phrases

_PRAISE = frozenset(
    phrases(
        "good|great|perfect|fine|nice|works|work|cool|sweet|awesome|excellent|amazing|wonderful|lovely|super|ideal|okay|ok|alright|sounds|terrific|fantastic|genial|perfecto|bien|vale|excelente"
        "|מעולה|סבבה|יופי|מצוין|אחלה|מתאים|טוב|נשמע|מושלם|suena|encanta"
    )
)
_YES = frozenset(
    phrases("yes|yeah|yep|yup|sure|si|claro|definitely|absolutely|ok|okay|please|exactly|correct|right|כן|בטח")
)
_THANKS = frozenset(phrases("thanks|thank you|thx|ty|gracias|תודה"))
_TURNS = 3  # an offer is taken up within
_WORDS = 8  # of praise, at most
_OPENING = 5  # words that praise stands among
_BESIDE_PRAISE = 2  # words of another matter


def by_agreement(utterance: Utterance, ledger: Ledger) -> Finding | None:
    """Takes up the one item just offered or shown; None where the assistant asked for a detail or for what else."""
    if not ledger.focus or not ledger.shown_lists or asks_detail(ledger.reply):
        return None
    last, entry = ledger.shown_lists[-1], ledger.focus[-1]
    words = [word for mark in utterance.wanted_marks for word in mark.text.split()]
    if heads(utterance.marks):
        return None
    takes_up = words[:1] and words[0] in _YES and offers(ledger.reply)
    reason = ""
    if takes_up and ledger.chosen[-1:] == [entry]:
        reason = "takes up what was just offered"
    elif (
        len(last.entries) == 1
        and last.entries[0] is entry
        and ledger.turn - last.turn <= _TURNS
        and (not last.tool or reads(last.tool))
        and not utterance.has("search", "greeting")
    ):
        content = [word for word in words if word[:1].isalpha()]
        if takes_up:
            reason = "takes up what was just offered"
        elif (
            ledger.turn - last.turn <= 1
            and len(content) <= _WORDS
            and set(content[:_OPENING]) & _PRAISE
            and not utterance.marks[0].has("question")
            and (_THANKS.isdisjoint(words) or asks(ledger.reply))
            and sum(not is_stop(word) and word not in _PRAISE for word in content) <= _BESIDE_PRAISE
            and not asks_what_else(ledger.reply)
        ):
            reason = "agrees to the one just shown"
    return Finding([entry], utterance.text.strip(), reason, "agreed", list_with(entry, ledger)) if reason else None
