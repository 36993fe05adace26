"""The lists that the conversation has shown, how replies numbered and narrowed them, and the item in focus."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langmem_plugin.references.dates_and_numbers import atoms
from langmem_plugin.references.shown.lists_in_text import ListLine, TextList, read_lists
from langmem_plugin.references.shown.lists_in_tool_results import MOST_ITEMS, ResultList, line_item, result_lists
from langmem_plugin.references.shown.shown_items import ItemEntry
from langmem_plugin.references.shown.shown_list import ShownList, aligned, named_in, sharing, spoken_of
from langmem_plugin.references.tokens import words_of

MOST_LINES = 300
"""The number of lines of a reply that are taken for items, the first ones; each is compared with each item."""
RECENT = 60
"""The number of lists that a reply or an utterance can reach back to."""
_LONGEST_ASKED = 300
_MOST_NAMED = 8  # items in a reply that speaks of known ones


@dataclass(frozen=True)
class Call:
    """A tool call the assistant made."""

    tool: str
    arguments: Mapping[str, Any]
    turn: int
    identifier: str | None = None


@dataclass
class Ledger:
    """The state of a conversation after the messages it has read and heard."""

    shown_lists: list[ShownList] = field(default_factory=list)
    result_lists: list[ResultList] = field(default_factory=list)
    focus: list[ItemEntry] = field(default_factory=list)
    """The single items in the order in which they were last spoken of or acted on, newest last."""
    together: list[ItemEntry] = field(default_factory=list)
    """The items last spoken of as a group."""
    chosen: list[ItemEntry] = field(default_factory=list)
    """The single items that the person spoke of since a list was shown, newest last."""
    calls: list[Call] = field(default_factory=list)
    pending: list[ResultList] = field(default_factory=list)
    turn: int = 0
    place: int = -1
    """The place in the conversation of the message that was read or heard last."""
    reply: str = ""
    """The last reply of the assistant."""
    asked: str = ""
    """The last message of the person."""

    def copy(self) -> "Ledger":
        return Ledger(*(copy(getattr(self, each.name)) for each in fields(self)))

    def read(self, message: BaseMessage) -> None:
        """Take in an assistant or tool message."""
        self.place += 1
        if isinstance(message, ToolMessage):
            self._read_result(message)
        elif isinstance(message, AIMessage):
            for call in message.tool_calls:
                self.calls.append(Call(call["name"], call["args"], self.turn, call.get("id")))
            reply = text_of(message)
            if reply.strip():
                self._read_reply(reply)

    def hear(self, said: str, meant: Sequence[ItemEntry]) -> None:
        """Take in that the person said something, which was found to mean these items."""
        self.settle()
        self.place += 1
        self.turn += 1
        self.reply, self.asked = "", said[:_LONGEST_ASKED]
        if len(meant) == 1:
            self.point(meant[0])
            self.chosen = [*(entry for entry in self.chosen if entry is not meant[0]), meant[0]]
        elif meant:
            self.together = list(meant)

    def shown_by(self, place: int | None) -> list[ShownList]:
        """Return the lists that the message at a place showed."""
        return [each for each in self.shown_lists if each.place == place]

    def settle(self) -> None:
        """Count results that no reply spoke of as shown whole."""
        for result_list in self.pending:
            self._show(result_list.entries, "all", (result_list,))
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
        for result_list in result_lists(message, tool):
            self.result_lists.append(result_list)
            if not result_list.weak:
                self.pending.append(result_list)

    def _show(
        self,
        entries: Sequence[ItemEntry],
        kind: str,
        sources: tuple[ResultList, ...],
        labels: Sequence[int | None] | None = None,
    ) -> ShownList:
        listed = ShownList(
            list(entries), list(labels or [None] * len(entries)), self.turn, kind, sources, place=self.place
        )
        listed.asked = self.asked
        self.shown_lists.append(listed)
        if len(listed.entries) == 1:
            self.point(listed.entries[0])
        elif listed.entries:
            self.together = list(listed.entries)
            self.chosen = []
        return listed

    def _read_reply(self, reply: str) -> None:
        self.reply = reply
        lists = read_lists(reply)
        if self.pending:
            candidates = [entry for result_list in self.pending for entry in result_list.entries][:MOST_ITEMS]
            if any(self._show_results(each, lists, candidates) for each in sorted(lists, key=_size, reverse=True)):
                self.pending.clear()
            elif lists:
                self.settle()
                for each in lists:
                    self._show_text(each)
            else:
                self._show_pending(reply)
        elif lists:
            for each in lists:
                self._show_text(each)
        else:
            self._speak_of_older(reply)

    def _show_results(self, text_list: TextList, lists: list[TextList], candidates: list[ItemEntry]) -> bool:
        """Note a list of what tools have just given: which item stands on each line. Return whether any does.

        Other lists of the same reply are noted with it where an item stands on each of their lines.
        """
        lines, sources = text_list.lines[:MOST_LINES], tuple(self.pending)
        if len(candidates) == 1 and self._show_details(lines, candidates[0], sources):
            return True
        matched = aligned(lines, candidates)
        if not any(matched) and len(sources[-1].entries) == len(lines):
            matched = list(sources[-1].entries)
        if not any(matched):
            return False
        shown = {id(entry) for entry in matched if entry is not None}
        found = []
        for other in lists:
            other_lines = other.lines[:MOST_LINES]
            held = aligned(other_lines, [entry for entry in candidates if id(entry) not in shown])
            if other is not text_list and all(held):
                found.append((other, other_lines, held))
                shown |= set(map(id, held))
        for result_list in sources:
            if not any(id(entry) in shown for entry in result_list.entries):
                self._show(result_list.entries, "all", (result_list,))
        for each in (*found, (text_list, lines, matched)):
            self._show_lines(*each, sources)
        return True

    def _show_text(self, text_list: TextList) -> None:
        """Note a list without new results: of items known from before, or of words alone."""
        lines = text_list.lines[:MOST_LINES]
        recent = tuple(reversed(self.result_lists[-RECENT:]))
        known = sharing(atoms("\n".join(line.text for line in lines)), recent)[:MOST_ITEMS]
        matched = aligned(lines, known) if known else [None] * len(lines)
        if sum(entry is not None for entry in matched) * 2 < len(lines):
            matched = [None] * len(lines)
        self._show_lines(text_list, lines, matched, recent)

    def _show_lines(
        self,
        text_list: TextList,
        lines: list[ListLine],
        matched: Sequence[ItemEntry | None],
        sources: tuple[ResultList, ...],
    ) -> None:
        shown = {id(entry) for entry in matched if entry is not None}
        used = tuple(result_list for result_list in sources if any(id(entry) in shown for entry in result_list.entries))
        entries = [
            entry
            or ItemEntry(
                line_item(line.number or place, line.text, line.details), position=place - 1, called=line.called
            )
            for place, (line, entry) in enumerate(zip(lines, matched, strict=True), 1)
        ]
        labels = [line.number for line in lines]
        listed = self._show(entries, "list", used, labels)
        listed.captions = [line.text for line in lines]
        listed.title, listed.label, listed.lettered = text_list.title, text_list.label, text_list.lettered

    def _show_details(self, lines: list[ListLine], entry: ItemEntry, sources: tuple[ResultList, ...]) -> bool:
        """Note a reply that spells out one item: its parts or fields, not other things. Return whether it does."""
        for parts in entry.parts.values():
            matched = aligned(lines, parts)
            shown = [(part, line.number) for part, line in zip(matched, lines, strict=True) if part is not None]
            if len(shown) * 2 >= len(lines):
                self._show([part for part, _ in shown], "parts", sources, [number for _, number in shown])
                self._show([entry], "prose", sources)
                return True
        covered = sum(len(atoms(line.text) & entry.atoms) * 2 >= len(atoms(line.text)) for line in lines)
        if covered * 2 < len(lines):
            return False
        self._show([entry], "prose", sources)
        return True

    def _show_pending(self, reply: str) -> None:
        spoken = [(*spoken_of(reply, result_list.entries), result_list) for result_list in self.pending]
        for entries, _, result_list in sorted(spoken, key=lambda each: each[1] if each[0] else -2):
            self._show(entries or result_list.entries, "prose" if entries else "all", (result_list,))
        self.pending.clear()

    def _speak_of_older(self, reply: str) -> None:
        """Put known items in focus that a reply without new results names."""
        recent = [result_list for result_list in self.result_lists[-RECENT:] if not result_list.weak]
        by_name: dict[str, ItemEntry] = {}
        for mention in named_in(reply, sharing(atoms(reply), list(reversed(recent)))):
            name = next(iter(mention.entry.name_text), "")
            if len(words_of(name)) + len(name) > 3:
                by_name.setdefault(name, mention.entry)
        fresh = list(by_name.values())
        if 0 < len(fresh) <= _MOST_NAMED:
            sources = [each for each in recent if any(entry in each.entries for entry in fresh)]
            self._show(fresh, "prose", tuple(sources[-1:]))


def _size(text_list: TextList) -> tuple[bool, int]:
    return text_list.numbered, len(text_list.lines)


def text_of(message: BaseMessage) -> str:
    """Return the text of a message, whatever its content blocks."""
    if isinstance(message.content, str):
        return message.content
    blocks = (block if isinstance(block, str) else block.get("text") for block in message.content)
    return "\n".join(text for text in blocks if isinstance(text, str))
