"""How langmem_plugin/conversation/storage/primer.bin was made: what nearly every stored payload repeats.

Stored payloads can only be read with the very primer they were written with, so the file never changes; a better
one would be a second file under a new leading byte. `python -m benchmarks.primer FILE` writes one.
"""

import sqlite3
import sys
import tempfile
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langmem_plugin import ConversationSaver, MemoryState
from langmem_plugin.conversation.storage import codec

USAGE = {
    "input_tokens": 812,
    "output_tokens": 21,
    "total_tokens": 833,
    "input_token_details": {"audio": 0, "cache_read": 0},
    "output_token_details": {"audio": 0, "reasoning": 0},
}
RESPONSE = {
    "token_usage": {
        "completion_tokens": 21,
        "prompt_tokens": 812,
        "total_tokens": 833,
        "completion_tokens_details": {
            "accepted_prediction_tokens": 0,
            "audio_tokens": 0,
            "reasoning_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
        "prompt_tokens_details": {"audio_tokens": 0, "cached_tokens": 0},
    },
    "model_provider": "openai",
    "model_name": "gpt-5-mini",
    "system_fingerprint": None,
    "id": "chatcmpl-",
    "service_tier": "default",
    "finish_reason": "stop",
    "logprobs": None,
}
RESULT = (
    '{"results": [{"id": "", "name": "", "title": "", "price": 1, "url": "https://www.", "date": "2026-", "time": "",'
    ' "rating": 4, "minutes": 30, "servings": 4, "description": "", "ingredients": [{"item": "", "amount": ""}],'
    ' "tags": [""], "count": 5, "total": 0, "status": "", "items": ['
)


def look_up(query: str) -> str:
    """Look something up."""
    return query


def model():
    call = {"name": "look_up", "args": {"query": ""}, "id": "call_"}
    return GenericFakeChatModel(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("")]))


class Calling(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self


def graphs(saver):
    nodes = (
        StateGraph(MemoryState)
        .add_node("recall", lambda state: {"recalled": []})
        .add_node("agent", (lambda thinking: lambda state: {"messages": thinking.invoke(state["messages"])})(model()))
        .add_node("tools", ToolNode([look_up]))
        .add_node("write", lambda state: {})
        .add_edge(START, "recall")
        .add_edge("recall", "agent")
        .add_conditional_edges("agent", tools_condition, {"tools": "tools", "__end__": "write"})
        .add_edge("tools", "agent")
    )
    agent = create_agent(Calling(messages=model().messages), [look_up], checkpointer=saver)
    return agent, nodes.compile(checkpointer=saver)


def payloads(folder):
    with ConversationSaver(f"sqlite:///{folder}/sample.db") as saver:
        for number, graph in enumerate(graphs(saver)):
            graph.invoke({"messages": [HumanMessage("")]}, {"configurable": {"thread_id": f"sample {number}"}})
    connection = sqlite3.connect(f"{folder}/sample.db")
    rows = connection.execute("SELECT payload FROM langmem_pending UNION ALL SELECT payload FROM langmem_checkpoint")
    return [codec.decompress(payload) for (payload,) in rows]


def made():
    serde = JsonPlusSerializer()
    call = {"name": "", "args": {"query": ""}, "id": "call_"}
    told = {"additional_kwargs": {"refusal": None}, "response_metadata": RESPONSE, "usage_metadata": USAGE}
    messages = [
        SystemMessage(""),
        AIMessage("", **told),
        AIMessage("", tool_calls=[call], **told),
        ToolMessage(RESULT, tool_call_id="call_", name=""),
        AIMessage("", tool_calls=[call]),
        AIMessage(""),
        ToolMessage("", tool_call_id="call_", name=""),
        HumanMessage(""),
    ]
    with tempfile.TemporaryDirectory() as folder:
        framed = [bytes([len(kind)]) + kind.encode() + payload for kind, payload in payloads(folder)]
    framed += [b"\x07msgpack" + serde.dumps_typed(message)[1] for message in messages]
    return b"".join(dict.fromkeys(framed))


if __name__ == "__main__":
    made_now = made()
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_bytes(made_now)
    print(f"{len(made_now)} bytes of primer")
