"""The six tools by which an agent keeps named values of a person. Their docstrings are written for the model."""

from langchain_core.tools import BaseTool, tool

from langmem_plugin.agent.tools.run_writing import RunWriting
from langmem_plugin.database.audit_trail import TOOL, acting
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.models import storable
from langmem_plugin.memory.write.key_value import KeyValueMemory, Result, as_text

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


def key_value_tools(service: MemoryService, writing: RunWriting) -> list[BaseTool]:
    """Each works for the person of the current run and for nobody else; a run that lost its turn writes nothing."""

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
