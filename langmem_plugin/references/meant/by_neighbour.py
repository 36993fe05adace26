"""An item by its place beside another: "the one after it", "not that, the one right before", "next one on the list"."""

import re
from collections.abc import Sequence

from langmem_plugin.references.meant.by_properties import described
from langmem_plugin.references.meant.candidate_lists import newest
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.tokens import normal

_ONE = r"(?:one|1|el|la|el de|la de|el que esta|la que esta|el que viene|la que viene|la q viene|el q viene|זה|זאת|זו|האחד|האחת|ההוא|ההיא)\s+"
_NEAR = r"(?:right |just |directly |immediately |justo |ש?ממש |בדיוק )?"
_IT = r"(?: (?:it|that|this|him|her|them|that one|this one|de ese|de esa|de este|de ella|de el|del))?"
_END = r"(?=\s*\W*$|\s*[,.;!?]| (?:in|on|en|pls|please|decile|dile) )"
_AFTER = re.compile(
    rf"\b{_ONE}{_NEAR}(?:after|below|under|underneath|following|beneath|debajo|despues|siguiente){_IT}\s*\W*$"
    rf"|\b{_ONE}{_NEAR}(?:after|below|underneath|beneath|debajo|despues){_IT}{_END}"
    rf"|\b{_ONE}justo despues de ella"
    r"|\b(?:the )?next (?:one|1)\b|\b(?:el|la) (?:siguiente|de despues|de abajo)\b|(?:ש?אחריו|ש?אחריה|שאחרי|הבא בתור|הבאה בתור|ש?מתחתיו|ש?מתחתיה|הבא אחריו|הבאה אחריה)(?!\w)",
)
_BEFORE = re.compile(
    rf"\b{_ONE}{_NEAR}(?:before|above|over|preceding|antes|arriba|encima){_IT}\s*\W*$"
    rf"|\b{_ONE}{_NEAR}(?:before|above|preceding|antes|arriba|encima){_IT}{_END}"
    r"|\b(?:el|la) (?:anterior|de antes|de arriba)\b|(?:ש?לפניו|ש?לפניה|שלפני|ש?מעליו|ש?מעליה|הקודם לו|הקודמת לה|שלפני זה)(?!\w)",
)


_BESIDE_NAMED = re.compile(
    r"\b(?:one|1|whatever is|what is|thing|item)\s+(?:right |just )?(before|after|above|below|under|following|preceding) (?!it\b|that\b|this\b|him\b|her\b|them\b|last\b|the last\b)(?=\w)"
)


def beside_named(utterance: Utterance) -> bool:
    """Whether an utterance means what stands beside a thing it names: "the one before the eye exam"."""
    return _BESIDE_NAMED.search(normal(utterance.text)) is not None


def _beside_described(named: re.Match[str], utterance: Utterance, ledger: Ledger) -> Finding | None:
    marks = [mark for mark in utterance.marks if mark.start >= named.end()]
    step = -1 if named[1] in ("before", "above", "preceding") else 1
    for listed in newest(ledger):
        known = described(marks, utterance, listed).entries if len(listed.entries) > 1 else []
        if len(known) == 1:
            return _next_to(known[0], step, listed, utterance)
    return None


def _next_to(known: ItemEntry, step: int, listed: ShownList, utterance: Utterance) -> Finding | None:
    """None where the list ends there."""
    place = next(place for place, entry in enumerate(listed.entries) if entry is known) + step
    if not 0 <= place < len(listed.entries):
        return None
    reason = f"the one {'after' if step > 0 else 'before'} it in the list"
    return Finding([listed.entries[place]], utterance.text.strip(), reason, "neighbour", listed)


def by_neighbour(utterance: Utterance, ledger: Ledger, turned_down: Sequence[ItemEntry]) -> Finding | None:
    """Beside what was turned down here, else beside the item in focus."""
    said = normal(utterance.text)
    if (named := _BESIDE_NAMED.search(said)) is not None:
        return _beside_described(named, utterance, ledger)
    step = 1 if _AFTER.search(said) else -1 if _BEFORE.search(said) else 0
    anchor = turned_down[-1] if turned_down else ledger.focus[-1] if ledger.focus else None
    if not step or anchor is None:
        return None
    several = (each for each in reversed(ledger.shown_lists) if len(each.entries) > 1)
    listed = next((each for each in several if any(entry is anchor for entry in each.entries)), None)
    return _next_to(anchor, step, listed, utterance) if listed is not None else None
