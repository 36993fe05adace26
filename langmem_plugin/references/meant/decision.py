"""In which order the ways of finding are asked what an utterance means. Pure and deterministic."""

import re
from collections.abc import Sequence
from dataclasses import replace

from langmem_plugin.references.meant.by_agreement import by_agreement
from langmem_plugin.references.meant.by_comparison import beyond
from langmem_plugin.references.meant.by_choice import Closeness, by_choice, choices
from langmem_plugin.references.meant.by_field import by_part, by_question, part_of
from langmem_plugin.references.meant.by_group import other_of_two
from langmem_plugin.references.meant.by_name import by_name
from langmem_plugin.references.meant.by_neighbour import by_neighbour
from langmem_plugin.references.meant.by_offer import by_offer, offered
from langmem_plugin.references.meant.by_phrase import PICKING, by_phrase
from langmem_plugin.references.meant.by_pronoun import by_plural, by_singular
from langmem_plugin.references.meant.by_properties import by_properties, described
from langmem_plugin.references.meant.by_type import by_action, by_type, place_spoken_of
from langmem_plugin.references.meant.candidate_lists import list_with, without
from langmem_plugin.references.meant.confidence import ASKED
from langmem_plugin.references.meant.evidence import with_evidence
from langmem_plugin.references.meant.finding import Decision, Finding, Unclear
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.segments import Segment, heads, of_oneself, segments
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList

_LISTS_KNOWN, _LISTS_NARROWED = 3, 4
"""Newest lists whose words are never taken for typos."""
_NARROWED = frozenset(("all", "both", "comparison", "first", "last", "other", "these", "them"))
DESCRIBING = frozenset(("number", "ordinal", "comparison", "group", "exclusion", "description", "name", "part of name"))
_PURPOSE = frozenset(("for", "to", "para", "on", "pls", "please", "ל"))
_DENIED = re.compile(r"(?:\b(?:isn'?t|aren'?t|not|no es|no son)|שהוא לא|שהיא לא|שלא)\s+(?:the |el |la |an? )?\S+", re.IGNORECASE)
_SAYING = frozenset(("remember", "know", "think", "hope", "said", "say", "mean", "means", "sure", "note", "glad", "recuerda", "tell", "believe", "guess", "like"))
_REMEMBER = frozenset(("remember", "recuerda", "note", "apunta", "זכור", "תזכור", "תזכרי"))
_CLAUSE = frozenset(("i", "im", "i'm", "ill", "i'll", "ive", "i've", "we", "you", "he", "she", "they", "my", "the", "there", "it", "its", "it's", "mom", "dad", "our", "is", "was"))


def decide(text: str, ledger: Ledger, closeness: Closeness | None = None) -> Decision:
    """What a text points at in the ledger, which has settled all results before it."""
    if not text.strip():
        return Decision()
    if not ledger.shown_lists:
        return Decision(unresolved=_pointing(text))
    known = frozenset().union(*(listed.vocabulary for listed in ledger.shown_lists[-_LISTS_KNOWN:]))
    utterance = Utterance(text, known)
    return _Deciding(utterance, ledger, closeness).decision()


def _pointing(text: str) -> list[str]:
    """What points with all clarity though nothing was ever shown."""
    utterance = Utterance(text)
    return [
        utterance.words(phrase)
        for segment in segments(utterance.marks, utterance.phrases)
        if not segment.rejected
        for phrase in utterance.phrases
        if segment.holds(phrase) and points_clearly(phrase, utterance)
    ]


def points_clearly(phrase: Phrase, utterance: Utterance) -> bool:
    """As "number 9", "#2", "the third one" and "that one" do, and "2" or "it" do not."""
    marks = [mark for mark in utterance.marks if phrase.start <= mark.start and mark.end <= phrase.end]
    if phrase.kind == "numbers":
        return phrase.one or any(mark.has("marker", "label") for mark in marks)
    return phrase.kind in ("this", "it") and not phrase.nouns and marks[-1].text.endswith(("one", "one?"))


class _Deciding:
    """One utterance against one ledger."""

    def __init__(self, utterance: Utterance, ledger: Ledger, closeness: Closeness | None) -> None:
        self._utterance = utterance
        self._ledger = ledger
        self._closeness = closeness
        self._segments = segments(utterance.marks, utterance.phrases)
        self._turned_down: list[ItemEntry] = []
        for segment in self._segments:
            if segment.rejected:
                found = self._in_segment(segment)
                if isinstance(found, Finding):
                    self._turned_down += found.entries

    def decision(self) -> Decision:
        """What the surest of the ways found, or a question, or nothing."""
        kinds = {phrase.kind for phrase in self._utterance.phrases}
        if _to_be_remembered(self._utterance):
            return Decision()
        if kinds & {"another", "neither"} and not kinds & {"numbers", "all_but"}:
            return Decision()
        wanted = [segment for segment in self._segments if not segment.rejected]
        findings, unclear = self._offers(wanted)
        findings = [found for found in findings if self._left(found)]
        if findings:
            best = max(findings, key=lambda found: found.confidence)
            if best.claimed:
                beside = [found for found in findings if found is best or self._goes_beside(found, best)]
                return self._kept(beside)
            if best.confidence >= ASKED:
                return Decision(unclear=best.entries)
        if unclear:
            return Decision(unclear=unclear)
        return Decision(unresolved=self._unresolved(wanted))

    def _unresolved(self, wanted: Sequence[Segment]) -> list[str]:
        """Words that count or point with all clarity, where nothing fits them."""
        return [
            self._utterance.words(phrase)
            for segment in wanted
            for phrase in self._phrases(segment)
            if points_clearly(phrase, self._utterance)
        ]

    def _offers(self, wanted: Sequence[Segment]) -> tuple[list[Finding], list[ItemEntry]]:
        """All that the ways find, and what is to be asked about where none is sure."""
        findings: list[Finding] = []
        unclear: list[ItemEntry] = []
        whole = _whole(self._utterance)
        if not any(self._picked(segment) for segment in self._segments):
            chosen = by_choice(self._utterance, self._ledger, self._closeness)
            if chosen is not None:
                self._turned_down = []
                return [self._weighed(chosen, whole)], []
        if self._turned_down:
            beside = by_neighbour(self._utterance, self._ledger, self._turned_down)
            if beside is not None:
                return [self._weighed(beside, whole)], []
        for segment in wanted:
            if (beside := self._than(segment)) is not None:
                return [self._weighed(beside, segment)], []
        picked = [self._weighed(found, segment) for segment in wanted if (found := self._picked(segment)) is not None]
        if picked:
            for segment in wanted:
                if segment.joined and self._picked(segment) is None:
                    found = self._described(segment)
                    if isinstance(found, Finding):
                        picked.append(self._weighed(found, segment))
            return picked, []
        if any(phrase.kind in ("numbers", "all_but") for segment in wanted for phrase in self._phrases(segment)):
            return [], []
        named = by_name(self._wanted_text(wanted), self._utterance, self._ledger)
        if named is not None:
            findings.append(self._weighed(named, whole))
        for segment in wanted:
            found = self._described(segment)
            if isinstance(found, Finding):
                findings.append(self._weighed(found, segment))
            elif found is not None:
                unclear = unclear or found.entries
        offer = by_offer(self._utterance, self._ledger)
        if offer is not None:
            findings.append(self._weighed(offer, whole))
        if not self._turned_down and (beside := by_neighbour(self._utterance, self._ledger, ())) is not None:
            findings.append(self._weighed(beside, whole))
        pointed = self._pointed_at(wanted)
        if isinstance(pointed, Finding):
            findings.append(self._weighed(pointed, whole))
        elif pointed is not None:
            unclear = unclear or pointed.entries
        if not findings and self._turned_down:
            findings = [self._weighed(found, whole) for found in self._others().findings]
        return findings, unclear

    def _wanted_text(self, wanted: Sequence[Segment]) -> str:
        """From the first to the last letter wanted, without what is turned down between."""
        if not wanted:
            return ""
        text = self._utterance.text
        for segment in self._segments:
            if segment.rejected or of_oneself(segment.marks):
                text = text[: segment.start] + " " * (segment.end - segment.start) + text[segment.end :]
        return _DENIED.sub(" ", text)

    def _points(self, phrase: Phrase) -> bool:
        """Whether a pronoun points at something shown: not at what the same text describes before it, and not as in
        "remember that I am allergic".
        """
        marks = self._utterance.marks
        place = next((place for place, mark in enumerate(marks) if mark.start >= phrase.start), len(marks))
        if any(head < place for head in heads(marks)) or place in heads(marks):
            return False
        before = marks[place - 1].text if place else ""
        if phrase.kind == "this" and not phrase.one and (before in _SAYING or _goes_on(marks, place + 1)):
            return False
        return phrase.kind not in ("its", "their") or any(
            part_of(entry, phrase.nouns) for entry in self._ledger.focus[-2:] if phrase.nouns
        )

    def _weighed(self, finding: Finding, segment: Segment) -> Finding:
        return with_evidence(finding, segment, self._utterance, self._ledger)

    def _goes_beside(self, found: Finding, best: Finding) -> bool:
        """Whether a second finding is meant as well: counted or described in a piece of its own, and sure enough."""
        alike = found.sort in DESCRIBING and best.sort in DESCRIBING
        return alike and (found.claimed or (found.confidence >= ASKED and found.evidence.get("joined", 0) > 0))

    def _kept(self, findings: Sequence[Finding]) -> Decision:
        """Without what was turned down, and each item once."""
        kept: list[Finding] = []
        taken = list(self._turned_down)
        for finding in findings:
            entries = without(finding.entries, taken)
            if entries:
                kept.append(replace(finding, entries=entries))
                taken += entries
        return Decision(kept) if kept else self._others()

    def _left(self, finding: Finding) -> list[ItemEntry]:
        return without(finding.entries, self._turned_down)

    def _others(self) -> Decision:
        """Of two, the one that was not turned down."""
        if len(self._turned_down) == 1:
            listed = list_with(self._turned_down[0], self._ledger)
            if listed is not None and len(listed.entries) == 2:
                rest = without(listed.entries, self._turned_down)
                return Decision([Finding(rest, self._utterance.text.strip(), "the other of the two", "other", listed)])
        return Decision()

    def _in_segment(self, segment: Segment) -> Finding | Unclear | None:
        found = self._picked(segment)
        if found is not None:
            return found
        for phrase in self._phrases(segment):
            if phrase.kind in ("this", "it") and not phrase.nouns:
                asked = offered(self._ledger)
                focus = [asked] if asked is not None else self._ledger.focus[-1:]
                if focus:
                    return Finding(focus, self._utterance.words(phrase), "the one last spoken of", "pointing", list_with(focus[0], self._ledger))
        return self._described(segment)

    def _phrases(self, segment: Segment) -> list[Phrase]:
        return [phrase for phrase in self._utterance.phrases if segment.holds(phrase)]

    def _picked(self, segment: Segment) -> Finding | None:
        """What a number, order, group or comparison picks."""
        found: list[Finding] = []
        picking = [phrase for phrase in self._phrases(segment) if phrase.kind in PICKING]
        if any(phrase.kind == "numbers" for phrase in picking):
            picking = [phrase for phrase in picking if phrase.kind not in ("both", "all")]
        for phrase in picking:
            if phrase.kind == "other":
                if (other := self._other(phrase)) is not None:
                    found.append(other)
                continue
            finding = by_phrase(phrase, self._utterance, self._narrowed(phrase, segment))
            if finding is not None and finding.entries:
                found.append(finding)
        if not found:
            return None
        entries: list[ItemEntry] = []
        for finding in found:
            entries += without(finding.entries, entries)
        return replace(found[0], entries=entries)

    def _other(self, phrase: Phrase) -> Finding | None:
        """Of the two that one was turned down, asked about or last spoken of, the other."""
        asked = offered(self._ledger)
        known = self._turned_down or ([asked] if asked is not None else self._ledger.focus[-1:])
        for listed in self._ledger.shown_lists[: -_LISTS_NARROWED - 1 : -1]:
            rest = without(listed.entries, known)
            if len(rest) == 1 and len(rest) < len(listed.entries):
                words = self._utterance.words(phrase)
                return Finding(rest, words, "the one that was not just spoken of", "other", listed)
        return None

    def _narrowed(self, phrase: Phrase, segment: Segment) -> Ledger:
        """The ledger with a list of only those that fit what else is said: "both dublin ones", "the cheapest with parking"."""
        if phrase.kind not in _NARROWED or any(mark.has("digit", "label", "marker") for mark in segment.marks if phrase.start <= mark.start < phrase.end):
            return self._ledger
        together = self._ledger.together
        if phrase.kind == "comparison" and _of_those(segment, phrase) and len(together) > 1:
            return self._only(together, self._ledger.shown_lists[-1])
        near = self._attached(phrase, segment)
        if near is None:
            return self._ledger
        taken = [(phrase.start, phrase.end)]
        best, most = None, 0.0
        for age, listed in enumerate(self._ledger.shown_lists[: -_LISTS_NARROWED - 1 : -1]):
            found = described(near, self._utterance, listed, taken)
            if len(found.reading.constraints) - 0.5 * age > most and len(listed.entries) > 1:
                best, most = found, len(found.reading.constraints) - 0.5 * age
        if best is None:
            return self._ledger
        entries, listed = best.entries or best.listed.entries, best.listed
        least = 2 if phrase.kind in ("comparison", "both") else 1
        if phrase.kind == "both" and len(entries) != 2:
            entries = self._of_all_lists(near, taken)
        if len(entries) < least or (listed is self._ledger.shown_lists[-1] and len(entries) == len(listed.entries)):
            return self._ledger
        return self._only(entries, listed)

    def _only(self, entries: list[ItemEntry], listed: ShownList) -> Ledger:
        """The ledger as if no more than these entries had been shown."""
        ledger = self._ledger.copy()
        ledger.shown_lists = [
            ShownList(
                entries, [None] * len(entries), listed.turn, listed.kind, listed.nouns, listed.tool, sources=listed.sources
            )
        ]
        return ledger

    def _of_all_lists(self, near: Segment, taken: Sequence[tuple[int, int]]) -> list[ItemEntry]:
        """As in "both brightwell quotes", one of which each list holds."""
        entries: list[ItemEntry] = []
        for listed in self._ledger.shown_lists[: -_LISTS_NARROWED - 1 : -1]:
            entries += without(described(near, self._utterance, listed, taken).entries, entries)
        return entries

    def _attached(self, phrase: Phrase, segment: Segment) -> Segment | None:
        """The words of a segment that say which things a phrase counts among: those behind it, up to what it is wanted
        for, and what stands first of all ("for boxes take the fastest").
        """
        after = [mark for mark in segment.marks if mark.start >= phrase.end]
        purpose = next((place for place, mark in enumerate(after) if mark.text in _PURPOSE), len(after))
        opening = list(segment.marks[1:3]) if segment.marks[0].text in _PURPOSE else []
        kept = [mark for mark in opening if mark.end <= phrase.start] + after[:purpose]
        return replace(segment, marks=kept) if kept else None

    def _than(self, segment: Segment) -> Finding | None:
        """As in "the one with less hours than gwen"."""
        than = next((place for place, mark in enumerate(segment.marks) if mark.text == "than"), None)
        phrase = next((phrase for phrase in self._phrases(segment) if phrase.kind == "comparison"), None)
        if than is None or phrase is None:
            return None
        behind = replace(segment, marks=segment.marks[than + 1 :])
        for listed in self._ledger.shown_lists[: -_LISTS_NARROWED - 1 : -1]:
            known = described(behind, self._utterance, listed).entries if behind.marks else []
            if len(known) == 1:
                found = beyond(listed.entries, known[0], phrase, self._utterance)
                words = self._utterance.words(phrase)
                return Finding(found, words, "the only one on that side of it", "comparison", listed) if len(found) == 1 else None
        return None

    def _described(self, segment: Segment) -> Finding | Unclear | None:
        taken = [(phrase.start, phrase.end) for phrase in self._phrases(segment) if phrase.kind in PICKING]
        return by_properties(segment, self._utterance, self._ledger, taken)

    def _pointed_at(self, wanted: Sequence[Segment]) -> Finding | Unclear | None:
        """What a pronoun, a type noun, a question or an agreement points at."""
        utterance, ledger = self._utterance, self._ledger
        pointing = [
            phrase for segment in wanted for phrase in self._phrases(segment) if self._points(phrase)
        ]
        singular = [phrase for phrase in pointing if phrase.kind in ("this", "it", "its", "there", "their")]
        for phrase in pointing:
            if phrase.kind in ("these", "them") and (plural := by_plural(phrase, utterance, ledger)) is not None:
                return plural
        there = next((phrase for phrase in singular if phrase.kind == "there"), None)
        if there is not None and (place := place_spoken_of(ledger)) is not None:
            words = utterance.words(there)
            return Finding([place], words, "the place last spoken of", "pointing", list_with(place, ledger))
        found: Finding | Unclear | None = None
        for way in (by_part, by_type, by_action):
            if (found := way(utterance, ledger)) is not None:
                return found
        for phrase in singular:
            if (found := by_singular(phrase, utterance, ledger)) is not None:
                return found
        return by_question(utterance, ledger) or by_agreement(utterance, ledger)


def _decision(found: Finding | Unclear | None) -> Decision:
    if isinstance(found, Unclear):
        return Decision(unclear=found.entries)
    return Decision([found] if found is not None else [])


def _of_those(segment: Segment, phrase: Phrase) -> bool:
    """As in "the slower of those two"."""
    behind = [mark for mark in segment.marks if mark.start >= phrase.end]
    return len(behind) > 1 and behind[0].has("of") and behind[1].has("these", "them")


def _to_be_remembered(utterance: Utterance) -> bool:
    """As in "remember that im paying for the venue": a statement, to be kept as it is."""
    texts = [mark.text for mark in utterance.marks[:4]]
    for place, text in enumerate(texts[:2]):
        if text in _REMEMBER:
            rest = [each for each in texts[place + 1 :] if each not in ("that", "que", "q")]
            return bool(rest) and rest[0] in _CLAUSE
    return False


def _goes_on(marks: Sequence[Mark], place: int) -> bool:
    """Whether a clause of its own begins here: "that i'm allergic"."""
    return place < len(marks) and marks[place].text in _CLAUSE


def _whole(utterance: Utterance) -> Segment:
    return Segment(utterance.marks, 0, len(utterance.text))
