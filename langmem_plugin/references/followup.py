"""How an utterance follows on: it chooses, refers, revises, confirms, or is new."""

from .ledger import Ledger
from .lexicon import marked
from .resolution import Followup
from .resolver import Decision


def label(utterance: str, ledger: Ledger, decision: Decision) -> Followup:
    """One of the five, from the words of the utterance and what was found to be meant."""
    marks, _ = marked(utterance)
    kinds = [kind for mark in marks for kind in mark.kinds]
    if any(phrase.kind in ("numbers", "first", "last", "comparison", "both") for phrase in decision.phrases) and decision.meanings:
        return "choose"
    if marks and marks[0].has("confirm") and len(marks) <= 5 or marks and all(mark.has("confirm", "polite", "punctuation", "it", "this") for mark in marks):
        return "confirm"
    if "revise" in kinds:
        return "revise"
    if decision.meanings or any(phrase.kind in ("it", "this", "these", "them", "its", "there") for phrase in decision.phrases):
        return "refer"
    return "new"
