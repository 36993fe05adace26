"""Refuses a tool call that would change something by an id that nobody showed: any model then asks, or looks it up."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest

from langmem_plugin.agent.memory_state import Recalled, messages_of, recalled_of
from langmem_plugin.foreign_text import one_line
from langmem_plugin.references.meant.ledger_cache import ledger_of, results_of
from langmem_plugin.references.shown.items import ItemEntry, leaves
from langmem_plugin.references.shown.tool_results import ResultList, reads
from langmem_plugin.references.text.tokens import key_words, normal

_IDS = frozenset(("id", "ids", "uid", "uuid"))
_MOST_SHOWN, _LONGEST = 8, 60
_READ_ONLY, _ANNOTATIONS = "readOnlyHint", "annotations"


def changes(name: str, tool: BaseTool | None = None, changing: Iterable[str] | None = None) -> bool:
    """Tells whether a tool changes something: by the names in `changing`, where they are given, else by its annotation
    `readOnlyHint` (LangChain's `extras` or an MCP server's metadata), else by the verb of its name.
    """
    if changing is not None:
        return name in changing
    for notes in (getattr(tool, "extras", None), getattr(tool, "metadata", None)):
        for told in (notes, notes.get(_ANNOTATIONS)) if isinstance(notes, Mapping) else ():
            if isinstance(told, Mapping) and isinstance(told.get(_READ_ONLY), bool):
                return not told[_READ_ONLY]
    return not reads(name)


class StrictTools:
    """`recalled_texts` gives the texts of what was recalled for the messages of a state."""

    def __init__(self, recalled_texts: Callable[[Recalled, Sequence[BaseMessage]], Sequence[str]]) -> None:
        self._recalled_texts = recalled_texts

    def of(self, request: ToolCallRequest, changing: Iterable[str] | None = None) -> ToolMessage | None:
        """The same as `refusal`, for what wraps a tool call."""
        return self.refusal(request.tool_call, request.tool, request.state, changing)

    def wrap(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """For ToolNode's `wrap_tool_call`."""
        return self.of(request) or handler(request)

    async def awrap(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]) -> Any:
        """For ToolNode's `awrap_tool_call`."""
        refusal = self.of(request)  # a cached ledger and, rarely, a few memories: as quick as the view of a model call
        return refusal or await handler(request)

    def refusal(
        self, call: ToolCall, tool: BaseTool | None, state: Any, changing: Iterable[str] | None = None
    ) -> ToolMessage | None:
        """The error to answer a call with that would change something by an unknown id; None where it may go on.

        An argument is an id by its name, or where items that were shown are identified by a field of that name. It is
        known where a tool's result of this session, the person or a recalled text holds it.
        """
        if not changes(call["name"], tool, changing):
            return None
        messages = state if isinstance(state, Sequence) else messages_of(state)
        for whole in (False, True):
            shown = _shown(results_of(messages) if whole else ledger_of(messages).result_lists)
            unknown = [
                (name, value)
                for name, value in _ids(call["args"], shown)
                if not (_is_shown(name, value, shown, messages) or self._is_told(value, state, messages))
            ]
            if not unknown:
                return None
        content = "; ".join(_worded(name, value, shown) for name, value in unknown)
        return ToolMessage(content, tool_call_id=call["id"], name=call["name"], status="error")

    def _is_told(self, value: str, state: Any, messages: Sequence[BaseMessage]) -> bool:
        said = [message.text for message in messages if isinstance(message, HumanMessage)]
        if _holds(said, value):
            return True
        recalled = [] if isinstance(state, Sequence) else recalled_of(state)
        if any(value == memory_id for memory_id, _ in recalled):
            return True
        return bool(recalled) and _holds(self._recalled_texts(recalled, messages), value)


def _shown(lists: Sequence[ResultList]) -> list[ItemEntry]:
    """Every item that tools have given, newest first, each once."""
    found = {entry.signature: entry for each in reversed(lists) for entry in each.entries if entry.called is None}
    return list(found.values())


def _ids(args: Mapping[str, Any], shown: Sequence[ItemEntry]) -> Iterator[tuple[str, str]]:
    identifying = {key for entry in shown for key, value in entry.item.items() if _is_identity(entry, value)}
    for name, value in args.items():
        if name in identifying or not _IDS.isdisjoint(key_words(name)[-1:]):
            for _, leaf in leaves(value, name):
                if isinstance(leaf, (str, int)) and not isinstance(leaf, bool) and str(leaf).strip():
                    yield name, str(leaf).strip()


def _is_identity(entry: ItemEntry, value: object) -> bool:
    return isinstance(value, (str, int)) and normal(str(value)) in entry.identity


def _is_shown(name: str, value: str, shown: Sequence[ItemEntry], messages: Sequence[BaseMessage]) -> bool:
    wanted = normal(value)
    if any(wanted == normal(str(leaf)) for entry in shown for _, leaf in leaves(entry.item)):
        return True
    if value.isdecimal():  # any text holds some number
        return False
    results = (
        message for message in messages if isinstance(message, ToolMessage) and message.status != "error" and name
    )
    return _holds((message.text for message in results), value)


def _holds(texts: Iterable[str], value: str) -> bool:
    whole = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
    return any(whole.search(text) for text in texts)


def _worded(name: str, value: str, shown: Sequence[ItemEntry]) -> str:
    told = [
        f"{one_line(str(entry.item[key]))[:_LONGEST]} {one_line(entry.proper_name)[:_LONGEST]}".strip()
        for entry in shown
        if (key := _key_for(name, entry)) is not None
    ]
    unknown = f"unknown {name} {one_line(value)[:_LONGEST]}"
    if not told:
        return f"{unknown}; nothing with such an id was shown in this conversation: look it up, or ask which is meant"
    more = f" and {len(told) - _MOST_SHOWN} more" if len(told) > _MOST_SHOWN else ""
    listed = ", ".join(told[:_MOST_SHOWN])
    return f"{unknown}; shown: {listed}{more}. Nothing was done: use one of these, or ask which one is meant"


def _key_for(name: str, entry: ItemEntry) -> str | None:
    """The field of an item that an argument takes: of the same name, or the item's own id where its kind fits."""
    singular = name.removesuffix("s")
    if singular in entry.item:
        return singular
    kind = key_words(name)[:-1]
    if "id" in entry.item and (not kind or set(kind) & entry.kind_words):
        return "id"
    return None
