"""Both household assistants over one memory, texted to as a channel would."""

import asyncio
import shutil

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from graphs import family_agent, family_assistant
from graphs.household import Household
from langmem_plugin import PhoneMemory
from langmem_plugin.offline.chat_model import OfflineChatModel

ERIN, JASON = "+12025550123", "+12025550145"


class Texting:
    """Sends messages to a graph, by `invoke` or `ainvoke`, and tells what came of the last one."""

    def __init__(self, memory, graph, way="invoke"):
        self.memory = memory
        self.graph = graph
        self.way = way
        self.calls = []

    def __call__(self, phone, text):
        messages = self._invoke(phone, text) if self.way == "invoke" else asyncio.run(self._ainvoke(phone, text))
        asked = max(place for place, message in enumerate(messages) if isinstance(message, HumanMessage))
        answers = [message for message in messages[asked:] if isinstance(message, AIMessage)]
        self.calls = [(call["name"], call["args"]) for message in answers for call in message.tool_calls]
        return messages[-1].text

    def _invoke(self, phone, text):
        with self.memory.turn(phone) as config:
            return self.graph.invoke({"messages": text}, config)["messages"]

    async def _ainvoke(self, phone, text):
        async with self.memory.turn(phone) as config:
            return (await self.graph.ainvoke({"messages": text}, config))["messages"]


@pytest.fixture
def household(tmp_path, clock):
    return Household(tmp_path / "household.db", shop="", now=clock)


@pytest.fixture
def memory(migrated_file, tmp_path, clock, offline_model):
    shutil.copy(migrated_file, tmp_path / "langmem.db")
    with PhoneMemory(f"sqlite:///{tmp_path}/langmem.db", embeddings=offline_model, now=clock) as memory:
        yield memory


@pytest.fixture
def model(offline_model):
    return OfflineChatModel(embeddings=offline_model)


@pytest.fixture(params=["assistant", "agent"])
def graph(request, memory, model, household):
    build = {"assistant": family_assistant.build, "agent": family_agent.build}[request.param]
    return build(memory, model, household)


@pytest.fixture(params=["invoke", "ainvoke"])
def text(request, memory, graph):
    return Texting(memory, graph, request.param)
