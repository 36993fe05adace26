"""LangChain's langmem keeps its memories in our store: the real package, on each engine."""

import warnings

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode

from langmem_plugin import MemoryState, PhoneMemory

with warnings.catch_warnings():  # it imports from where LangGraph has moved things
    warnings.simplefilter("ignore", DeprecationWarning)
    from langmem import create_manage_memory_tool, create_search_memory_tool

ERIN, JASON = "+972501234567", "+972507654321"


@pytest.mark.spec("U-1")
def test_its_tools_manage_and_search_what_we_remember(database_url, offline_model):
    place = ("memories", "{langgraph_user_id}")
    tools = [create_manage_memory_tool(namespace=place), create_search_memory_tool(namespace=place)]
    with PhoneMemory(database_url, embeddings=offline_model) as memory:
        graph = StateGraph(MemoryState).add_node("tools", ToolNode(tools)).add_edge(START, "tools")
        graph = graph.compile(checkpointer=memory.saver, store=memory.store)

        def use(who, name, **arguments):
            call = AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": "1"}])
            config = {"configurable": {"thread_id": who, "langgraph_user_id": who}}
            return graph.invoke({"messages": [call]}, config)["messages"][-1].text

        use(ERIN, "manage_memory", content="Erin is allergic to peanuts", action="create")
        [made] = memory.service.search(ERIN, "allergic to peanuts")
        assert "peanuts" in use(ERIN, "search_memory", query="which allergies?")
        assert "peanuts" not in use(JASON, "search_memory", query="which allergies?")
        key = memory.store.search(("memories", ERIN))[0].key
        use(ERIN, "manage_memory", content="Erin is allergic to walnuts", action="update", id=key)
        assert "walnuts" in memory.service.get(ERIN, [made.memory.id])[0].text
        use(ERIN, "manage_memory", action="delete", id=key)
        assert memory.service.search(ERIN, "allergic") == []
