"""Split a text into sentences of words that know their place in it, and the parts of a sentence in which a fact may stand."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from langmem_plugin.facts.value_comparison import is_code
from langmem_plugin.languages.language_words import Language, Phrases, words
from langmem_plugin.languages.text_normalization import LONGEST_KEPT, plain
from langmem_plugin.lru_cache import cached_if_short

_KEPT: Final = 256  # texts, each read for its facts and again for each fact's guards
_LONGEST_PHRASE: Final = 8  # words
_CHUNK = re.compile(r"\S++")
_PART = re.compile(
    r"(?:[^\W\d_]\.){2,}|[^\W\d_]++(?:['’`´׳״\"_-][^\W\d_]++)*+|\d++(?:[.,:/]\d++)*+[^\W\d_]*+(?:'s\b)?+|\S"
)
_TERMINAL = frozenset(".!?;…¡¿")
_ABBREVIATIONS = words("dr|mr|mrs|ms|prof|st|sr|sra|dra|jr|no|ltd|inc|vs|approx|ave|rd|apt")
_TAG: Final = 3  # the most words of a tag like "…, right?": what stands before a longer one is told, not asked


class Token(NamedTuple):
    """One word. `plain` is its form for comparing, `text[start:end]` is what was written."""

    plain: str
    start: int
    end: int
    written: str

    @property
    def word(self) -> bool:
        return self.plain[:1].isalnum()

    @property
    def capital(self) -> bool:
        return self.written[:1].isupper()


@dataclass(frozen=True)
class Sentence:
    tokens: tuple[Token, ...]
    asked: bool


@cached_if_short(_KEPT, LONGEST_KEPT)
def sentences(text: str, language: Language) -> tuple[Sentence, ...]:
    """Return each sentence of a text; ends are full stops, question and exclamation marks, semicolons and line ends."""
    return tuple(_sentences(text, language.contractions))


def _sentences(text: str, contractions: Mapping[str, tuple[str, ...]]) -> Iterator[Sentence]:
    held: list[Token] = []
    for token in _tokens(text, contractions):
        broken = bool(held) and "\n" in text[held[-1].end : token.start]
        if broken:
            yield Sentence(tuple(held), asked=False)
            held = []
        if token.written in _TERMINAL and _ends(text, token, held):
            if held:
                yield Sentence(tuple(held), asked="?" in text[token.start : token.start + 3])
            held = []
        elif token.written not in _TERMINAL or token.written == ".":
            held.append(token)
    if held:
        yield Sentence(tuple(held), asked=False)


def _ends(text: str, token: Token, held: list[Token]) -> bool:
    if token.written != ".":
        return True
    followed = text[token.end : token.end + 1]
    return not (held and held[-1].plain in _ABBREVIATIONS and held[-1].end == token.start) and (
        not followed.strip() or followed in _TERMINAL
    )


def _tokens(text: str, contractions: Mapping[str, tuple[str, ...]]) -> Iterator[Token]:
    for chunk in _CHUNK.finditer(text):
        said, start = chunk.group(), chunk.start()
        if "@" in said or "://" in said or is_code(said.rstrip(".,;:!?")):
            whole = said.rstrip(".,;:!?)\"'")
            if whole:
                yield Token(plain(whole), start, start + len(whole), whole)
                start, said = start + len(whole), said[len(whole) :]
        for part in _PART.finditer(said):
            yield from _expanded(part.group(), start + part.start(), contractions)


def _expanded(written: str, start: int, contractions: Mapping[str, tuple[str, ...]]) -> Iterator[Token]:
    """Give `I'm` as two words; what each of them covers does not matter, as long as both lie within it."""
    said = written.lower() if written.isascii() and written.isalpha() else plain(written)
    full = contractions.get(said)
    if full is None and contractions and said.endswith("'s"):
        full = (said[:-2], "'s")
    if full is None:
        yield Token(said, start, start + len(written), written)
        return
    cut = len(written) if "'" not in said else said.index("'")
    if full[-1] == "not" and "'" in said:
        cut = max(said.index("'") - 1, 1)
    cut = min(cut, len(written))
    yield Token(full[0], start, start + cut, written[:cut])
    for word in full[1:]:
        yield Token(word, start + cut, start + len(written), written[cut:])


def begins(tokens: Sequence[Token], at: int, phrases: Phrases) -> int:
    """Return how many tokens the longest of the phrases takes that stands at `at`."""
    if at >= len(tokens) or tokens[at].plain not in phrases.by_first:
        return 0
    return phrases.begin([token.plain for token in tokens[at : at + _LONGEST_PHRASE]])


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
