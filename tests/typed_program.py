"""A program as people write it, which the type checker reads in `make lint`; running it is the documents' tests' part."""

from typing import assert_type

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langgraph.graph import START, StateGraph

from langmem_plugin import ConversationSaver, Memory, MemoryService, MemoryState, PhoneMemory, Settings, resolve
from langmem_plugin.agent.models import chat_model
from langmem_plugin.agent.replying.sync_async_steps import Reply
from langmem_plugin.memory.memory_types import Found, Remembered
from langmem_plugin.references import Resolution


def texted(memory: PhoneMemory) -> Reply:
    agent = create_agent(chat_model(), [], middleware=[memory.middleware()], checkpointer=memory.saver)
    return assert_type(memory.reply(agent, "+972501234567", "hello", message_id="wamid.1"), Reply)


async def awaited(memory: PhoneMemory) -> Reply:
    graph = (
        StateGraph(MemoryState)
        .add_node("recall", memory.recall_node())
        .add_node("write", memory.write_node())
        .add_edge(START, "recall")
        .compile(checkpointer=memory.saver, store=memory.store)
    )
    async with memory.turn("+972501234567") as config:
        await graph.ainvoke({"messages": []}, config)
    return assert_type(await memory.areply(graph, 4242, "hello", sender_name="Erin"), Reply)


def remembered(service: MemoryService) -> list[Memory]:
    told = assert_type(service.remember("+972501234567", "I like tea"), Remembered)
    found = assert_type(service.search("+972501234567", "tea", mode="hybrid"), list[Found])
    return [told, *(each.memory for each in found)]


def meant(messages: list[BaseMessage]) -> Resolution:
    return assert_type(resolve("save number 2", messages), Resolution)


def opened() -> tuple[PhoneMemory, ConversationSaver]:
    settings = Settings(session_timeout="2h")
    return PhoneMemory("chat.db", settings=settings), ConversationSaver.from_conn_string("chat.db")
