"""The state of a graph with memory: its messages, what was recalled, and what a node reads of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, convert_to_messages
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from langmem_plugin.conversation.media.media_reference import words_in
from langmem_plugin.errors import InvalidInput

Recalled = list[tuple[str, float]]
"""The recalled memories as pairs (memory id, score), best first."""
_TOPIC_MESSAGES = 2


class MemoryState(TypedDict):
    """The state of a graph with memory. `recalled` holds (memory id, score) pairs and nothing else: the texts, with
    their owner checked, are read again when a prompt is built, so a memory that was forgotten meanwhile is not in it.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    recalled: NotRequired[Recalled]


def is_of_person(message: BaseMessage) -> bool:
    """Tell whether a person wrote the message. A summary by LangChain's middleware looks the same, but is nobody's."""
    return isinstance(message, HumanMessage) and message.additional_kwargs.get("lc_source") is None


def last_said(messages: Sequence[BaseMessage]) -> list[str]:
    """Return the person's last messages, oldest first, without the lines that stand for pictures."""
    of_person = [message for message in messages if is_of_person(message)]
    return [words_in(str(message.text)) for message in of_person[-_TOPIC_MESSAGES:]]


def newest_of_person(messages: Sequence[BaseMessage]) -> int | None:
    """Return the place of the person's newest message."""
    return next((at for at in range(len(messages) - 1, -1, -1) if is_of_person(messages[at])), None)


def reply_of(messages: Sequence[BaseMessage]) -> str:
    """Return all that the assistant said since the person's last message."""
    newest = newest_of_person(messages)
    after = messages if newest is None else messages[newest + 1 :]
    return "\n".join(message.text for message in after if isinstance(message, AIMessage) and message.text)


def messages_of(state: Mapping[str, Any] | Any) -> Sequence[BaseMessage]:
    """Return the messages of a state that is a dict or an object, or that are given alone, in any form that LangChain
    takes.

    Raises InvalidInput for what holds none.
    """
    found = state
    if not isinstance(state, Sequence):
        found = state.get("messages") if isinstance(state, Mapping) else getattr(state, "messages", None)
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise InvalidInput(f"a {type(state).__name__} holds no messages: pass the graph's state, or a list of messages")
    if all(isinstance(each, BaseMessage) for each in found):
        return found
    try:
        return convert_to_messages(found)
    except (ValueError, NotImplementedError) as error:
        raise InvalidInput("there is no message in what was passed: pass LangChain's, or (role, text)") from error


def recalled_of(state: Mapping[str, Any] | Any) -> Recalled:
    found = state.get("recalled") if isinstance(state, Mapping) else getattr(state, "recalled", None)
    return list(found or [])


_Node = TypeVar("_Node", bound=Callable[..., Any])


def named_node(node: _Node, name: str) -> _Node:
    """Note on a node's function which node of the memory it is."""
    node.langmem_node = name  # type: ignore[attr-defined]
    return node
