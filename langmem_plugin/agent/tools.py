"""The tools by which an agent itself remembers, recalls and forgets. Their docstrings are written for the model."""

from langchain_core.tools import BaseTool, tool

from langmem_plugin.agent.working import WorkingMemory
from langmem_plugin.errors import MemoryNotFound


def memory_tools(working: WorkingMemory) -> list[BaseTool]:
    """Each works for the person of the current run and for nobody else."""
    service = working.service

    @tool
    def remember_fact(text: str) -> str:
        """Remember a lasting fact about this person for later conversations: a preference, a name, a debt, a date.

        text: the fact in one full sentence that can be understood without the conversation.
        """
        return f"Remembered as {service.remember(working.owner(), text, source_type='extracted_from_chat').id}."

    @tool
    def recall_facts(query: str) -> list[dict[str, str]]:
        """Look up what this person has asked to remember in earlier conversations.

        query: what it is about, in a few words.
        """
        found = service.search(working.owner(), query)
        return [{"id": each.memory.id, "text": each.memory.text} for each in found]

    @tool
    def forget_fact(memory_id: str) -> str:
        """Forget a remembered fact for good. Only when the person asks for it.

        memory_id: the id that recall_facts gave.
        """
        try:
            return f"Forgotten: {service.forget(working.owner(), memory_id).text}"
        except MemoryNotFound:
            return "There is no such memory. Look it up with recall_facts first."

    return [remember_fact, recall_facts, forget_fact]
