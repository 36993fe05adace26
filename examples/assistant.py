"""The assistant of the examples, the graph of the README's quickstart, and what their channels share."""

import asyncio
import hmac
import json
import logging
import os
import textwrap
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx
from fastapi import HTTPException, Request
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import tools_condition

from langmem_plugin import MemoryState, PhoneMemory
from langmem_plugin.agent.models import chat_model

log = logging.getLogger(__name__)

NOT_OPENED = "(a message without text)"
"""What the history holds of a voice message and the like: words that point at nothing that was shown."""
CANNOT_OPEN = "I cannot open that kind of message. Please write to me what it says."

_REFUSED = (400, 403, 404)  # not allowed, blocked by the person, no such chat: the same tomorrow


def setting(name: str) -> str:
    """From the environment; not empty, because everybody knows how to sign with an empty secret."""
    if not (value := os.environ.get(name)):
        raise SystemExit(f"Set {name}: examples/README.md says what it is.")
    return value


def find_flights(city: str) -> list[dict]:
    """Find flights to a city."""
    return [{"flight": "LY 315", "city": city, "price": 280}, {"flight": "BA 164", "city": city, "price": 240}]


def open_assistant():
    """The memory at $LANGMEM_DATABASE and the graph over it. It loads models, so it is called in a thread."""
    model = chat_model().bind_tools([find_flights])  # $LANGMEM_MODEL; offline, to try it, if unset
    memory = PhoneMemory()

    async def agent(state):  # a model that takes its time holds no thread meanwhile
        if state["messages"][-1].text == NOT_OPENED:
            return {"messages": AIMessage(CANNOT_OPEN)}
        return {"messages": await model.ainvoke(memory.prompt(state, "You are a travel assistant."))}

    graph = (
        StateGraph(MemoryState)
        .add_node("recall", memory.recall_node(), trace_policy=memory.trace_policy)
        .add_node("write", memory.write_node(), trace_policy=memory.trace_policy)
        .add_node("agent", agent)
        .add_node("tools", memory.tool_node([find_flights]))
        .add_edge(START, "recall")
        .add_edge("recall", "agent")
        .add_conditional_edges("agent", tools_condition, {"tools": "tools", "__end__": "write"})
        .add_edge("tools", "agent")
        .compile(checkpointer=memory.saver)
    )
    return memory, graph


@asynccontextmanager
async def serving(**client):
    """What lives as long as the application: the memory, the graph and an HTTP client, as `request.state`."""
    memory, graph = await asyncio.to_thread(open_assistant)
    async with memory, httpx.AsyncClient(timeout=20, **client) as api:
        yield {"memory": memory, "graph": graph, "api": api}


def check_secret(given: str, expected: str) -> None:
    """403 for a wrong one; how long it takes tells nothing of the right one."""
    if not hmac.compare_digest(given.encode(), expected.encode()):
        raise HTTPException(403)


async def json_of(request: Request):
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        raise HTTPException(400) from None


def instant(seconds: str | int) -> datetime:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        raise HTTPException(400) from None


def parts(text: str, longest: int) -> list[str]:
    """The text, cut between words into pieces that a channel takes."""
    whole = {"replace_whitespace": False, "drop_whitespace": False, "expand_tabs": False, "break_on_hyphens": False}
    return [part for part in textwrap.wrap(text, longest, **whole) if part.strip()]


def check_sent(response: httpx.Response) -> None:
    """Raises where sending may work later. What the channel will never take is logged, and not tried again."""
    if response.status_code in _REFUSED:
        log.error("the channel refused a reply with status %s: %s", response.status_code, response.text[:500])
    else:
        response.raise_for_status()
