"""The items that are described ("the cheaper one", "the $38 one") or pointed at ("it", "that recipe", "them")."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langmem_plugin.references.dates_and_numbers import typed_atoms
from langmem_plugin.references.meant.list_choice import groups, is_called, newest_data
from langmem_plugin.references.said.utterance_words import Sentence, Word
from langmem_plugin.references.shown.shown_items import ItemEntry, comparable
from langmem_plugin.references.shown.shown_ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.tokens import is_stop, stem, word_atoms, words_of
from langmem_plugin.references.words import KEYS, SCALES

_MOST_WORDS = 6
_DEGREES = ("er", "est", "worst", "worse")
_MOST_ASKED = 12
_PLACES = "marker", "digit", "ordinal", "last"
_CONTAINERS = frozenset(KEYS["container"])
_AGES = frozenset(KEYS["age"])


@dataclass(frozen=True, eq=False)
class Described:
    entries: list[ItemEntry]
    listed: ShownList
    start: int
    end: int
    sort: str
    reason: str


def scaled(sentence: Sentence, lists: Sequence[ShownList]) -> Iterator[Described]:
    """Find the item at an end of a scale, if one field of all items is of that kind and one item is at the end."""
    for place, word in enumerate(sentence.words):
        scale = next((kind for kind in word.kinds if kind.startswith(("least ", "most "))), None)
        if scale is None:
            continue
        most, name = scale.startswith("most"), scale.partition(" ")[2]
        wanted = frozenset(map(stem, SCALES[name]))
        # Of two lists that were just shown, the one with such a field is meant
        lately = [each for group in groups(lists)[:2] if (each := newest_data(group))]
        listed = next((each for each in lately if _fields(each, wanted)), None)
        if listed is None or not _asks(sentence, place, listed):
            continue
        if _compares(word, sentence) and len(listed.entries) != 2:
            continue
        told = _fields(listed, wanted)
        if len(told) != 1:
            continue
        ((field, figures),) = told
        if name == "age" and not _AGES.isdisjoint(listed.entries[0].fields[field]):
            most = not most  # the oldest has the greatest age, but the least year
        best = max(figures) if most else min(figures)
        at = [entry for entry, figure in zip(listed.entries, figures, strict=True) if figure == best]
        if len(at) == 1:
            start = place - 1 if "the" in sentence.at(place - 1) else place
            end = place + 2 if "generic" in sentence.at(place + 1) else place + 1
            yield Described(at, listed, start, end, "comparison", f"the {'most' if most else 'least'} by {field}")


def _compares(word: Word, sentence: Sentence) -> bool:
    """Tell whether the word is a degree for one of two: "cheaper", "יותר זול"."""
    return "יותר" in word.text.split() or (
        sentence.language.name == "en" and word.text.endswith("er") and " " not in word.text
    )


def _asks(sentence: Sentence, place: int, listed: ShownList) -> bool:
    before, after = sentence.at(place - 1), sentence.at(place + 1)
    called = "generic" in after or (after.stem in listed.nouns)
    ends = after.any_of("end", "break", "polite", "copula", "act", "object", "of")
    word, hebrew = sentence.at(place), sentence.language.name == "he"
    degree = " " in word.text or (not hebrew and word.text.endswith(_DEGREES))
    if not degree and not word.prefix and "the" not in before:  # "they pay late", "יקר לי"
        return False
    definite = before.any_of("the", "which", "act") or bool(word.prefix) or (hebrew and not _compares(word, sentence))
    if definite and (called or ends):
        return True
    rest = [*sentence.words[:place], *sentence.words[place + 1 :]]
    return all(
        word.any_of("polite", "break", "the", "generic", "act", "object", "which", "copula", "it") for word in rest
    )


def _fields(listed: ShownList, wanted: frozenset[str]) -> list[tuple[str, list[float]]]:
    found = []
    for name in listed.entries[0].fields:
        if listed.entries[0].fields[name] & wanted:
            figures = comparable([entry.field_value(name) for entry in listed.entries])
            if figures is not None and len(set(figures)) > 1:
                found.append((name, figures))
    return found


def valued(sentence: Sentence, lists: Sequence[ShownList]) -> Iterator[Described]:
    """Find the one item that holds all that is said: "the 45 minute one", "the unpaid one", "the one with feta"."""
    listed = newest_data(lists)
    if listed is None or not listed.of_data:
        return
    for place, word in enumerate(sentence.words):
        for start, end in _spans(sentence, place, word, listed):
            said = [atoms for each in sentence.words[start:end] if (atoms := _atoms(each, listed)) is not None]
            if any(each.number > 1 and "cardinal" in each for each in sentence.words[start:end]):
                continue
            counted = not word.any_of("one", "generic") and any("digit" in each for each in sentence.words[start:end])
            if not said or counted or any("indefinite" in each for each in sentence.words[start:end]):
                continue
            fitting = [
                entry for at, entry in enumerate(listed.entries) if all(atoms <= _held(listed, at) for atoms in said)
            ]
            if len(fitting) == 1:
                told = " ".join(each.text for each in sentence.words[start:end])
                yield Described(
                    fitting,
                    listed,
                    start if "except" in word else min(start, place),
                    max(end, place + 1),
                    "value",
                    f"the one that holds {told}",
                )
                break


def _spans(sentence: Sentence, place: int, word: Word, listed: ShownList) -> Iterator[tuple[int, int]]:
    """Give the spans, from and to, of a description that the word at a place may close or open."""
    if word.any_of("one", "generic") or (word.text.isalpha() and word.stem in listed.nouns and not is_stop(word.text)):
        start = place - 1
        while (
            start >= 0
            and place - start <= _MOST_WORDS
            and not sentence.words[start].any_of("the", "break", "act", "not", "ordinal", "last")
        ):
            start -= 1
        if start >= 0 and sentence.words[start].any_of("the", "act") and place - start > 1:
            yield start + 1, place
    if (
        word.any_of("one") and "the" in sentence.at(place - 1) and sentence.at(place + 1).any_of("with", "of", "time")
    ) or "oneof" in word:
        end = _reach(sentence, place + 1, listed)
        while end > place + 1 and _atoms(sentence.words[end - 1], listed) is None:  # "… at 9:10 ok with"
            end -= 1
        yield place + 1, end
    if "except" in word:
        start = place + 1 + ("the" in sentence.at(place + 1) or "oneof" in sentence.at(place + 1))
        if sentence.at(end := _reach(sentence, start, listed)).kinds:
            yield start, end
    if "the" in word and all(each.any_of("polite", "act", "break") for each in sentence.words[:place]):
        end = _reach(sentence, place + 1, listed)
        if all(each.any_of("polite", "break", "act") for each in sentence.words[end:]):
            yield place + 1, end


def _reach(sentence: Sentence, start: int, listed: ShownList) -> int:
    """Return the end of the words from `start` on that items hold, or that say nothing."""
    end = start
    while end < len(sentence.words) and end - start < _MOST_WORDS and _told(sentence.words[end], listed):
        end += 1
    return end


def _told(word: Word, listed: ShownList) -> bool:
    """Tell whether the word says nothing, or something that an item holds."""
    atoms = _atoms(word, listed)
    if "break" in word or "not" in word:
        return False
    return atoms is None or any(atoms <= _held(listed, at) for at in range(len(listed.entries)))


def _atoms(word: Word, listed: ShownList) -> frozenset[str] | None:
    """Return the atoms of a word that items can hold; None for a function word, a unit and a noun for the items."""
    if (
        word.any_of("unit", "the", "of", "with", "time", "copula", "generic", "one")
        or is_stop(word.text)
        or word.stem in listed.nouns
    ):
        return None
    return frozenset(typed_atoms(word.text)) or word_atoms(word.prefix + word.text) & (
        word_atoms(word.text) | {word.stem}
    )


def _held(listed: ShownList, place: int) -> frozenset[str]:
    entry = listed.entries[place]
    caption = word_atoms(listed.captions[place]) if listed.captions else frozenset[str]()
    return entry.atoms | caption


@dataclass(frozen=True, eq=False)
class Pointed:
    """Words that point, and the `entries` they mean; or, if `unclear`, each of them may be meant."""

    entries: list[ItemEntry]
    start: int
    end: int
    part: str | None = None
    unclear: bool = False


def in_focus(ledger: Ledger) -> ItemEntry | None:
    """Return the one item that the talk is about: the last one picked from what is shown, or one shown alone."""
    newest = next((each for each in reversed(ledger.shown_lists) if each.kind != "parts"), None)
    alone = newest.entries[0] if newest is not None and len(newest.entries) == 1 else None
    if ledger.chosen:
        last = ledger.chosen[-1]  # a tool may have told more of it since
        fuller = alone is not None and len(alone.item) > len(last.item)
        return alone if fuller and alone is not None and not alone.identity.isdisjoint(last.identity) else last
    return alone


def pointed(sentence: Sentence, ledger: Ledger, focus: ItemEntry | None, listed: ShownList | None) -> Iterator[Pointed]:
    """Find words that point; several things are in `listed`, the list just shown or that of the quoted message."""
    place = 0
    while place < len(sentence.words):
        found = _singular(sentence, place, ledger, focus, listed) or _part(sentence, place, focus)
        if found is not None:
            yield found
        place = max(place + 1, found.end if found is not None else 0)


def _singular(
    sentence: Sentence, place: int, ledger: Ledger, focus: ItemEntry | None, listed: ShownList | None
) -> Pointed | None:
    word, after = sentence.at(place), sentence.at(place + 1)
    before = sentence.at(place - (2 if "marks_object" in sentence.at(place - 1) else 1))
    if "carries" in word:
        return (
            Pointed([focus], place, place + 1)
            if focus and _is_picked(focus, ledger)
            else _unclear(listed, place, place + 1)
        )
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
        and (before.any_of("object", "of") or (focus is not None and sentence.is_order(place - 1)))
        and after.any_of("end", "break", "polite", "act", "time", "of", "range", "copula", "generic")
    ):
        return None
    if "the" in word and sentence.language.name == "es":
        return None  # "la compra" is a noun, though "compra" is what somebody may do
    if focus is not None and _is_picked(focus, ledger) and not _told_before(sentence, place):
        return Pointed([focus], place, place + 1)
    return _unclear(listed, place, place + 1) if focus is None else None


def _is_picked(focus: ItemEntry, ledger: Ledger) -> bool:
    """Tell whether a pronoun can mean the item: a line of a reply is meant only if the person has picked it."""
    return focus.called is None or focus in ledger.chosen


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
    """Return all that was just shown, if a word means one of it and nothing tells which; None if it means the list."""
    if listed is None or len(listed.entries) > _MOST_ASKED or not _CONTAINERS.isdisjoint(listed.nouns):
        return None
    return Pointed(list(listed.entries), start, end, unclear=True)


def _of_kind(place: int, ledger: Ledger, noun: str) -> Pointed | None:
    """Find "that recipe": the last one of its kind that was spoken of alone."""
    nouns = {noun, *word_atoms(noun)}
    for entry in reversed(ledger.focus):
        if not entry.kind_words.isdisjoint(nouns) and entry.called is None:
            newer = next((each for each in reversed(ledger.shown_lists) if is_called(each, (noun,))), None)
            if newer is not None and len(newer.entries) > 1 and entry in newer.entries and entry not in ledger.chosen:
                return None
            return Pointed([entry], place, place + 2)
    return None


def _part(sentence: Sentence, place: int, focus: ItemEntry | None) -> Pointed | None:
    """Find a part of the item in focus: "those ingredients", "add the steps"; not "the steps of number 2"."""
    word, before, after = sentence.at(place), sentence.at(place - 1), sentence.at(place + 1)
    marked = "marks_object" in before and word.text[:1] in tuple(sentence.language.articles)
    pointing = "these" in word or (word.any_of("the", "its") and before.any_of("object", "act"))
    named = pointing and after.text.isalpha() and not is_stop(after.text) and not after.any_of("act", "copula")
    noun, end = (word.text, place + 1) if marked else (after.stem, place + 2)
    theirs = "of" in sentence.at(end) and any(sentence.at(end + each).any_of(*_PLACES) for each in (1, 2))
    if focus is None or theirs or not (marked or named):
        return None
    part = focus.part_called(noun)
    return None if part is None else Pointed([focus], place, end, part=part)
