"""Phrases that point at something shown whatever was: "save number 9", "the third one please"."""

from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.segments import CLAUSE
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance

_LEADING, _TRAILING = 5, 3  # words


def points_clearly(phrase: Phrase, utterance: Utterance) -> bool:
    """As "save number 9", "#2", "the third one please" and "that one" do, and "2", "it" or "my bus, number 18" do not."""
    marks = [mark for mark in utterance.marks if phrase.start <= mark.start and mark.end <= phrase.end]
    before = [mark for mark in utterance.marks if mark.end <= phrase.start]
    behind = [mark for mark in utterance.marks if mark.start >= phrase.end]
    opens = all(_leads_to(mark, utterance) for mark in before) and len(before) <= _LEADING
    ends = len(behind) <= _TRAILING and not any(mark.text in CLAUSE or mark.has("this") for mark in behind[:1])
    if phrase.nouns or not (opens and ends):
        return False
    if phrase.kind == "numbers":
        return phrase.one or any(mark.has("marker", "label") for mark in marks)
    goes_on = any(mark.text[:1].isalpha() and not mark.kinds for mark in behind[:1])  # "that one song by Adele"
    return phrase.kind in ("this", "it") and marks[-1].text.endswith("one") and not goes_on


def _leads_to(mark: Mark, utterance: Utterance) -> bool:
    """Whether a word stands before what is picked: "please save …", "tell me about …", "pay …"."""
    if mark is utterance.marks[0] and not mark.has("question", "this", "it"):
        return True
    return mark.has("choose", "polite", "the", "confirm", "punctuation") or mark.text in (
        "me",
        "את",
        "el",
        "la",
        "about",
        "more",
    )
