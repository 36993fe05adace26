"""The places in a sentence where a fact may stand: not in a question nor in an idea."""

from collections.abc import Iterator, Sequence
from typing import Final

from langmem_plugin.facts.patterns import begins
from langmem_plugin.facts.tokens import Sentence, Token
from langmem_plugin.languages.language import Language

_TAG: Final = 3  # the most words of a tag like "…, right?": what stands before a longer one is told, not asked


def stated_until(sentence: Sentence, language: Language, *, noted: bool = False) -> tuple[int, int]:
    """Return the part of a sentence in which something is stated: from where, and until where."""
    tokens = sentence.tokens
    start, end = 0, next((at for at in range(len(tokens)) if _is_idea(tokens, at, language)), len(tokens))
    at = after_leads(tokens, 0, language)
    if noted or at >= len(tokens):
        return start, end
    if tokens[at].plain in language.composing:
        return len(tokens), len(tokens)
    if _asks(tokens, at, language):
        start = next((place + 1 for place in range(at, end) if tokens[place].plain in (",", ":")), end)
    if sentence.asked:  # "I'm vegan, is there a place near here?"
        asked = [place for place in starts(tokens, start, language) if place < end and _asks(tokens, place, language)]
        commas = [] if asked else [place for place in range(start, end - _TAG) if tokens[place].plain == ","]
        end = max((place for place in (*asked, *commas) if place > start), default=start)
    return start, end


def starts(tokens: Sequence[Token], first: int, language: Language) -> Iterator[int]:
    """Give the places where a clause may begin."""
    for at in range(first, len(tokens)):
        before = tokens[at - 1] if at > first else None
        if (
            before is None
            or not (before.word or before.plain == "'s")
            or before.plain in language.joins
            or (tokens[at].plain in language.clause_openers and before.plain not in language.before_relative)
        ):
            yield at


def _is_idea(tokens: Sequence[Token], at: int, language: Language) -> bool:
    used = begins(tokens, at, language.conditional)
    if not used or tokens[at].written.casefold() == "sí":
        return False
    following = tokens[at + used].plain if at + used < len(tokens) else ""
    return following not in ("rather", "prefer", "like", "love")


def _asks(tokens: Sequence[Token], at: int, language: Language) -> bool:
    word = tokens[at]
    if word.plain not in language.questions:
        return False
    following = tokens[at + 1].plain if at + 1 < len(tokens) else ""
    if word.plain in ("do", "can") and following == "not":
        return False
    if word.plain == "יש":
        return following not in ("לי", "לנו", "")
    if language.name == "es" and word.written == word.plain and word.plain in ("como", "que", "es", "cuando"):
        return word.plain not in ("como", "es")  # without its accent: "como carne"
    return True


def after_leads(tokens: Sequence[Token], at: int, language: Language) -> int:
    """Return the place after the words that only lead up to a clause: "and", "btw", "remember that"."""
    while at < len(tokens):
        used = max(begins(tokens, at, language.leads), begins(tokens, at, language.remember))
        if used == 1 and (tokens[at].plain in language.negations or tokens[at].plain == "no"):
            following = tokens[at + 1] if at + 1 < len(tokens) else None
            known = language.selves | language.possessives
            if following is not None and following.word and following.plain not in known:
                break
        if not used and tokens[at].word:
            break
        at += used or 1
    return at
