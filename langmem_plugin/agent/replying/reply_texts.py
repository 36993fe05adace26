"""The texts that people get in their language, and the words of all languages, by name.

Each language has a file in agent/reply_texts: `texts` are what a person is told, by name; words in braces are
filled in. `commands` are the words behind a slash, the one that /help lists first. `written` are words that tell a
message of a word or two to be of the language. `words` and `patterns` are what people say behind a command and to a
question, of all languages together. `sayings` are the patterns of commands in plain words, in which `parts`
stand between guillemets.

What a model is told stands where it is said (prompt, tools, references), and what the offline model says in offline/.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "he", "es")


@cache
def words_in(language: str) -> Mapping[str, Any]:
    """Return all words of a language of two letters."""
    folder = files("langmem_plugin.agent") / "reply_texts"
    words: Mapping[str, Any] = json.loads(folder.joinpath(f"{language}.json").read_text("utf-8"))
    return words


def words_for(name: str) -> tuple[str, ...]:
    """Return the words of this name in all languages."""
    return tuple(word for each in LANGUAGES for word in words_in(each)["words"][name].split())


def pattern_for(name: str, around: str = "{}") -> re.Pattern[str]:
    """Return the pattern of this name in all languages; `around` has its place in braces."""
    either = "|".join(words_in(each)["patterns"][name] for each in LANGUAGES)
    return re.compile(around.replace("{}", either), re.IGNORECASE)


class Replies:
    """The texts of one language, as attributes; words in braces are filled in by `format`."""

    usage: Mapping[str, str]
    condition_words: Mapping[str, str]
    kinds: Mapping[str, str]
    speakers: Mapping[str, str]
    switched: Mapping[str, str]
    why_sources: Mapping[str, str]

    def __init__(self, texts: Mapping[str, Any]) -> None:
        vars(self).update(texts)

    def __getattr__(self, name: str) -> str:
        raise AttributeError(f"no text is named {name!r}: add it to the words of each language")


@cache
def replies_in(language: str) -> Replies:
    """Return the texts in a language of two letters."""
    return Replies(words_in(language)["texts"])


ENGLISH = replies_in("en")


def typed_in(replies: Replies, command: str, rest: object) -> str:
    """Return the text to type, with the command's word in the language of the person."""
    return f"{replies.usage[command].split()[0]} {rest}".rstrip()
