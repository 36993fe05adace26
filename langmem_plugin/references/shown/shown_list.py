"""A list as a person saw it: in which order, under which numbers, called what."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

from langmem_plugin.cached_property import cached_property
from langmem_plugin.references.shown.item_states import text_states
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.property_table import PropertyTable
from langmem_plugin.references.shown.tool_results import ResultList
from langmem_plugin.references.text.atoms import atoms
from langmem_plugin.references.text.said_values import written_values
from langmem_plugin.references.text.values import Value, numbers

_LONG = 7  # letters; a longer word is known in another form too


@dataclass(eq=False)
class ShownList:
    """Items in the order a person saw them. `labels` are the numbers printed beside them, None where there
    were none.
    """

    entries: list[ItemEntry]
    labels: list[int | None]
    turn: int
    kind: str
    """`list` (shown as a list), `prose` (named in sentences), `all` (a result no reply spoke of), `parts`
    (of one item).
    """
    nouns: frozenset[str] = frozenset()
    tool: str = ""
    collective: bool = False
    sources: tuple[ResultList, ...] = ()
    lettered: bool = False
    narrowed: bool = False
    """Holds only those that some words fit."""
    captions: list[str] = field(default_factory=list)
    """What the reply called each item, where it listed them: a translation or a shorter name."""

    @cached_property
    def properties(self) -> PropertyTable:
        """What tells its items apart."""
        return PropertyTable(self.entries, self.captions)

    def atoms_of(self, place: int) -> frozenset[str]:
        """Words and values of an item and of the line that showed it."""
        own = self.entries[place].atoms
        return own | self.caption_atoms[place] if self.captions else own

    @cached_property
    def caption_atoms(self) -> list[frozenset[str]]:
        return [atoms(caption) for caption in self.captions]

    @cached_property
    def values(self) -> list[tuple[int, Value]]:
        """Of all the fields of each item and of the line that showed it, with the item's place."""
        found = []
        for place, entry in enumerate(self.entries):
            caption = written_values(self.captions[place]) if self.captions else []
            found += [(place, value) for value in (*chain.from_iterable(entry.values.values()), *caption)]
        return found

    @cached_property
    def _by_number(self) -> list[tuple[float, int]]:
        """Every number that its values may be said by, in order, with where among `values`."""
        return sorted((number, where) for where, (_, value) in enumerate(self.values) for number in numbers(value))

    def values_near(self, said: Value) -> list[tuple[int, Value]]:
        """In order, those of `values` that may be like one said: no other is, by `likeness` or to a whole number."""
        near: set[int] = set()
        for number in numbers(said):
            first = bisect_left(self._by_number, (number * 0.89 - 1, 0))
            last = bisect_left(self._by_number, (number * 1.13 + 1, len(self.values)))
            near.update(where for _, where in self._by_number[first:last])
        if said.kind in ("time", "date"):  # which have no one number
            near |= {where for where, (_, value) in enumerate(self.values) if value.kind == said.kind}
        return [self.values[where] for where in sorted(near)]

    def values_of(self, fields: frozenset[str]) -> list[tuple[int, Value]]:
        """Of the fields that any of these words name, with the item's place."""
        return [
            (place, value)
            for place, entry in enumerate(self.entries)
            for name, words in entry.fields.items()
            if words & fields
            for value in entry.values.get(name, ())
        ]

    @cached_property
    def figures(self) -> dict[float, list[tuple[int, frozenset[str]]]]:
        """Every number that an item holds as such: the item's place and the words of the field."""
        found: dict[float, list[tuple[int, frozenset[str]]]] = {}
        for place, entry in enumerate(self.entries):
            for name, words in entry.fields.items():
                held = entry.field_value(name)
                if isinstance(held, (int, float)) and not isinstance(held, bool):
                    found.setdefault(held, []).append((place, words))
        return found

    def states_of(self, place: int) -> dict[int, bool]:
        """The states of an item, and those that the line that showed it tells of."""
        return self._states[place]

    @cached_property
    def _states(self) -> list[dict[int, bool]]:
        captions = self.captions or [""] * len(self.entries)
        return [{**text_states(caption), **entry.states} for caption, entry in zip(captions, self.entries, strict=True)]

    @cached_property
    def spellings(self) -> Mapping[str, Mapping[str, list[int]]]:
        """By first letter, the words that its items are called by and the long ones of their values, with their places."""
        found: dict[str, dict[str, list[int]]] = {}
        for place, entry in enumerate(self.entries):
            words = {word for word in entry.atoms if len(word) > _LONG and word.isalpha()}.union(*entry.name_words)
            for word in words | self.caption_atoms[place] if self.captions else words:
                found.setdefault(word[0], {}).setdefault(word, []).append(place)
        return found

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word and value of its items."""
        return frozenset[str]().union(*map(self.atoms_of, range(len(self.entries))))

    @cached_property
    def name_words(self) -> frozenset[str]:
        """Every word that its items are called by."""
        return frozenset[str]().union(*(words for entry in self.entries for words in entry.name_words))

    @cached_property
    def known_words(self) -> frozenset[str]:
        """Every word that an item may be told by: of its name, its values or its type."""
        return self.vocabulary.union(self.name_words, self.nouns, *(entry.kind_words for entry in self.entries))

    def of(self, entries: list[ItemEntry]) -> "ShownList":
        """The same with no more than some of its entries, unnumbered."""
        nothing: list[int | None] = [None] * len(entries)
        return ShownList(
            entries, nothing, self.turn, self.kind, self.nouns, self.tool, sources=self.sources, narrowed=True
        )

    @property
    def numbered(self) -> bool:
        return any(label is not None for label in self.labels)

    def starts_by(self, number: int) -> bool:
        """Whether its numbering starts at or before a number; a list that goes on with "5." does not hold 2."""
        return not self.numbered or min(label for label in self.labels if label is not None) <= number

    def in_order(self, place: int) -> ItemEntry | None:
        """By place where what is printed are numbers of the things themselves: the third of "lot 14, lot 22, lot 31"."""
        own = self.numbered and max(label for label in self.labels if label is not None) > len(self.entries)
        return self.entries[place - 1] if own and 0 < place <= len(self.entries) else None

    def at(self, number: int) -> ItemEntry | None:
        """The item with that printed number; by place when nothing was numbered. Negative counts from the
        end.
        """
        if number > 0 and self.numbered:
            return self.entries[self.labels.index(number)] if number in self.labels else None
        place = number - 1 if number > 0 else len(self.entries) + number
        return self.entries[place] if 0 <= place < len(self.entries) else None
