"""Words that are written in one piece and are two: "and" and "that" in Hebrew, "we're" without its apostrophe."""

from dataclasses import replace
from functools import cache
from typing import Final

from langmem_plugin.facts.grammar import patterns
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.words import LANGUAGES, Language
from langmem_plugin.facts.words.language_table import words

_ENGLISH, _HEBREW, _SPANISH = LANGUAGES
_AGED: Final = words("בן|בת|בני|בנות")


def taken_apart(tokens: tuple[Token, ...], language: Language) -> tuple[Token, ...]:
    """The words of a sentence, with those apart that only writing joins."""
    if language is _ENGLISH and [token.plain for token in tokens[:3]] == ["were", "no", "longer"]:
        we, are = replace(tokens[0], plain="we"), replace(tokens[0], plain="are", start=tokens[0].end, written="")
        return (we, are, *tokens[1:])
    if language is not _HEBREW:
        return tokens
    found: list[Token] = []
    for place, token in enumerate(tokens):
        following = tokens[place + 1].plain if place + 1 < len(tokens) else ""
        if _is_joined(token.plain, following):
            found.append(Token(token.plain[0], token.start, token.start + 1, token.written[:1]))
            found.append(Token(token.plain[1:], token.start + 1, token.end, token.written[1:]))
        else:
            found.append(token)
    return tuple(found)


def _is_joined(word: str, following: str) -> bool:
    rest, known = word[1:], _beginnings()
    if word[:1] not in ("ו", "ש") or len(rest) < 2 or word in known or word in _whole():
        return False
    if word[0] == "ו" and following in ("כבר", "לא") and len(rest) > 2:
        return True
    return (following in _AGED and word[0] == "ו") or rest in known or (rest[:1] == "ה" and rest[1:] in known)


@cache
def _beginnings() -> frozenset[str]:
    """What a clause can begin with."""
    nouns = frozenset(phrase[0] for phrase in (*_HEBREW.people, *_HEBREW.attributes))
    return nouns | _HEBREW.selves | _HEBREW.others | frozenset(patterns(_HEBREW))


@cache
def _whole() -> frozenset[str]:
    times = frozenset(word for cells in _HEBREW.times.values() for cell in cells for word in cell)
    return times | _HEBREW.possessives | _HEBREW.common | frozenset(_HEBREW.weekdays)
