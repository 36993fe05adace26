"""The conversation that the checkpointer benchmarks play: four messages a turn, five items found in each."""

import json
import random
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.channels import DeltaChannel
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from langgraph.prebuilt import ToolNode

PHONE = "+972501234567"


class DeltaState(TypedDict):
    """As deepagents has it: a step stores what it wrote, and every hundredth a whole list."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=100)]


class Chatting:
    """A graph on a checkpointer, and texts to send it; the same ones for every checkpointer."""

    def __init__(self, saver, *, seed=1, state=MessagesState):
        self._random = random.Random(seed)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self._words = ["".join(self._random.choices(letters, k=self._random.randint(3, 9))) for _ in range(2_000)]
        self._calls = 0
        self.graph = (
            StateGraph(state)
            .add_node("agent", self._agent)
            .add_node("tools", ToolNode([self.search]))
            .add_edge(START, "agent")
            .add_conditional_edges("agent", self._next, ["tools", "__end__"])
            .add_edge("tools", "agent")
            .compile(checkpointer=saver)
        )

    def turn(self, phone=PHONE, durability="async"):
        self.graph.invoke(*self._asked(phone), durability=durability)

    async def aturn(self, phone=PHONE, durability="async"):
        await self.graph.ainvoke(*self._asked(phone), durability=durability)

    def said(self):
        return {"messages": [HumanMessage("find me " + self._some(4))]}

    def _asked(self, phone):
        return self.said(), {"configurable": {"thread_id": phone}}

    def search(self, query: str) -> str:
        """Search."""
        return json.dumps([self._item(query) for _ in range(5)])

    def _item(self, _query):
        chosen = self._random
        return {
            "id": f"r{chosen.randint(1, 99_999)}",
            "title": self._some(4),
            "minutes": chosen.randint(5, 90),
            "price": chosen.randint(100, 9_999) / 100,
            "description": self._some(12),
        }

    def _agent(self, state):
        last = state["messages"][-1]
        if isinstance(last, ToolMessage):
            return {"messages": [AIMessage("Here is what I found: " + self._some(25))]}
        self._calls += 1
        call = {"name": "search", "args": {"query": last.text}, "id": f"call_{self._calls}"}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    def _next(self, state):
        return "tools" if state["messages"][-1].tool_calls else "__end__"

    def _some(self, count):
        return " ".join(self._random.choices(self._words, k=count))
