"""Commands in plain words, "remember that I am vegan", by rules in three languages: rather none than a wrong one.

A text is one only as a whole: a single sentence, no question, nothing asked for besides. What only points ("forget
that one") or is to be done ("remember to buy milk") belongs to the agent.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from langmem_plugin.agent.commands.command_words import CommandName
from langmem_plugin.agent.commands.instruction_list import NEWEST
from langmem_plugin.agent.replying.replies import words_in

_LONGEST = 600  # letters of a text that is looked at
_LONGEST_QUESTION = 80
_SHORTENED = re.compile(r"\b(?:dr|mr|mrs|ms|prof|st|no|sr|sra|dra|ud|uds|[a-zñ])\.\s", re.IGNORECASE)
_SENTENCES = re.compile(r"[.!?…][\"'”’)]{0,3}\s\S")
_QUESTION = re.compile(r"[?¿؟]")
_APOSTROPHES = str.maketrans("’ʼ`´", "''''")


@dataclass(frozen=True)
class Said:
    """Which command a text is, with what follows the command's words."""

    command: CommandName
    rest: str = ""


@dataclass(frozen=True)
class _Rule:
    """`says` has the argument as group "rest", which `means` must match from its start, and `not_if` nowhere."""

    command: Literal["remember", "forget", "instructions"]
    says: re.Pattern[str]
    means: re.Pattern[str] | None = None
    not_if: re.Pattern[str] | None = None


@dataclass(frozen=True)
class _Language:
    letters: re.Pattern[str]
    asks_for_all: re.Pattern[str]
    drops_rule: re.Pattern[str]
    """Takes a standing instruction back, the one with a `number` or the last."""
    rules: Sequence[_Rule]
    asks_more: re.Pattern[str]
    """A request behind the first: "… and show me recipes"."""
    politeness: re.Pattern[str]
    """Words behind a command that are no part of it."""
    allows: re.Pattern[str]
    """A permission to remember what the person says."""
    forbids: re.Pattern[str]
    erases: re.Pattern[str]
    """All that is known of the person: they are asked whether that is meant."""
    asks_why: re.Pattern[str]
    """A question about what the last reply rests on."""
    drops: re.Pattern[str]
    """A request to delete something, "rest": a memory, or a thing in the agent's care."""
    of_a_tool: re.Pattern[str]
    """A thing in the agent's care: deleted from a list, an order, a calendar."""


def said(text: str) -> Said | None:
    """The command that a text is in plain words; None if it is none. `text` is cleaned."""
    if not text or len(text) > _LONGEST or len([line for line in text.splitlines() if line.strip()]) > 1:
        return None
    text = " ".join(text.split())
    if _SENTENCES.search(_SHORTENED.sub(" ", text)):
        return None
    plain = text.translate(_APOSTROPHES)
    for language in _LANGUAGES:
        if not language.letters.search(plain):
            continue
        if (whole := _whole(language, plain)) is not None:
            return whole
        if _QUESTION.search(plain):
            continue
        for rule in language.rules:
            if (found := _read(rule, language, plain)) is not None:
                # As it was written: only apostrophes were made equal, letter by letter.
                return Said(rule.command, text[found.start("rest") : found.end("rest")].strip())
    return None


def _whole(language: _Language, text: str) -> Said | None:
    """Reads sayings that leave nothing open."""
    if language.asks_for_all.fullmatch(text):
        return Said("memories")
    if dropped := language.drops_rule.fullmatch(text):
        return Said("instructions", f"delete {dropped['number'] or NEWEST}")
    if language.erases.fullmatch(text):
        return Said("privacy", "erase")
    switched = _switched(language, text)
    return None if switched is None else Said("privacy", switched)


def asks_why(text: str) -> bool:
    """Tells whether a text asks what the reply before it rests on: a command only if that is a memory."""
    if not text or len(text) > _LONGEST_QUESTION:
        return False
    plain = " ".join(text.split()).translate(_APOSTROPHES)
    return any(language.letters.search(plain) and language.asks_why.fullmatch(plain) for language in _LANGUAGES)


def wants_gone(text: str) -> str | None:
    """The thing that a text asks to delete, "my address", where that may be a memory: a command only if one is found by
    it.
    """
    if not text or len(text) > _LONGEST_QUESTION:
        return None
    plain = " ".join(text.split()).translate(_APOSTROPHES)
    for language in _LANGUAGES:
        found = language.drops.fullmatch(plain) if language.letters.search(plain) else None
        if found is not None and not language.of_a_tool.search(plain):
            return found["rest"].strip(" ,")
    return None


def _switched(language: _Language, text: str) -> str | None:
    end = language.politeness.search(text)
    told = text[: end.start()] if end else text
    if language.forbids.fullmatch(told):
        return "off"
    return "on" if language.allows.fullmatch(told) else None


def _read(rule: _Rule, language: _Language, text: str) -> re.Match[str] | None:
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


def _language(name: str) -> _Language:
    """Reads the language's file: `parts` stand between guillemets in the patterns, and in one another."""
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
    return _Language(rules=rules, **{of: pattern(text) for of, text in given.items()})


_PART = re.compile("«(\\w+)»")
_LANGUAGES = [_language(each) for each in ("he", "en", "es")]
