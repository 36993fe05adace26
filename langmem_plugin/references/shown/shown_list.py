"""A list as a person saw it: under which numbers, called what; and which of its items a text or a line names."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from langmem_plugin.cached_property import cached_property
from langmem_plugin.references.dates_and_numbers import atoms
from langmem_plugin.references.shown.lists_in_text import ListLine
from langmem_plugin.references.shown.lists_in_tool_results import ResultList
from langmem_plugin.references.shown.shown_items import ItemEntry
from langmem_plugin.references.tokens import WORD, is_stop, normal, stem, word_atoms, words_of

_PLURAL = re.compile(r"(?:s|ים|ות|י)$")


_HEAD = re.compile(r"(?<!\s)\s++[–—-]\s|[:;(]|[.?!]\s")


@dataclass(frozen=True)
class ItemName:
    """The name of an item: its content words without those that all names of the list hold, with those of its caption
    (`told`), and its spelling in several words, whole or up to a colon.
    """

    called: str
    words: frozenset[str]
    told: frozenset[str]
    spellings: tuple[tuple[str, ...], ...]

    @property
    def function_word(self) -> bool:
        """Tell whether the name holds no content word, as "After"."""
        return bool(self.called) and not self.words


@dataclass(eq=False)
class ShownList:
    """The items in the order a person saw them. `labels` are the numbers printed beside them, None without numbers."""

    entries: list[ItemEntry]
    labels: list[int | None]
    turn: int
    kind: str
    """The kind of the list: `list` (shown as a list), `prose` (named in sentences), `all` (a result that no reply spoke
    of) or `parts` (of one item).
    """
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
        """Tell whether a tool gave its items, and they are not only words of a reply."""
        return bool(self.sources)

    @property
    def numbered(self) -> bool:
        return any(label is not None for label in self.labels)

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The nouns for its items: from the tool, the data and the words above the list."""
        found = {stem(word) for word in WORD.findall(normal(f"{self.title} {self.asked}")) if _PLURAL.search(word)}
        found |= {self.label} if self.label else set()
        tools = () if self.kind == "parts" else self.sources  # they gave the item, not what it consists of
        kinds = (entry.kind_words for entry in self.entries)
        return frozenset(found).union(*(source.nouns for source in tools), *kinds)

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
        """Return the name of each item; if none has any, what tells them apart best: "Dining out" of `category`."""
        found = [entry.proper_name for entry in self.entries]
        if not any(found) and self.of_data and len(found) > 1:
            told = [next(iter(entry.names), "") for entry in self.entries]
            found = told if len(set(told)) == len(told) else found
        return found

    @cached_property
    def title_words(self) -> frozenset[str]:
        return frozenset(word for word in words_of(self.title) if not is_stop(word))

    def item(self, number: int) -> ItemEntry | None:
        """Return the item with that printed number, or, without numbers, at that place; minus counts from the end."""
        if number > 0 and self.numbered:
            return next(
                (entry for entry, label in zip(self.entries, self.labels, strict=True) if label == number), None
            )
        if not 0 < abs(number) <= len(self.entries):
            return None
        return self.entries[number - 1 if number > 0 else number]

    def at(self, place: int) -> ItemEntry | None:
        """Return the item at that place, whatever number is printed beside it; negative counts from the end."""
        if not 0 < abs(place) <= len(self.entries):
            return None
        return self.entries[place - 1 if place > 0 else place]

    def number_of(self, entry: ItemEntry) -> int | None:
        """Return the number a person saw beside an item, or its place; None for a lone item without a number."""
        place = next((place for place, each in enumerate(self.entries) if each is entry), None)
        if place is None or (len(self.entries) == 1 and not self.numbered):
            return None
        return self.labels[place] if self.numbered else place + 1


@dataclass(frozen=True)
class Mention:
    """An entry that a text names, and the place of its first letter in the text."""

    entry: ItemEntry
    position: int


def named_in(text: str, entries: Sequence[ItemEntry]) -> list[Mention]:
    """Return the entries whose whole name (or id) the text holds, in the order of the text. Entries of one name are
    told apart by values.
    """
    spoken = f" {' '.join(words_of(text))} "
    bare = f" {' '.join(word for word in words_of(text) if not is_stop(word))} "
    low = normal(text)
    held = atoms(text)
    at: dict[int, list[ItemEntry]] = {}
    for entry in entries:
        position = name_position(spoken, low, entry)
        if position < 0:
            name = entry.bare_name
            position = 1000 + bare.find(f" {name} ") if name and f" {name} " in bare else -1
        if position >= 0:
            at.setdefault(position, []).append(entry)
    found = []
    for position, rivals in sorted(at.items(), key=lambda each: each[0]):
        longest = max((len(name) for entry in rivals for name in entry.name_text), default=0)
        full = [
            entry for entry in rivals if any(len(name) == longest and f" {name} " in spoken for name in entry.name_text)
        ]
        parts = low.split(normal(full[0].title))[1:] if full else []
        if 1 < len(full) <= len(parts):  # each is told apart by what stands behind the name
            for entry in full:
                alike = [len(atoms(part) & entry.atoms) for part in parts]
                found.append(Mention(entry, position + alike.index(max(alike))))
            continue
        best = max(full or rivals, key=lambda entry: len(held & entry.atoms))
        found.append(Mention(best, position))
    return found


def name_position(spoken: str, low: str, entry: ItemEntry) -> int:
    """Return the place of an entry's name in the spaced text, or of a code in the lower-case one; -1 for neither."""
    for name in entry.spoken_names:
        position = spoken.find(name)
        if position >= 0:
            return position
    for code in entry.codes:
        position = low.find(code)
        if position >= 0:
            return position
    return -1


def common_atoms(entries: Sequence[ItemEntry]) -> frozenset[str]:
    """Return the words and values that every one of several entries holds: they tell nothing apart."""
    if len(entries) < 2:
        return frozenset()
    return frozenset.intersection(*(entry.atoms for entry in entries))


def sharing(values: Iterable[str], result_lists: Sequence[ResultList]) -> list[ItemEntry]:
    """Return the entries that hold at least one of the words or values, by the lists' own indexes."""
    found: dict[int, ItemEntry] = {}
    for result_list in result_lists:
        for atom in values:
            for entry in result_list.postings.get(atom, ()):
                found[id(entry)] = entry
    return list(found.values())


def spoken_of(text: str, entries: Sequence[ItemEntry]) -> tuple[list[ItemEntry], int]:
    """Return the entries of one result that a reply speaks of, in its order, and the place of the last of them (in
    words).

    Entries are found by name, else by the larger part of a name that no other entry shares, else, where several are, by
    values of their own. There are none if the reply speaks of no entry in particular.
    """
    mentions = {id(mention.entry): mention.position for mention in named_in(text, entries)}
    words = words_of(text)
    spoken = f" {' '.join(words)} "
    frequency = Counter(word for entry in entries for word in entry.atoms)
    if len(mentions) < len(entries) and len(entries) > 1:
        for entry in entries:
            names = entry.name_words[0] if entry.name_words else frozenset()
            own = [word for word in names if frequency[word] == 1 and f" {word} " in spoken and not word.isdigit()]
            if (
                id(entry) not in mentions
                and mentions
                and (len(own) * 2 >= len(names) > 0 or (own and max(names, key=lambda name: (len(name), name)) in own))
            ):
                mentions[id(entry)] = min(spoken.find(f" {word} ") for word in own)
    if mentions:
        named = sorted((entry for entry in entries if id(entry) in mentions), key=lambda entry: mentions[id(entry)])
        return named, max(mentions.values())
    if len(entries) < 2:
        return [], -1
    held = atoms(text)
    own_words = {
        id(entry): {
            atom for atom in held & entry.atoms if frequency[atom] == 1 and ":" not in atom and not atom.isdigit()
        }
        for entry in entries
    }
    most = max(map(len, own_words.values()))
    told = [entry for entry in entries if len(own_words[id(entry)]) * 2 >= most > 0]
    if len(told) > 1:
        said = [word_atoms(word) for word in words]  # "וגלגלים" says גלגלים
        first = {key: next((at for at, each in enumerate(said) if each & own), 0) for key, own in own_words.items()}
        return sorted(told, key=lambda entry: first[id(entry)]), -1
    return [], -1


def aligned(lines: Sequence[ListLine], entries: Sequence[ItemEntry]) -> list[ItemEntry | None]:
    """Return the entry for each line of a shown list; None for a line that matches none. Each entry is used once."""
    shared = common_atoms(entries)
    frequency: Counter[str] = Counter(atom for entry in entries for atom in entry.atoms)
    scored: list[tuple[float, int, int]] = []
    for row, line in enumerate(lines):
        full = " ".join((line.text, *(f"{key} {value}" for key, value in line.details.items())))
        spoken = f" {' '.join(words_of(full))} "
        held = atoms(full)
        low = normal(full)
        for column, entry in enumerate(entries):
            overlap = held & entry.atoms
            score = sum(1 / frequency[atom] for atom in overlap - shared)
            if name_position(spoken, low, entry) >= 0:
                score += 5 + 0.01 * max(map(len, entry.name_text), default=0)
            elif entry.names and score < 1 and len(entries) <= 30:
                close = fuzz.token_set_ratio(normal(entry.names[0]), normal(line.text))
                score += 3 if close >= 88 else 0
            if score >= 0.4:
                scored.append((score, row, column))
    scored.sort(key=lambda match: (-match[0], match[1], match[2]))
    found: list[ItemEntry | None] = [None] * len(lines)
    used: set[int] = set()
    for _, row, column in scored:
        if found[row] is None and column not in used:
            found[row] = entries[column]
            used.add(column)
    return found
