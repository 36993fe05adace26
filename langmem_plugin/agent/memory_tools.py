"""The tools with which an agent itself remembers, recalls and forgets, in sentences or as named values."""

import functools
from collections.abc import Callable
from typing import Annotated, Any, ParamSpec, TypeVar
from zoneinfo import ZoneInfo

from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState

from langmem_plugin.agent.graph_state import messages_of
from langmem_plugin.agent.parts_protocol import AgentParts
from langmem_plugin.agent.prompt_texts import as_told, when_told
from langmem_plugin.agent.write_permission import RunWriting
from langmem_plugin.database.audit_recording import TOOL, acting
from langmem_plugin.errors import EmbeddingUnavailable, InvalidInput, MemoryNotFound, StoreUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import FoundMessage
from langmem_plugin.memory.find.recall_and_visibility import search_for
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory, Result, as_text
from langmem_plugin.text_sanitizing import one_line

log = event_log(__name__)

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_MESSAGES = 8
_SPEAKERS = {"user": "the person", "assistant": "you, the assistant"}
_NOTHING = "Nothing is found about that."
_UNAVAILABLE = "The memory cannot be reached right now. Go on without it, and say so."
KEY_VALUE_RULES = """\
LONG-TERM MEMORY RULES
Save with save_memory what stays true of this person: preferences ("I prefer short emails"), stable habits ("remind me
every morning"), personal details ("my assistant is David"), long-term goals, how they want you to work ("use a formal
tone"). Do not save temporary tasks, one-time instructions, moods, or what is unclear.
Choose a key that says what the value is (email_preference, assistant_name, meeting_time_preference) and a short value
that can be read without the conversation; then tell the person "I'll remember that".
Call load_memory when a conversation begins, use what it gives, and mention it only where it serves ("as you prefer
short emails")."""
"""The text that tells an agent of these tools: put it into its system prompt, or leave it out."""


def memory_tools(parts: AgentParts, writing: RunWriting) -> list[BaseTool]:
    """Make the tools for sentences, for the current run's person alone. A run that lost its turn writes nothing."""
    service, person = parts.service, parts.person

    @tool
    @_told
    def remember_fact(text: str, state: Annotated[Any, InjectedState] = None) -> str:
        """Remember a lasting fact about this person for later conversations: a preference, a name, a debt, a date.
        Only when the person asks for it.

        text: the fact in one full sentence that can be understood without the conversation.
        """
        messages = [] if state is None else messages_of(state)
        refused = writing.refusal(storable(text), messages)
        if refused is not None:
            return refused
        with writing.fenced():
            made = service.remember(person.owner(), storable(text), **writing.evidence(messages))
        return f"Remembered as {made.id}."

    @tool
    @_told
    def recall_facts(query: str) -> list[dict[str, str]]:
        """Look up what this person has asked to remember in earlier conversations.

        query: what it is about, in a few words.
        """
        owner = person.owner()
        now = service.now().astimezone(parts.person_settings.time_zone(owner))
        found = (each.memory for each in search_for(service, owner, person.role(owner), query))
        return [{"id": each.id, "text": one_line(f"{as_told(each)} {when_told(each, now)}")} for each in found]

    @tool
    @_told
    def search_conversations(query: str) -> list[dict[str, str]]:
        """Look up what was said in earlier conversations with this person, by them and by you.

        For questions such as "what did I say about the boiler?" or "which restaurant did you recommend?".
        query: the person's question, in their words: "I" and "you" tell whose words to look for.
        What is marked "(corrected since: …)" or "(no longer so)" does not hold any more.
        """
        zone = parts.person_settings.time_zone(person.owner())
        found = service.history.search(person.owner(), query, limit=_MESSAGES, time_zone=zone)
        return [_as_found(each, zone) for each in found]

    @tool
    @_told
    def forget_fact(memory_id: str) -> str:
        """Forget a remembered fact for good. Only when the person asks for it.

        memory_id: the id that recall_facts gave.
        """
        if (refused := writing.of_another()) is not None:
            return refused
        with writing.fenced():
            return f"Forgotten: {one_line(service.forget(person.owner(), memory_id).text)}"

    return [remember_fact, recall_facts, search_conversations, forget_fact]


def _as_found(found: FoundMessage, zone: ZoneInfo) -> dict[str, str]:
    return {
        "said_at": f"{found.message.said_at.astimezone(zone):%Y-%m-%d %H:%M} {zone.key}",
        "by": one_line(_SPEAKERS.get(found.message.speaker, found.message.speaker)),
        "text": one_line(" ".join(filter(None, [found.message.text, found.note]))),
    }


def _told(work: Callable[_Given, _Result]) -> Callable[_Given, _Result | str]:
    """Wrap the work: it gives its result or, where it fails, a sentence for the model that says why."""

    @functools.wraps(work)
    def told(*arguments: _Given.args, **named: _Given.kwargs) -> _Result | str:
        try:
            # An empty list would be a result without content, which some providers refuse.
            with acting(TOOL, within=True):
                return work(*arguments, **named) or _NOTHING
        except MemoryNotFound:
            return "There is no such memory. Look it up with recall_facts first."
        except InvalidInput as error:
            return f"This cannot be done: {error}."
        except (EmbeddingUnavailable, StoreUnavailable):
            log.warning("tool.unavailable", exc_info=True, extra={"tool": work.__name__})
            return _UNAVAILABLE

    return told


def key_value_tools(service: MemoryService, writing: RunWriting) -> list[BaseTool]:
    """Make the tools for named values, for the current run's person alone. A run that lost its turn writes nothing."""

    def of_person() -> KeyValueMemory:
        return KeyValueMemory(service, writing.owner(), evidence=writing.evidence(writing.messages()))

    @tool
    def save_memory(key: str, value: str) -> Result:
        """Save one lasting thing about this person under a key; a key that exists gets the new value.

        Use it when they share a preference, a stable habit, a personal detail, a long-term goal or how they want you to
        work. Not for temporary tasks, one-time instructions, moods or unclear information.
        key: what the value is, in snake_case, such as "email_preference" or "assistant_name".
        value: the value, short and clean, such as "short emails" or "David".
        """
        if (refused := writing.unasked(as_text(key, value))) is not None:
            return {"success": False, "error": "CONSENT_MISSING", "message": refused}
        with acting(TOOL, within=True), writing.fenced():
            return of_person().save_memory(storable(key), storable(value))

    @tool
    def load_memory(key: str | None = None) -> Result:
        """Load everything that was saved about this person, keys with values. Use it when a conversation begins.

        key: one key, to load its value alone; leave it out to load everything.
        """
        return of_person().load_memory(None if key is None else storable(key))

    @tool
    def delete_memory(key: str) -> Result:
        """Delete what was saved under a key. Only when the person asks for it.

        key: as list_memory or load_memory gave it.
        """
        if (refused := writing.of_another()) is not None:
            return {"success": False, "error": "NOT_ASKED", "message": refused}
        with acting(TOOL, within=True), writing.fenced():
            return of_person().delete_memory(storable(key))

    @tool
    def list_memory() -> Result:
        """List the keys under which something was saved about this person, without the values."""
        return of_person().list_memory()

    @tool
    def search_memory(query: str) -> Result:
        """Find what was saved about this person by a word that its key or its value contains.

        query: the word, such as "email".
        """
        return of_person().search_memory(storable(query))

    @tool
    def classify_memory(user_message: str) -> Result:
        """Tell whether a message holds something to save, and under which key. Nothing is saved by it.

        user_message: the message of the person, word by word.
        """
        return KeyValueMemory.classify_memory(storable(user_message))

    return [save_memory, load_memory, delete_memory, list_memory, search_memory, classify_memory]
