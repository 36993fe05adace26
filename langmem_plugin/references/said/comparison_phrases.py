"""Phrases that compare: "the cheapest", "the two longest", "the most spots"."""

import re

from langmem_plugin.references.said.cursor import Cursor
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.words import Comparison

_SUPERLATIVE = {
    "en": re.compile(r"est\b|\b(?:most|least|worst)\b"),
    "he": re.compile(r"^הכי|ביותר"),
    "es": re.compile(r"^(?:mas |menos |mejor|peor|mayor|menor)"),
}
_VAGUE = frozenset(("something", "anything", "algo", "any", "משהו", "more", "even"))
_ADVERBS = frozenset(("mejor", "peor", "better", "worse", "later", "earlier", "sooner"))


def read_comparison(cursor: Cursor, mark: Mark) -> Phrase | None:
    """Moves the cursor behind the phrase; None, and the cursor where it was, when there is none."""
    if not mark.has("comparison"):
        return _compared_noun(cursor, mark)
    before, after = cursor.near(-1), cursor.near(1)
    if not _is_meant(cursor, mark):
        return None
    return cursor.take("comparison", 1, comparison=mark.comparison, count=after.count or before.count or 1, one=True)


def _compared_noun(cursor: Cursor, mark: Mark) -> Phrase | None:
    """As in "the most spots", "fewer calls than …": the noun names the field."""
    than = mark.text in ("less", "fewer", "more") and any(cursor.near(offset).text == "than" for offset in range(1, 6))
    if not than and not mark.has("most", "least"):
        return None
    field = cursor.nouns(cursor.index + 1)[:1]
    if not field:
        return None
    compared = Comparison(field, 1 if mark.text == "more" or mark.has("most") else -1)
    return cursor.take("comparison", 2, comparison=compared, count=1, nouns=field if than else ())


def _is_meant(cursor: Cursor, mark: Mark) -> bool:
    """Whether it points at an item, as "the cheaper one" does and "something cheaper" does not."""
    before, earlier, after = cursor.near(-1), cursor.near(-2), cursor.near(1)
    if before.has("indefinite", "another") or earlier.has("indefinite", "another") or before.text in _VAGUE:
        return False
    if mark.text in _ADVERBS and not before.has("the", "this") and not after.has("one"):
        return False
    superlative = is_superlative(mark.text, cursor.language)
    if after.text == "than" and not superlative and not before.has("the", "one", "this"):
        return False  # "does matte fade slower than glossy"
    if superlative or mark.definite or earlier.has("the") or after.has("one"):
        return True
    if before.has("the", "one", "this", "these", "its", "cardinal"):
        return True
    return cursor.language != "es" and cursor.index > cursor.first_question


def is_superlative(text: str, language: str) -> bool:
    return _SUPERLATIVE[language].search(text) is not None
