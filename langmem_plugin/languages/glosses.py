"""The usual English of Spanish and Hebrew words, in small letters and without accents; made for this project."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

GLOSSED = {"es": "spanish", "he": "hebrew"}
_PREFIXES = frozenset("ובהלכמש")  # of Hebrew: and, in, the, to, as, from, that; written as one with the word
_MOST_PREFIXES = 3


def english_of(word: str, language: str) -> str | None:
    """Return the English of a word as people write it, two words with a stroke between them where it has two meanings.

    Returns None where the English is not known. `language` is "es" or "he".
    """
    known = _glosses(language)
    return next((known[form] for form in _forms(word, language) if form in known), None)


def _forms(word: str, language: str) -> list[str]:
    """Return the forms in which a word may stand in a dictionary: without letters written onto it, in the other
    gender, in singular.
    """
    if language == "he":
        sizes = range(1, min(_MOST_PREFIXES, len(word) - 2) + 1)
        return [word, *(word[size:] for size in sizes if _PREFIXES.issuperset(word[:size]))]
    single = word.removesuffix("s")
    return [word, single, single.removesuffix("e"), f"{single[:-1]}o"]


@cache
def _glosses(language: str) -> Mapping[str, str]:
    if language not in GLOSSED:
        return {}
    file = files(__package__).joinpath(f"glosses_{language}.tsv")
    return dict(row.split("\t") for row in file.read_text("utf-8").splitlines())
