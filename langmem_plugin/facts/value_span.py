"""Where the words of a value end, and where the next clause begins."""

from collections.abc import Sequence
from typing import Final

from langmem_plugin.facts.clauses import after_leads
from langmem_plugin.facts.grammar import begins, best_match
from langmem_plugin.facts.moments import Moment, moments
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.subjects import subject_at
from langmem_plugin.facts.tokens import Token
from langmem_plugin.languages.language import Language, words

_LONGEST_VALUE: Final = 14
_OF_ONESELF: Final = words("soy|somos|vivo|vivimos|trabajo|trabajamos|tengo|tenemos|estoy|estamos")
_LONGEST_REST: Final = 3  # words of a value after its last comma
NEW_CLAUSE: Final = words(
    "it|this|that|there|the|am|is|are|was|feel|think|have|has|want|would|will|with|without|in|on|for|at|eso|esto|con|sin|en|para|זה"
)


def value_end(reading: Reading, at: int, *, named: bool = False) -> int:
    """Where what began at `at` ends: at a new clause, at words that end it, at a mark that is not of a list."""
    tokens, language = reading.tokens, reading.language
    for place in range(at + 1, min(at + _LONGEST_VALUE, len(tokens))):
        token = tokens[place]
        if token.plain == "que" and begins(tokens, place + 1, language.names_it):
            continue  # "un bulldog que se llama Tapón"
        if token.plain in language.cuts or (named and token.plain in language.negations):
            return place
        if token.plain == "i" or (token.plain == "we" and tokens[place - 1].plain not in language.joins):
            return place
        if (
            begins(tokens, place, language.ended_after)
            or begins(tokens, place, language.instructed)
            or begins(tokens, place, tuple(language.day_kinds))
        ):
            return place
        if begins(tokens, place, language.instead) or (named and token.plain in language.asks):
            return place
        if not token.word and token.plain not in "-&+#'₪$€£%/,.@*_" and not (named and token.plain == ":"):
            return place
        if token.plain == "," or token.plain in language.joins:
            following = after_leads(tokens, place, language)
            if (
                token.plain == ","
                and following < len(tokens)
                and (
                    (tokens[following].capital and reading.naming)
                    or tokens[following].plain in ("half", "quarter")
                    or ":" in tokens[following].plain
                )
            ):
                continue
            if following >= len(tokens) or _opens_clause(reading, following, comma=token.plain == ","):
                return place
        if token.plain == "-" and token.start > tokens[place - 1].end:
            return place
    return min(at + _LONGEST_VALUE, len(tokens))


def _opens_clause(reading: Reading, at: int, *, comma: bool) -> bool:
    tokens, language = reading.tokens, reading.language
    word = tokens[at].plain
    if word in NEW_CLAUSE | _OF_ONESELF or (
        language.name == "he" and len(word) > 3 and word.endswith(("תי", "נו")) and not comma
    ):
        return True
    if word in language.selves or word in language.possessives or word in language.asks or word in language.negations:
        return True
    if word in language.others and not (word == "el" and tokens[at].written == "el"):
        return True
    third = reading.known is not None and reading.known.third
    if (
        best_match(tokens, at, language, third=False)
        or (third and best_match(tokens, at, language, third=True))
        or best_match(tokens, at, language, third=True)
    ):
        return True
    if subject_at(tokens, at, language) is not None:
        return True
    # A list goes on to its "and", and a value to its end ("Portland, Oregon"), but not to what is only said besides.
    listed = any(token.plain in language.joins or token.plain == "," for token in tokens[at : at + 4])
    return comma and not listed and _is_aside(tokens[at:], language)


def _is_aside(tokens: Sequence[Token], language: Language) -> bool:
    """As in "…, thanks", "…, everyone does", "…, any ideas"."""
    idle = language.courtesies | language.fillers | language.common | language.moods | language.questions
    return tokens[0].plain in idle | language.pronouns or len(tokens) > _LONGEST_REST


def boundary(reading: Reading, at: int) -> int:
    for place in range(at, len(reading.tokens)):
        if reading.tokens[place].plain in (",", ";", ":") or reading.tokens[place].plain in reading.language.joins:
            return place
    return len(reading.tokens)


def moments_in(reading: Reading, tokens: Sequence[Token], *, ahead: bool) -> list[Moment]:
    return moments(tokens, reading.language, reading.said_at, ahead=ahead) if reading.said_at is not None else []
