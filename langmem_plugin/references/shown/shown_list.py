"""A list as a person saw it: in which order, under which numbers, called what."""

import re
from collections import Counter
from dataclasses import dataclass, field

from langmem_plugin.cached_property import cached_property
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.tool_results import ResultList
from langmem_plugin.references.text.tokens import WORD, is_stop, normal, stem, words_of

_PLURAL = re.compile(r"(?:s|ים|ות|י)$")


_HEAD = re.compile(r"(?<!\s)\s++[–—-]\s|[:;(]|[.?!]\s")


@dataclass(frozen=True)
class ItemName:
    """An item's name: its content words but for those that all names of the list hold, with those of its caption
    (`told`), and how it is spelled in several words, whole or up to a colon.
    """

    called: str
    words: frozenset[str]
    told: frozenset[str]
    spellings: tuple[tuple[str, ...], ...]

    @property
    def function_word(self) -> bool:
        """True where the name holds no content word, as "After" does."""
        return bool(self.called) and not self.words


@dataclass(eq=False)
class ShownList:
    """Items in the order a person saw them. `labels` are the numbers printed beside them, None where there were none."""

    entries: list[ItemEntry]
    labels: list[int | None]
    turn: int
    kind: str
    """`list` (shown as a list), `prose` (named in sentences), `all` (a result no reply spoke of), `parts` (of one item)."""
    sources: tuple[ResultList, ...] = ()
    label: str = ""
    """The word before each number: "week" of "Week 2"."""
    title: str = ""
    asked: str = ""
    """The words above the list, and the person's question: their plurals name its items."""
    lettered: bool = False
    place: int = -1
    """The place in the conversation of the message that showed it."""
    captions: list[str] = field(default_factory=list)
    """The reply's own words for each item, where it listed them: a translation or a shorter name."""

    @property
    def tool(self) -> str:
        return self.sources[-1].tool if self.sources else ""

    @property
    def of_data(self) -> bool:
        """True where a tool gave its items, and they are not only words of a reply."""
        return bool(self.sources)

    @property
    def numbered(self) -> bool:
        return any(label is not None for label in self.labels)

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The nouns for its items: from the tool, the data and the words above the list."""
        found = {stem(word) for word in WORD.findall(normal(f"{self.title} {self.asked}")) if _PLURAL.search(word)}
        found |= {self.label} if self.label else set()
        for source in self.sources:
            found |= source.nouns
        for entry in self.entries:
            found |= entry.kind_words
        return frozenset(found)

    @cached_property
    def item_names(self) -> tuple[list[ItemName], Counter[str]]:
        """The names of its items, and in how many of them each word stands."""
        called = self._called()
        every = [frozenset(word for word in words_of(name) if not is_stop(word)) for name in called]
        frequency = Counter(word for words in every for word in words)
        names = []
        for place, (entry, name, words) in enumerate(zip(self.entries, called, every, strict=True)):
            told = own = words if len(called) < 2 else frozenset(w for w in words if frequency[w] < len(called))
            if own and self.captions and entry.called is not None:
                told |= {word for word in words_of(_HEAD.split(self.captions[place])[0]) if not is_stop(word)}
            parts = dict.fromkeys((name, _HEAD.split(name)[0])) if self.of_data else (name,)
            spelled = (tuple(words_of(part)) for part in parts)
            names.append(ItemName(name, own, told, tuple(each for each in spelled if len(each) > 1)))
        return names, frequency

    @cached_property
    def told(self) -> frozenset[str]:
        """The words of all names and captions."""
        return frozenset[str]().union(*(name.told for name in self.item_names[0]))

    def _called(self) -> list[str]:
        """The name of each item; where none has any, what tells them apart best: "Dining out" of `category`."""
        found = [entry.proper_name for entry in self.entries]
        if not any(found) and self.of_data and len(found) > 1:
            told = [next(iter(entry.names), "") for entry in self.entries]
            found = told if len(set(told)) == len(told) else found
        return found

    @cached_property
    def title_words(self) -> frozenset[str]:
        return frozenset(word for word in words_of(self.title) if not is_stop(word))

    def item(self, number: int) -> ItemEntry | None:
        """The one under that printed number, by place where nothing was numbered; negative counts from the end."""
        if number > 0 and self.numbered:
            return next(
                (entry for entry, label in zip(self.entries, self.labels, strict=True) if label == number), None
            )
        if not 0 < abs(number) <= len(self.entries):
            return None
        return self.entries[number - 1 if number > 0 else number]

    def at(self, place: int) -> ItemEntry | None:
        """The one at that place, whatever number is printed beside it; negative counts from the end."""
        if not 0 < abs(place) <= len(self.entries):
            return None
        return self.entries[place - 1 if place > 0 else place]

    def number_of(self, entry: ItemEntry) -> int | None:
        """The number a person saw beside it, or its place; None for a lone item without one."""
        place = next((place for place, each in enumerate(self.entries) if each is entry), None)
        if place is None or (len(self.entries) == 1 and not self.numbered):
            return None
        return self.labels[place] if self.numbered else place + 1
