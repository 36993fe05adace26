"""Items told by what they hold: an end of a scale ("the cheaper one"), or a value that one alone has ("the $38 one")."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langmem_plugin.references.meant.lists import groups, newest_data
from langmem_plugin.references.said.utterance import Sentence, Word
from langmem_plugin.references.shown.figures import comparable
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.atoms import typed_atoms, word_atoms
from langmem_plugin.references.text.tokens import is_stop, stem
from langmem_plugin.references.words import SCALES, Language

_MOST_WORDS = 6


@dataclass(frozen=True, eq=False)
class Described:
    entries: list[ItemEntry]
    listed: ShownList
    start: int
    end: int
    sort: str
    reason: str


def scaled(sentence: Sentence, lists: Sequence[ShownList]) -> Iterator[Described]:
    """An end of a scale, where the items have exactly one field of that kind and one item stands at that end."""
    for place, word in enumerate(sentence.words):
        scale = next((kind for kind in word.kinds if kind.startswith(("least ", "most "))), None)
        if scale is None:
            continue
        most, name = scale.startswith("most"), scale.partition(" ")[2]
        wanted = frozenset(map(stem, SCALES[name]))
        # Of two lists that were just shown the one that has such a field is meant
        lately = [each for group in groups(lists)[:2] if (each := newest_data(group))]
        listed = next((each for each in lately if _fields(each, wanted)), None)
        if listed is None or not _asks(sentence, place, listed):
            continue
        if _compares(word, sentence.language) and len(listed.entries) != 2:
            continue
        told = _fields(listed, wanted)
        if len(told) != 1:
            continue
        ((field, figures),) = told
        best = max(figures) if most else min(figures)
        at = [entry for entry, figure in zip(listed.entries, figures, strict=True) if figure == best]
        if len(at) == 1:
            start = place - 1 if "the" in sentence.at(place - 1) else place
            end = place + 2 if "generic" in sentence.at(place + 1) else place + 1
            yield Described(at, listed, start, end, "comparison", f"the {'most' if most else 'least'} by {field}")


def _asks(sentence: Sentence, place: int, listed: ShownList) -> bool:
    before, after = sentence.at(place - 1), sentence.at(place + 1)
    if "than" in after or ("break" not in after and "than" in sentence.at(place + 2)):
        return False
    called = "generic" in after or (after.stem in listed.nouns)
    ends = after.any_of("end", "break", "polite", "copula", "act", "object", "of")
    definite = before.any_of("the", "which", "act") or bool(sentence.at(place).prefix) or sentence.language.name == "he"
    if definite and (called or ends):
        return True
    rest = [*sentence.words[:place], *sentence.words[place + 1 :]]
    return all(
        word.any_of("polite", "break", "the", "generic", "act", "object", "which", "copula", "it") for word in rest
    )


def _compares(word: Word, language: Language) -> bool:
    """True where the word compares two things and is no superlative."""
    first, *more = word.text.split()
    return "comparing" in word or (language.name == "en" and first.endswith("er") and not more)


def _fields(listed: ShownList, wanted: frozenset[str]) -> list[tuple[str, list[float]]]:
    found = []
    for name in listed.entries[0].fields:
        if listed.entries[0].fields[name] & wanted:
            figures = comparable([entry.field_value(name) for entry in listed.entries])
            if figures is not None and len(set(figures)) > 1:
                found.append((name, figures))
    return found


def valued(sentence: Sentence, lists: Sequence[ShownList]) -> Iterator[Described]:
    """Yields "the 45 minute one", "the unpaid one", "the one with feta": the one item that holds all that is said."""
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
    """From where to where a description may go that the word at a place closes or opens."""
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
        end = place + 1
        while end < len(sentence.words) and end - place <= _MOST_WORDS and _told(sentence.words[end], listed):
            end += 1
        yield place + 1, end
    if "except" in word:
        start = place + 1 + ("the" in sentence.at(place + 1) or "oneof" in sentence.at(place + 1))
        end = start
        while end < len(sentence.words) and _told(sentence.words[end], listed):
            end += 1
        if sentence.at(end).kinds:
            yield start, end
    if "the" in word and all(each.any_of("polite", "act", "break") for each in sentence.words[:place]):
        end = place + 1
        while end < len(sentence.words) and _told(sentence.words[end], listed):
            end += 1
        if all(each.any_of("polite", "break", "act") for each in sentence.words[end:]):
            yield place + 1, end


def _told(word: Word, listed: ShownList) -> bool:
    """True where the word says nothing, or something that an item holds."""
    atoms = _atoms(word, listed)
    if "break" in word or "not" in word:
        return False
    return atoms is None or any(atoms <= _held(listed, at) for at in range(len(listed.entries)))


def _atoms(word: Word, listed: ShownList) -> frozenset[str] | None:
    """The atoms of a word that an item can hold; None for a function word, a unit, and a noun that names its items."""
    if word.any_of("weekday", "month"):
        return frozenset(typed_atoms(word.text)) or word_atoms(word.text)
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
