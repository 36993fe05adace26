"""Words that are written in one piece and are two: "and" and "that" in Hebrew, "we're" without its apostrophe."""

from dataclasses import replace
from functools import cache
from typing import Final

from langmem_plugin.facts.grammar import patterns
from langmem_plugin.facts.present_tense import LASTING
from langmem_plugin.facts.tokens import Token
from langmem_plugin.languages.language import LANGUAGES, Language, words

_ENGLISH, _HEBREW, _SPANISH = LANGUAGES
_PASTS: Final = {"he": ("e", "i"), "hemos": ("amos", "imos"), "ha": ("o", "io"), "han": ("aron", "ieron")}
_AGED: Final = words("בן|בת|בני|בנות")


def taken_apart(tokens: tuple[Token, ...], language: Language) -> tuple[Token, ...]:
    """The words of a sentence, with those apart that only writing joins."""
    if language is _ENGLISH and [token.plain for token in tokens[:3]] == ["were", "no", "longer"]:
        we, are = replace(tokens[0], plain="we"), replace(tokens[0], plain="are", start=tokens[0].end, written="")
        return (we, are, *tokens[1:])
    if language is _ENGLISH:
        return _in_the_present(tokens)
    if language is _SPANISH:
        return _in_the_past(tokens)
    found: list[Token] = []
    for place, token in enumerate(tokens):
        following = tokens[place + 1].plain if place + 1 < len(tokens) else ""
        if _is_joined(token.plain, following):
            found.append(Token(token.plain[0], token.start, token.start + 1, token.written[:1]))
            found.append(Token(token.plain[1:], token.start + 1, token.end, token.written[1:]))
        else:
            found.append(token)
    return tuple(found)


def _in_the_present(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """What has gone on for long goes on: "I've been teaching chemistry for years" says "I teach chemistry"."""
    if tokens and tokens[0].plain == "been" and not (len(tokens) > 1 and tokens[1].plain.endswith("ing")):
        return (
            replace(tokens[0], plain="i", end=tokens[0].start, written=""),
            replace(tokens[0], plain="am"),
            *tokens[1:],
        )
    for at in range(2, len(tokens)):
        word = tokens[at].plain
        if tokens[at - 1].plain != "been":
            continue
        if not word.endswith("ing") or len(word) < 6:
            if tokens[at - 2].plain not in ("have", "has") or (at > 2 and tokens[at - 3].plain not in _ENGLISH.selves):
                continue
            being = {"i": "am", "we": "are"}.get(tokens[at - 3].plain, "is") if at > 2 else "am"
            return (*tokens[: at - 2], replace(tokens[at - 2], plain=being), *tokens[at:])
        stem = word[:-3]
        forms = (stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem)
        base = next((form for form in forms if form in patterns(_ENGLISH) or form in LASTING), None)
        if base is not None:
            third = any(token.plain == "has" for token in tokens[max(at - 3, 0) : at])
            before = [token for token in tokens[:at] if token.plain not in ("been", "have", "has")]
            return (*before, replace(tokens[at], plain=base + ("s" if third else "")), *tokens[at + 1 :])
    return tokens


def _in_the_past(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """One past for the other: "he dejado de fumar" says "dejé de fumar"."""
    found: list[Token] = []
    for token in tokens:
        endings = _PASTS.get(found[-1].plain) if found else None
        kind = next((at for at, end in enumerate(("ado", "ido")) if token.plain.endswith(end)), None)
        if endings is not None and kind is not None:
            simple = token.plain.removesuffix(("ado", "ido")[kind]) + endings[kind]
            if simple in patterns(_SPANISH):
                found[-1] = replace(
                    found[-1], plain=simple, end=token.end, written=f"{found[-1].written} {token.written}"
                )
                continue
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
