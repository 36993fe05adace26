"""The words of each language that people are answered in, a file each.

`texts` are what a person is told, by name; words in braces are filled in. `commands` are the words behind a slash, the
one that /help lists first. `written` are words that tell a message of a word or two to be of the language. `sayings`
are the patterns of commands in plain words, in which `parts` stand between guillemets.
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
    words: Mapping[str, Any] = json.loads(files(__package__).joinpath(f"{language}.json").read_text("utf-8"))
    return words
