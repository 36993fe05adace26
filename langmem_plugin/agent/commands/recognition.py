"""The recognition of a chat command in a text: typed behind a slash, or said in plain words."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from langmem_plugin.agent.replying.reply_texts import LANGUAGES, words_for, words_in
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.people.person_settings import LanguageCode

CommandName = Literal[
    "remember",
    "memories",
    "search",
    "why",
    "forget",
    "undo",
    "confirm",
    "instructions",
    "privacy",
    "export",
    "timezone",
    "link",
    "reset",
    "help",
]

_WORDS: Mapping[str, Mapping[CommandName, str]] = {each: words_in(each)["commands"] for each in LANGUAGES}
_COMMAND_OF: Mapping[str, CommandName] = {
    word: command for words in _WORDS.values() for command, forms in words.items() for word in forms.split()
}

_NOT_ENGLISH: tuple[LanguageCode, ...] = ("he", "es")
_LANGUAGE_OF = {word: each for each in _NOT_ENGLISH for forms in _WORDS[each].values() for word in forms.split()}
_EVERYTHING = frozenset(words_for("everything"))
_TYPED = re.compile(r"/(?P<word>[^\W\d][\w-]*)(?:@\w+)?[.,:;!?]*(?:\s+(?P<rest>.*))?", re.DOTALL)
_LONGEST_SAYING = 600  # letters of a text that is looked at
_LONGEST_QUESTION = 80
_SHORTENED = re.compile(r"\b(?:dr|mr|mrs|ms|prof|st|no|sr|sra|dra|ud|uds|[a-zñ])\.\s", re.IGNORECASE)
_SENTENCES = re.compile(r"[.!?…][\"'”’)]{0,3}\s\S")
_QUESTION = re.compile(r"[?¿؟]")


@dataclass(frozen=True)
class Said:
    """A text read as a command, if it is a known one, with the text behind its words, and the `word` behind a slash."""

    command: CommandName | None
    rest: str = ""
    word: str = ""


def may_be_typed(text: str) -> bool:
    """Tell whether the text begins with a slash, after any invisible characters: a quick test for most texts."""
    return next(
        (each == "/" or unicodedata.normalize("NFKC", each) == "/" for each in text if not _is_unseen(each)), False
    )


def cleaned(text: str) -> str:
    """Return the text as it is stored: without controls, halves of characters, and unseen marks at either end."""
    kept = "".join(each for each in storable(text) if each in "\n\t" or unicodedata.category(each) != "Cc")
    start, end = 0, len(kept)
    while start < end and _is_unseen(kept[start]):
        start += 1
    while end > start and _is_unseen(kept[end - 1]):
        end -= 1
    return kept[start:end]


def typed(text: str) -> Said | None:
    """Read a command; None for a text that is no slash and word: a path, "/5", or text. `text` is cleaned."""
    first, *_ = text.split(maxsplit=1) or [""]
    word = "".join(each for each in unicodedata.normalize("NFKC", first[:100]) if unicodedata.category(each) != "Cf")
    found = _TYPED.fullmatch(word + text[len(first) :])
    if found is None:
        return None
    word, rest = found["word"].casefold().replace("-", "_"), cleaned(found["rest"] or "")
    second, _, behind = rest.partition(" ")
    if (of_two := f"{word}_{second.casefold()}") in _COMMAND_OF:  # "/time zone" is "/time_zone"
        word, rest = of_two, cleaned(behind)
    if _COMMAND_OF.get(word) == "forget" and rest.casefold().strip(" .!") in _EVERYTHING:
        return Said("privacy", "erase", word)
    return Said(_COMMAND_OF.get(word), rest, word)


def language_of_command(text: str) -> LanguageCode | None:
    """Return the language of a command's word; None for the English words, which all people use."""
    found = typed(cleaned(text[:200]))
    return _LANGUAGE_OF.get(found.word) if found else None


def _is_unseen(letter: str) -> bool:
    return letter.isspace() or unicodedata.category(letter) in ("Cf", "Cc")


_APOSTROPHES = str.maketrans("’ʼ`´", "''''")


@dataclass(frozen=True)
class _Rule:
    """A rule for commands in plain words. The argument is group "rest" of `says`; `means` must match from its start,
    `not_if` nowhere.
    """

    command: Literal["remember", "forget", "instructions"]
    says: re.Pattern[str]
    means: re.Pattern[str] | None = None
    not_if: re.Pattern[str] | None = None


@dataclass(frozen=True)
class _Sayings:
    letters: re.Pattern[str]
    asks_for_all: re.Pattern[str]
    rules: Sequence[_Rule]
    asks_more: re.Pattern[str]
    """A request behind the first: "… and show me recipes"."""
    politeness: re.Pattern[str]
    """Words behind a command that are no part of it."""
    allows: re.Pattern[str]
    """A permission to remember what the person says."""
    forbids: re.Pattern[str]
    erases: re.Pattern[str]
    """The words for all that is known of the person, who is asked whether that is meant."""
    drops: re.Pattern[str]
    """A request to delete something, "rest": a memory, or a thing in the agent's care."""
    of_a_tool: re.Pattern[str]
    """A thing in the agent's care: deleted from a list, an order, a calendar."""


def said(text: str) -> Said | None:
    """Return the command that a text is in plain words; None if it is none. `text` is cleaned."""
    if not text or len(text) > _LONGEST_SAYING or len([line for line in text.splitlines() if line.strip()]) > 1:
        return None
    text = " ".join(text.split())
    if _SENTENCES.search(_SHORTENED.sub(" ", text)):
        return None
    plain = text.translate(_APOSTROPHES)
    for language in _SAYINGS:
        if not language.letters.search(plain):
            continue
        if (whole := _whole(language, plain)) is not None:
            return whole
        if _QUESTION.search(plain):
            continue
        for rule in language.rules:
            if (found := _read(rule, language, plain)) is not None:
                # The text stays as it was written: only apostrophes were made equal, letter by letter.
                return Said(rule.command, text[found.start("rest") : found.end("rest")].strip())
    return None


def _whole(language: _Sayings, text: str) -> Said | None:
    """Read a saying that leaves nothing open."""
    if language.asks_for_all.fullmatch(text):
        return Said("memories")
    if language.erases.fullmatch(text):
        return Said("privacy", "erase")
    end = language.politeness.search(text)
    told = text[: end.start()] if end else text
    if language.forbids.fullmatch(told):
        return Said("privacy", "off")
    return Said("privacy", "on") if language.allows.fullmatch(told) else None


def wants_gone(text: str) -> str | None:
    """Return what a text asks to delete, "my address", if it may be a memory: a command only if a memory is found by
    it.
    """
    if not text or len(text) > _LONGEST_QUESTION:
        return None
    plain = " ".join(text.split()).translate(_APOSTROPHES)
    for language in _SAYINGS:
        found = language.drops.fullmatch(plain) if language.letters.search(plain) else None
        if found is not None and not language.of_a_tool.search(plain):
            return found["rest"].strip(" ,")
    return None


def _read(rule: _Rule, language: _Sayings, text: str) -> re.Match[str] | None:
    end = language.politeness.search(text)
    found = rule.says.fullmatch(text[: end.start()] if end else text)
    if found is None or not found["rest"].strip(" .,!:"):
        return None
    rest = found["rest"]
    if rule.means is not None and not rule.means.match(rest):
        return None
    if (rule.not_if is not None and rule.not_if.search(rest)) or language.asks_more.search(rest):
        return None
    return found


def _sayings_of(name: str) -> _Sayings:
    """Read the language's file: `parts` stand between guillemets in the patterns, and in one another."""
    given = dict(words_in(name)["sayings"])
    parts: Mapping[str, str] = given.pop("parts")

    def pattern(text: str) -> re.Pattern[str]:
        while _PART.search(text):
            text = _PART.sub(lambda found: parts[found[1]], text)
        return re.compile(text, re.IGNORECASE | re.DOTALL | re.VERBOSE)

    rules = [
        _Rule(rule["command"], **{of: pattern(text) for of, text in rule.items() if of != "command"})
        for rule in given.pop("rules")
    ]
    return _Sayings(rules=rules, **{of: pattern(text) for of, text in given.items()})


_PART = re.compile("«(\\w+)»")
_SAYINGS = [_sayings_of(each) for each in ("he", "en", "es")]
