"""Patterns of words that state an attribute, read from the tables and held against a sentence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.values import number
from langmem_plugin.facts.words import LANGUAGES, Language

_MOST_SKIPPED: Final = 3
_ACCENTED: Final = frozenset("áéíóúñ¿¡ÁÉÍÓÚÑ")
_DO: Final = frozenset(("do", "does", "did"))
_LONGEST_INNER: Final = 4  # words of a value that more of the pattern follows


@dataclass(frozen=True)
class Element:
    """One place of a pattern. `value` is "V" or "N" where it takes what is said, "X" where that does not matter, `prefix` letters written onto it."""

    of_self: frozenset[str] = frozenset()
    of_other: frozenset[str] = frozenset()
    optional: bool = False
    unsaid: bool = False
    captured: bool = False
    value: str = ""
    prefix: str = ""


@dataclass(frozen=True)
class Pattern:
    """`mark` is "-" where it is not so, "+" where it will be."""

    attribute: str
    mark: str
    elements: tuple[Element, ...]
    order: int


@dataclass(frozen=True)
class Match:
    """`value` are the tokens said so far and `rest` where more of it follows, None where nothing does."""

    pattern: Pattern
    end: int
    value: tuple[Token, ...]
    rest: Token | None
    open_end: bool
    said: int
    negated: bool = False
    over: bool = False


@dataclass(frozen=True)
class _State:
    value: tuple[Token, ...] = ()
    said: int = 0
    skipped: int = 0
    base: bool = False
    negated: bool = False
    over: bool = False


@cache
def patterns(language: Language) -> dict[str, tuple[Pattern, ...]]:
    """The patterns by the words they can begin with; those that begin with a value are not looked for."""
    by_word: dict[str, list[Pattern]] = {}
    order = 0
    for name, cell in language.predicates.items():
        attribute, mark = name.rstrip("+-"), name[len(name.rstrip("+-")) :]
        for line in cell.split(";"):
            elements = tuple(_element(part) for part in line.split())
            if elements:
                pattern = Pattern(attribute, mark, elements, order)
                order += 1
                for word in _first_words(elements):
                    by_word.setdefault(word, []).append(pattern)
    return {word: tuple(found) for word, found in by_word.items()}


def best_match(
    tokens: Sequence[Token], at: int, language: Language, *, third: bool, unsaid: bool = False
) -> Match | None:
    """The pattern that accounts for most words from `at` on, or None. `unsaid`: as in notes, the verb "to be" is left out."""
    table = patterns(language)
    seen: set[int] = set()
    best: Match | None = None
    for token in tokens[at : at + _MOST_SKIPPED + 1]:
        for pattern in table.get(token.plain, ()):
            if pattern.order not in seen:
                seen.add(pattern.order)
                for match in _matches(pattern, tokens, at, 0, _State(), language, third, unsaid):
                    if (
                        best is None
                        or match.said > best.said
                        or (match.said == best.said and match.end < best.end and not match.open_end)
                    ):
                        best = match
                    break
    return best


def _matches(
    pattern: Pattern,
    tokens: Sequence[Token],
    at: int,
    place: int,
    state: _State,
    language: Language,
    third: bool,
    unsaid: bool,
) -> Iterator[Match]:
    if place == len(pattern.elements):
        yield Match(pattern, at, state.value, None, False, state.said, state.negated, state.over)
        return
    element = pattern.elements[place]
    token = tokens[at] if at < len(tokens) else None

    def onward(at: int, place: int, state: _State) -> Iterator[Match]:
        return _matches(pattern, tokens, at, place, state, language, third, unsaid)

    if element.value:
        yield from _valued(pattern, tokens, at, place, state, onward)
        if element.optional:
            yield from onward(at, place + 1, state)
        return
    if token is None:
        if element.optional or (element.unsaid and unsaid):
            yield from onward(at, place + 1, state)
        return
    if element.prefix:
        yield from _prefixed(pattern, tokens, at, place, state, language, third, unsaid)
        return
    wanted = (
        (element.of_self | element.of_other)
        if unsaid or (third and state.base)
        else element.of_other
        if third
        else element.of_self
    )
    if token.plain in wanted:
        value = (*state.value, token) if element.captured else state.value
        yield from onward(at + 1, place + 1, replace(state, value=value, said=state.said + 2))
    if element.optional or (element.unsaid and unsaid):
        yield from onward(at, place + 1, state)
    if state.skipped < _MOST_SKIPPED:
        ended = ended_phrase(tokens, at, language)
        if ended:
            yield from onward(at + ended, place, replace(state, skipped=state.skipped + 1, over=True))
        elif token.plain in language.negations:
            yield from onward(at + 1, place, replace(state, skipped=state.skipped + 1, negated=not state.negated))
        elif token.plain in language.fillers:
            yield from onward(
                at + 1, place, replace(state, skipped=state.skipped + 1, base=state.base or token.plain in _DO)
            )


def _valued(pattern, tokens, at, place, state, onward):  # type: ignore[no-untyped-def]
    element = pattern.elements[place]
    last = place + 1 == len(pattern.elements)
    if at >= len(tokens):
        return
    if element.value == "N":
        start = at + (tokens[at].plain in ("$", "€", "₪", "£"))
        counted = number([token.plain for token in tokens[start : start + 8]])
        if counted is not None:
            end = start + counted[1]
            held = replace(state, value=(*state.value, *tokens[start:end]), said=state.said + 1)
            yield from onward(end, place + 1, held)
        return
    if last:
        yield Match(pattern, at, state.value, tokens[at], True, state.said, state.negated, state.over)
        return
    for length in range(1, _LONGEST_INNER + 1):
        if at + length <= len(tokens):
            taken = () if element.value == "X" else tuple(tokens[at : at + length])
            yield from onward(at + length, place + 1, replace(state, value=(*state.value, *taken)))


def _prefixed(pattern, tokens, at, place, state, language, third, unsaid):  # type: ignore[no-untyped-def]
    """Hebrew: what the letter is written onto takes its place in the sentence."""
    token, letter = tokens[at], pattern.elements[place].prefix
    if token.plain == letter:
        at += 1 + (at + 1 < len(tokens) and tokens[at + 1].plain == "-")
        yield from _matches(
            pattern, tokens, at, place + 1, replace(state, said=state.said + 1), language, third, unsaid
        )
    elif token.plain.startswith(letter) and len(token.plain) > 1:
        rest = bare(token, len(letter))
        changed = [*tokens[:at], rest, *tokens[at + 1 :]] if len(tokens) < 200 else tokens  # noqa: PLR2004
        yield from _matches(
            pattern, changed, at, place + 1, replace(state, said=state.said + 1), language, third, unsaid
        )
    elif state.skipped < _MOST_SKIPPED and token.plain in language.fillers:
        yield from _matches(
            pattern, tokens, at + 1, place, replace(state, skipped=state.skipped + 1), language, third, unsaid
        )


def bare(token: Token, letters: int) -> Token:
    """A word without its first letters."""
    return Token(token.plain[letters:], token.start + letters, token.end, token.written[letters:])


def begins(tokens: Sequence[Token], at: int, cells: Sequence[tuple[str, ...]]) -> int:
    """How many tokens the longest of `cells` takes that stands at `at`."""
    if at >= len(tokens):
        return 0
    longest = 0
    for cell in cells:
        if (
            cell[0] == tokens[at].plain
            and len(cell) > longest
            and all(at + place < len(tokens) and tokens[at + place].plain == word for place, word in enumerate(cell))
        ):
            longest = len(cell)
    return longest


def ended_phrase(tokens: Sequence[Token], at: int, language: Language) -> int:
    return begins(tokens, at, language.ended)


def _element(part: str) -> Element:
    optional = part.startswith("(")
    part = part.strip("()")
    unsaid, part = part.startswith("~"), part.removeprefix("~")
    captured, part = part.startswith("="), part.removeprefix("=")
    if part in ("V", "N", "X"):
        return Element(optional=optional, value=part)
    if part.endswith("+"):
        return Element(optional=optional, prefix=part[:-1])
    mine, _, others = part.partition("/")
    if not others or part in ("y/o",):
        others = mine
    return Element(frozenset(mine.split("|")), frozenset(others.split("|")), optional, unsaid, captured)


def _first_words(elements: Sequence[Element]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for element in elements:
        found |= element.of_self | element.of_other
        if not element.optional and not element.unsaid:
            break
    return found - {""}


def language_of(said: str, written: str) -> Language:
    """The language of a text: by script, else by its function words; English when in doubt. `said` is it in plain words."""
    english, hebrew, spanish = LANGUAGES
    found = [word.strip('.,;:!?()"') for word in said.split()]
    if any("\u05d0" <= letter <= "\u05ea" for word in found for letter in word[:1]):
        return hebrew
    accented = 2 * (not _ACCENTED.isdisjoint(written))
    ours, theirs = _marks(english), _marks(spanish)
    in_spanish = sum(word in theirs for word in found) + accented
    return spanish if in_spanish > sum(word in ours for word in found) else english


@cache
def _marks(language: Language) -> frozenset[str]:
    stated = frozenset(
        word
        for found in patterns(language).values()
        for pattern in found
        for e in pattern.elements
        for word in e.of_self | e.of_other
    )
    phrases = (*language.people, *language.attributes, *language.leads, *language.copulas)
    return (
        language.common
        | stated
        | frozenset(word for phrase in phrases for word in phrase)
        | language.selves
        | language.possessives
    )
