"""What the conversation has shown: every list of items, how replies numbered and narrowed it, and what is
in focus.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.name_matching import aligned, named_in, sharing, spoken_of
from langmem_plugin.references.shown.text_lists import Line, labelled_lines, read_lines
from langmem_plugin.references.shown.tool_results import MOST_ITEMS, Listing, line_item, listings
from langmem_plugin.references.text.atoms import atoms
from langmem_plugin.references.text.tokens import words_of

MOST_LINES = 300
"""Lines of a reply that are taken for items; each is compared with each item."""
RECENT = 60
"""Lists that a reply or an utterance can reach back to."""


@dataclass(eq=False)
class View:
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
    sources: tuple[Listing, ...] = ()
    captions: list[str] = field(default_factory=list)
    """What the reply called each item, where it listed them: a translation or a shorter name."""

    def atoms_of(self, place: int) -> frozenset[str]:
        """Words and values of an item and of the line that showed it."""
        own = self.entries[place].atoms
        return own | self.said[place] if self.captions else own

    @cached_property
    def said(self) -> list[frozenset[str]]:
        return [atoms(caption) for caption in self.captions]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word and value of its items."""
        return (
            frozenset().union(*(self.atoms_of(place) for place in range(len(self.entries))))
            if self.entries
            else frozenset()
        )

    @property
    def numbered(self) -> bool:
        return any(label is not None for label in self.labels)

    def starts_by(self, number: int) -> bool:
        """Whether its numbering starts at or before a number; a list that goes on with "5." does not hold 2."""
        return not self.numbered or min(label for label in self.labels if label is not None) <= number

    def at(self, number: int) -> ItemEntry | None:
        """The item with that printed number; by place when nothing was numbered. Negative counts from the
        end.
        """
        if number > 0 and self.numbered:
            return self.entries[self.labels.index(number)] if number in self.labels else None
        place = number - 1 if number > 0 else len(self.entries) + number
        return self.entries[place] if 0 <= place < len(self.entries) else None


@dataclass(frozen=True)
class Call:
    """A tool call the assistant made."""

    tool: str
    arguments: Mapping[str, Any]
    turn: int
    identifier: str | None = None


@dataclass
class Ledger:
    """The state of a conversation after some messages; `read` returns the next state and leaves this one
    alone.
    """

    views: list[View] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)
    focus: list[ItemEntry] = field(default_factory=list)
    """Single items in the order they were last spoken of or acted on, newest last."""
    together: list[ItemEntry] = field(default_factory=list)
    """The items last spoken of as a group."""
    chosen: list[ItemEntry] = field(default_factory=list)
    """Single items the person spoke of since a list was shown, newest last."""
    calls: list[Call] = field(default_factory=list)
    pending: list[Listing] = field(default_factory=list)
    turn: int = 0
    reply: str = ""
    utterances: list[str] = field(default_factory=list)
    results: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Items held."""
        return 1 + sum(len(listing.entries) for listing in self.listings)

    def copy(self) -> "Ledger":
        return Ledger(
            list(self.views),
            list(self.listings),
            list(self.focus),
            list(self.together),
            list(self.chosen),
            list(self.calls),
            list(self.pending),
            self.turn,
            self.reply,
            list(self.utterances),
            list(self.results),
        )

    def read(self, message: BaseMessage) -> None:
        """Take in an assistant or tool message."""
        if isinstance(message, ToolMessage):
            self._read_result(message)
        elif isinstance(message, AIMessage):
            for call in message.tool_calls:
                self.calls.append(Call(call["name"], call["args"], self.turn, call.get("id")))
            said = text_of(message)
            if said.strip():
                self._read_reply(said)

    def hear(self, utterance: str, meant: Sequence[ItemEntry]) -> None:
        """Take in what the person said, with the items it was found to mean."""
        self.settle()
        self.turn += 1
        self.reply = ""
        self.utterances.append(utterance)
        if len(meant) == 1:
            self.point(meant[0])
            self.chosen = [*(entry for entry in self.chosen if entry is not meant[0]), meant[0]]
        elif meant:
            self.together = list(meant)

    def settle(self) -> None:
        """Results that no reply spoke of count as shown whole."""
        for listing in self.pending:
            self._show(listing.entries, [None] * len(listing.entries), "all", (listing,))
        self.pending.clear()

    def point(self, entry: ItemEntry) -> None:
        """Move the focus to one item."""
        self.focus = [other for other in self.focus[-30:] if other is not entry]
        self.focus.append(entry)

    def _read_result(self, message: ToolMessage) -> None:
        tool = message.name or next(
            (call.tool for call in reversed(self.calls) if call.identifier == message.tool_call_id), ""
        )
        if message.status == "error":
            return
        for listing in listings(message, tool):
            self.listings.append(listing)
            if not listing.weak:
                self.pending.append(listing)

    def _show(
        self, entries: Sequence[ItemEntry], labels: Sequence[int | None], kind: str, sources: tuple[Listing, ...]
    ) -> View:
        nouns = frozenset().union(*(source.nouns for source in sources)) if sources else frozenset()
        view = View(
            list(entries),
            list(labels),
            self.turn,
            kind,
            nouns,
            sources[-1].tool if sources else "",
            any(source.collective for source in sources),
            sources,
        )
        self.views.append(view)
        if len(view.entries) == 1:
            self.point(view.entries[0])
        elif view.entries:
            self.together = list(view.entries)
            self.chosen = []
        return view

    def _read_reply(self, said: str) -> None:
        self.reply = said
        lines = read_lines(said)[:MOST_LINES]
        if not lines and self.pending:
            candidates = [entry for listing in self.pending for entry in listing.entries][:MOST_ITEMS]
            labelled = labelled_lines(said)[:MOST_LINES]
            hits = sum(entry is not None for entry in aligned(labelled, candidates)) if len(candidates) > 1 else 0
            lines = labelled if hits * 2 > len(labelled) else []
        if lines and self._show_lines(lines, said):
            self.pending.clear()
            return
        if self.pending:
            self._show_pending(said)
        else:
            self._speak_of_older(said)

    def _show_lines(self, lines: list[Line], said: str) -> bool:
        sources = tuple(self.pending) or tuple(reversed(self.listings[-RECENT:]))
        if self.pending:
            candidates = [entry for listing in sources for entry in listing.entries][:MOST_ITEMS]
        else:
            candidates = sharing(atoms(said), sources)[:MOST_ITEMS]
        if self.pending and len(candidates) == 1 and self._show_details(lines, candidates[0], sources):
            return True
        matched = aligned(lines, candidates)
        hits = sum(entry is not None for entry in matched)
        if hits == 0 and self.pending and len(self.pending[-1].entries) == len(lines):
            matched, hits = list(self.pending[-1].entries), len(lines)
        if hits == 0 and len(lines) < 2:
            return False
        shown = {id(entry) for entry in matched if entry is not None}
        used = tuple(listing for listing in sources if any(id(entry) in shown for entry in listing.entries))
        entries = [
            entry or ItemEntry(line_item(line.number or place, line.text, line.details), position=place - 1)
            for place, (line, entry) in enumerate(zip(lines, matched, strict=True), 1)
        ]
        if hits < len(lines):
            texts = [entry for entry, match in zip(entries, matched, strict=True) if match is None]
            self.listings.append(Listing(texts))
        for listing in self.pending:
            if not any(id(entry) in shown for entry in listing.entries):
                self._show(listing.entries, [None] * len(listing.entries), "all", (listing,))
        self._show(entries, [line.number for line in lines], "list", used).captions = [line.text for line in lines]
        return True

    def _show_details(self, lines: list[Line], entry: ItemEntry, sources: tuple[Listing, ...]) -> bool:
        """The reply spells out one item: its parts or fields, not a list of other things."""
        for parts in entry.parts.values():
            matched = aligned(lines, parts)
            shown = [(part, line.number) for part, line in zip(matched, lines, strict=True) if part is not None]
            if len(shown) * 2 >= len(lines):
                self._show([part for part, _ in shown], [number for _, number in shown], "parts", sources)
                self._show([entry], [None], "prose", sources)
                return True
        covered = sum(len(atoms(line.text) & entry.atoms) * 2 >= len(atoms(line.text)) for line in lines)
        if covered * 2 >= len(lines):
            self._show([entry], [None], "prose", sources)
            return True
        return False

    def _show_pending(self, said: str) -> None:
        shown: list[tuple[int, Listing, list[ItemEntry]]] = []
        for listing in self.pending:
            entries, last = spoken_of(said, listing.entries)
            shown.append((last if entries else -2, listing, entries))
        for _, listing, entries in sorted(shown, key=lambda part: part[0]):
            if entries:
                self._show(entries, [None] * len(entries), "prose", (listing,))
            else:
                self._show(listing.entries, [None] * len(listing.entries), "all", (listing,))
        self.pending.clear()

    def _speak_of_older(self, said: str) -> None:
        """A reply without new results that names known items puts them in focus."""
        recent = [listing for listing in self.listings[-RECENT:] if not listing.weak]
        said_words = atoms(said)
        if not said_words:
            return
        entries = sharing(said_words, list(reversed(recent)))
        mentions = named_in(said, entries)
        seen: set[str] = set()
        fresh: list[ItemEntry] = []
        for mention in mentions:
            name = mention.entry.name_text[0] if mention.entry.name_text else ""
            if name and name not in seen and len(words_of(name)) + len(name) > 3:
                seen.add(name)
                fresh.append(mention.entry)
        if fresh and len(fresh) <= 8:
            sources = tuple(listing for listing in recent if any(entry in listing.entries for entry in fresh))
            self._show(fresh, [None] * len(fresh), "prose", sources[-1:])


def text_of(message: BaseMessage) -> str:
    """The text of a message, whatever its content blocks."""
    if isinstance(message.content, str):
        return message.content
    parts = []
    for block in message.content:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block.get("text"), str):
            parts.append(block["text"])
    return "\n".join(parts)
