"""A PhoneMemory on each engine, and a model that says what it was told to."""

from collections.abc import Callable

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from langmem_plugin import PhoneMemory
from tests.chat_graph import chat_graph
from tests.stated import stated


class Scripted(BaseChatModel):
    """Answers with what `script` returns for the messages it is given, and keeps those messages."""

    script: Callable[[list[BaseMessage]], AIMessage]
    seen: list[list[BaseMessage]] = []

    @property
    def _llm_type(self):
        return "scripted"

    def _generate(self, messages, stop=None, run_manager=None, **_):
        self.seen.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.script(messages))])

    def bind_tools(self, tools, **_):
        return self

    @property
    def system(self):
        """The system text of the last call."""
        first = self.seen[-1][0]
        return first.text if first.type == "system" else ""

    @property
    def stated(self):
        """All that the last call was told beside the conversation."""
        return stated(self.seen[-1])


@pytest.fixture
def scripted():
    def make(script=lambda messages: AIMessage(f"heard {len(messages)}")):
        return Scripted(script=script, seen=[])

    return make


@pytest.fixture
def breaking(offline_model):
    """The offline model, which cannot be reached for questions while it is `failing`."""

    class Breaking(type(offline_model)):
        failing = False

        def embed_query(self, text):
            if self.failing:
                raise ConnectionError("down")
            return super().embed_query(text)

    model = Breaking.__new__(Breaking)
    vars(model).update(vars(offline_model))  # loaded already
    return model


@pytest.fixture
def memory(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as opened:
        yield opened


@pytest.fixture
def graph_of(memory):
    def build(model, tools=()):
        def agent(state):
            return {"messages": model.invoke(memory.prompt(state, "You are Mom Bot."))}

        return chat_graph(memory, agent, tools)

    return build
