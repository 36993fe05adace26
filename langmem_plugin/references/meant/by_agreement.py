"""The item just offered, taken up by a yes or by praise: "sounds good", "yes please"."""

from collections.abc import Sequence

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
