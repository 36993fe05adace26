"""Chat commands: what a person types with a slash, and what they are answered. No model is asked."""

import difflib
import logging
from collections.abc import Callable

from langmem_plugin.errors import EmbeddingUnavailable, StorageFull, StoreUnavailable
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.models import Mode, plain, storable
from langmem_plugin.memory.recall_query import search_for
from langmem_plugin.memory.search.tokenizer import words_of
from langmem_plugin.phones import masked
from langmem_plugin.settings import Role

log = logging.getLogger(__name__)

_LISTED = 50
_FOUND = 5  # of each kind
_SHORT_ID = 8
_LONGEST = 200
_SURE = 0.5

DISABLED = "Memory system is disabled"
_UNAVAILABLE = "⚠️ Memory system temporarily unavailable. Please try again."
_SAID_BY = {"user": "you", "assistant": "I"}


class Commands:
    """`reset` ends the conversation of the owner it is given. Without `remembers` there are only conversations."""

    def __init__(
        self,
        service: MemoryService,
        reset: Callable[[str], None],
        *,
        role_of: Callable[[str], Role],
        remembers: bool = True,
    ) -> None:
        self._service = service
        self._reset = reset
        self._role_of = role_of
        self._remembers = remembers
        self._of_memory = {
            "/remember": ("/remember <fact> - I keep it for all our conversations", self._remember),
            "/memories": ("/memories - what I remember for you", self._memories),
            "/search": ("/search <words> - what I remember and what we said about it", self._search),
            "/forget": ("/forget <id or words> - I forget it", self._forget),
        }
        self._of_conversation = {
            "/reset": ("/reset - start this conversation afresh", self._start_afresh),
            "/help": ("/help - this list", self._help),
        }

    def answer(self, owner: str, text: str) -> str | None:
        """The reply to a command; None if the text is not one and belongs to the agent."""
        word, rest = _parted(storable(text))
        if not word.startswith("/"):
            return None
        known = self._of_memory | self._of_conversation
        if word in self._of_memory and not self._remembers:
            return DISABLED
        if word in known:
            try:
                return known[word][1](owner, rest)
            except StorageFull:
                raise
            except StoreUnavailable:
                log.warning("command.unavailable", exc_info=True, extra={"owner": masked(owner), "command": word})
                return _UNAVAILABLE
        if close := difflib.get_close_matches(word, known, n=1, cutoff=0.7):
            return f"I do not know {word}. Did you mean {close[0]}? /help lists what I know."
        return None

    def knows(self, text: str) -> bool:
        """Whether the text is a command that is answered here."""
        return _parted(text)[0] in self._of_memory | self._of_conversation

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

    def _search(self, owner: str, query: str) -> str:
        if not query:
            return "What shall I search for? For example: /search TestCorp"
        try:
            found = self._found(owner, query, "hybrid")
        except EmbeddingUnavailable:
            log.warning("search.by_words", exc_info=True, extra={"owner": masked(owner)})
            found = ["(by words only, I cannot compare meanings right now)", *self._found(owner, query, "text")]
        return "\n".join(found) if found else f"I found nothing about “{query}”."

    def _found(self, owner: str, query: str, mode: Mode) -> list[str]:
        memories = search_for(self._service, owner, self._role_of(owner), query, mode=mode, limit=_FOUND)
        said = self._service.history.search(owner, query, mode=mode, limit=_FOUND, min_relevance=_SURE)
        remembered = [
            f"- {found.memory.text} ({found.memory.created_at:%Y-%m-%d}) [{found.memory.id[:_SHORT_ID]}]"
            for found in memories
        ]
        spoken = [
            f"- {each.said_at:%Y-%m-%d}, {_SAID_BY.get(each.speaker, each.speaker)}: {_short(each.text)}"
            for each in sorted((found.message for found in said), key=lambda each: each.said_at)
        ]
        return [
            *(["I remember:", *remembered] if remembered else []),
            *(["We said:", *spoken] if spoken else []),
        ]

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
        """By the beginning of an id, else by the text itself, else by whole words that occur in it."""
        memories = self._service.list_memories(owner, limit=10_000)
        needle = wanted.strip("[]").casefold()
        by_id = [memory for memory in memories if len(needle) >= _SHORT_ID and memory.id.startswith(needle)]
        if by_id:
            return by_id
        exactly = [memory for memory in memories if plain(memory.text) == plain(wanted)]
        words = set(words_of(wanted))
        return exactly or [memory for memory in memories if words and words <= set(words_of(memory.text))]

    def _start_afresh(self, owner: str, _rest: str) -> str:
        self._reset(owner)
        return "🔄 Conversation history cleared. Starting fresh!"

    def _help(self, _owner: str, _rest: str) -> str:
        known = (self._of_memory if self._remembers else {}) | self._of_conversation
        return "\n".join(usage for usage, _ in known.values())


def _parted(text: str) -> tuple[str, str]:
    """The command's word and the rest."""
    word, _, rest = text.strip().partition(" ")
    # Telegram adds the bot's name in groups: /remember@mom_bot.
    return word.partition("@")[0].lower(), rest.strip()


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:_LONGEST]}…" if len(line) > _LONGEST else line
