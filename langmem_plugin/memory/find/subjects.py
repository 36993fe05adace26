"""Subjects that bring something up without naming it: where there is talk of eating, a nut allergy is to be known.

Neither words nor vectors find it, and to miss it does harm. Which words are about a subject, and which tell what
somebody must not eat, take or do, is in subjects.json, by language.
"""

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from langmem_plugin.memory.find.tokenizer import language_of, stemmed, terms


class _Subject(NamedTuple):
    said: dict[str, frozenset[str]]  # by language
    told: frozenset[str]


def to_be_known(question: str) -> frozenset[str]:
    """The terms of what is to be known where these words are said; none for most."""
    words, language = set(terms(question)), language_of(question)
    subjects = (each.told for each in _subjects() if not words.isdisjoint(each.said.get(language, ())))
    return frozenset().union(*subjects)


@cache
def _subjects() -> list[_Subject]:
    read = json.loads(files(__package__).joinpath("subjects.json").read_text("utf-8"))
    return [
        _Subject(
            {language: stemmed(words["said"], language) for language, words in each.items()},
            frozenset().union(*(stemmed(words["told"], language) for language, words in each.items())),
        )
        for each in read.values()
    ]
