"""What tells how far the findings of an utterance can be trusted: features, which confidence.py weighs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from langmem_plugin.cached_property import cached_property
from langmem_plugin.references.meant.by_comparison import THAN
from langmem_plugin.references.meant.by_nearest_property import MOST_NEAR, Near
from langmem_plugin.references.meant.candidate_lists import same_entries
from langmem_plugin.references.meant.confidence import DOUBTED, GROUPS, confidences
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.meant.last_question import offers
from langmem_plugin.references.said.amounts import counted, is_plural
from langmem_plugin.references.said.requests import asks_for_next, asks_new, is_verb
from langmem_plugin.references.said.segments import NEGATIONS, Segment, heads
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.text.atoms import is_known, word_atoms
from langmem_plugin.references.text.tokens import is_stop, stem
from langmem_plugin.references.words import word_set
from langmem_plugin.references.words.type_nouns import GROUPS as TYPES
from langmem_plugin.references.words.type_nouns import THING

_ARTICLES = word_set("el|la|los|las|del|al|the|that|this|those|these|esa|ese|esos|esas|este|esta|my|your|אותו|אותה|את")
_SELF = word_set("i|im|i'm|ill|i'll|me|my|we|our|us|mi|yo|me|nos|אני|לי|שלי|אנחנו")


def weighed(
    found: Sequence[tuple[Finding, Segment]],
    utterance: Utterance,
    ledger: Ledger,
    *,
    nears: Callable[[Segment], Sequence[Near]],
    rejected: Sequence[Near],
    unclear: Sequence[ItemEntry],
    corrects: bool,
    missed: int,
    turned_down: Sequence[ItemEntry],
) -> list[Finding]:
    """Findings, each of a piece of the utterance, with their evidence and how sure they are.

    `nears` gives all that the words of a piece come near to, the nearest first, `rejected` is what those come near to
    that turn something down, `unclear` what another way would ask about; `corrects` says that the utterance wants one
    thing and not another, `missed` how many of several joined pieces nothing fits, `turned_down` is what of that other is known.
    """
    every = [finding for finding, _ in found]
    said = _Said(utterance, ledger)
    evidence = [
        {
            **said.of_all,
            **said.of_piece(segment),
            **said.of(finding),
            **_beside(finding, every),
            **_nearness(finding, nears(segment)),
            "near rejected": _shared(finding, rejected),
            "unclear": float(bool(unclear)),
            "corrects": float(corrects),
            "missed": float(min(missed, 2)),
            "turned down": min(len(turned_down), 3) / 3,
            "of unclear": float(bool(unclear) and all(any(each is one for one in unclear) for each in finding.entries)),
            "joined": float(segment.joined),
            f"sort {finding.sort}": 1.0,
            **finding.evidence,
        }
        for finding, segment in found
    ]
    return [
        replace(finding, evidence=told, confidence=min(chance, DOUBTED) if _unsure(finding, told) else chance)
        for finding, told, chance in zip(every, evidence, confidences(evidence), strict=True)
    ]


def _unsure(finding: Finding, evidence: Mapping[str, float]) -> bool:
    """Whether it is never sure, however likely: doubtful, or only nearest in meaning."""
    return finding.sort == "nearest" or bool(evidence["doubt"])


def _beside(finding: Finding, every: Sequence[Finding]) -> Mapping[str, float]:
    """What the other ways found, the same or something else."""
    agreeing = {id(each) for each in every if same_entries(each.entries, finding.entries)}
    differing = {GROUPS[each.sort] for each in every if id(each) not in agreeing}
    return {
        "agreeing": float(len(agreeing) - 1),
        "findings": float(len(every)),
        **{f"beside {group}": 1.0 for group in differing},
    }


def _shared(finding: Finding, rejected: Sequence[Near]) -> float:
    """The chance that one of those found was turned down."""
    chances = (near.chance for near in rejected if any(each is one for each in near.entries for one in finding.entries))
    return max(chances, default=0.0)


def _nearness(finding: Finding, nears: Sequence[Near]) -> Mapping[str, float]:
    place = next((place for place, each in enumerate(nears) if same_entries(each.entries, finding.entries)), None)
    others = max((each.chance for number, each in enumerate(nears) if number != place), default=0.0)
    best = nears[0].chance if nears else 0.0
    if place is None:
        return {"near others": others, "nearest chance": best, "near place": float(MOST_NEAR), "near lead": -others}
    near = nears[place]
    return {
        **{f"near {name}": value for name, value in near.evidence.items()},
        "near": near.chance,
        "near others": others,
        "nearest chance": best,
        "near place": float(place),
        "near lead": near.chance - others,
        "near behind": near.score,
    }


class _Said:
    """What the words of an utterance tell: by themselves, of a piece, and of what was found."""

    def __init__(self, utterance: Utterance, ledger: Ledger) -> None:
        self._utterance, self._ledger = utterance, ledger
        self._known = ledger.shown_lists[-1].vocabulary if ledger.shown_lists else frozenset[str]()

    @cached_property
    def _content(self) -> list[Mark]:
        return [mark for mark in self._utterance.marks if _content(mark, self._utterance)]

    @cached_property
    def _count(self) -> int:
        return counted(self._utterance.marks)

    @cached_property
    def of_all(self) -> Mapping[str, float]:
        utterance, text = self._utterance, self._utterance.text.strip()
        return {
            "pointing words": max(min(utterance.pointing, 6.0), -6.0) / 6,
            "written": float(text[:1].isupper() and text.endswith((".", "?", "!"))),
            "words": min(len(self._content), 8) / 8,
            "asks": float("?" in utterance.text),
            "than": float(any(mark.text in THAN for mark in utterance.marks)),
            "agrees": float(utterance.has("confirm")),
            "greets": float(utterance.has("greeting", "idiom")),
            "english": float(utterance.language.name == "en"),
            "offered": float(offers(self._ledger.reply)),
            "thing": float(utterance.has("it", "this", "them", "these", "there", "its")),
            "new object": float(self._new_object),
        }

    def of_piece(self, segment: Segment) -> Mapping[str, float]:
        marks = list(segment.marks)
        here = [mark for mark in marks if _content(mark, self._utterance)]
        strange = [mark for mark in here if not is_known(mark.text, self._known)]
        question = float(bool(marks) and marks[0].has("question"))
        return {
            "strange": min(len(strange), 5) / 5,
            "question": question,
            "question strange": len(strange) / max(len(here), 1) * question,
            "one": float(any(mark.has("one") or mark.text in THING for mark in marks)),
            "head": float(bool(heads(marks))),
            "article": float(
                any(mark.has("the", "this", "these") or mark.definite or mark.text in _ARTICLES for mark in marks)
            ),
            "self": float(any(mark.text in _SELF for mark in marks)),
            "indefinite": float(any(mark.text in ("a", "an", "some", "un", "una", "any") for mark in marks)),
            "imperative": float(bool(marks) and is_verb(marks[0].text)),
            "typed noun": float(any(stem(mark.text) in TYPES for mark in here)),
            "segments": float(len(marks) < len(self._utterance.marks)),
            "denied": float(any(mark.text in NEGATIONS or mark.has("not") for mark in marks)),
            "plural": float(any(is_plural(mark) for mark in marks)),
            "compares": float(any(mark.has("comparison", "most", "least") for mark in marks)),
            "values": float(len(self._utterance.stretches)),
            "limits": float(any(stretch.side or stretch.upto for stretch in self._utterance.stretches)),
        }

    def of(self, finding: Finding) -> Mapping[str, float]:
        utterance, ledger, listed = self._utterance, self._ledger, finding.listed
        start, end = self._span(finding)
        behind = next((mark for mark in utterance.marks if mark.start >= end), None)
        ahead = next((mark for mark in reversed(utterance.marks) if mark.end <= start), None)
        unknown = behind is not None and _content(behind, utterance) and stem(behind.text) not in self._known
        led = (
            ahead is not None
            and _content(ahead, utterance)
            and not ahead.kinds
            and not is_verb(ahead.text)
            and stem(ahead.text) not in self._known
        )
        return {
            **self._explained(finding),
            "followed": float(start >= 0 and unknown),
            "led": float(led),
            "newest": float(listed is not None and bool(ledger.shown_lists) and listed is ledger.shown_lists[-1]),
            "alone": float(listed is not None and len(listed.entries) == 1),
            "size": min(len(listed.entries), 10) / 10 if listed is not None else 0.0,
            "several": float(min(len(finding.entries), 5)),
            "counted": float(self._count > 0),
            "miscounted": float(self._count > 0 and self._count != len(finding.entries)),
            "focus": float(bool(ledger.focus) and finding.entries[:1] == ledger.focus[-1:]),
            "one word": float(" " not in finding.words.strip()),
            "marked": float(any(mark.has("marker", "label") and start <= mark.start < end for mark in utterance.marks)),
            "doubt": float(self._doubtful(finding)),
        }

    def _span(self, finding: Finding) -> tuple[int, int]:
        """Where its words stand; they begin at -1 where they were not said so."""
        start = self._utterance.text.find(finding.words)
        return start, start + len(finding.words)

    def _doubtful(self, finding: Finding) -> bool:
        """As in "if …", "1 or 2", "under 100", "from 1 to 4", "pay 2", "who was noether"."""
        texts = {mark.text for mark in self._utterance.marks}
        bare = finding.sort == "number" and finding.words.strip().isdigit() and bool(texts & _OF_AMOUNTS)
        taken = finding.sort == "description" and finding.words.split()[0].isdigit() and bool(texts & _TAKING)
        moved = "from" in texts and not texts.isdisjoint(_OF_AMOUNTS | {"move"})
        unmeasured = any(stretch.side and stretch.values[0].kind == "quantity" for stretch in self._utterance.stretches)
        restricted = finding.sort == "comparison" and not finding.evidence.get("narrowed") and self._restricts(finding)
        doubts = not texts.isdisjoint(_DOUBTING)
        return bare or taken or moved or unmeasured or restricted or self._of_the_world or doubts

    def _restricts(self, finding: Finding) -> bool:
        """As in "cheapest where i can actually see", "the cheapest after the fiat": of some only."""
        _, end = self._span(finding)
        behind = [mark.text for mark in self._utterance.marks if mark.start >= end]
        return not _OF_SOME.isdisjoint(behind[:1]) or not _BEYOND.isdisjoint(behind)

    @cached_property
    def _of_the_world(self) -> bool:
        return self._utterance.of_the_world or asks_for_next(self._utterance.text)

    @property
    def _new_object(self) -> bool:
        """As in "order lunch for 4", "tell lena …": what is to be done is done to something that nothing shown explains."""
        marks = [mark for mark in self._utterance.marks if not mark.has("punctuation")]
        while len(marks) > 1 and not is_verb(marks[0].text) and marks[0].has("polite", "confirm"):
            marks = marks[1:]
        if not marks or not (is_verb(marks[0].text) or asks_new(marks[0])):
            return False
        told = next(
            (mark for mark in marks[1:] if not mark.has("indefinite", "cardinal") and not is_stop(mark.text)), None
        )
        return told is not None and _content(told, self._utterance) and not is_known(told.text, self._known)

    def _explained(self, finding: Finding) -> Mapping[str, float]:
        """How much of the utterance the chosen items explain, how much only the others of their list, how much neither."""
        chosen, others = set[str](), set[str]()
        if (listed := finding.listed) is not None:
            wanted = {id(entry) for entry in finding.entries}
            for place, entry in enumerate(listed.entries):
                known = listed.atoms_of(place) | entry.kind_words
                if id(entry) in wanted:
                    chosen |= known
                else:
                    others |= known
            fields = frozenset().union(*(words for entry in finding.entries for words in entry.fields.values()))
            chosen |= listed.nouns
            chosen.update(map(stem, fields))
        start, end = self._span(finding)
        own, theirs, nobody = 0, 0, 0
        for mark in self._content:
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


_OF_AMOUNTS = word_set("pay|send|transfer|buy|order|add|give|paga|manda|transfiere|compra|תשלם|תעביר|תקנה|שלם|העבר|קנה")
_OF_SOME = word_set("where|that|which|who|when|we|i|donde|que|q|cuando")
_BEYOND = word_set("after|besides|despues|אחרי")
_TAKING = _OF_AMOUNTS | word_set("take|move|put|withdraw|saca|mete|pon|תוציא|תכניס|תוסיף")
_DOUBTING = word_set(
    "if|unless|or|o|not|isn't|isnt|aren't|arent|instead|si|או|אם|לא|ni|nor|except|already|ya|ago|than|rather"
)


def _content(mark: Mark, utterance: Utterance) -> bool:
    return mark.text[:1].isalpha() and not (
        mark.text in utterance.language.stop
        or mark.text in NEGATIONS
        or mark.has("polite", "choose", "confirm", "one", "greeting", "it", "them", "these", "cardinal")
    )
