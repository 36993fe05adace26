"""The answer of the resolver: references, or a question, or nothing; and the earlier call that is revised."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langmem_plugin.references.text.tokens import stem, words_of


@dataclass(frozen=True)
class Reference:
    """Items that some words of the utterance mean.

    `items` are copies of the tool's dicts, equal in every key and value; an item of a list that exists only as text is
    `{"number": 2, "text": "…"}` plus its `key: value` lines. `numbers` are the places the person saw (None where there
    was none). `part` names the field asked for ("ingredients" in "those ingredients"). `confidence` in [0, 1] is the
    measured share of right answers among references found for the same kind of reason.
    """

    items: tuple[dict[str, Any], ...]
    words: str
    reason: str
    confidence: float
    numbers: tuple[int | None, ...] = ()
    part: str | None = None
    tool: str = ""
    sort: str = ""
    """The sort of evidence: number, ordinal, name, comparison, pointing … (the keys of CONFIDENCE)."""
    kinds: frozenset[str] = frozenset()
    """Type nouns of the items, in singular: recipe, flight."""


@dataclass(frozen=True)
class PreviousCall:
    """The tool call that an utterance revises; `arguments` are its own, to be repeated with one thing changed."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Resolution:
    """What an utterance means. Empty `references` is an answer too: none."""

    references: tuple[Reference, ...] = ()
    question: str | None = None
    """Set, with no references, when several items are equally meant: ask it."""
    candidates: tuple[dict[str, Any], ...] = ()
    """The items the question is about."""
    previous_call: PreviousCall | None = None
    """Set when the utterance revises or changes something and there was a call."""

    def __bool__(self) -> bool:
        return bool(self.references)

    def __iter__(self) -> Iterator[Reference]:
        return iter(self.references)

    @property
    def items(self) -> list[dict[str, Any]]:
        """Every item meant, in order, once."""
        found: list[dict[str, Any]] = []
        for reference in self.references:
            found.extend(item for item in reference.items if not any(item is other for other in found))
        return found

    def item(self, noun: str | None = None) -> dict[str, Any] | None:
        """The one item meant, or None when none or several are. `noun` ("recipe") keeps items of that type only;
        an item of no known type counts as any type.
        """
        found: list[dict[str, Any]] = []
        wanted = {stem(word) for word in words_of(noun)} if noun else set()
        for reference in self.references:
            for item in reference.items:
                if wanted and reference.kinds and not wanted & reference.kinds:
                    continue
                if not any(item is other for other in found):
                    found.append(item)
        return found[0] if len(found) == 1 else None
