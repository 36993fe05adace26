"""Databases as the stock packages write them: made by real graphs on the real savers."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Annotated, Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

ERIN = "+972501234567"


@contextmanager
def stock_saver(where: str, **options: Any) -> Iterator[Any]:
    if "://" in where:
        with PostgresSaver.from_conn_string(where) as saver:
            saver.setup()
            yield saver
        return
    connection = sqlite3.connect(where, check_same_thread=False)
    try:
        yield SqliteSaver(connection, **options)
    finally:
        connection.close()


def echo(saver: Any) -> Any:
    """Says how many messages it sees, calls a tool where a price is asked for, and asks before it orders."""

    def answer(state: MessagesState) -> Any:
        said, seen = state["messages"][-1].text, len(state["messages"])
        if "price" in said:
            call = {"name": "price_of", "args": {"what": said}, "id": f"call-{seen}"}
            return {"messages": [AIMessage("", tool_calls=[call]), ToolMessage("12", tool_call_id=call["id"])]}
        if "order" in said:
            return {"messages": AIMessage(f"ordered: {interrupt('Shall I order?')}")}
        return {"messages": AIMessage(f"{seen}: {said}")}

    return StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)


def with_subgraph(saver: Any) -> Any:
    def inside(state: MessagesState) -> Any:
        return {"messages": AIMessage(f"inside: {interrupt('inside?')}")}

    inner = StateGraph(MessagesState).add_node(inside).add_edge(START, "inside").compile(checkpointer=True)
    return StateGraph(MessagesState).add_node("inner", inner).add_edge(START, "inner").compile(checkpointer=saver)


def _joined(held: list[Any], writes: Sequence[list[Any]]) -> list[Any]:
    return [*held, *chain.from_iterable(writes)]


class _Items(TypedDict):
    items: Annotated[list[Any], DeltaChannel(_joined)]


def counting(saver: Any) -> Any:
    """Its list is rebuilt from what tasks wrote, step by step."""

    def count(state: _Items) -> Any:
        return {"items": [len(state["items"])]}

    return StateGraph(_Items).add_node(count).add_edge(START, "count").compile(checkpointer=saver)


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def say(graph: Any, name: str, *texts: str) -> None:
    for text in texts:
        graph.invoke({"messages": [HumanMessage(text)]}, thread(name))
