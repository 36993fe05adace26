"""Small judgements of words by themselves: which clauses ask for something, which nouns name times or just a thing."""

from collections.abc import Sequence

from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.text.tokens import stem
from langmem_plugin.references.words import LANGUAGES
from langmem_plugin.references.words.type_nouns import NO_TYPE, THING


def wanted_marks(marks: Sequence[Mark]) -> list[Mark]:
    """Marks of the clauses that ask for something; those of "no, don't …" are dropped. All, when nothing
    else is left.
    """
    clauses: list[list[Mark]] = [[]]
    for mark in marks:
        if mark.text in (",", ".", ";", "!", "?", "but", "just", "pero", "אבל"):
            clauses.append([])
        clauses[-1].append(mark)
    answer = marks[0] if marks and marks[0].text == "no" else None
    kept = [clause for clause in clauses if not any(mark.has("not") and mark is not answer for mark in clause)]
    flat = [mark for clause in kept for mark in clause if mark is not answer]
    return flat if any(mark.text[:1].isalpha() for mark in flat) else []


def thing_like(nouns: Sequence[str]) -> bool:
    """Whether nouns say no more than "thing", or nothing that is a property or a time."""
    stems = {stem(noun) for noun in nouns}
    return not stems & NO_TYPE or bool(stems & THING)


WEEKDAYS = frozenset(form for language in LANGUAGES for form in (*language.weekdays, *language.months))


def timely(nouns: Sequence[str]) -> bool:
    """Whether nouns name a time, as in "this Sunday" or "that week"."""
    return bool(nouns) and (nouns[0] in WEEKDAYS or stem(nouns[0]) in NO_TYPE)
