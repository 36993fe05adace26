"""A message as a dictionary that LangChain's `convert_to_messages` and OpenAI's client take."""

import json
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall

from langmem_plugin.conversation.media.media_reference import references_in


def role_of(message: BaseMessage) -> str:
    """`user`, `assistant`, `tool`, `system`, or whatever LangChain calls it."""
    if isinstance(message, HumanMessage):  # chunks of a stream too
        return "user"
    return "assistant" if isinstance(message, AIMessage) else message.type


def as_dict(message: BaseMessage) -> dict[str, Any]:
    """`role` and `content`, and of `name`, `tool_calls`, `tool_call_id` and a failed tool's `status` what it has.

    The id of a message is not in it: OpenAI refuses what it does not know.
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
    """The text; a picture that was given by its URL is a line like one that was kept."""
    if isinstance(message.content, str):
        return str(message.text)
    by_url = [f"[{each.kind}: {each.url}]" for each in references_in(message.content) if each.url]
    return "\n".join(filter(None, [str(message.text), *by_url]))


def _call(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = json.dumps(call["args"])
    except (TypeError, ValueError, RecursionError):
        return {**call}  # what JSON cannot hold OpenAI could not be sent either, but LangChain takes it as it is
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}
