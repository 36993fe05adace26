"""What tells how far a finding can be trusted: its features, which the fitted table of confidence.py weighs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.meant.last_question import offers
from langmem_plugin.references.said.requests import asks_new, is_verb
from langmem_plugin.references.said.segments import NEGATIONS, Segment, heads
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.text.atoms import word_atoms
from langmem_plugin.references.text.tokens import is_stop, stem
from langmem_plugin.references.words import word_set
from langmem_plugin.references.words.type_nouns import GROUPS, THING

_ARTICLES = word_set("el|la|los|las|del|al|the|that|this|those|these|esa|ese|esos|esas|este|esta|my|your|אותו|אותה|את")
_SELF = word_set("i|im|i'm|ill|i'll|me|my|we|our|us|mi|yo|me|nos|אני|לי|שלי|אנחנו")


def with_evidence(finding: Finding, segment: Segment, utterance: Utterance, ledger: Ledger) -> Finding:
    return replace(finding, evidence={**_common(finding, segment, utterance, ledger), **finding.evidence})


def _common(finding: Finding, segment: Segment, utterance: Utterance, ledger: Ledger) -> Mapping[str, float]:
    marks = list(segment.marks)
    content = [mark for mark in utterance.marks if _content(mark, utterance)]
    here = [mark for mark in marks if _content(mark, utterance)]
    known = ledger.shown_lists[-1].vocabulary if ledger.shown_lists else frozenset()
    strange = [mark for mark in here if not (word_atoms(mark.text) | {stem(mark.text)}) & known]
    listed = finding.listed
    start = utterance.text.find(finding.words)
    behind = next((mark for mark in utterance.marks if mark.start >= start + len(finding.words)), None)
    unknown = behind is not None and _content(behind, utterance) and stem(behind.text) not in known
    ahead = next((mark for mark in reversed(utterance.marks) if mark.end <= start), None)
    led = (
        ahead is not None
        and _content(ahead, utterance)
        and not ahead.kinds
        and not is_verb(ahead.text)
        and stem(ahead.text) not in known
    )
    text = utterance.text.strip()
    return {
        **_explained(finding, content, utterance),
        "followed": float(start >= 0 and unknown),
        "led": float(led),
        "written": float(text[:1].isupper() and text.endswith((".", "?", "!"))),
        "words": min(len(content), 8) / 8,
        "strange": min(len(strange), 5) / 5,
        "question": float(bool(marks) and marks[0].has("question")),
        "asks": float("?" in utterance.text),
        "one": float(any(mark.has("one") or mark.text in THING for mark in marks)),
        "head": float(bool(heads(marks))),
        "article": float(
            any(mark.has("the", "this", "these") or mark.definite or mark.text in _ARTICLES for mark in marks)
        ),
        "self": float(any(mark.text in _SELF for mark in marks)),
        "indefinite": float(any(mark.text in ("a", "an", "some", "un", "una", "any") for mark in marks)),
        "agrees": float(utterance.has("confirm")),
        "imperative": float(bool(marks) and is_verb(marks[0].text)),
        "greets": float(utterance.has("greeting", "idiom")),
        "newest": float(listed is not None and bool(ledger.shown_lists) and listed is ledger.shown_lists[-1]),
        "alone": float(listed is not None and len(listed.entries) == 1),
        "size": min(len(listed.entries), 10) / 10 if listed is not None else 0.0,
        "focus": float(bool(ledger.focus) and finding.entries[:1] == ledger.focus[-1:]),
        "typed noun": float(any(stem(mark.text) in GROUPS for mark in here)),
        "english": float(utterance.language.name == "en"),
        "offered": float(offers(ledger.reply)),
        "thing": float(any(mark.has("it", "this", "them", "these", "there", "its") for mark in utterance.marks)),
        "doubt": float(_doubtful(finding, utterance)),
        "one word": float(" " not in finding.words.strip()),
        "new object": float(_new_object(utterance, known)),
        "question strange": len(strange) / max(len(here), 1) * float(bool(marks) and marks[0].has("question")),
        "joined": float(segment.joined),
        "segments": float(len(marks) < len(utterance.marks)),
    }


def _new_object(utterance: Utterance, known: frozenset[str]) -> bool:
    """As in "order lunch for 4", "tell lena …": what is to be done is done to something that nothing shown explains."""
    marks = [mark for mark in utterance.marks if not mark.has("punctuation")]
    while len(marks) > 1 and not is_verb(marks[0].text) and marks[0].has("polite", "confirm"):
        marks = marks[1:]
    if not marks or not (is_verb(marks[0].text) or asks_new(marks[0])):
        return False
    told = next((mark for mark in marks[1:] if not mark.has("indefinite", "cardinal") and not is_stop(mark.text)), None)
    return told is not None and _content(told, utterance) and not (word_atoms(told.text) | {stem(told.text)}) & known


def _explained(finding: Finding, content: Sequence[Mark], utterance: Utterance) -> Mapping[str, float]:
    """How much of an utterance the chosen items explain, how much only the others of their list, how much neither."""
    chosen, others = frozenset[str](), frozenset[str]()
    if (listed := finding.listed) is not None:
        wanted = {id(entry) for entry in finding.entries}
        for place, entry in enumerate(listed.entries):
            known = listed.atoms_of(place) | entry.kind_words
            if id(entry) in wanted:
                chosen |= known
            else:
                others |= known
        fields = frozenset().union(*(words for entry in finding.entries for words in entry.fields.values()))
        chosen |= listed.nouns | {stem(word) for word in fields}
    start = utterance.text.find(finding.words)
    end = start + len(finding.words)
    own, theirs, nobody = 0, 0, 0
    for mark in content:
        said = word_atoms(mark.text) | {stem(mark.text)}
        if said & chosen or (finding.sort not in {"asked", "offered"} and start <= mark.start < end):
            own += 1
        elif said & others:
            theirs += 1
        elif not is_verb(mark.text):
            nobody += 1
    total = max(own + theirs + nobody, 1)
    return {
        "explained share": own / total,
        "by others": min(theirs, 3) / 3,
        "by nobody": min(nobody, 5) / 5,
        "nobody share": nobody / total,
    }


def _doubtful(finding: Finding, utterance: Utterance) -> bool:
    """As in "if …", "1 or 2", "under 100", "from 1 to 4", "pay 2"."""
    texts = {mark.text for mark in utterance.marks}
    bare = finding.sort == "number" and finding.words.strip().isdigit() and bool(texts & _OF_AMOUNTS)
    moved = "from" in texts and not texts.isdisjoint(_OF_AMOUNTS | {"move"})
    unmeasured = any(stretch.side and stretch.values[0].kind == "quantity" for stretch in utterance.stretches)
    return bare or moved or unmeasured or not texts.isdisjoint(_DOUBTING)


_OF_AMOUNTS = word_set("pay|send|transfer|buy|order|add|give|paga|manda|transfiere|compra|תשלם|תעביר|תקנה|שלם|העבר|קנה")
_DOUBTING = word_set(
    "if|unless|or|not|isn't|isnt|aren't|arent|instead|si|או|אם|לא|ni|nor|except|already|ya|ago|than|rather"
)


def _content(mark: Mark, utterance: Utterance) -> bool:
    return mark.text[:1].isalpha() and not (
        mark.text in utterance.language.stop
        or mark.text in NEGATIONS
        or mark.has("polite", "choose", "confirm", "one", "greeting", "it", "them", "these", "cardinal")
    )
