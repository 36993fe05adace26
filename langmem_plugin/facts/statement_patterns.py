"""The table of a language's statements, each pattern a regular expression over the words of a sentence.

A pattern is words with these marks: a|b any of these; a|b/c|d of the speaker / of another; (a) may be missing; ~a not
said in notes; =a is the value itself; V the value, X what does not matter, N a number, W a word before the value;
a+ is written onto the value (Hebrew). "=@trades" is any of that list of the language's.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from langmem_plugin.facts.sentence_splitting import Token, begins
from langmem_plugin.facts.value_comparison import number
from langmem_plugin.languages.language_words import LANGUAGES, Language
from langmem_plugin.languages.text_normalization import LONGEST_KEPT, is_hebrew, plain
from langmem_plugin.lru_cache import cached_if_short

_SKIPPED: Final = r"(?:[~!^]\S+ ){0,3}?"
_TAG: Final = "[~!^#&]?"
_WORD: Final = r"(?![&!^])[^\W_]\S* |[~#]\S+ |'s "  # within a clause
_ACCENTED: Final = frozenset("áéíóúñ¿¡ÁÉÍÓÚÑ")
_IS: Final = "is|'s"
_CURRENCY: Final = r"(?:[$€£₪] )?"
_KEPT: Final = 256  # texts
_READ_AHEAD: Final = 5  # words in which a pattern begins: those before it are passed over


@dataclass(frozen=True, eq=False)
class Pattern:
    """One pattern of a statement. `mark` has "-" where it is not so, "+" where it will be, "*" where its value must be
    a name.
    """

    attribute: str
    mark: str
    elements: tuple[str, ...]


@dataclass(frozen=True)
class Match:
    """One fit of a pattern. The value stands from the place `start` of the line up to `end`, and goes on where it
    `is_open`; the pattern goes on up to `through`.
    """

    attribute: str
    start: int
    end: int
    through: int
    is_open: bool
    said: int
    negated: bool
    over: bool
    ahead: bool
    named: bool = False


class Line:
    """The words of a sentence as one text, marked where they are passed over, deny, end, or count."""

    def __init__(self, tokens: Sequence[Token], language: Language) -> None:
        self.tokens, self.language = tokens, language
        marks = [_mark(token.plain, language) for token in tokens]
        for at in range(len(tokens)):
            for place in range(at, at + begins(tokens, at, language.ended)):
                marks[place] = "^"
        said = [f"{mark}{token.plain} " for mark, token in zip(marks, tokens, strict=True)]
        self.starts = [0]
        for each in said:
            self.starts.append(self.starts[-1] + len(each))
        self.text = "".join(said)
        self._marks = marks

    def token_at(self, place: int) -> int:
        return bisect_right(self.starts, place) - 1

    def offset_in_token(self, place: int) -> int:
        at = self.token_at(place)
        return max(place - self.starts[at] - len(self._marks[at]), 0)


def taken_apart(tokens: Sequence[Token], language: Language) -> tuple[Token, ...]:
    """Return the tokens with a Hebrew "and", written onto the next word, as a word of its own before one that
    states something.
    """
    if language.name != "he":
        return tuple(tokens)
    found: list[Token] = []
    for at, token in enumerate(tokens):
        word, rest = token.plain, token.plain[1:]
        known = _marking(language)
        aged = tokens[at + 1 : at + 2] and tokens[at + 1].plain in ("בן", "בת")
        if word[:1] == "ו" and word not in known and (rest in known or rest[1:] in known or aged):
            found.append(Token("ו", token.start, token.start + 1, "ו"))
            found.append(Token(rest, token.start + 1, token.end, token.written[1:]))
        else:
            found.append(token)
    return tuple(found)


def best_match(line: Line, at: int, *, third: bool, unsaid: bool = False) -> Match | None:
    return next(iter(matches(line, at, third=third, unsaid=unsaid)), None)


def matches(line: Line, at: int, *, third: bool, unsaid: bool = False) -> list[Match]:
    """Return a match for each pattern that fits from the word `at` on, first the one that covers most words.

    With `unsaid`, as in notes, "to be" is left out.
    """
    table = _by_first_word(line.language, third or unsaid, unsaid)
    seen: set[Pattern] = set()
    found: list[Match] = []
    for token in line.tokens[at : at + _READ_AHEAD]:
        for pattern in table.get("is" if token.plain == "'s" else token.plain, ()):
            if pattern in seen:
                continue
            seen.add(pattern)
            fitting = _compiled(pattern, line.language, third, unsaid).match(line.text, line.starts[at])
            made = None if fitting is None else _made(pattern, fitting)
            if made is not None:
                found.append(made)
    return sorted(found, key=lambda each: (-each.said, each.start))


def _made(pattern: Pattern, found: re.Match[str]) -> Match | None:
    """Build a match from its groups: s… are words passed over, o… is the open value, and c, v, n and w
    are parts of one.
    """
    spans = {name: found.span(name) for name, told in found.groupdict().items() if told}
    skipped = "".join(found[name] for name in spans if name[0] == "s")
    value = [span for name, span in spans.items() if name[0] in "cvnwo"]
    counts = all(_is_number(found[name].split()) for name in spans if name[0] == "n")
    if not value or not counts:
        return None
    free = skipped + "".join(found[name] for name in spans if name[0] in "vwo")
    opened = next((span for name, span in spans.items() if name[0] == "o"), None)
    return Match(
        pattern.attribute,
        start=min(first for first, _ in value),
        end=opened[0] if opened else max(last for _, last in value),
        through=opened[0] if opened else found.end(),
        is_open=opened is not None,
        said=2 * (found.group().count(" ") - free.count(" ")) + sum(each.endswith("+") for each in pattern.elements),
        negated=(skipped.count("!") % 2 == 1) ^ ("-" in pattern.mark),
        over="^" in skipped,
        ahead="+" in pattern.mark,
        named="*" in pattern.mark,
    )


def _is_number(said: Sequence[str]) -> bool:
    words = [word.lstrip("#&") for word in said if word not in "$€£₪"]
    return number([part for word in words for part in word.split("-")]) is not None


def _mark(word: str, language: Language) -> str:
    if word in language.negations:
        return "!"
    if word in language.fillers:
        return "~"
    if word in language.joins:
        return "&"
    counts = number(word.split("-")) or (word[:1] == "ו" and number([word[1:]]))
    return "#" if counts else ""


@cache
def _table(language: Language) -> tuple[Pattern, ...]:
    return tuple(
        Pattern(name.rstrip("+-*"), name[len(name.rstrip("+-*")) :], tuple(line.split()))
        for name, cell in language.predicates.items()
        for line in cell.split(";")
        if line.strip()
    )


@cache
def _by_first_word(language: Language, third: bool, unsaid: bool) -> Mapping[str, Sequence[Pattern]]:
    found: defaultdict[str, list[Pattern]] = defaultdict(list)
    for pattern in _table(language):
        for element in pattern.elements:
            for word in _words(element, language, third, unsaid):
                found[word].append(pattern)
            if not (element.startswith(("(", "~")) or element == "V"):
                break
    return found


def _words(element: str, language: Language, third: bool, unsaid: bool) -> list[str]:
    bare = element.strip("()").removeprefix("~").removeprefix("=")
    if bare in ("V", "N", "X", "W") or bare.endswith("+"):
        return []
    if bare.startswith("@"):
        return sorted(language.trades)
    mine, slash, others = bare.partition("/")
    if not slash:
        return mine.split("|")
    either = unsaid or (third and language.name == "en")
    chosen = f"{mine}|{others}" if either else others if third else mine
    return [word for word in chosen.split("|") if word]


@cache
def _compiled(pattern: Pattern, language: Language, third: bool, unsaid: bool) -> re.Pattern[str]:
    parts: list[str] = []
    attached = False
    for place, element in enumerate(pattern.elements):
        optional = element.startswith("(") or (unsaid and element.strip("()").startswith("~"))
        bare = element.strip("()").removeprefix("~")
        last = all(each.startswith("(") for each in pattern.elements[place + 1 :])
        skipped = "" if attached else f"(?P<s{place}>{_SKIPPED})"
        said = _expression(bare, place, language, third, unsaid, last=last, tag="" if attached else _TAG)
        parts.append(f"(?:{skipped}{said})?" if optional else f"{skipped}{said}")
        attached = bare.endswith("+")
    return re.compile("".join(parts))


def _expression(bare: str, place: int, language: Language, third: bool, unsaid: bool, *, last: bool, tag: str) -> str:
    if bare == "V":
        return rf"(?P<o{place}>\S.*)" if last else rf"(?P<v{place}>(?:{_WORD}){{1,4}}?)"
    if bare == "X":
        return rf"(?:{_WORD}){{1,4}}?"
    if bare == "W":
        return rf"(?P<w{place}>[^\W_]\S* )"
    if bare == "N":
        return rf"(?P<n{place}>{_CURRENCY}#\S+ (?:(?:&\S+ )?#\S+ )*)(?:% )?"
    if bare.endswith("+"):
        return rf"{tag}{re.escape(bare[:-1])}(?:-|(?= )| )?\s?"
    name = f"(?P<c{place}>" if bare.startswith("=") else "(?:"
    words = [_IS if word == "is" else re.escape(word) for word in _words(bare, language, third, unsaid)]
    if bare.endswith("@trades") and language.trade_forms:
        words.append(language.trade_forms)
    return f"{tag}{name}(?:{'|'.join(words) or '(?!)'}) )"


@cached_if_short(_KEPT, LONGEST_KEPT)
def language_of(text: str) -> Language:
    """Return the language of a text: by script, else by its function words; English when in doubt."""
    english, hebrew, spanish = LANGUAGES
    found = [word.strip('.,;:!?()"') for word in plain(text).split()]
    if any(map(is_hebrew, found)):
        return hebrew
    accented = 2 * (not _ACCENTED.isdisjoint(text))
    ours, theirs = _marking(spanish), _marking(english)
    return spanish if sum(map(ours.__contains__, found)) + accented > sum(map(theirs.__contains__, found)) else english


@cache
def of_another(language: Language) -> frozenset[str]:
    """Return the words that state something of another only: "lives", "vive", but not "live", "vivo"."""
    told: Counter[str] = Counter()
    for pattern in _table(language):
        for element in pattern.elements:
            mine, slash, others = element.strip("()~=").partition("/")
            told.update(others.split("|") if slash else ())
            told.subtract(mine.split("|"))
    return frozenset(word for word, times in told.items() if times > 0)


@cache
def _marking(language: Language) -> frozenset[str]:
    def told() -> Iterator[str]:
        for pattern in _table(language):
            for element in pattern.elements:
                if not element.strip("()~").startswith(("=", "@")):
                    yield from _words(element, language, third=True, unsaid=True)
        events = [phrase for phrases in language.life_events.values() for phrase in phrases]
        for phrase in (*language.people, *language.attributes, *language.leads, *language.copulas, *events):
            yield from phrase

    return frozenset(told()) | language.common | language.selves | language.possessives | language.negations
