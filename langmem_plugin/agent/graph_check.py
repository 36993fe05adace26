"""The check that a graph is put together so that its memory works, and the advice what to add if it is not."""

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from langchain_core.runnables import Runnable
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from langmem_plugin.agent.middleware import MemoryMiddleware
from langmem_plugin.agent.replying.sync_async_steps import Graph
from langmem_plugin.agent.tool_node_and_id_check import may_ask
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.errors import ConfigurationError

_TELLS: dict[str, str] = json.loads(files("langmem_plugin.agent").joinpath("graph_advice.json").read_text("utf-8"))
_SENDING = ("langchain.agents.", "langgraph.prebuilt.chat_agent_executor")


def check(graph: Graph, saver: ConversationSaver) -> list[str]:
    """Check a graph: see PhoneMemory.check. Raises ConfigurationError."""
    if (wrong := _wrong(graph, saver)) is not None:
        raise ConfigurationError(wrong)
    saver.allow_state_of(graph)
    ours = _ours(graph)
    recalls = {name for name, which in ours.items() if which == "recall"}
    told = [_TELLS["done_again"].format(node=name, tools=", ".join(each)) for name, each in _done_again(graph).items()]
    inside = (_ours(each) for _, each in graph.get_subgraphs(recurse=True) if isinstance(each, Pregel))
    if not recalls and any("recall" in each.values() for each in inside):
        return told
    if not recalls or "recalled" not in graph.channels:
        return [_TELLS["no_channel" if recalls else "no_recall"], *told]
    following = _following(graph)
    debugs = {name for name, which in ours.items() if which == "debug"}
    if any(ours.get(name) == "write" for name in _reached(following, debugs, stop=set())):
        told.insert(0, _TELLS["early_debug"])
    if _comes_late(graph, following, recalls, ours):
        told.insert(0, _TELLS["late_recall"])
    return told


def _wrong(graph: Graph, saver: ConversationSaver) -> str | None:
    """Return what keeps a graph from remembering anything."""
    if not isinstance(graph, Pregel):
        return _TELLS["no_graph"].format(kind=type(graph).__name__)
    if "messages" not in graph.channels:
        return _TELLS["no_messages"]
    if isinstance(graph.channels["messages"], DeltaChannel):
        return _TELLS["delta_messages"]
    if graph.checkpointer is None or graph.checkpointer is False:
        return _TELLS["no_checkpointer"]
    if graph.checkpointer is not saver:
        return _TELLS["other_checkpointer"].format(kind=type(graph.checkpointer).__name__)
    return None


def own_steps(graph: Graph) -> frozenset[str]:
    """Return the nodes that are the memory's own. A node, middleware or way on that calls one may do more than that."""
    ways = graph.builder.branches if isinstance(graph, CompiledStateGraph) else {}
    functions = {name: getattr(node.bound, "func", None) for name, node in graph.nodes.items()}
    return frozenset(
        name
        for name, each in functions.items()
        if type(getattr(each, "__self__", None)) is MemoryMiddleware
        or (hasattr(each, "langmem_node") and not hasattr(each, "__wrapped__") and name not in ways)
    )


def _ours(graph: Graph) -> dict[str, str]:
    """Return the nodes of the memory, by name: `recall`, `write`, `debug` and so on; middleware has two of them."""
    found = {}
    for name, node in graph.nodes.items():
        for function in _functions(node.bound):
            which = getattr(function, "langmem_node", None)
            if isinstance(getattr(function, "__self__", None), MemoryMiddleware):
                which = "recall" if "before" in function.__name__ else "write"
            if which is not None:
                found[name] = which
    return found


def _functions(bound: Runnable[Any, Any]) -> Iterable[Any]:
    return (each for name in ("func", "afunc") if (each := getattr(bound, name, None)) is not None)


def _done_again(graph: Graph) -> dict[str, list[str]]:
    """Return the tools that ask a person, by the node that runs several calls as one and restarts with the answer."""
    branches = graph.builder.branches.values() if isinstance(graph, CompiledStateGraph) else ()
    called = (function for each in branches for branch in each.values() for function in _functions(branch.path))
    # A path that sends each call as a task of its own, as create_agent does.
    if any(each.__module__.startswith(_SENDING) for each in called):
        return {}
    asking = {
        name: [each.name for each in node.bound.tools_by_name.values() if may_ask(each)]
        for name, node in graph.nodes.items()
        if isinstance(node.bound, ToolNode)
    }
    return {name: tools for name, tools in asking.items() if tools}


def _following(graph: Graph) -> Mapping[str, set[str]]:
    """Return the nodes that come next after each, as far as the graph tells them."""
    following: dict[str, set[str]] = {}
    for edge in graph.get_graph().edges if isinstance(graph, CompiledStateGraph) else ():
        following.setdefault(edge.source, set()).add(edge.target)
    return following


def _comes_late(graph: Graph, following: Mapping[str, set[str]], recalls: set[str], ours: Mapping[str, str]) -> bool:
    """Tell whether every node that comes after a recall node can be reached without passing one."""
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
        new = following.get(ahead.pop(), set()) - found - stop
        found |= new
        ahead |= new
    return found
