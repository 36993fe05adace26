"""The answer of the resolver: references, or a question, or nothing; and the earlier call that is revised."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langmem_plugin.notebook_view import Cells, Mark, card
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.text.tokens import stem, words_of


@dataclass(frozen=True)
class Reference:
    """Items that some words of the utterance mean: sure, or it is not here.

    `items` are copies of the tool's dicts, equal in every key and value; an item of a list that exists only as text is
    `{"number": 2, "text": "…"}` plus its `key: value` lines. `numbers` are the places the person saw (None where there
    was none). `part` names the field asked for ("ingredients" in "those ingredients"). `sort` is by what it was found:
    number, range, ordinal, last, all, both, id, name, comparison, value, pointing.
    """

    items: tuple[dict[str, Any], ...]
    words: str
    reason: str
    numbers: tuple[int | None, ...] = ()
    part: str | None = None
    tool: str = ""
    sort: str = ""
    kinds: frozenset[str] = frozenset()
    """Type nouns of the items, in singular: recipe, flight."""


@dataclass(frozen=True)
class PreviousCall:
    """The tool call that an utterance revises; `arguments` are its own, to be repeated with one thing changed."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Resolution:
    """The meaning of an utterance. Empty `references` is an answer too: nothing is meant."""

    references: tuple[Reference, ...] = ()
    question: str | None = None
    """Set when several items are equally meant, or words point at nothing: ask it."""
    candidates: tuple[dict[str, Any], ...] = ()
    """The items the question is about; of many, all that fit what was said."""
    unresolved: tuple[str, ...] = ()
    """Words that point at something shown where nothing shown fits them: "number 9" of a list of five."""
    previous_call: PreviousCall | None = None
    """Set when the utterance revises or changes something and there was a call."""

    said: str = ""
    """The utterance as it was read."""
    shown: tuple[str, ...] = ()
    """The names of the items last shown, in their order."""

    def explain(self) -> str:
        """Explain in lines which lists were shown, what was said, what it means, and why."""
        lines = [f"shown: {', '.join(self.shown) or 'nothing'}", f"said: {self.said}"]
        lines += [f"meant: {_explained(each)}" for each in self.references]
        if not self.references:
            lines.append("meant: nothing")
        lines += [f"to ask: {self.question}"] * bool(self.question)
        if self.previous_call is not None:
            lines.append(f"follows: {self.previous_call.tool}({dict(self.previous_call.arguments)})")
        return "\n".join(lines)

    def cells(self) -> Cells:
        """In a notebook: what `explain` says."""
        follows = self.previous_call
        return {
            "shown": [f"{number}. {name}" for number, name in enumerate(self.shown, 1)] or Mark("nothing", "dim"),
            "said": self.said,
            "meant": [_explained(each) for each in self.references] or Mark("nothing", "dim"),
            "fits nothing": Mark(", ".join(self.unresolved), "warn") if self.unresolved else None,
            "to ask": Mark(self.question, "warn") if self.question else None,
            "follows": f"{follows.tool}({dict(follows.arguments)})" if follows else None,
        }

    def _repr_html_(self) -> str:
        return card("What is meant", self.cells())

    def __bool__(self) -> bool:
        """True where something is meant, or the person is to be asked which."""
        return bool(self.references or self.question)

    @property
    def sure(self) -> bool:
        """True where something is meant."""
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


def _explained(reference: Reference) -> str:
    names = ", ".join(_named(item) for item in reference.items)
    part = f"the {reference.part} of " if reference.part else ""
    return f'"{reference.words}" = {part}{names} ({reference.reason})'


def _named(item: Mapping[str, Any]) -> str:
    return ItemEntry(dict(item)).title
