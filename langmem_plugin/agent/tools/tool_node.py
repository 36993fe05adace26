"""Runs the tools that a model calls, each call as a task of its own: what is done is done, though others wait.

LangGraph runs a node again from its beginning when a person has answered, or a process was killed, and keeps the
results of the tasks in it. A ToolNode is one node for all calls.
"""

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from langgraph.func import task
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

from langmem_plugin.agent.memory_state import messages_of
from langmem_plugin.cached_property import cached_property
from langmem_plugin.errors import InvalidInput


def tool_node(tools: Sequence[BaseTool | Callable[..., Any]], **options: Any) -> Runnable[Any, Any]:
    """`options` are ToolNode's, which runs each call."""
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
        """None: LangChain's keep the function in a cache of the process, and with it a memory that nobody closed."""
        return []


def may_ask(tool: BaseTool) -> bool:
    """Tells whether a tool's code, or a function that it calls by its name, stops the run to ask a person."""
    functions = (getattr(tool, name, None) for name in ("func", "coroutine", "_run", "_arun"))
    return any(_interrupts(each, set()) for each in functions if each is not None)


def _of(call: Mapping[str, Any], state: Any) -> dict[str, Any]:
    """The input of one call of several, as create_agent sends it."""
    return {"__type": "tool_call_with_context", "tool_call": call, "state": state}


def _calls(state: Any) -> Sequence[Mapping[str, Any]]:
    newest = next((each for each in reversed(messages_of(state)) if isinstance(each, AIMessage)), None)
    if newest is None:
        raise InvalidInput("no message of the model calls a tool: lead the agent to this node by tools_condition")
    return newest.tool_calls


def _together(results: Sequence[Any]) -> Any:
    """One update where no tool gave a Command, else a list, as LangGraph takes them."""
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
