"""A text as sentences of words that know their place in it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from langmem_plugin.facts.values import is_code
from langmem_plugin.languages.language import words
from langmem_plugin.languages.plain_text import plain

_CHUNK = re.compile(r"\S++")
_PART = re.compile(
    r"(?:[^\W\d_]\.){2,}|[^\W\d_]++(?:['’`´׳״\"_-][^\W\d_]++)*+|\d++(?:[.,:/]\d++)*+[^\W\d_]*+(?:'s\b)?+|\S"
)
_TERMINAL = frozenset(".!?;…¡¿")
_ABBREVIATIONS = words("dr|mr|mrs|ms|prof|st|sr|sra|dra|jr|no|ltd|inc|vs|approx|ave|rd|apt")


@dataclass(frozen=True)
class Token:
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


def sentences(text: str, contractions: Mapping[str, tuple[str, ...]]) -> Iterator[Sentence]:
    """Give each sentence of a text; ends are full stops, question and exclamation marks, semicolons and line ends."""
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
    said = plain(written)
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
