"""Every text that a person gets, in their language; a language has all of them, by the same names.

The words of each language are a file of agent/words: `texts` are what a person is told, by name; words in braces are
filled in. `commands` are the words behind a slash, the one that /help lists first. `written` are words that tell a
message of a word or two to be of the language. `sayings` are the patterns of commands in plain words, in which `parts`
stand between guillemets.

What a model is told stands where it is said (prompt, tools, references), and what the offline model says in offline/.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "he", "es")


@cache
def words_in(language: str) -> Mapping[str, Any]:
    """All words of a language of two letters."""
    words: Mapping[str, Any] = json.loads(
        files("langmem_plugin.agent").joinpath(f"words/{language}.json").read_text("utf-8")
    )
    return words


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
