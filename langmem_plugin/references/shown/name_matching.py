"""Which items a text speaks of: by name, by a distinctive part of the name, or by the values of their
fields.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.text_lists import Line
from langmem_plugin.references.shown.tool_results import Listing
from langmem_plugin.references.text.atoms import atoms
from langmem_plugin.references.text.tokens import is_stop, normal, words_of


@dataclass(frozen=True)
class Mention:
    """An entry named in a text: where (in words; -1 when only its values are), and how strongly in [0, 1]."""

    entry: ItemEntry
    position: int
    strength: float


def named_in(text: str, entries: Sequence[ItemEntry]) -> list[Mention]:
    """Entries whose whole name (or id) the text holds, in the order of the text; entries of one name are
    told apart by values.
    """
    spoken = f" {' '.join(words_of(text))} "
    bare = f" {' '.join(word for word in words_of(text) if not is_stop(word))} "
    low = normal(text)
    said = atoms(text)
    at: dict[int, list[ItemEntry]] = {}
    for entry in entries:
        position = _position(spoken, low, entry)
        if position < 0:
            name = entry.bare_name
            position = 1000 + bare.find(f" {name} ") if name and f" {name} " in bare else -1
        if position >= 0:
            at.setdefault(position, []).append(entry)
    found = []
    for position in sorted(at):
        group = at[position]
        longest = max(len(name) for entry in group for name in entry.name_text) if len(group) > 1 else 0
        if len(group) > 1:
            full = [
                entry
                for entry in group
                if any(len(name) == longest and f" {name} " in spoken for name in entry.name_text)
            ]
            group = full or group
            best = max(len(said & entry.atoms) for entry in group)
            group = [entry for entry in group if len(said & entry.atoms) == best]
        found.append(Mention(group[0], position, 1.0))
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


def _position(spoken: str, low: str, entry: ItemEntry) -> int:
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


def closest(text: str, entries: Sequence[ItemEntry]) -> list[ItemEntry]:
    """The entries that share the most distinguishing words and values with the text; [] when none shares
    any.
    """
    said = atoms(text) - common_atoms(entries)
    scores = [(sum(1.5 if ":" in atom else 1.0 for atom in said & entry.atoms), entry) for entry in entries]
    best = max((score for score, _ in scores), default=0.0)
    return [entry for score, entry in scores if score == best] if best > 0 else []


def spoken_of(text: str, entries: Sequence[ItemEntry]) -> tuple[list[ItemEntry], int]:
    """The entries of one result that a reply speaks of, in its order, and where it names the last of them (in words).

    By name, else by the larger part of a name that no other entry shares, else by values: all entries that values of
    their own tell apart, or the one that fits best. None when the reply speaks of no entry in particular.
    """
    mentions = {id(mention.entry): mention.position for mention in named_in(text, entries)}
    words = words_of(text)
    spoken = f" {' '.join(words)} "
    frequency = Counter(word for entry in entries for word in entry.atoms)
    if len(mentions) < len(entries) and len(entries) > 1:
        for entry in entries:
            names = entry.name_words[0] if entry.name_words else frozenset()
            own = [word for word in names if frequency[word] == 1 and f" {word} " in spoken and not word.isdigit()]
            if id(entry) not in mentions and mentions and len(own) * 2 >= len(names) > 0:
                mentions[id(entry)] = min(spoken.find(f" {word} ") for word in own)
    if mentions:
        named = sorted((entry for entry in entries if id(entry) in mentions), key=lambda entry: mentions[id(entry)])
        return named, max(mentions.values())
    if len(entries) < 2:
        return [], -1
    said = atoms(text)
    own_words = {
        id(entry): {
            atom for atom in said & entry.atoms if frequency[atom] == 1 and ":" not in atom and not atom.isdigit()
        }
        for entry in entries
    }
    most = max(map(len, own_words.values()))
    told = [entry for entry in entries if len(own_words[id(entry)]) * 2 >= most > 0]
    if len(told) > 1:
        first = {key: min((spoken.find(f" {word} ") for word in held), default=0) for key, held in own_words.items()}
        return sorted(told, key=lambda entry: first[id(entry)]), -1
    near = closest(text, entries)
    return (near, -1) if len(near) == 1 else ([], -1)


def aligned(lines: Sequence[Line], entries: Sequence[ItemEntry]) -> list[ItemEntry | None]:
    """The entry each line of a shown list stands for; None for a line that matches none. Each entry is used
    once.
    """
    shared = common_atoms(entries)
    frequency: Counter[str] = Counter(atom for entry in entries for atom in entry.atoms)
    scored: list[tuple[float, int, int]] = []
    for row, line in enumerate(lines):
        full = " ".join((line.text, *(f"{key} {value}" for key, value in line.details.items())))
        spoken = f" {' '.join(words_of(full))} "
        said = atoms(full)
        low = normal(full)
        for column, entry in enumerate(entries):
            overlap = said & entry.atoms
            score = sum(1 / frequency[atom] for atom in overlap - shared)
            if _position(spoken, low, entry) >= 0:
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


def sharing(said: Iterable[str], listings: Sequence[Listing]) -> list[ItemEntry]:
    """Entries that hold at least one of the words or values said, by the listings' own indexes."""
    found: dict[int, ItemEntry] = {}
    for listing in listings:
        for atom in said:
            for entry in listing.postings.get(atom, ()):
                found[id(entry)] = entry
    return list(found.values())


def corrected(said: frozenset[str], vocabulary: Iterable[str]) -> frozenset[str]:
    """The words said plus, for each unknown word of five letters or more, the known word it is a slip of."""
    known = [word for word in vocabulary if len(word) >= 4 and word[0].isalpha()]
    lookup = set(known)
    extra = set()
    for word in said:
        if len(word) >= 5 and word.isalpha() and word not in lookup:
            match = process.extractOne(word, known, scorer=fuzz.ratio, score_cutoff=84)
            if match is not None:
                extra.add(match[0])
    return said | extra
