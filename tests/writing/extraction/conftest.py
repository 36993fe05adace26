"""A memory that extracts when the test says so, by rules of the tests' own, and a model that answers what it is told."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from langmem_plugin import PhoneMemory, Settings, facts, parts
from langmem_plugin.facts import Statement
from langmem_plugin.writing.consent import Consents
from langmem_plugin.writing.extraction_worker import ExtractionWorker
from tests.chat_graph import chat_graph

BY_HAND = Settings(sweep_every=None, search_past_sessions=False)

_STATED = re.compile(r"\b(?:I like|I live in|I own|Me gusta|אני אוהב) [\w ]++")


def stated(text, *, said_at):
    """Whatever begins as one of five phrases; with "maybe" in the text it is half sure."""
    return [Statement(each, each, confidence=0.5 if "maybe" in text else 1.0) for each in _STATED.findall(text)]


@pytest.fixture(autouse=True)
def _rules_of_tests(monkeypatch):
    monkeypatch.setattr(parts, "statements", stated)


@pytest.fixture(autouse=True)
def _everybody_agreed(monkeypatch):
    monkeypatch.setattr(Consents, "allowed", lambda *_, **__: True)


@pytest.fixture
def real_rules(_rules_of_tests, monkeypatch):
    monkeypatch.setattr(parts, "statements", facts.statements)


class Extracting(BaseChatModel):
    """Answers with the facts that `script` returns for the numbered messages it is shown: by its tool, or as text."""

    script: Callable[[str], Any]
    by_tool: bool = True
    asked: list[list[BaseMessage]] = []

    @property
    def _llm_type(self):
        return "extracting"

    def bind_tools(self, tools, **_):
        if not self.by_tool:
            raise NotImplementedError
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        self.asked.append(messages)
        answer = self.script("\n".join(each.text for each in messages[1:]))
        if isinstance(answer, str | AIMessage):
            said = AIMessage(answer) if isinstance(answer, str) else answer
        elif self.by_tool:
            said = AIMessage("", tool_calls=[{"name": "StatedFacts", "args": {"facts": answer}, "id": "1"}])
        else:
            said = AIMessage(f"Here you are:\n```json\n{json.dumps({'facts': answer})}\n```")
        return ChatResult(generations=[ChatGeneration(message=said)])


def fact(text, quote, message=1, confidence=0.95, **more):
    return {"fact": text, "quote": quote, "message": message, "confidence": confidence, **more}


@pytest.fixture
def extracting():
    def make(script, **more):
        return Extracting(script=script if callable(script) else lambda _: script, asked=[], **more)

    return make


@pytest.fixture
def opened(database_url, clock, offline_model, monkeypatch):
    """Opens a memory of the database whose worker takes nothing by itself."""
    memories = []

    def make(settings=BY_HAND, **arguments):
        with monkeypatch.context() as patch:
            patch.setattr(ExtractionWorker, "start", lambda _: None)
            memory = PhoneMemory(database_url, settings=settings, embeddings=offline_model, now=clock, **arguments)
        memory.extraction.worker.closing.set()  # else the first mark would start it
        memories.append(memory)
        return memory

    yield make
    for memory in memories:
        memory.close()


@pytest.fixture
def memory(opened):
    return opened()


@pytest.fixture
def says():
    """Texts a memory's graph, which answers what `answer` returns for the prompt; the text that came back."""

    def say(memory, phone, *texts, answer=lambda _: "ok", **delivery):
        graph = chat_graph(
            memory, lambda state: {"messages": AIMessage(answer(memory.prompt(state, "You are Mom Bot.")))}
        )
        return [memory.reply(graph, phone, text, **delivery) for text in texts][-1]

    return say


def kept(memory, phone, *statuses):
    """The texts of what is remembered."""
    return sorted(each.text for each in memory.service.list_memories(phone, statuses=statuses or ("active",)))
