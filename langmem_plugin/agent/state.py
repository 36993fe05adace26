"""The state a graph shares with its memory."""

from typing import Annotated, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict


class MemoryState(TypedDict):
    """`recalled` holds (memory id, score) pairs and nothing else: texts are read again, owner-checked, when a
    prompt is built, so a memory that was forgotten meanwhile is not in it.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    recalled: NotRequired[list[tuple[str, float]]]
