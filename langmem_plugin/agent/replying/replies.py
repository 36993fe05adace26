"""Every text that a person gets, in their language; a language has all of them, by the same names.

What a model is told stands where it is said (prompt, tools, references), and what the offline model says in offline/.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from langmem_plugin.agent.words import words_in


class Replies:
    """The texts of one language, as attributes; words in braces are filled in by `format`."""

    usage: Mapping[str, str]
    kinds: Mapping[str, str]
    speakers: Mapping[str, str]
    switched: Mapping[str, str]
    why_sources: Mapping[str, str]
    why_signals: Mapping[str, str]

    def __init__(self, texts: Mapping[str, Any]) -> None:
        vars(self).update(texts)

    def __getattr__(self, name: str) -> str:
        raise AttributeError(f"no text is named {name!r}: add it to the words of each language")


@cache
def replies_in(language: str) -> Replies:
    """The texts in a language of two letters."""
    return Replies(words_in(language)["texts"])


ENGLISH = replies_in("en")
