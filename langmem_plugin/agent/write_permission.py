"""The permission of a run to write into the memory of the person it serves, and on whose word each write rests."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage

from langmem_plugin.agent.graph_state import newest_of_person
from langmem_plugin.agent.parts_protocol import AgentParts
from langmem_plugin.agent.person_of_run import current_run, run_config
from langmem_plugin.agent.replying.reply_texts import pattern_for
from langmem_plugin.conversation.config_keys import is_automated, session_id_of
from langmem_plugin.conversation.message_as_dict import written_at
from langmem_plugin.conversation.quoted_and_own_words import before_context, is_own, own_words
from langmem_plugin.facts import classify
from langmem_plugin.facts.guards import asks_not_to_keep
from langmem_plugin.facts.redacted_text import is_redacted
from langmem_plugin.facts.sensitive_facts import is_sensitive
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import Memory
from langmem_plugin.memory.find.past_messages import words_of
from langmem_plugin.memory.find.tokenizer import terms
from langmem_plugin.memory.memory_types import MemoryFields
from langmem_plugin.people.consent_records import Consent
from langmem_plugin.references.said.yes_or_no import agrees
from langmem_plugin.text_sanitizing import one_line

_ASKS, _OFFERS = pattern_for("asks_to_remember"), pattern_for("offers_to_remember")
_NOT_AGREED = "The person has not agreed to be remembered: remember nothing that they do not ask for themselves."
_NOT_TO_BE_KEPT = "The person asked that what they wrote is not remembered."
_OF_ANOTHER = "The newest message is forwarded, in another's words: remember and forget nothing because of it."
_OVER = "The person has corrected this or asked to forget it. Remember it only when they say so themselves."
_REDACTED = "A part of this was left out because it is private: remember it without that part, or not at all."
_LONGEST_QUOTE = 500  # letters: a longer message is found by its id
_READ = "__pregel_read"  # LangGraph's own key, by which code in a node reads the state


def is_said_anew(over: Memory, instead: Memory | None, messages: Sequence[BaseMessage]) -> bool:
    """Tell whether the newest message, or the question that it says yes to, says `over` again; `instead` took its
    place.

    The words that tell the two apart have to be said. A text that this very message corrected is not said anew by it.
    """
    newest = newest_of_person(messages)
    if newest is None:
        return True  # nobody has written: the tool's caller speaks for the person
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


def asks_to_remember(messages: Sequence[BaseMessage]) -> bool:
    """Tell whether the newest message, or the assistant's question that it says yes to, asks to remember."""
    newest = newest_of_person(messages)
    if newest is None:
        return False
    lines = before_context(own_words(messages[newest])).replace("’", "'").splitlines()
    said = "; ".join(" ".join(line.split()) for line in lines)
    if _ASKS.search(said):
        return True
    verdict = agrees(said)
    before = messages[newest - 1] if newest else None
    return verdict is not None and verdict.yes and isinstance(before, AIMessage) and bool(_OFFERS.search(before.text))


def forbids(held: Consent, text: str) -> bool:
    """Tell whether the person has forbidden to remember such a text unless they ask for it."""
    if held.extraction.allowed is False or (held.sensitive.allowed is False and is_sensitive(text)):
        return True
    return held.personal.allowed is False and classify(text).fact_type == "personal"


@dataclass(eq=False)
class RunWriting:
    """The writes of the current run, for any caller; a run that lost its turn writes nothing."""

    parts: AgentParts

    def owner(self) -> OwnerKey:
        """Return the key of the person. Raises InvalidInput outside of a run, NotAuthorized as `owner_of` does."""
        return self.parts.person.owner()

    def messages(self) -> Sequence[BaseMessage]:
        """Return the conversation of the run, for code that is called in a node without its state."""
        read = (run_config().get("configurable") or {}).get(_READ)
        return [] if read is None else (read("messages", True) or [])

    def of_another(self) -> str | None:
        """Return why nothing may be changed now, for the model; None where somebody's own words are answered."""
        newest = message_of_run(self.messages())
        return None if newest is None or is_own(newest) else _OF_ANOTHER

    def unasked(self, text: str = "") -> str | None:
        """Return a sentence for the model that says why this text, or any text at all, is not to be remembered now;
        None where it may be. From a person who has forbidden it, only what they ask for is kept; from one who was never
        asked, also what a model thinks fit.
        """
        if (of_another := self.of_another()) is not None:
            return of_another
        newest, owner = message_of_run(self.messages()), self.owner()
        if newest is not None and asks_not_to_keep(own_words(newest)):
            return _NOT_TO_BE_KEPT
        if is_automated(run_config()):  # a message that no person wrote is no person's word
            return None if self.parts.consent.allowed(owner) else _NOT_AGREED
        asked = not _is_of_subagent() and asks_to_remember(self.messages())
        if not self.parts.consent.allowed(owner, explicit=True) or (
            not asked and forbids(self.parts.consent.of_owner(owner), text)
        ):
            return _NOT_AGREED
        return None

    def refusal(self, text: str, messages: Sequence[BaseMessage]) -> str | None:
        """Return a sentence for the model that says why this text is not to be remembered; None where it is."""
        if (unasked := self.unasked(text)) is not None:
            return unasked
        if is_redacted(text):
            return _REDACTED
        over = self.parts.service.over(self.owner(), text)
        if over is None:
            return None
        instead = self.parts.service.instead_of(over)
        if not _is_of_subagent() and is_said_anew(over, instead, messages):
            return None
        return _OVER if instead is None else f"{_OVER} What holds now: {one_line(instead.text)}"

    def evidence(self, messages: Sequence[BaseMessage]) -> MemoryFields:
        """Return the message and the session that a memory comes from."""
        said = None if _is_of_subagent() else message_of_run(messages)
        quote = "" if said is None else before_context(own_words(said)).strip()
        return {
            "source_type": "extracted_from_chat",
            "source_id": None if said is None else said.id,
            "session_id": session_id_of(run_config()),
            "quote": quote if quote and len(quote) <= _LONGEST_QUOTE else None,
        }

    def fenced(self) -> AbstractContextManager[None]:
        """Return the fence around a run's writes. Outside of a run there is no turn that could be lost."""
        config = current_run()
        return nullcontext() if config is None else self.parts.saver.sessions.fenced(config)


def _is_of_subagent() -> bool:
    """Tell whether a subagent runs: its message of the person is a task in the words of a model."""
    return (run_config().get("configurable") or {}).get("ls_agent_type") == "subagent"
