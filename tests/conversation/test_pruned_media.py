"""A file stays as long as anything of its session refers to it, wherever in the state the reference stands."""

from base64 import b64encode
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send

from langmem_plugin.conversation.media.media_store import Media
from tests.cases import for_each

MOM = "+972501234567"
CONFIG: Any = {"configurable": {"thread_id": MOM}}
PICTURE = b"\x89PNG\r\n\x1a\n" + b"\x00" * 64
DATA_URL = f"data:image/png;base64,{b64encode(PICTURE).decode()}"


class Noting(MessagesState):
    note: Any


CALL = {"name": "show", "args": {"picture": DATA_URL}, "id": "1"}


@pytest.mark.spec("C-8")
@for_each(
    "update",
    [
        {"messages": AIMessage("", tool_calls=[CALL])},
        {"messages": AIMessage("", invalid_tool_calls=[{**CALL, "args": DATA_URL, "error": None}])},
        {"messages": AIMessage("Here.", response_metadata={"picture": DATA_URL})},
        {"messages": HumanMessage("Look.", name=DATA_URL)},
        {"note": Send("answer", {"messages": [{"type": "human", "content": DATA_URL}]})},
    ],
    ids=["tool call", "tool call that cannot be read", "metadata", "name", "Send"],
)
@for_each("folder", [True, False], ids=["in a folder", "in the database"])
def test_pruning_keeps_a_file_wherever_the_state_refers_to_it(fresh, tmp_path, update, folder):
    saver = fresh(media=Media(tmp_path / "media" if folder else "database"))
    graph = StateGraph(Noting).add_node("answer", lambda _: update).add_edge(START, "answer")
    graph.compile(checkpointer=saver).invoke({"messages": "hello"}, CONFIG)
    reference = Media("database").keep(PICTURE, "image/png")

    saver.prune([MOM])

    assert DATA_URL not in str(saver.get_tuple(CONFIG).checkpoint["channel_values"])
    assert saver.load_media(MOM, reference) == PICTURE
