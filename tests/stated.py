"""What a model is told beside the conversation."""

from collections.abc import Iterable

from langchain_core.messages import BaseMessage

from langmem_plugin.conversation.quoted_and_own_words import without_context


def stated(messages: Iterable[BaseMessage]) -> str:
    """The system text, and what stands in the context at the end of a person's message."""
    told = [message.text if message.type == "system" else without_context(message)[1] for message in messages]
    return "\n\n".join(filter(None, told))


def conversation(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    """The messages as they were sent and said, without what is known beside them."""
    return [without_context(message)[0] for message in messages if message.type != "system"]
