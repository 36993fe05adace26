"""What the talk is about now, and what was answered to it."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langmem_plugin.conversation.media.media_reference import words_in

_TOPIC_MESSAGES = 2


def is_of_person(message: BaseMessage) -> bool:
    """Not so is a summary of LangChain's middleware, which stands in the place of what a person said."""
    return isinstance(message, HumanMessage) and message.additional_kwargs.get("lc_source") is None


def last_said(messages: Sequence[BaseMessage]) -> list[str]:
    """The person's last messages, oldest first, without the lines that stand for pictures."""
    of_person = [message for message in messages if is_of_person(message)]
    return [words_in(str(message.text)) for message in of_person[-_TOPIC_MESSAGES:]]


def topic(said: Sequence[str]) -> str:
    """What the talk is about now: the last message, with the one before it that it may follow up."""
    return "\n".join(filter(None, said))


def newest_of_person(messages: Sequence[BaseMessage]) -> int | None:
    """The place of the person's newest message."""
    return next((at for at in range(len(messages) - 1, -1, -1) if is_of_person(messages[at])), None)


def reply_of(messages: Sequence[BaseMessage]) -> str:
    """All the assistant said since the person's last message."""
    newest = newest_of_person(messages)
    after = messages if newest is None else messages[newest + 1 :]
    return "\n".join(message.text for message in after if isinstance(message, AIMessage) and message.text)
