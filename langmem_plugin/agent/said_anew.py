"""Whether a person says anew what they had corrected or forgotten, or the model has it from before."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from langmem_plugin.agent.topic import newest_of_person
from langmem_plugin.conversation.context_block import before_context
from langmem_plugin.conversation.own_words import own_words
from langmem_plugin.conversation.transcript import written_at
from langmem_plugin.memory import Memory
from langmem_plugin.memory.find.corrected_messages import words_of
from langmem_plugin.memory.find.tokenizer import terms
from langmem_plugin.references.said.yes_or_no import agrees


def is_said_anew(over: Memory, instead: Memory | None, messages: Sequence[BaseMessage]) -> bool:
    """By the newest message, or the question that it says yes to; `instead` is what took the place of `over`.

    What tells the two apart has to be said. What this very message corrected is not said anew by it.
    """
    newest = newest_of_person(messages)
    if newest is None:
        return True  # nobody has written: who calls the tool speaks for the person
    message = messages[newest]
    if instead is not None and instead.source_id is not None and instead.source_id == message.id:
        return False
    if over.status == "forgotten" and (written := written_at(message)) is not None and over.updated_at >= written:
        return False
    said = before_context(own_words(message))
    verdict = agrees(said)
    if verdict is not None and verdict.yes and newest and isinstance(messages[newest - 1], AIMessage):
        said += f"\n{messages[newest - 1].text}"
    value = words_of(over) - (words_of(instead) if instead is not None else frozenset())
    return bool(value & set(terms(said)))


def message_of_run(messages: Sequence[BaseMessage]) -> BaseMessage | None:
    """The person's newest message."""
    newest = newest_of_person(messages)
    return None if newest is None else messages[newest]
