"""Items pointed at without a name: "it", "that one", "that recipe", "those ingredients", "them"."""

from collections.abc import Iterator
from dataclasses import dataclass

from langmem_plugin.references.meant.lists import is_called
from langmem_plugin.references.said.utterance import Sentence, Word
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.atoms import word_atoms
from langmem_plugin.references.text.tokens import is_stop, words_of
from langmem_plugin.references.words import KEYS

_MOST_ASKED = 12
_CONTAINERS = frozenset(KEYS["container"])


@dataclass(frozen=True, eq=False)
class Pointed:
    """`entries` are meant; or, where `unclear`, each of them may be."""

    entries: list[ItemEntry]
    start: int
    end: int
    listed: ShownList | None = None
    part: str | None = None
    unclear: bool = False


def in_focus(ledger: Ledger) -> ItemEntry | None:
    """The one item that the talk is about: what was last picked from what is shown, or shown alone."""
    newest = next((each for each in reversed(ledger.shown_lists) if each.kind not in ("beside", "parts")), None)
    alone = newest.entries[0] if newest is not None and len(newest.entries) == 1 else None
    if ledger.chosen:
        last = ledger.chosen[-1]  # which a tool may have told more of since
        fuller = alone is not None and len(alone.item) > len(last.item)
        return alone if fuller and alone is not None and not alone.identity.isdisjoint(last.identity) else last
    return alone


def pointed(sentence: Sentence, ledger: Ledger, focus: ItemEntry | None, listed: ShownList | None) -> Iterator[Pointed]:
    """`listed` is what several things may be pointed at in: the list just shown, or that of the quoted message."""
    place = 0
    while place < len(sentence.words):
        found = _singular(sentence, place, ledger, focus, listed) or _plural(sentence, place, focus, listed)
        if found is not None:
            yield found
        place = max(place + 1, found.end if found is not None else 0)


def _singular(
    sentence: Sentence, place: int, ledger: Ledger, focus: ItemEntry | None, listed: ShownList | None
) -> Pointed | None:
    word, after = sentence.at(place), sentence.at(place + 1)
    before = sentence.at(place - (2 if "marks_object" in sentence.at(place - 1) else 1))
    if "carries" in word:
        known = focus is not None and focus.called is None
        return Pointed([focus], place, place + 1) if focus and known else _unclear(listed, place, place + 1)
    if "this" in word and after.any_of("one"):
        if not before.any_of("act", "object", "polite", "copula", "end", "break"):
            return None
        if focus is not None and focus.called is not None and sentence.follows:
            return None
        return Pointed([focus], place, place + 2) if focus is not None else _unclear(listed, place, place + 2)
    if "the" in word and before.any_of("of", "with", "act", "object", "question") and _tells(ledger, focus, after):
        closing = sentence.at(place + 2)
        if focus is not None and closing.any_of("end", "break", "polite", "copula"):
            return Pointed([focus], place, place + 2)
    noun = after.text.isalpha() and not after.any_of("copula", "polite", "act", "object", "range", "time", "of", "and")
    if "this" in word and noun:
        return _of_kind(place, ledger, after.stem)
    if not (
        word.any_of("it", "this")
        and before.any_of("object", "of")
        and after.any_of("end", "break", "polite", "act", "time", "of", "range", "copula", "generic")
    ):
        return None
    if word.any_of("it") and "the" in word and sentence.language.name == "es":
        return None
    if focus is not None and focus.called is None and not _told_before(sentence, place):
        return Pointed([focus], place, place + 1)
    return _unclear(listed, place, place + 1) if focus is None else None


def _told_before(sentence: Sentence, place: int) -> bool:
    """Tell whether the sentence itself may say what a pronoun stands for: "the smallest can be closed, pay it"."""
    return any("break" in word for word in sentence.words[:place]) and any(
        not word.kinds and word.text.isalpha() and not is_stop(word.text) for word in sentence.words[:place]
    )


def _tells(ledger: Ledger, focus: ItemEntry | None, noun: Word) -> bool:
    """Tell whether one item alone was just shown and the noun is a word of its name or type."""
    newest = ledger.shown_lists[-1] if ledger.shown_lists else None
    if focus is None or newest is None or newest.turn != ledger.turn or newest.entries != [focus] or is_stop(noun.text):
        return False
    known = {*words_of(focus.proper_name), *focus.kind_words}
    return focus.called is None and "unit" not in noun and noun.text == noun.stem and noun.stem in known


def _unclear(listed: ShownList | None, start: int, end: int) -> Pointed | None:
    """All that was just shown, where a word means one of it and nothing tells which: not where it means the list."""
    if listed is None or len(listed.entries) > _MOST_ASKED or not _CONTAINERS.isdisjoint(listed.nouns):
        return None
    return Pointed(list(listed.entries), start, end, listed, unclear=True)


def _of_kind(place: int, ledger: Ledger, noun: str) -> Pointed | None:
    """Finds "that recipe": the last one of its kind that was spoken of alone."""
    nouns = {noun, *word_atoms(noun)}
    for entry in reversed(ledger.focus):
        if not entry.kind_words.isdisjoint(nouns) and entry.called is None:
            newer = next((each for each in reversed(ledger.shown_lists) if is_called(each, (noun,))), None)
            if newer is not None and len(newer.entries) > 1 and entry in newer.entries and entry not in ledger.chosen:
                return None
            return Pointed([entry], place, place + 2)
    return None


def _plural(sentence: Sentence, place: int, focus: ItemEntry | None, listed: ShownList | None) -> Pointed | None:
    word, before, after = sentence.at(place), sentence.at(place - 1), sentence.at(place + 1)
    if (
        word.any_of("these", "the", "its")
        and after.text.isalpha()
        and not is_stop(after.text)
        and not after.any_of("act", "copula")
    ):
        part = _part_of(focus, after.stem) if focus is not None else None
        if focus is not None and part is not None and ("these" in word or before.any_of("object", "act")):
            return Pointed([focus], place, place + 2, part=part)
    if word.text[:1] in tuple(sentence.language.articles) and not word.kinds and "marks_object" in before:
        part = _part_of(focus, word.text) if focus is not None else None
        return Pointed([focus], place, place + 1, part=part) if focus is not None and part is not None else None
    if (
        (
            word.any_of("these", "them")
            and before.any_of("object", "of")
            and after.any_of("end", "break", "polite", "range", "act", "time", "of", "all")
        )
        and listed is not None
        and focus is None
    ):
        return Pointed(list(listed.entries), place, place + 1, listed)
    return None


def _part_of(entry: ItemEntry, noun: str) -> str | None:
    wanted = {noun, *word_atoms(noun)}
    for name, words in entry.fields.items():
        if words & wanted and isinstance(entry.field_value(name), (list, tuple)):
            return name
    return None
