"""Which items a text names: by whole name or id; and which share words or values with it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.tool_results import ResultList
from langmem_plugin.references.text.atoms import atoms
from langmem_plugin.references.text.tokens import is_stop, normal, words_of


@dataclass(frozen=True)
class Mention:
    """An entry named in a text, and at which letter of its words."""

    entry: ItemEntry
    position: int


def named_in(text: str, entries: Sequence[ItemEntry]) -> list[Mention]:
    """Entries whose whole name (or id) the text holds, in the order of the text; entries of one name are
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
        best = max(full or rivals, key=lambda entry: len(held & entry.atoms))
        found.append(Mention(best, position))
    return _without_inner(found, spoken)


def _without_inner(found: list[Mention], spoken: str) -> list[Mention]:
    """A name inside a longer mentioned name is not a mention of its own."""
    spans = []
    for mention in found:
        length = max(
            (len(name) for name in mention.entry.name_text if spoken.find(f" {name} ") == mention.position), default=0
        )
        spans.append((mention.position, mention.position + length))
    return [
        mention
        for mention, (start, end) in zip(found, spans, strict=True)
        if not any(other != (start, end) and other[0] <= start and end <= other[1] for other in spans)
    ]


def name_position(spoken: str, low: str, entry: ItemEntry) -> int:
    """Where a spaced text holds a name of an entry, or its lower-case form one of its codes; -1 when neither."""
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
    """Words and values that every one of several entries holds, and that tell nothing apart."""
    if len(entries) < 2:
        return frozenset()
    return frozenset.intersection(*(entry.atoms for entry in entries))


def sharing(values: Iterable[str], result_lists: Sequence[ResultList]) -> list[ItemEntry]:
    """Entries that hold at least one of the words or values, by the lists' own indexes."""
    found: dict[int, ItemEntry] = {}
    for result_list in result_lists:
        for atom in values:
            for entry in result_list.postings.get(atom, ()):
                found[id(entry)] = entry
    return list(found.values())
