"""A graph that goes on for ever is stopped, and the person is told so."""

import asyncio

import pytest
from langchain_core.messages import AIMessage

from langmem_plugin import PhoneMemory
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from tests.cases import for_each
from tests.chat_graph import chat_graph

ERIN = "+972501234567"


@pytest.mark.spec("C-21", "M-14")
@for_each("limit", [None, 10])
def test_a_model_that_calls_tools_for_ever_is_stopped(database_url, offline_model, limit):
    def look() -> str:
        """Look."""
        looked.append(1)
        return "nothing"

    def agent(state):
        if state["messages"][-1].text == "hello":
            return {"messages": AIMessage("hello")}
        return {"messages": AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": str(len(looked))}])}

    looked = []
    with PhoneMemory(database_url, embeddings=offline_model) as memory:
        graph = chat_graph(memory, agent, [look])
        if limit is not None:
            graph = graph.with_config(recursion_limit=limit)

        assert memory.reply(graph, ERIN, "look for it", message_id="m1") == ENGLISH.too_many_steps
        assert len(looked) in range((limit or 50) // 2 - 2, (limit or 50) // 2 + 1)
        many = len(looked)
        assert memory.reply(graph, ERIN, "look for it", message_id="m1") == ENGLISH.too_many_steps
        assert asyncio.run(memory.areply(graph, ERIN, "hello")) == "hello"
        assert len(looked) == many
