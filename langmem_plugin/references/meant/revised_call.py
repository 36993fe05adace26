"""Utterances that change the call before: "what about next week?", "make it 8 pm", "swap Wednesday for tacos"."""

from langmem_plugin.references.meant.decision import Decision
from langmem_plugin.references.meant.resolution import PreviousCall
from langmem_plugin.references.said.utterance import Sentence, sentences
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.plain_data import plain
from langmem_plugin.references.text.atoms import typed_atoms

_SHORT = 4  # words of an utterance that only makes sense with the call before it: "in tel aviv"
_CORRECTION = 7


def previous_call(text: str, ledger: Ledger, decision: Decision) -> PreviousCall | None:
    """The last call where the utterance revises it: it begins with what asks for a change, corrects a value, or is a
    value alone.
    """
    if not ledger.calls or not revises(text, found=bool(decision.findings)):
        return None
    call = ledger.calls[-1]
    return PreviousCall(call.tool, plain(call.arguments))


def revises(text: str, *, found: bool = False) -> bool:
    """`found` says whether the utterance was found to mean an item."""
    said = sentences(text)
    if any(_asks_for_a_change(sentence) for sentence in said):
        return True
    if found or len(said) != 1:
        return False
    words = [word for word in said[0].words if word.text[:1].isalnum()]
    value = bool(typed_atoms(text)) or any(word.any_of("weekday", "month", "when") for word in words)
    if words and words[0].any_of("not", "correction") and len(words) <= _CORRECTION:
        return value
    content = [word for word in words if not word.any_of("polite", "agree")]
    if (
        not content
        or len(content) > _SHORT
        or any(
            word.any_of("object", "search", "question", "this", "marker") or ("it" in word and "the" not in word)
            for word in content
        )
    ):
        return False
    return value or content[0].any_of("placing")


def _asks_for_a_change(sentence: Sentence) -> bool:
    for place, word in enumerate(sentence.words):
        opens = all(each.any_of("polite", "agree", "and", "break", "not") for each in sentence.words[:place])
        if word.any_of("revise") and opens:
            return True
        if word.any_of("instead") and sentence.at(place + 1).any_of("end", "break", "polite"):
            return True
        if not word.any_of("polite", "agree", "and", "break", "not"):
            return any(each.any_of("instead") for each in sentence.words[place:][-2:])
    return False
