"""An utterance with every word marked by its grammatical kinds, from the language tables."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from langmem_plugin.references.said.language_detection import language_of
from langmem_plugin.references.said.lexicon import Kinds, Value, lexicon, look_up
from langmem_plugin.references.said.spanish_enclitics import has_enclitic
from langmem_plugin.references.said.typos import corrected_form
from langmem_plugin.references.text.tokens import Token, normal, tokens
from langmem_plugin.references.words import LANGUAGES, Comparison, Language

_MOST_DIGITS = 100
_ORDINAL = re.compile(r"(\d{1,3})(?:st|nd|rd|th|1?[ºª°]|er|[rdtnvm][oa]|[ao])")


@dataclass
class Mark:
    """A word, or several read as one, with its kinds. `values` holds the number, comparison or field names
    of a kind.
    """

    text: str
    start: int
    end: int
    kinds: frozenset[str] = frozenset()
    values: Mapping[str, Value] = field(default_factory=dict)
    definite: bool = False

    def has(self, *kinds: str) -> bool:
        return not self.kinds.isdisjoint(kinds)

    def number(self, kind: str) -> int:
        return cast("int", self.values[kind])

    @property
    def count(self) -> int:
        """What it counts, as "three" does; 0 where it counts nothing or is "one"."""
        return self.number("cardinal") if self.has("cardinal") and not self.has("one", "indefinite") else 0

    @property
    def comparison(self) -> Comparison:
        return cast("Comparison", self.values["comparison"])

    @property
    def joins(self) -> bool:
        """Whether it joins two items of a list, as "and" does."""
        return self.has("and") or self.text in ("y el", "y la")


def marked(text: str, known: frozenset[str] = frozenset()) -> tuple[list[Mark], Language]:
    """The utterance as marks, longest phrases first. Words in `known` (those of the items shown) are never
    taken for typos.
    """
    language = language_of(text)
    table, longest = lexicon(language)
    fallback = lexicon(LANGUAGES[0])[0] if language is not LANGUAGES[0] else {}
    found = tokens(text)
    marks: list[Mark] = []
    index = 0
    while index < len(found):
        token = found[index]
        for size in range(min(longest, len(found) - index), 0, -1):
            words = tuple(token.text for token in found[index : index + size])
            entry, definite = look_up(words, table, language)
            if entry is None and (size > 1 or not language.prefixes):
                entry = fallback.get(words) if language.prefixes else None
            if (
                entry is not None
                and language.name == "es"
                and "á" in text[found[index].start : found[index].end].lower()
            ):
                entry = {kind: value for kind, value in entry.items() if kind != "this"}  # "está" is a verb
            if entry is not None:
                marks.append(_mark(text, found[index], found[index + size - 1], entry, definite))
                index += size
                break
        else:
            following = found[index + 1].text if index + 1 < len(found) else ""
            marks.append(_single(text, token, language, known, before_one=following in ("one", "ones")))
            index += 1
    return marks, language


def _is_number(text: str) -> bool:
    """Whether all are digits, and no more of them than anybody counts or numbers with."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def _mark(text: str, first: Token, last: Token, entry: Kinds, definite: bool) -> Mark:
    return Mark(normal(text[first.start : last.end]), first.start, last.end, frozenset(entry), entry, definite)


def _single(text: str, token: Token, language: Language, known: frozenset[str], *, before_one: bool = False) -> Mark:
    mark = Mark(token.text, token.start, token.end)
    value = token.text
    if value.startswith("#") and _is_number(value[1:]):
        return Mark(value, token.start, token.end, frozenset({"label"}), {"label": int(value[1:])})
    if _is_number(value):
        return Mark(value, token.start, token.end, frozenset({"cardinal", "digit"}), {"cardinal": int(value)})
    if value[:1].isdigit():
        counted = _ORDINAL.fullmatch(value)
        if counted is not None:
            return Mark(value, token.start, token.end, frozenset({"ordinal"}), {"ordinal": int(counted[1])})
        return Mark(value, token.start, token.end, frozenset({"value"}))
    if not token.word:
        return Mark(value, token.start, token.end, frozenset({"punctuation"}))
    if len(value) == 1 and value.isascii():
        return Mark(value, token.start, token.end, frozenset({"letter"}), {"letter": ord(value) - 96})
    if language.enclitics and has_enclitic(text[token.start : token.end], value):
        plural = value.endswith("s")
        kind = "them" if plural else "it"
        return Mark(value, token.start, token.end, frozenset({kind, "enclitic"}), {kind: 0})
    if value not in known and (form := corrected_form(value, language, before_one=before_one)) is not None:
        entry = lexicon(language)[0][(form,)]
        return Mark(value, token.start, token.end, frozenset(entry), entry)
    if language.articles and len(value) > 3 and value[0] == language.articles[0]:
        mark.definite = True
    return mark
