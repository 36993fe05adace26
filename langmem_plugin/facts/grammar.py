"""Patterns of words that state an attribute, read from the tables and held against a sentence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.values import ORDINALS, number
from langmem_plugin.languages.language import LANGUAGES, Language

_MOST_SKIPPED: Final = 3
_ACCENTED: Final = frozenset("áéíóúñ¿¡ÁÉÍÓÚÑ")
_IS: Final = "is"  # also for the "'s" of "my sister's vegan"
_DO: Final = frozenset(("do", "does", "did"))
_BIRTHDAYS: Final = frozenset(("birthday", "bday"))
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
        for pattern in table.get(_IS if token.plain == "'s" else token.plain, ()):
            if pattern.order not in seen:
                seen.add(pattern.order)
                for match in _Attempt(pattern, tokens, language, third, unsaid).matches(at, 0, _State()):
                    if (
                        best is None
                        or match.said > best.said
                        or (match.said == best.said and match.end < best.end and not match.open_end)
                    ):
                        best = match
    return best if best is not None and best.said > 1 else None


@dataclass(frozen=True)
class _Attempt:
    """One pattern held against one place of a sentence."""

    pattern: Pattern
    tokens: Sequence[Token]
    language: Language
    third: bool
    unsaid: bool

    def matches(self, at: int, place: int, state: _State) -> Iterator[Match]:
        """Every way in which the pattern from `place` on accounts for the tokens from `at` on, the fullest first."""
        if place == len(self.pattern.elements):
            yield Match(self.pattern, at, state.value, None, False, state.said, state.negated, state.over)
            return
        element = self.pattern.elements[place]
        token = self.tokens[at] if at < len(self.tokens) else None
        missing = element.optional or (element.unsaid and self.unsaid)
        if element.value:
            yield from self._valued(at, place, state)
        elif token is not None and element.prefix:
            yield from self._prefixed(token, at, place, state)
            return
        elif token is not None and (_IS if token.plain == "'s" else token.plain) in self._wanted(element, state):
            value = (*state.value, token) if element.captured else state.value
            yield from self.matches(at + 1, place + 1, replace(state, value=value, said=state.said + 2))
        if missing:
            yield from self.matches(at, place + 1, state)
        if token is not None and not element.value and state.skipped < _MOST_SKIPPED:
            yield from self._past(token, at, place, state)

    def _wanted(self, element: Element, state: _State) -> frozenset[str]:
        if self.unsaid or (self.third and state.base):
            return element.of_self | element.of_other
        return element.of_other if self.third else element.of_self

    def _past(self, token: Token, at: int, place: int, state: _State) -> Iterator[Match]:
        """Past a word that stands within the pattern and is none of it: "no longer", "not", "really"."""
        onward = replace(state, skipped=state.skipped + 1)
        ended = begins(self.tokens, at, self.language.ended)
        if ended:
            yield from self.matches(at + ended, place, replace(onward, over=True))
        elif token.plain in self.language.negations:
            yield from self.matches(at + 1, place, replace(onward, negated=not state.negated))
        elif token.plain in self.language.fillers:
            yield from self.matches(at + 1, place, replace(onward, base=state.base or token.plain in _DO))

    def _valued(self, at: int, place: int, state: _State) -> Iterator[Match]:
        tokens, element = self.tokens, self.pattern.elements[place]
        if at >= len(tokens):
            return
        if element.value == "N":
            start = at + (tokens[at].plain in ("$", "€", "₪", "£"))
            counted = number([token.plain for token in tokens[start : start + 8]]) or _in_turn(tokens, start)
            if counted is not None:
                end = start + counted[1]
                held = replace(state, value=(*state.value, *tokens[start:end]), said=state.said + 1)
                yield from self.matches(end, place + 1, held)
        elif place + 1 == len(self.pattern.elements):
            yield Match(self.pattern, at, state.value, tokens[at], True, state.said, state.negated, state.over)
        else:
            for end in range(at + 1, min(at + _LONGEST_INNER, len(tokens)) + 1):
                taken = () if element.value == "X" else tuple(tokens[at:end])
                yield from self.matches(end, place + 1, replace(state, value=(*state.value, *taken)))

    def _prefixed(self, token: Token, at: int, place: int, state: _State) -> Iterator[Match]:
        """Hebrew: what the letter is written onto takes its place in the sentence."""
        letter = self.pattern.elements[place].prefix
        onward = replace(state, said=state.said + 1)
        if token.plain == letter:
            dashed = at + 1 < len(self.tokens) and self.tokens[at + 1].plain == "-"
            yield from self.matches(at + 1 + dashed, place + 1, onward)
        elif token.plain.startswith(letter):
            rest = (*self.tokens[:at], bare(token, len(letter)), *self.tokens[at + 1 :])
            yield from replace(self, tokens=rest).matches(at, place + 1, onward)
        elif state.skipped < _MOST_SKIPPED and token.plain in self.language.fillers:
            yield from self.matches(at + 1, place, replace(state, skipped=state.skipped + 1))


def _in_turn(tokens: Sequence[Token], at: int) -> tuple[float, int] | None:
    """The "fourth" of "his fourth birthday"."""
    turn = ORDINALS.get(tokens[at].plain) if at + 1 < len(tokens) else None
    return (float(turn), 1) if turn is not None and tokens[at + 1].plain in _BIRTHDAYS else None


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
    if not others or part == "y/o":
        others = mine
    return Element(frozenset(mine.split("|")), frozenset(others.split("|")), optional, unsaid, captured)


def _first_words(elements: Sequence[Element]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for element in elements:
        found |= element.of_self | element.of_other
        if not (element.optional or element.unsaid or element.value):
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
    events = [phrase for phrases_of in language.life_events.values() for phrase in phrases_of]
    phrases = (*language.people, *language.attributes, *language.leads, *language.copulas, *events)
    return (
        language.common
        | stated
        | frozenset(word for phrase in phrases for word in phrase)
        | language.selves
        | language.possessives
        | language.negations
    )
