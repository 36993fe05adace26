"""Checks that a graph is put together so that its memory works, and says what to add if it is not."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain.agents.middleware import AgentMiddleware, PIIMiddleware, SummarizationMiddleware
from langchain_core.runnables import Runnable
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from langmem_plugin.agent.middleware import MemoryMiddleware
from langmem_plugin.agent.replying.steps import Graph
from langmem_plugin.agent.tool_node import may_ask
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.logs import event_log

log = event_log(__name__)

_NO_RECALL = (
    'nothing is recalled: add_node("recall", memory.recall_node()) before the agent, or '
    "create_agent(…, middleware=[memory.middleware()])"
)
_LATE_RECALL = (
    "the recall node comes after the agent, which answers without it: lead START to it, and from it to the agent"
)
_EARLY_DEBUG = "the debug node stands before the write node, and cannot report what that does: put it last"
_NO_CHANNEL = (
    "the state has no channel `recalled`, so what is recalled gets lost: use MemoryState, or add the key to yours"
)
_SUMMARIES = (
    "SummarizationMiddleware takes messages out of the conversation, also those that no fact was found in yet:"
    " PhoneMemory(summarise=model) puts what falls out of the window in a few sentences and keeps them"
)
_REDACTS_LATE = (
    "PIIMiddleware redacts a message after it was stored and after the orders in it were noticed: redact the text"
    " before memory.reply where neither may hold it"
)
_AGAIN = (
    "the node {node!r} does its tools again when a person has answered {tools}, which asks them: make it by"
    " memory.tool_node(tools)"
)
_BESIDE = {SummarizationMiddleware: _SUMMARIES, PIIMiddleware: _REDACTS_LATE}


_SENDING = ("langchain.agents.", "langgraph.prebuilt.chat_agent_executor")


def check(graph: Graph, saver: ConversationSaver) -> list[str]:
    """See PhoneMemory.check. Raises ConfigurationError."""
    if not isinstance(graph, Pregel):
        raise ConfigurationError(f"a {type(graph).__name__} is no compiled graph: call compile(…) on it first")
    if "messages" not in graph.channels:
        raise ConfigurationError("the graph's state has no `messages`: use MemoryState, or add them to yours")
    if isinstance(graph.channels["messages"], DeltaChannel):
        raise ConfigurationError(
            "the graph keeps its messages in a DeltaChannel, whose contents nobody else can read:"
            " create_deep_agent(…, state_schema=MemoryState), or add_messages as their reducer"
        )
    if graph.checkpointer is None or graph.checkpointer is False:
        raise ConfigurationError(
            "the graph has no checkpointer, so it forgets every message: compile(checkpointer=memory.saver)"
        )
    if graph.checkpointer is not saver:
        raise ConfigurationError(
            f"the graph's checkpointer, of type {type(graph.checkpointer).__name__}, is not that of this memory: "
            "compile(checkpointer=memory.saver)"
        )
    saver.allow_state_of(graph)
    ours = _ours(graph)
    recalls = {name for name, which in ours.items() if which == "recall"}
    again = [_AGAIN.format(node=name, tools=", ".join(tools)) for name, tools in _done_again(graph).items()]
    if not recalls:
        return [_NO_RECALL, *again]
    if "recalled" not in graph.channels:
        return [_NO_CHANNEL, *again]
    beside = set(map(type, _middleware(graph)))
    following = _following(graph)
    late = [_LATE_RECALL] if _comes_late(graph, following, recalls, ours) else []
    debugs = {name for name, which in ours.items() if which == "debug"}
    if any(ours.get(name) == "write" for name in _reached(following, debugs, stop=set())):
        late.append(_EARLY_DEBUG)
    return late + again + [told for which, told in _BESIDE.items() if which in beside]


def _ours(graph: Graph) -> dict[str, str]:
    """Which nodes are the memory's, by name: `recall`, `write`, `debug` and so on; middleware has two of them."""
    found = {}
    for name, node in graph.nodes.items():
        for function in _functions(node.bound):
            which = getattr(function, "langmem_node", None)
            if isinstance(getattr(function, "__self__", None), MemoryMiddleware):
                which = "recall" if "before" in function.__name__ else "write"
            if which is not None:
                found[name] = which
    return found


def _middleware(graph: Graph) -> Iterator[AgentMiddleware[Any, Any, Any]]:
    for node in graph.nodes.values():
        for function in _functions(node.bound):
            whose = getattr(function, "__self__", None)
            if isinstance(whose, AgentMiddleware):
                yield whose


def _functions(bound: Runnable[Any, Any]) -> Iterable[Any]:
    return (each for name in ("func", "afunc") if (each := getattr(bound, name, None)) is not None)


def _done_again(graph: Graph) -> dict[str, list[str]]:
    """The tools that ask a person, by the node that runs several calls as one and begins anew with the answer."""
    branches = graph.builder.branches.values() if isinstance(graph, CompiledStateGraph) else ()
    if any(_sends_each_call(branch.path) for each in branches for branch in each.values()):
        return {}
    asking = {
        name: [each.name for each in node.bound.tools_by_name.values() if may_ask(each)]
        for name, node in graph.nodes.items()
        if isinstance(node.bound, ToolNode)
    }
    return {name: tools for name, tools in asking.items() if tools}


def _sends_each_call(path: Runnable[Any, Any]) -> bool:
    """Tells whether a path sends each call as a task of its own, as create_agent does."""
    return any(each.__module__.startswith(_SENDING) for each in _functions(path))


def _following(graph: Graph) -> Mapping[str, set[str]]:
    """The nodes that come next after each, as far as the graph tells them."""
    following: dict[str, set[str]] = {}
    for edge in graph.get_graph().edges if isinstance(graph, CompiledStateGraph) else ():
        following.setdefault(edge.source, set()).add(edge.target)
    return following


def _comes_late(graph: Graph, following: Mapping[str, set[str]], recalls: set[str], ours: Mapping[str, str]) -> bool:
    """Tells whether every node that comes after a recall node can be reached without passing one."""
    if not following:
        return False
    working = {
        name for name, node in graph.nodes.items() if name not in ours and not isinstance(node.bound, ToolNode)
    } - {START, END}
    before = _reached(following, {START}, stop=recalls)
    after = _reached(following, recalls, stop=set())
    return bool(before & working) and not (after & working) - before


def _reached(following: Mapping[str, set[str]], begin: set[str], *, stop: set[str]) -> set[str]:
    found: set[str] = set()
    ahead = set(begin)
    while ahead:
        name = ahead.pop()
        new = following.get(name, set()) - found - stop
        found |= new
        ahead |= new
    return found
