"""Messages as dictionaries, for code that is not a graph; made of a role and a text, with the notes that they hold."""

import json
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ChatMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall

from langmem_plugin.conversation.media.media_reference import references_in
from langmem_plugin.database.schema import TRIES, all_taken
from langmem_plugin.errors import InvalidInput

Speaker = Literal["user", "assistant", "tool"]
NOTES = "langmem"  # in response_metadata, which is sent to no provider
_LONGEST_KEY = 200


def notes_of(message: BaseMessage) -> dict[str, Any]:
    """The notes stored with a message. Anybody may have written them: only those of the right type are used."""
    notes = message.response_metadata.get(NOTES)
    return notes if isinstance(notes, dict) else {}


def noted(message: BaseMessage, name: str) -> str | None:
    """The text of this name in the message's notes; None if it holds none, or an empty one."""
    text = notes_of(message).get(name)
    return text if isinstance(text, str) and text else None


def written_at(message: BaseMessage, name: str = "timestamp") -> datetime | None:
    """The time noted by the message's channel or `add_message`, with a time zone; None without one."""
    text = noted(message, name)
    try:
        instant = None if text is None else datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant.replace(tzinfo=UTC) if instant is not None and instant.tzinfo is None else instant


def key_of(message_id: str) -> str:
    """The message's id, or its hash if it cannot be a key: a graph may give a message any id."""
    if len(message_id) <= _LONGEST_KEY and message_id.isprintable():
        return message_id
    return sha256(message_id.encode("utf-8", "surrogatepass")).hexdigest()


def role_of(message: BaseMessage) -> str:
    """The role of a message: `user`, `assistant`, `tool`, `system`, or LangChain's own name."""
    if isinstance(message, HumanMessage):  # chunks of a stream too
        return "user"
    return "assistant" if isinstance(message, AIMessage) else message.type


def as_dict(message: BaseMessage) -> dict[str, Any]:
    """The message as a dictionary for LangChain's `convert_to_messages` and OpenAI's client.

    It holds `role` and `content`, and those of `name`, `tool_calls`, `tool_call_id` and, if a tool failed, `status`
    that the message has. It has no id: OpenAI refuses unknown keys.
    """
    said = {"role": "user" if isinstance(message, ChatMessage) else role_of(message), "content": _words(message)}
    name = message.role if isinstance(message, ChatMessage) else message.name
    if name is not None:
        said["name"] = name
    if isinstance(message, ToolMessage):
        failed = {"status": "error"} if message.status == "error" else {}
        return said | {"tool_call_id": message.tool_call_id} | failed
    if isinstance(message, AIMessage) and message.tool_calls:
        return said | {"tool_calls": [_call(each) for each in message.tool_calls]}
    return said


def _words(message: BaseMessage) -> str:
    """The text of a message, with a line for each picture that was given by its URL."""
    if isinstance(message.content, str):
        return str(message.text)
    by_url = [f"[{each.kind}: {each.url}]" for each in references_in(message.content) if each.url]
    return "\n".join(filter(None, [str(message.text), *by_url]))


def _call(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = json.dumps(call["args"])
    except (TypeError, ValueError, RecursionError):
        return {**call}  # not JSON: OpenAI could not be sent it either, but LangChain takes it as it is
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def new_id(said: Sequence[BaseMessage]) -> str:
    """A new id that none of these messages has."""
    taken = {message.id for message in said}
    for _ in range(TRIES):
        message_id = str(uuid.uuid4())
        if message_id not in taken:
            return message_id
    raise all_taken("a message")


def refuse_unasked(message: AnyMessage, said: Sequence[BaseMessage]) -> None:
    """Raise InvalidInput for the result of a call that nobody made: it would never be shown to a model."""
    if not isinstance(message, ToolMessage) or message.tool_call_id == message.id:
        return
    asked = (call["id"] for each in said if isinstance(each, AIMessage) for call in each.tool_calls)
    if message.tool_call_id not in asked:
        raise InvalidInput(
            f"no message of this session calls {message.tool_call_id!r}: pass the id of a call that is in its "
            "tool_calls, or no tool_call_id"
        )


def callable_only(message: BaseMessage) -> BaseMessage:
    """The message without calls that could not be parsed: no dictionary can hold them."""
    if isinstance(message, AIMessage) and message.invalid_tool_calls:
        return message.model_copy(update={"invalid_tool_calls": []})
    return message


def message_of(  # noqa: PLR0917 - all of them are what `add_message` was given
    role: Speaker,
    content: str,
    message_id: str,
    notes: dict[str, Any],
    tool_call_id: str | None,
    tool_name: str | None,
) -> AnyMessage:
    metadata = {NOTES: {key: value for key, value in notes.items() if value is not None}}
    if role == "user":
        return HumanMessage(content, id=message_id, response_metadata=metadata)
    if role == "assistant":
        return AIMessage(content, id=message_id, response_metadata=metadata)
    return ToolMessage(
        content, id=message_id, tool_call_id=tool_call_id or message_id, name=tool_name, response_metadata=metadata
    )
