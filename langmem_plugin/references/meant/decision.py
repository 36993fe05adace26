"""What an utterance means: every way of finding is asked, and the surest finding counts. Pure and deterministic."""

import re
from collections.abc import Sequence
from dataclasses import replace

from langmem_plugin.cached_property import cached_property
from langmem_plugin.references.meant.by_choice import Closeness, by_choice, choices
from langmem_plugin.references.meant.by_comparison import THAN, extreme
from langmem_plugin.references.meant.by_name import by_name
from langmem_plugin.references.meant.by_nearest_property import LEFT_OUT, Near, nearest_properties
from langmem_plugin.references.meant.by_offer import by_offer, offered, remarked
from langmem_plugin.references.meant.by_phrase import PICKING, by_phrases, of_a_part
from langmem_plugin.references.meant.by_pointing import by_pointing
from langmem_plugin.references.meant.by_position import beside_named, by_neighbour, step_beside
from langmem_plugin.references.meant.by_properties import by_properties
from langmem_plugin.references.meant.candidate_lists import list_with, same_entries, without
from langmem_plugin.references.meant.confidence import ASKED, GROUPS
from langmem_plugin.references.meant.evidence import weighed
from langmem_plugin.references.meant.finding import Decision, Finding, Unclear
from langmem_plugin.references.said.amounts import reckons
from langmem_plugin.references.said.clear_pointing import points_clearly
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.segments import (
    Segment,
    but_the_rest,
    heads,
    negated,
    refuses,
    segments,
    to_be_remembered,
)
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.words import word_set

_OR = word_set("or|o|או")
_LISTS_KNOWN = 3
"""Newest lists whose words are never taken for typos."""
_DENIED = re.compile(
    r"(?:\b(?:isn'?t|aren'?t|not|no es|no son)|שהוא לא|שהיא לא|שלא)\s+(?:the |el |la |an? )?\S+", re.IGNORECASE
)
_SETTLING = {"numbers", "all_but"}
"""Kinds of phrases beside which nothing else says what is meant, also where they find nothing."""
_EXCEPT = word_set("except|excluding|excepto|salvo|חוץ")
_NEAREST = 2
"""Properties that are considered of all that words come near to."""
_MOST_FINDINGS, _MOST_PIECES = 16, 4
"""What is weighed of a message, and what of it is described by itself: who says more at once tells a story."""
_PLACED = 0.3
"""From which confidence on a pronoun behind a preposition is meant beside something else."""
_TOGETHER = ("counted", "compared", "described")
"""Groups of findings of which an utterance may hold several."""


def decide(text: str, ledger: Ledger, closeness: Closeness | None = None) -> Decision:
    """What a text points at in the ledger, which has settled all results before it."""
    if not text.strip():
        return Decision()
    return _Deciding(utterance_of(text, ledger), ledger, closeness).decision()


def findings_of(text: str, ledger: Ledger, closeness: Closeness | None = None) -> list[Finding]:
    """All that any way finds, sure or not."""
    if not text.strip() or not ledger.shown_lists:
        return []
    return _Deciding(utterance_of(text, ledger), ledger, closeness).findings()[0]


def wanted_of(text: str, ledger: Ledger) -> tuple[list[Mark], Utterance]:
    """The words of a text that do not turn something down; and all of it."""
    utterance = utterance_of(text, ledger)
    return _Deciding(utterance, ledger, None).wanted_words, utterance


def utterance_of(text: str, ledger: Ledger) -> Utterance:
    """Read as what was just shown makes one read it."""
    recent = ledger.shown_lists[-_LISTS_KNOWN:]
    known = frozenset().union(*(listed.vocabulary for listed in recent))
    return Utterance(text, known, lettered=any(listed.lettered for listed in recent))


class _Deciding:
    """One utterance against one ledger."""

    def __init__(self, utterance: Utterance, ledger: Ledger, closeness: Closeness | None) -> None:
        self._utterance = utterance
        self._ledger = ledger
        self._closeness = closeness
        values = [
            Phrase("value", *stretch.span)
            for stretch in utterance.stretches
            if stretch.side or any(value.kind != "quantity" or value.amount % 1 for value in stretch.values)
        ]
        self._segments = but_the_rest(segments(utterance.marks, [*utterance.phrases, *values]), utterance.phrases)
        self._wanted = [segment for segment in self._segments if not segment.rejected]
        self._whole = Segment(utterance.marks, 0, len(utterance.text))
        self._nears_by_start: dict[int, list[Near]] = {}
        self._asks = False
        self._turned_down: list[ItemEntry] = []
        for segment in self._segments:
            if segment.rejected and ledger.shown_lists:
                self._turned_down += self._rejected(segment)

    def decision(self) -> Decision:
        """The surest finding and those meant beside it; else what to ask about; else nothing."""
        if self._means_nothing:
            return Decision()
        findings, unclear = self.findings() if self._ledger.shown_lists else ([], [])
        if findings:
            best = max(findings, key=lambda found: found.confidence)
            if best.claimed:
                beside = [found for found in findings if found is best or self._goes_beside(found, best)]
                return self._kept(sorted(beside, key=lambda found: found.sort != "pointing"))
            if best.confidence >= ASKED:
                return Decision(unclear=best.entries)
        if unclear:
            return Decision(unclear=unclear)
        words = [self._utterance.words(phrase) for phrase in self._phrases() if points_clearly(phrase, self._utterance)]
        return Decision(unresolved=words)

    @cached_property
    def _means_nothing(self) -> bool:
        """As in "something else", "none of them", "remember that I am allergic", "what is 2 plus 2"."""
        kinds = {phrase.kind for phrase in self._utterance.phrases}
        other = bool(kinds & {"another", "neither"}) and not kinds & {"numbers", "all_but"}
        marks = self._utterance.marks
        nor = "neither" in kinds and any(mark.text in ("nor", "ni", "ולא") for mark in marks)
        but = any(mark.text in _EXCEPT for mark in marks) and "all_but" not in kinds
        refused = refuses(marks) and len(self._segments) == 1
        if not self._utterance.phrases and not heads(marks) and self._utterance.of_the_world:
            return True
        return other or nor or but or refused or to_be_remembered(marks) or reckons(marks)

    def findings(self) -> tuple[list[Finding], list[ItemEntry]]:
        """All that the ways find, weighed, without what was turned down; and what is unclear."""
        if self._means_nothing:
            return [], []
        found, unclear = self._found()
        missed = self._missed([piece for _, piece in found])
        found = [
            (replace(finding, entries=entries), segment)
            for finding, segment in found[:_MOST_FINDINGS]
            if (entries := self._not_turned_down(finding))
        ]
        if not self._describes_nothing and not self._asks:
            found += self._nearest_beside([finding for finding, _ in found])
            found += self._complements(found)
        told = weighed(
            found,
            self._utterance,
            self._ledger,
            nears=self._nears,
            rejected=self._nears_of_rejected,
            unclear=unclear,
            missed=missed,
            corrects=self._corrects,
            turned_down=self._turned_down,
        )
        return told, unclear

    def _not_turned_down(self, finding: Finding) -> list[ItemEntry]:
        """What is left of a finding; of a single number said all, whatever else was described: "mark 2 paid, i mean 1"."""
        kept = without(finding.entries, self._turned_down)
        numbered = finding.sort == "number" and any(map(str.isdigit, finding.words))
        return finding.entries if not kept and numbered and self._corrects else kept

    @property
    def _corrects(self) -> bool:
        """Whether some pieces are wanted and others not."""
        return 0 < len(self._wanted) < len(self._segments)

    def _missed(self, pieces: Sequence[Segment]) -> int:
        """How many pieces nothing fits, of those that "and" joins: "the sony and the gimbal"."""
        if not self._joined or any(piece is self._whole for piece in pieces):
            return 0
        return sum(all(piece is not each for each in pieces) for piece in self._wanted)

    @property
    def wanted_words(self) -> list[Mark]:
        """Of the pieces that turn nothing down."""
        return [mark for segment in self._wanted for mark in segment.marks]

    def _nears(self, piece: Segment) -> list[Near]:
        """What the wanted words come nearest to, but for what was turned down; of what "and" joins each piece by
        itself; [] beside numbers, which need no more.
        """
        if self._counts_only:
            return []
        key = piece.start if self._joined and piece is not self._whole else -1
        if key not in self._nears_by_start:
            marks = piece.marks if key >= 0 else self.wanted_words
            near = nearest_properties(marks, self._utterance, self._ledger)
            kept = [each for each in near if len(without(each.entries, self._turned_down)) == len(each.entries)]
            self._nears_by_start[key] = kept
        return self._nears_by_start[key]

    @cached_property
    def _joined(self) -> bool:
        return any(piece.joined for piece in self._wanted)

    @cached_property
    def _nears_of_rejected(self) -> list[Near]:
        """What the words of each piece that turns something down come nearest to."""
        rejected = [piece for piece in self._segments if piece.rejected]
        return [
            near
            for piece in rejected[:_MOST_PIECES]
            for near in nearest_properties(piece.marks, self._utterance, self._ledger)[:_NEAREST]
        ]

    def _nearest_beside(self, found: Sequence[Finding]) -> list[tuple[Finding, Segment]]:
        """The nearest of what no other way has found, but by what is asked of it: "how long does it take"; nothing in
        answer to "A or B?", where "quiet" is near to the loud one too.
        """
        if choices(self._ledger) is not None:
            return []
        asked = any(each.sort == "asked" for each in found)
        of_question = {mark.text for mark in self._utterance.marks if asked and mark.has("attribute")}
        return [
            (Finding(near.entries, near.word, near.reason, "nearest", near.listed), self._piece_with(near.word))
            for piece in (self._wanted[:_MOST_PIECES] if self._joined else [self._whole])
            for near in self._nears(piece)[:_NEAREST]
            if near.word not in of_question and not any(same_entries(near.entries, each.entries) for each in found)
        ]

    def _complements(self, found: Sequence[tuple[Finding, Segment]]) -> list[tuple[Finding, Segment]]:
        """As in "whatever isn't held": all but what a denied word fits or comes near to."""
        rest: list[tuple[Finding, Segment]] = []
        for finding, piece in found:
            if GROUPS[finding.sort] not in ("described", "nearest") or finding.listed is None:
                continue
            others = without(finding.listed.entries, [*finding.entries, *self._turned_down])
            if not others or not self._is_denied(finding, piece):
                continue
            known = [each.entries for each, _ in (*found, *rest)]
            if not any(same_entries(others, entries) for entries in known):
                evidence = {"all but": 1.0, "all but near": float(finding.sort == "nearest")}
                reason = f"all but what {finding.words} fits"
                rest.append(
                    (Finding(others, finding.words, reason, "nearest", finding.listed, evidence=evidence), piece)
                )
        return rest

    def _is_denied(self, finding: Finding, piece: Segment) -> bool:
        """Whether what tells of a finding stands behind a negation."""
        start = self._utterance.text.find(finding.words)
        if finding.sort == "nearest":
            start = next((mark.start for mark in piece.marks if finding.words in mark.text), -1)
        place = next((place for place, mark in enumerate(piece.marks) if mark.start >= start), 0)
        return start >= 0 and negated(piece.marks, place)

    def _piece_with(self, word: str) -> Segment:
        return next((each for each in self._wanted if any(word in mark.text for mark in each.marks)), self._whole)

    def _found(self) -> tuple[list[tuple[Finding, Segment]], list[ItemEntry]]:
        """What counts or compares comes first; then what is named, described and pointed at."""
        utterance, ledger = self._utterance, self._ledger
        picked = {id(segment): self._picked(segment) for segment in self._segments}
        if not any(picked.values()) and (chosen := by_choice(utterance, ledger, self._closeness)) is not None:
            self._turned_down = []
            return [(chosen, self._whole)], []
        beside = by_neighbour(utterance, ledger, self._turned_down)
        if beside_named(utterance) or (beside is not None and self._turned_down):
            return [(beside, self._whole)] if beside is not None else [], []
        if (compared := self._compared()) is not None:
            return [(compared, self._whole)], []
        found = [(finding, segment) for segment in self._wanted if (finding := picked[id(segment)]) is not None]
        found = [each for each in found if not any(_picks_of(later, each) for later in found)]
        if found:
            if all(self._sums_up(segment) for _, segment in found):
                told = self._described([each for each in self._wanted if picked[id(each)] is None])[0]
                if any(len(finding.entries) > 1 for finding, _ in told):
                    return told, []  # "fifteen to seventeen euros, all of them"
            rest = [segment for segment in self._wanted if segment.joined and picked[id(segment)] is None]
            return [*found, *self._described(rest)[0]], []
        if self._counts_only or any(phrase.kind == "others" for phrase in self._phrases()):
            return [], []
        named = by_name(self._wanted_text(), utterance, ledger)
        if self._kinds & {"comparison"} and not self._kinds & {"it", "this"}:
            return [(named, self._whole)] if named is not None else [], []
        found, unclear = self._described(self._wanted)
        ways = (
            named,
            by_offer(utterance, ledger),
            beside,
            by_pointing(self._wanted, utterance, ledger),
        )
        found += [(finding, self._whole) for finding in ways if isinstance(finding, Finding)]
        for each in ways:
            if isinstance(each, Unclear):
                unclear = unclear or each.entries
                if each.beside:
                    found, self._asks = [], True  # "move 50 from that to Groceries": from which is to be asked
        found = found or ([] if unclear else self._others())
        return found, unclear

    def _sums_up(self, segment: Segment) -> bool:
        """Whether a piece says "all of them" and no more."""
        said = [mark for mark in segment.marks if not mark.has("punctuation", "polite")]
        return all(mark.has("all", "both", "of", "them", "these") for mark in said)

    @cached_property
    def _kinds(self) -> set[str]:
        """Of the phrases that speak of items."""
        return {phrase.kind for phrase in self._phrases() if not of_a_part(phrase, self._utterance)}

    @cached_property
    def _counts_only(self) -> bool:
        """Whether numbers say what is meant, whatever they find: "number 22"."""
        return bool(self._kinds & _SETTLING) and not self._counts_too_far

    @property
    def _describes_nothing(self) -> bool:
        """As in "keep only the beans, cancel the rest", "cheaper than the rug", where other ways find all or nothing."""
        others = any(phrase.kind == "others" for phrase in self._phrases())
        than = self._utterance.has("comparison") and any(mark.text in THAN for mark in self._utterance.marks)
        return others or than or self._counts_only

    @property
    def _counts_too_far(self) -> bool:
        """As in "article 22" of five: a number that names no place, and is no "number 22" either."""
        longest = max(len(listed.entries) for listed in self._ledger.shown_lists)
        counting = [phrase for phrase in self._phrases() if phrase.kind in _SETTLING]
        return not self._utterance.has("marker", "label") and all(
            phrase.kind == "numbers" and min(phrase.numbers) > longest for phrase in counting
        )

    def _compared(self) -> Finding | None:
        """As in "which is cheaper, the desk or the rug": of those described the one at that end."""
        marks = self._utterance.marks
        scale = next((mark for mark in marks if mark.has("comparison")), None)
        if scale is None or not any(mark.text in _OR for mark in marks):
            return None
        pieces = [piece for piece in self._wanted if not piece.start <= scale.start < piece.end]
        found = [finding for finding, _ in self._described(pieces)[0]]
        entries = [finding.entries[0] for finding in found if len(finding.entries) == 1]
        if not len(entries) == len(found) > 1 or (end := extreme(entries, scale.comparison)) is None:
            return None
        reason = f"by {end[1]} of the {len(entries)} named"
        return Finding(end[0], scale.text, reason, "comparison", found[0].listed)

    def _described(self, wanted: Sequence[Segment]) -> tuple[list[tuple[Finding, Segment]], list[ItemEntry]]:
        found: list[tuple[Finding, Segment]] = []
        unclear: list[ItemEntry] = []
        for segment in wanted:
            finding = self._properties(segment)
            if isinstance(finding, Finding):
                found.append((finding, segment))
            elif finding is not None:
                unclear = unclear or finding.entries
        return found, unclear

    def _properties(self, segment: Segment) -> Finding | Unclear | None:
        taken = [(phrase.start, phrase.end) for phrase in self._phrases(segment) if phrase.kind in PICKING]
        return by_properties(segment, self._utterance, self._ledger, taken, self._turned_down)

    def _picked(self, segment: Segment) -> Finding | None:
        return by_phrases(segment, self._utterance, self._ledger, self._turned_down)

    def _rejected(self, segment: Segment) -> list[ItemEntry]:
        """What a piece turns down; "not that one" is what was asked about, or last spoken of."""
        if (found := self._picked(segment)) is not None:
            return found.entries
        for phrase in self._phrases(segment):
            asked = offered(self._ledger) or remarked(self._ledger)
            focus = [asked] if asked is not None else self._ledger.focus[-1:]
            if phrase.kind in ("this", "it") and not phrase.nouns and focus:
                return focus
        described = self._properties(segment)
        said_after = self._segments[0] is not segment  # "wednesday but not the morning": of several all
        if isinstance(described, Finding) or (described is not None and said_after):
            return described.entries
        if "others" not in self._kinds and not step_beside(self._utterance):
            return []
        near = nearest_properties(segment.marks, self._utterance, self._ledger)[:1]
        return next((each.entries for each in near if each.chance >= LEFT_OUT), [])

    def _phrases(self, segment: Segment | None = None) -> list[Phrase]:
        """Of a piece, or of all that are wanted."""
        pieces = self._wanted if segment is None else [segment]
        return [phrase for phrase in self._utterance.phrases if any(piece.holds(phrase) for piece in pieces)]

    def _wanted_text(self) -> str:
        """The text with spaces for what is turned down, or says what a person does."""
        text = self._utterance.text[: self._segments[-1].end] if self._segments else ""  # without what is to be told
        for segment in self._segments:
            if segment.rejected:
                text = text[: segment.start] + " " * (segment.end - segment.start) + text[segment.end :]
        return _DENIED.sub(" ", text)

    def _goes_beside(self, found: Finding, best: Finding) -> bool:
        """Whether a second finding is meant as well: counted or described in a piece of its own, or a pronoun with a
        preposition between the two: "put that on Friday".
        """
        groups = GROUPS[found.sort], GROUPS[best.sort]
        if found.sort == best.sort == "comparison" and not found.evidence.get("joined"):
            return False  # "the dearest, why is it so dear"
        if found.evidence.get("remarked") or best.evidence.get("remarked"):
            return False  # "set it for the old mill bus"
        if found.sort == "pointing" and groups[1] in _TOGETHER:
            return found.confidence >= _PLACED and (self._after_preposition(best) or self._after_preposition(found))
        if groups == ("counted", "counted") and found.evidence.get("joined"):
            return True  # "the first two and the last"
        sure = found.claimed or (
            found.confidence >= ASKED and bool(found.evidence.get("joined") or best.evidence.get("joined"))
        )
        return set(groups) <= set(_TOGETHER) and sure

    def _after_preposition(self, finding: Finding) -> bool:
        start = self._utterance.text.find(finding.words)
        before = self._utterance.before(start, 2) if start > 0 else []
        return any(mark.has("preposition") or mark.text in ("to", "de", "a") for mark in before)

    def _kept(self, findings: Sequence[Finding]) -> Decision:
        """Each item once."""
        kept: list[Finding] = []
        taken: list[ItemEntry] = []
        for finding in findings:
            if entries := without(finding.entries, taken):
                kept.append(replace(finding, entries=entries))
                taken += entries
        return Decision(kept)

    def _others(self) -> list[tuple[Finding, Segment]]:
        """Of two, the one that was not turned down."""
        listed = list_with(self._turned_down[0], self._ledger) if len(self._turned_down) == 1 else None
        if listed is None or len(listed.entries) != 2:
            return []
        rest = without(listed.entries, self._turned_down)
        return [(Finding(rest, self._utterance.text.strip(), "the other of the two", "other", listed), self._whole)]


def _picks_of(later: tuple[Finding, Segment], earlier: tuple[Finding, Segment]) -> bool:
    """As in "1 or 4... go with 1": of those said before, some."""
    (few, piece), (several, before) = later, earlier
    return (
        piece.start > before.start
        and 0 < len(few.entries) < len(several.entries)
        and not without(few.entries, several.entries)
    )
