"""Items described in other words than their own, by closeness in meaning: "the skin lady" of a dermatologist."""

from collections.abc import Sequence

from langmem_plugin.references.meant.by_choice import Closeness
from langmem_plugin.references.meant.candidate_lists import newest
from langmem_plugin.references.meant.constraints import read
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.said.segments import Segment, heads, of_oneself
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry, leaves
from langmem_plugin.references.shown.ledger import Ledger

_REQUESTS = ("can", "could")
_MOST = 20  # items of a list that are compared
_LETTERS, _VALUE = 160, 40  # of an item, and of one of its values
_WORDS = 4  # of the description
_MARGIN = 0.15  # that the closest is closer by than the second


def by_likeness(
    segment: Segment, utterance: Utterance, ledger: Ledger, among: Sequence[ItemEntry], closeness: Closeness
) -> Finding | None:
    """Of a list, or of those `among` which it is unclear, the closest to words that fit none by themselves."""
    marks = segment.marks
    listed = next((each for each in newest(ledger) if len(each.entries) > 1), None)
    if listed is None or len(listed.entries) > _MOST or of_oneself(marks) or utterance.language.name != "en":
        return None
    definite = [place for place, mark in enumerate(marks) if mark.has("the", "this") or mark.text in ("my", "el", "la")]
    strange = sorted(read(marks, utterance, listed).strange)
    hung = heads(marks)
    if not strange or not (hung or (definite and not (marks[0].has("question") and marks[0].text not in _REQUESTS))):
        return None
    told = [marks[place].text for place in strange if not definite or place > definite[0]]
    entries = list(among) or listed.entries
    if (
        not told
        or len(told) > _WORDS
        or any(mark.has("another") or mark.text == "new" for mark in marks)
        or len(entries) < 2
        or utterance.has("search")
    ):
        return None
    near = closeness(" ".join(told), [_text(entry) for entry in entries])
    (second, _), (best, place) = sorted(zip(near, range(len(entries)), strict=True))[-2:]
    if best - second < _MARGIN:
        return None
    words = utterance.text[marks[strange[0]].start : marks[strange[-1]].end]
    return Finding([entries[place]], words, f"nearest in meaning to {' '.join(told)}", "alike", listed)


def _text(entry: ItemEntry) -> str:
    """What it is called and its short texts."""
    values = [value for _, value in leaves(entry.item) if isinstance(value, str) and not any(map(str.isdigit, value))]
    return " ".join([entry.title, *(value.replace("_", " ").lower() for value in values if len(value) < _VALUE)])[
        :_LETTERS
    ]
