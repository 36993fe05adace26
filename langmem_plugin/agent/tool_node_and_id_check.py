"""The node that runs the tools a model calls, each call as a task of its own; and the refusal of an id that nobody
showed.

LangGraph runs a node again from its beginning when a person has answered, or a process was killed, and keeps the
results of the tasks in it. A ToolNode is one node for all calls.
"""

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from langgraph.func import task
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, interrupt

from langmem_plugin.agent.graph_state import Recalled, messages_of, recalled_of
from langmem_plugin.cached_property import cached_property
from langmem_plugin.errors import InvalidInput
from langmem_plugin.references.meant.conversation_ledger import ledger_of, results_of
from langmem_plugin.references.shown.lists_in_tool_results import ResultList, reads
from langmem_plugin.references.shown.shown_items import ItemEntry, is_code, leaves
from langmem_plugin.references.tokens import key_words, normal
from langmem_plugin.text_sanitizing import one_line

_IDS = frozenset(("id", "ids", "uid", "uuid"))
_MOST_SHOWN, _LONGEST = 8, 60


def tool_node(tools: Sequence[BaseTool | Callable[..., Any]], **options: Any) -> Runnable[Any, Any]:
    """Make the node for these tools; `options` are those of ToolNode, which runs each call."""
    node = ToolNode(tools, **options)

    @task
    def tool(call: Mapping[str, Any], state: Any) -> Any:
        return node.invoke(_of(call, state))

    @task
    async def atool(call: Mapping[str, Any], state: Any) -> Any:
        return await node.ainvoke(_of(call, state))

    def every(state: Any) -> Any:
        running = [tool(call, state) for call in _calls(state)]
        return _together([each.result() for each in running])

    async def aevery(state: Any) -> Any:
        return _together(await asyncio.gather(*(atool(call, state) for call in _calls(state))))

    every.langmem_node = aevery.langmem_node = "tools"  # type: ignore[attr-defined]
    return _Node(every, aevery, name="tools")


class _Node(RunnableLambda[Any, Any]):
    @cached_property
    def deps(self) -> list[Runnable[Any, Any]]:
        """Return none: LangChain's own would keep the function, and a memory that nobody closed, in a cache."""
        return []


def may_ask(tool: BaseTool) -> bool:
    """Tell whether a tool's code, or a function that it calls by its name, stops the run to ask a person."""
    functions = (getattr(tool, name, None) for name in ("func", "coroutine", "_run", "_arun"))
    return any(_interrupts(each, set()) for each in functions if each is not None)


def _of(call: Mapping[str, Any], state: Any) -> dict[str, Any]:
    """Return the input of one call of several, as create_agent sends it."""
    return {"__type": "tool_call_with_context", "tool_call": call, "state": state}


def _calls(state: Any) -> Sequence[Mapping[str, Any]]:
    newest = next((each for each in reversed(messages_of(state)) if isinstance(each, AIMessage)), None)
    if newest is None:
        raise InvalidInput("no message of the model calls a tool: lead the agent to this node by tools_condition")
    return newest.tool_calls


def _together(results: Sequence[Any]) -> Any:
    """Return one update if no tool gave a Command, else a list, as LangGraph takes them."""
    parts = [part for result in results for part in (result if isinstance(result, list) else [result])]
    if any(isinstance(each, Command) for each in parts):
        return parts
    updates: dict[str, list[Any]] = {}
    for part in parts:
        for channel, messages in part.items():
            updates.setdefault(channel, []).extend(messages)
    return updates


def _interrupts(function: Any, seen: set[Any]) -> bool:
    function = inspect.unwrap(getattr(function, "__func__", function))
    if not isinstance(function, FunctionType) or function in seen:
        return False
    seen.add(function)
    known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    named = [known.get(each, each) for each in _names(function.__code__)]
    return any(each is interrupt or each == "interrupt" or _interrupts(each, seen) for each in named)


def _names(code: CodeType) -> Iterator[str]:
    yield from (*code.co_names, *code.co_freevars)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _names(const)


def changes(name: str, tool: BaseTool | None = None, changing: Iterable[str] | None = None) -> bool:
    """Tell whether a tool changes something: by the names in `changing`, where they are given, else by its annotation
    `readOnlyHint` (LangChain's `extras` or an MCP server's metadata), else by the verb of its name.
    """
    if changing is not None:
        return name in changing
    for notes in (getattr(tool, "extras", None), getattr(tool, "metadata", None)):
        for told in (notes, notes.get("annotations")) if isinstance(notes, Mapping) else ():
            if isinstance(told, Mapping) and isinstance(told.get("readOnlyHint"), bool):
                return not told["readOnlyHint"]
    return not reads(name)


class StrictTools:
    """The refusal of ids that nobody showed. `recalled_texts` gives what was recalled for a state's messages."""

    def __init__(self, recalled_texts: Callable[[Recalled, Sequence[BaseMessage]], Sequence[str]]) -> None:
        self._recalled_texts = recalled_texts

    def of(self, request: ToolCallRequest, changing: Iterable[str] | None = None) -> ToolMessage | None:
        """Return the error of `refusal` for a wrapped tool call; None where it may go on."""
        return self.refusal(request.tool_call, request.tool, request.state, changing)

    def wrap(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Wrap a tool call: the argument for ToolNode's `wrap_tool_call`."""
        return self.of(request) or handler(request)

    async def awrap(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]) -> Any:
        """Wrap a tool call: the argument for ToolNode's `awrap_tool_call`."""
        refusal = self.of(request)  # reads a cached ledger and, rarely, a few memories: as quick as a model call's view
        return refusal or await handler(request)

    def refusal(
        self, call: ToolCall, tool: BaseTool | None, state: Any, changing: Iterable[str] | None = None
    ) -> ToolMessage | None:
        """Return the error that answers a call which would change something by an unknown id; None where it may go on.

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
    """Return every item that tools have given, newest first, each once."""
    found = {entry.signature: entry for each in reversed(lists) for entry in each.entries if entry.called is None}
    return list(found.values())


def _ids(args: Mapping[str, Any], shown: Sequence[ItemEntry]) -> Iterator[tuple[str, str]]:
    identifying = {key for entry in shown for key, value in entry.item.items() if _is_identity(entry, key, value)}
    for name, value in args.items():
        if name in identifying or not _IDS.isdisjoint(key_words(name)[-1:]):
            for _, leaf in leaves(value, name):
                if isinstance(leaf, (str, int)) and not isinstance(leaf, bool) and str(leaf).strip():
                    yield name, str(leaf).strip()


def _is_identity(entry: ItemEntry, key: str, value: object) -> bool:
    """Tell whether a value is an id by the name of its field, or is a code in the item's first field: "L-77120"."""
    if not isinstance(value, (str, int)):
        return False
    return normal(str(value)) in entry.identity or (key == next(iter(entry.item)) and is_code(str(value)))


def _is_shown(name: str, value: str, shown: Sequence[ItemEntry], messages: Sequence[BaseMessage]) -> bool:
    wanted = normal(value)
    if any(wanted == normal(str(leaf)) for entry in shown for _, leaf in leaves(entry.item)):
        return True
    if value.isdecimal():  # a number may stand in any text by chance
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
        f"{one_line(str(entry.item[key]))[:_LONGEST]} {one_line(_named(entry, key))[:_LONGEST]}".strip()
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
    """Return the field of an item that an argument takes: of the same name, or the item's own id if its kind fits."""
    singular = name.removesuffix("s")
    for same in (singular, singular.removesuffix("_id")):
        if same in entry.item:
            return same
    *kind, last = key_words(name) or ("",)
    fits = set(kind) & entry.kind_words if kind else last in _IDS
    return next((key for key, value in entry.item.items() if fits and _is_identity(entry, key, value)), None)


def _named(entry: ItemEntry, key: str) -> str:
    """Return the item's name, else its first text beside the field that identifies it."""
    texts = (value for name, value in entry.item.items() if name != key and isinstance(value, str))
    return entry.proper_name or next((text for text in texts if any(map(str.isalpha, text))), "")
