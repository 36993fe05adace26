"""Run by test_traces in a process of its own, because tracing is switched on by its environment and kept for good.

Two turns each of a graph with nodes and of a `create_agent` with the middleware, all models of ours asked; the spans
that OpenTelemetry was given, and what all loggers wrote, are printed as JSON.
"""

import json
import logging
import sys

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from langsmith.run_trees import get_cached_client
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from langmem_plugin import MemoryState, PhoneMemory, Settings
from langmem_plugin.writing.consent import Consents
from tests.agent.conftest import Scripted
from tests.memory.test_bad_text import Letters

ERIN, JASON = "+972501234567", "+972507654321"


@tool
def find_boats() -> str:
    """Finds boats."""
    return json.dumps([{"id": "b1", "title": "Blue boat"}, {"id": "b2", "title": "Red boat"}])


def answer(messages):
    if isinstance(messages[-1], ToolMessage) or "boats" not in messages[-1].text:
        return AIMessage("1. Blue boat\n2. Red boat")
    return AIMessage("", tool_calls=[{"name": "find_boats", "args": {}, "id": "1"}])


def nodes(memory, model):
    return (
        StateGraph(MemoryState)
        .add_node("recall", memory.recall_node(), trace_policy=memory.trace_policy)
        .add_node("agent", lambda state: {"messages": model.invoke(memory.prompt(state, "You are Mom Bot."))})
        .add_node("write", memory.write_node(), trace_policy=memory.trace_policy)
        .add_edge(START, "recall")
        .add_edge("recall", "agent")
        .add_edge("agent", "write")
        .compile(checkpointer=memory.saver)
    )


class Written(logging.Handler):
    """All that any logger says at any level, with the fields of the record and the error behind it."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        error = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
        self.lines.append([record.name, f"{record.getMessage()} {vars(record)} {error}"])


def main(folder):
    written = Written()
    logging.basicConfig(level=logging.DEBUG, handlers=[written])
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    Consents.allowed = lambda *_, **__: True
    model = Scripted(script=answer, seen=[])
    ours = Scripted(script=lambda _: AIMessage("OURS-ANSWERED"), seen=[])
    kept = Settings(window_turns=1, min_similarity=0.0, sweep_every=None, search_past_sessions=False)
    with PhoneMemory(
        f"sqlite:///{folder}/traced.db",
        settings=kept,
        embeddings=Letters(),
        summarise=ours,
        extraction_model=ours,
    ) as memory:
        agent = create_agent(
            model, [find_boats], system_prompt="You are Mom Bot.", middleware=[memory.middleware()],
            checkpointer=memory.saver,
        )  # fmt: skip
        for phone, graph in ((ERIN, nodes(memory, model)), (JASON, agent)):
            memory.service.remember(phone, "The alarm code is KEPT-SECRET")
            for text in ("SAID-SECRET, I live in Haifa", "find boats", "the one I mean", "I own a boat, SAID-SECRET"):
                memory.reply(graph, phone, text)
            memory.extract(phone)
        memory.reply(nodes(memory, model), ERIN, "SAID-SECRET", automated=True)
    get_cached_client().flush(timeout=20)
    provider.force_flush()
    found = [
        [each.name, f"{dict(each.attributes)} {[event.attributes for event in each.events]}"]
        for each in spans.get_finished_spans()
    ]
    json.dump({"spans": found, "logs": written.lines, "asked": len(ours.seen), "model": len(model.seen)}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
