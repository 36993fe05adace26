"""Normalize letters to one form, so that two spellings of a word can be compared."""

import unicodedata
from typing import Final

from langmem_plugin.lru_cache import cached_if_short

LONGEST_KEPT: Final = 1_000
"""The most letters of a text whose reading is kept at hand: a fact is short, and whole conversations are read too."""
_KEPT: Final = 16_384
_WORN = str.maketrans({"’": "'", "`": "'", "´": "'", "׳": "'", "״": '"', "–": "-", "—": "-", "־": "-"})


@cached_if_short(_KEPT, LONGEST_KEPT)
def plain(text: str) -> str:
    """Return the text in lower case, without accents and vowel points, with one kind of apostrophe."""
    bare = unicodedata.normalize("NFKD", text.translate(_WORN))
    return (bare if bare.isascii() else "".join(c for c in bare if not unicodedata.combining(c))).casefold()


def is_hebrew(word: str) -> bool:
    """Tell whether a word begins with a Hebrew letter."""
    return "\u05d0" <= word[:1] <= "\u05ea"
