"""Chat commands: what a person types with a slash, and what they are answered. No model is asked."""

import difflib
from collections.abc import Callable

from langmem_plugin.errors import EmbeddingUnavailable, StoreUnavailable
from langmem_plugin.memory import Memory, MemoryService

_LISTED = 50
_SHORT_ID = 8


class Commands:
    """`reset` ends the conversation of the owner it is given."""

    def __init__(self, service: MemoryService, reset: Callable[[str], None]) -> None:
        self._service = service
        self._reset = reset
        self._known: dict[str, tuple[str, Callable[[str, str], str]]] = {
            "/remember": ("/remember <fact> - I keep it for all our conversations", self._remember),
            "/memories": ("/memories - what I remember for you", self._memories),
            "/forget": ("/forget <id or words> - I forget it", self._forget),
            "/reset": ("/reset - start this conversation afresh", self._start_afresh),
            "/help": ("/help - this list", self._help),
        }

    def answer(self, owner: str, text: str) -> str | None:
        """The reply to a command; None if the text is not one and belongs to the agent."""
        word, _, rest = text.strip().partition(" ")
        if not word.startswith("/"):
            return None
        # Telegram adds the bot's name in groups: /remember@mom_bot.
        word = word.partition("@")[0].lower()
        if word in self._known:
            return self._known[word][1](owner, rest.strip())
        if close := difflib.get_close_matches(word, self._known, n=1, cutoff=0.7):
            return f"I do not know {word}. Did you mean {close[0]}? /help lists what I know."
        return None

    def _remember(self, owner: str, fact: str) -> str:
        if not fact:
            return "What shall I remember? For example: /remember TestCorp owes me ₪5000"
        try:
            self._service.remember(owner, fact, source_type="command")
        except EmbeddingUnavailable:
            return "/remember failed: Unable to generate embedding. Please try again."
        except StoreUnavailable:
            return "❌ Failed to store memory. Please try again."
        return f"✅ Remembered: {fact}"

    def _memories(self, owner: str, _rest: str) -> str:
        memories = self._service.list_memories(owner, limit=_LISTED)
        if not memories:
            return "I remember nothing yet. Tell me with /remember <fact>."
        return "\n".join(["I remember:", *(f"- {memory.text} [{memory.id[:_SHORT_ID]}]" for memory in memories)])

    def _forget(self, owner: str, wanted: str) -> str:
        if not wanted:
            return "What shall I forget? /forget <id or words>; /memories shows the ids."
        found = self._meant(owner, wanted)
        match found:
            case []:
                return f"I remember nothing like “{wanted}”. /memories shows what I do."
            case [memory]:
                self._service.forget(owner, memory.id)
                return f"🗑️ Forgotten: {memory.text}"
        choices = (f"- {memory.text} [{memory.id[:_SHORT_ID]}]" for memory in found)
        return "\n".join(["Which one? Send /forget with its id:", *choices])

    def _meant(self, owner: str, wanted: str) -> list[Memory]:
        """By the beginning of an id, else by the text itself, else by words that occur in it."""
        memories = self._service.list_memories(owner, limit=10_000)
        needle = wanted.strip("[]").casefold()
        by_id = [memory for memory in memories if len(needle) >= _SHORT_ID and memory.id.startswith(needle)]
        if by_id:
            return by_id
        exactly = [memory for memory in memories if memory.text.casefold() == needle]
        words = needle.split()
        return exactly or [memory for memory in memories if all(word in memory.text.casefold() for word in words)]

    def _start_afresh(self, owner: str, _rest: str) -> str:
        self._reset(owner)
        return "🔄 Conversation history cleared. Starting fresh!"

    def _help(self, _owner: str, _rest: str) -> str:
        return "\n".join(usage for usage, _ in self._known.values())
