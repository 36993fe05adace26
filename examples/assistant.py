"""The assistant of the examples, the graph of the README's quickstart, and what their channels share."""

import asyncio
import logging
import os
from contextlib import asynccontextmanager
from datetime import timedelta

import httpx
from fastapi import HTTPException, Response
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import tools_condition
from starlette.background import BackgroundTask

from langmem_plugin import MemoryState, PhoneMemory
from langmem_plugin.agent.models import chat_model
from langmem_plugin.channels import TryLater, payload_of
from langmem_plugin.channels.webhook import GONE, Webhook

ACKNOWLEDGED_AFTER = timedelta(seconds=float(os.environ.get("ACKNOWLEDGED_AFTER", "8")))
logging.getLogger("httpx").setLevel(logging.WARNING)  # at INFO it logs every address, and Telegram's hold the token


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
async def serving(provider, **client):
    """What lives as long as the application: the memory and an HTTP client, behind `request.state.webhook`."""
    memory, graph = await asyncio.to_thread(open_assistant)
    async with memory, httpx.AsyncClient(timeout=20, **client) as http:
        webhook = Webhook(memory=memory, graph=graph, provider=provider(http), acknowledged_after=ACKNOWLEDGED_AFTER)
        await webhook.start()
        yield {"webhook": webhook}
        await webhook.close()


async def answered(asked, read, body):
    """The response to a webhook, once its messages are answered; 503 asks the provider to deliver them again."""
    try:
        pending = await asked.state.webhook.receive(read(payload_of(body)))
    except ValueError:
        raise HTTPException(400) from None
    except TryLater:
        raise HTTPException(503) from None
    return Response(background=pending and BackgroundTask(pending))


async def posted(http, url, said, **how):
    """The status and the body that a provider answers with."""
    try:
        response = await http.post(url, **(how or {"json": said}))
        return response.status_code, response.json()
    except httpx.HTTPError as error:
        raise TryLater(str(error)) from error
    except ValueError:
        return response.status_code, None


async def file_of(http, url, read=lambda file: file.content, **how):
    """What `read` finds in the answer; None where it is gone for good, and where the answer does not hold it."""
    try:
        response = await http.get(url, **how)
    except httpx.HTTPError as error:
        raise TryLater(str(error)) from error
    if response.status_code in GONE:
        return None
    if response.is_error:
        raise TryLater(f"the file is refused with status {response.status_code}")
    try:
        return read(response)
    except (ValueError, LookupError, TypeError):
        return None
