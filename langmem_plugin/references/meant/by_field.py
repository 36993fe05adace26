"""A field of an item in focus: "add the ingredients", "what is the cost?"."""

from collections.abc import Sequence

from langmem_plugin.references.meant.candidate_lists import list_with
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.meant.last_question import asks_detail
from langmem_plugin.references.said.segments import heads
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.text.atoms import word_atoms
from langmem_plugin.references.text.tokens import is_stop, key_words, stem

_NEAR_FOCUS = 3
_NAMES = frozenset(("name", "id", "title"))


def by_part(utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "add the ingredients": several things in a field of the item in focus, named with a definite word."""
    if not ledger.focus or asks_detail(ledger.reply):
        return None
    for entry in ledger.focus[: -_NEAR_FOCUS - 1 : -1]:  # "saved" may have been said of it since
        for nouns in utterance.definite_nouns:
            part = part_of(entry, nouns[:2])
            if part is not None and isinstance(entry.item[part], (list, tuple, dict)):
                reason = f"the {part} of the one last spoken of"
                return Finding([entry], nouns[0], reason, "part", list_with(entry, ledger), part)
    return None


def by_question(utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "what is the cost?", "any wind?": asks for a field of an item just spoken of."""
    own = any(mark.text == "my" for mark in utterance.wanted_marks)
    described = utterance.language.name != "he" and heads(utterance.marks)
    if own or described or utterance.has("search") or asks_detail(ledger.reply):
        return None
    for entry in ledger.focus[: -_NEAR_FOCUS - 1 : -1]:
        field = _asked_field(utterance, entry)
        if field is not None and not _of_another(utterance, entry, field):
            reason = f"asks for its {field.replace('_', ' ')}"
            return Finding([entry], utterance.text.strip(), reason, "asked", list_with(entry, ledger), field)
    return None


def _of_another(utterance: Utterance, entry: ItemEntry, field: str) -> bool:
    """As "bohemian rhapsody" in "how long is bohemian rhapsody" of another song: two words that nothing of it explains."""
    known = entry.atoms | entry.kind_words | {stem(word) for word in entry.fields.get(field, ())}
    strange = [
        mark.text
        for mark in utterance.wanted_marks
        if mark.text[:1].isalpha()
        and not is_stop(mark.text)
        and not mark.kinds
        and not ({stem(mark.text), *word_atoms(mark.text)} & known)
    ]
    return len(strange) > 1


def part_of(entry: ItemEntry, nouns: Sequence[str]) -> str | None:
    """The field of an entry that nouns name: "ingredients" of a recipe."""
    wanted = {stem(word) for noun in nouns for word in (noun, *word_atoms(noun))}
    for name in entry.item:
        words = {stem(word) for word in key_words(name)}
        if words and words & wanted and not wanted & entry.kind_words:
            return name
    return None


def _asked_field(utterance: Utterance, entry: ItemEntry) -> str | None:
    """The field that a word for it asks for ("how long"), else the one that shares most words with the utterance."""
    every = utterance.wanted_marks
    marks = [mark for place, mark in enumerate(every) if not (place and every[place - 1].has("cardinal"))]
    for place, mark in enumerate(marks):
        if any(later.has("indefinite") for later in marks[place + 1 : place + 3]):
            continue  # "how much is a dollar"
        names = mark.values.get("attribute")
        if isinstance(names, tuple):
            for wanted in names:
                for field, words in entry.fields.items():
                    if wanted in words or stem(wanted) in words:
                        return field
    if every and every[0].has("question"):  # "whats a reserve"
        marks = [mark for place, mark in enumerate(marks) if not (place and marks[place - 1].has("indefinite"))]
    said = {stem(word) for mark in marks for word in (mark.text, *word_atoms(mark.text)) if not is_stop(mark.text)}
    best: tuple[int, str] | None = None
    for field, words in entry.fields.items():
        if words & _NAMES and not words & _NAMES & said:
            continue
        hits = len({stem(word) for word in words} & said - {"name", "type", "title"})
        if hits and (best is None or hits > best[0]):
            best = (hits, field)
    return best[1] if best else None
