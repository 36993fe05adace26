"""The decision what an utterance means: every way of finding items is asked, and what is sure is kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from langmem_plugin.references.meant.descriptions_and_pronouns import in_focus, pointed, scaled, valued
from langmem_plugin.references.meant.item_names import identified, named
from langmem_plugin.references.meant.list_choice import groups, is_called, list_of, newest_data
from langmem_plugin.references.said.ordinal_positions import Position, exception, is_noun, is_refused, positions
from langmem_plugin.references.said.utterance_words import Sentence, sentences
from langmem_plugin.references.shown.lists_in_text import inline_list
from langmem_plugin.references.shown.shown_items import ItemEntry
from langmem_plugin.references.shown.shown_ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.tokens import is_stop, key_words, words_of

_SEVERAL = 2
_BRIEF = 12  # words and marks
_QUESTION = 160  # letters at the end of a reply
_WHOLES = ("all", "both")
_REASONS = {
    "number": "its number",
    "range": "their numbers",
    "ordinal": "its place",
    "last": "its place from the end",
}


@dataclass(frozen=True, eq=False)
class Finding:
    """Some words, the entries they mean, why, and the list they were found in; `part` is the field asked for."""

    entries: list[ItemEntry]
    words: str
    reason: str
    sort: str
    listed: ShownList | None = None
    part: str | None = None

    def of(self, entries: list[ItemEntry]) -> "Finding":
        """Return the same finding for some of its entries."""
        return replace(self, entries=entries)


@dataclass(frozen=True, eq=False)
class Decision:
    """The meaning of an utterance: the findings; or `unclear`, the entries that are equally meant; or `unresolved`, the
    words that point at nothing shown; or nothing.
    """

    findings: list[Finding] = field(default_factory=list)
    unclear: list[ItemEntry] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)

    @property
    def entries(self) -> list[ItemEntry]:
        return [entry for finding in self.findings for entry in finding.entries]


class _Part(NamedTuple):
    """The words of a sentence from `start` to `end`, and the entries that they mean."""

    entries: list[ItemEntry]
    start: int
    end: int
    sort: str
    reason: str
    listed: ShownList | None = None
    part: str | None = None


def decide(text: str, ledger: Ledger, quoted: Sequence[ShownList] = ()) -> Decision:
    """Decide which shown items a text means. `quoted` are the lists of a message that it quotes."""
    said = () if inline_list(text) else sentences(text)  # "1. no 2. yes" has numbers of its own
    brief = sum(len(sentence.words) for sentence in said) <= _BRIEF
    reading = _Reading(text, ledger, list(quoted) or ledger.shown_lists, brief=brief)
    for sentence in said:
        reading.read(sentence)
    return reading.decision()


class _Reading:
    def __init__(self, text: str, ledger: Ledger, lists: list[ShownList], *, brief: bool) -> None:
        self.text, self.ledger, self.lists, self.brief = text, ledger, lists, brief
        self.quoted = lists is not ledger.shown_lists
        alone = [each for each in lists if len(each.entries) == 1] if self.quoted else []
        self.focus = alone[-1].entries[0] if alone else in_focus(ledger)
        self.asks_amount = _asks_amount(ledger.reply)
        self.findings: list[Finding] = []
        self.refused: list[ItemEntry] = []
        self.unclear: list[ItemEntry] = []
        self.unresolved: list[str] = []

    def read(self, sentence: Sentence) -> None:
        placed = positions(sentence)
        parts = self._told(sentence, [each for each in placed if each.sort not in _WHOLES])
        for whole in placed:
            if whole.sort in _WHOLES:
                parts = self._with_whole(whole, sentence, parts)
        starts = [part.start for part in parts]
        ends = [part.end for part in parts]
        parts = [
            part
            for part in parts
            if not _goes_on(sentence, part.end, starts) and not _comes_after(sentence, part.start, ends)
        ]
        parts += self._pointed(sentence, parts)
        corrected = max((place for place, word in enumerate(sentence.words) if "correction" in word), default=-1)
        taken_back = "correction" in sentence.words[0] or (not parts and not placed and _turns_down(sentence))
        if self.findings and taken_back:
            self.refused += self.findings[-1].entries
        for part in parts:
            taken_back = part.start < corrected and any(other.start > corrected for other in parts)
            if taken_back or is_refused(sentence, part.start, part.end):
                self.refused += part.entries
            else:
                words = self._words(sentence, part.start, part.end)
                self.findings.append(Finding(part.entries, words, part.reason, part.sort, part.listed, part.part))

    def _told(self, sentence: Sentence, placed: Sequence[Position]) -> list[_Part]:
        """Find the items that ids, places, names and descriptions mean, in this order; each word is used once."""
        parts: list[_Part] = []
        taken: list[tuple[int, int]] = []

        def add(part: _Part) -> None:
            if _free(part.start, part.end, taken):
                parts.append(part)
                taken.append((part.start, part.end))

        for start, end, entry, listed in identified(sentence, self.lists):
            add(_Part([entry], start, end, "id", "its id", listed))
        names = named(sentence, self.lists, brief=self.brief)
        spelled = [(name.start, name.end) for name in names if name.whole and name.size > 1]
        for each in placed:
            free = _free(each.start, each.end, taken)
            if free and (each.marked or len(each.numbers) > 1 or _free(each.start, each.end, spelled)):
                entries, listed_in = self._at(each, sentence)
                if entries:
                    add(_Part(entries, each.start, each.end, each.sort, _REASONS[each.sort], listed_in))
                if entries or each.explicit:  # the "hotel" of "hotel number 3" is no name either
                    taken.append((each.start - (each.marked and bool(each.noun)), each.end))
        for name in names:
            add(_Part([name.entry], name.start, name.end, "name", "its name", name.listed))
        for found in (*scaled(sentence, self.lists), *valued(sentence, self.lists)):
            add(_Part(found.entries, found.start, found.end, found.sort, found.reason, found.listed))
        return parts

    def _at(self, each: Position, sentence: Sentence) -> tuple[list[ItemEntry], ShownList | None]:
        if self.asks_amount and each.alone:
            return [], None
        if numbered := self._numbered_so(each):
            return numbered, newest_data(self.lists)
        listed = list_of(each, sentence, self.lists)
        if listed is None:
            if (
                each.explicit
                and not each.refused
                and (self._points(each) or (each.marked and (not self.lists or any(one.of_data for one in self.lists))))
            ):
                newest = next(iter(groups(self.lists)), [])
                self.unclear = [entry for one in newest if (entry := one.item(each.numbers[0])) is not None]
                if len(self.unclear) < _SEVERAL:  # else two lists of one reply have it
                    self.unresolved.append(self._words(sentence, each.start, each.end))
            return [], None
        after, whole = sentence.at(each.end), sentence.at(each.end + 1 + ("the" in sentence.at(each.end + 1)))
        sized = not whole.any_of("digit", "cardinal") or whole.number == len(listed.entries)
        if "of" in after and ("indefinite" in whole or not sized):  # "the last one in a list", "the second of nine"
            return [], None
        named = "the" in sentence.at(each.start - 1) and is_noun(after) and sentence.language.name == "en"
        if each.marked and named and not (is_called(listed, (after.stem,)) or "generic" in after):  # "the number 2 bus"
            return [], None
        if after.text == ":" and not listed.of_data:  # "second point: …" is the person's own
            return [], None
        if each.count:
            first = each.numbers[0] == 1
            return listed.entries[: each.count] if first else listed.entries[-each.count :], listed
        if each.ordered and each.numbers == (2,) and self._is_other(sentence, each.start, listed):
            return listed.entries[:1], listed
        find = listed.at if each.ordered else listed.item
        return [entry for number in each.numbers if (entry := find(number)) is not None], listed

    def _is_other(self, sentence: Sentence, start: int, listed: ShownList) -> bool:
        """Tell whether "the second" is Hebrew for "the other": the second of two was picked, and is taken back."""
        taken_back = any(word.any_of("denial", "correction", "rather") for word in sentence.words[:start])
        return sentence.language.name == "he" and taken_back and self.ledger.chosen[-1:] == listed.entries[1:]

    def _numbered_so(self, each: Position) -> list[ItemEntry]:
        """Return the one item of the newest list that bears the number: "lane 5" in a field, "flat 3" in its name."""
        listed = newest_data(self.lists)
        if listed is None or not listed.of_data or not each.noun or each.marked or each.sort != "number":
            return []
        noun, number = each.noun[-1], str(each.numbers[0])
        held = [
            entry
            for entry in listed.entries
            if f" {noun} {number} " in f" {' '.join(words_of(entry.proper_name))} "
            or any(str(value) == number and key_words(key)[-1:] == (noun,) for key, value in entry.item.items())
        ]
        return held if len(held) == 1 and len(each.numbers) == 1 else []

    def _points(self, each: Position) -> bool:
        """Tell whether words that give no place in the newest list still point at it."""
        newest = groups(self.lists)
        if not newest or newest[0][-1].turn != self.ledger.turn or not newest[0][-1].of_data:
            return False
        return not each.noun or any(is_called(listed, each.noun) for listed in newest[0])

    def _with_whole(self, each: Position, sentence: Sentence, parts: list[_Part]) -> list[_Part]:
        """Add a whole ("all of them") to the parts, without the entries that the sentence leaves out."""
        but = exception(sentence, each)
        less = [part for part in parts if but is not None and part.start >= but]
        listed = self._pair(each) if each.sort == "both" else list_of(each, sentence, self.lists)
        if listed is None and less and not each.noun:  # the items that are left out tell the list
            listed = less[0].listed
        if listed is None:
            return parts
        entries, end = list(listed.entries), each.end
        if but is not None:
            left = [entry for part in less for entry in part.entries]
            known = all(any(entry is other for other in entries) for entry in left)
            if not left or not known or not _covers(sentence, but + 1, less):
                return parts
            parts = [part for part in parts if part not in less]
            entries = [entry for entry in entries if not any(entry is other for other in left)]
            end = max(part.end for part in less)
        elif not each.explicit and not listed.of_data:
            return parts
        whole = _Part(entries, each.start, end, each.sort, "all that is shown", listed)
        return [*parts, whole] if entries else parts

    def _pair(self, each: Position) -> ShownList | None:
        """Return the list of the two things that were shown last."""
        newest = next(iter(groups(self.lists)), [])
        listed = newest[-1] if newest else None
        if listed is None or len(listed.entries) != 2 or (each.noun and not is_called(listed, each.noun)):
            return None
        return listed

    def _pointed(self, sentence: Sentence, parts: Sequence[_Part]) -> Iterator[_Part]:
        if any("others" in word for word in sentence.words):  # "the other dates for this event" points at none of them
            yield from self._others(sentence)
            return
        if self.findings:
            return
        for point in pointed(sentence, self.ledger, self.focus, self._just_shown()):
            if any(part.start <= point.start for part in parts):  # "the pancake one, save it"
                return
            alone = point.end - point.start == 1 and not point.unclear
            if alone and not self.brief and point.entries[0].called is not None:  # a long text tells what its "it" is
                continue
            if point.unclear:
                self.unclear = [] if parts else point.entries
            else:
                listed = next((each for each in reversed(self.lists) if point.entries[0] in each.entries), None)
                yield _Part(point.entries, point.start, point.end, "pointing", "the one in focus", listed, point.part)

    def _others(self, sentence: Sentence) -> Iterator[_Part]:
        """Find "the other two": what is left of the newest list when what was picked from it is taken away."""
        listed = newest_data(self.lists)
        picked = [each for each in self.ledger.chosen if listed is not None and each in listed.entries]
        if listed is None or not picked:
            return
        left = [each for each in listed.entries if each not in picked]
        for place, word in enumerate(sentence.words):
            before, after = sentence.at(place - 1), sentence.at(place + 1)
            if "others" not in word or not (before.any_of("the", "cardinal") or word.prefix):
                continue
            several = (
                len(left) if word.text != word.stem or "ones" in after.text or word.text[-2:] in ("ים", "ות") else 1
            )
            number = next((each.number for each in (after, before) if "cardinal" in each), several)
            end = place + 1 + after.any_of("cardinal", "generic")
            if len(left) == number > 0 and sentence.at(end).any_of("end", "polite", "copula", "act", "time", "person"):
                yield _Part(left, place, end, "all", "what is left", listed)

    def _just_shown(self) -> ShownList | None:
        """Return the list of several things of a tool that the quoted or the last reply showed."""
        newest = next(iter(groups(self.lists)), None)
        listed = newest[-1] if newest else None
        if listed is None or not listed.of_data or len(listed.entries) < _SEVERAL:
            return None
        return listed if self.quoted or listed.turn == self.ledger.turn else None

    def _words(self, sentence: Sentence, start: int, end: int) -> str:
        last = sentence.words[min(end, len(sentence.words)) - 1]
        return self.text[sentence.words[start].start : last.end]

    def decision(self) -> Decision:
        """Make the decision from the findings. Only a brief text can be said to fit nothing, or several things."""
        kept: list[Finding] = []
        for finding in self.findings:
            entries = [entry for entry in finding.entries if not any(entry is other for other in self.refused)]
            if entries and not any(other.entries == entries for other in kept):
                kept.append(finding if len(entries) == len(finding.entries) else finding.of(entries))
        unresolved = self.unresolved if self.brief else []
        return Decision(kept, [] if kept or unresolved or not self.brief else self.unclear, unresolved)


def _free(start: int, end: int, taken: Sequence[tuple[int, int]]) -> bool:
    return all(end <= first or last <= start for first, last in taken)


def _goes_on(sentence: Sentence, end: int, starts: Sequence[int]) -> bool:
    """Tell whether the sentence names something unknown after what was found: "the first three and the dentist"."""
    link, following = sentence.at(end), sentence.at(end + 1)
    if "and" not in link or link.text == ",":
        return False
    noun = not following.kinds and following.text.isalpha() and not is_stop(following.text)
    if not (following.any_of("the") or noun):
        return False
    return not any(end < start <= end + 2 for start in starts)


def _turns_down(sentence: Sentence) -> bool:
    """Tell whether a sentence refuses what the one before it said: "let's hold off on those for now"."""
    return any(
        "not" in sentence.at(place - 1) and word.any_of("these", "them", "it", "this")
        for place, word in enumerate(sentence.words)
    )


def _comes_after(sentence: Sentence, start: int, ends: Sequence[int]) -> bool:
    """Tell whether something unknown is named before what was found: "Linkerd and Istio", "A and the blue one"."""
    while "the" in sentence.at(start - 1):
        start -= 1
    link, before = sentence.at(start - 1), sentence.at(start - 2)
    if "and" not in link or link.text == "," or start - 1 in ends:
        return False
    named = not before.kinds and before.text.isalpha() and not before.verb and not is_stop(before.text)
    return (named and before.capital) or ("letter" in before and start == 2)


def _covers(sentence: Sentence, start: int, parts: Sequence[_Part]) -> bool:
    """Tell whether everything that the clause excludes was found, up to its end or to words that say more about it."""
    last = max(part.end for part in parts)
    for place in range(start, len(sentence.words)):
        word = sentence.words[place]
        if any(part.start <= place < part.end for part in parts):
            continue
        if place >= last and (word.text == "," or word.any_of("object", "act", "polite", "person", "copula", "time")):
            return True
        if word.text == "," or not word.any_of("the", "and", "of", "generic", "one", "oneof", "with", "not"):
            return False
    return True


def _asks_amount(reply: str) -> bool:
    """Tell whether the reply ends by asking how many, or when: a bare number then answers it."""
    last = reply.rstrip()[-_QUESTION:]
    if not last.endswith("?"):
        return False
    question = sentences(last[last.rfind("\n") + 1 :])
    return bool(question) and any("amount_question" in word for word in question[-1].words)
