"""Chat commands: what a person types with a slash, and what they are answered. No model is asked."""

import difflib
from collections.abc import Callable

from langmem_plugin.agent.replies import ENGLISH
from langmem_plugin.errors import EmbeddingUnavailable, StorageFull, StoreUnavailable
from langmem_plugin.identifiers import masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.models import Mode, plain, storable
from langmem_plugin.memory.recall_query import search_for
from langmem_plugin.memory.search.tokenizer import words_of
from langmem_plugin.settings import Role

log = event_log(__name__)

_LISTED = 50
_FOUND = 5  # of each kind
_SHORT_ID = 8
_LONGEST = 200
_SURE = 0.5


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
            "/remember": self._remember,
            "/memories": self._memories,
            "/search": self._search,
            "/forget": self._forget,
        }
        self._of_conversation = {"/reset": self._start_afresh, "/help": self._help}

    def answer(self, owner: str, text: str) -> str | None:
        """The reply to a command; None if the text is not one and belongs to the agent."""
        word, rest = _parted(storable(text))
        if not word.startswith("/"):
            return None
        known = self._of_memory | self._of_conversation
        if word in self._of_memory and not self._remembers:
            return ENGLISH.memory_disabled
        if word in known:
            try:
                return known[word](owner, rest)
            except StorageFull:
                raise
            except StoreUnavailable:
                log.warning("command.unavailable", exc_info=True, extra={"owner": masked(owner), "command": word})
                return ENGLISH.memory_unavailable
        if close := difflib.get_close_matches(word, known, n=1, cutoff=0.7):
            return ENGLISH.unknown_command.format(command=word, near=close[0])
        return None

    def knows(self, text: str) -> bool:
        """Whether the text is a command that is answered here."""
        return _parted(text)[0] in self._of_memory | self._of_conversation

    def _remember(self, owner: str, fact: str) -> str:
        if not fact:
            return ENGLISH.remember_what
        try:
            self._service.remember(owner, fact, source_type="command")
        except EmbeddingUnavailable:
            return ENGLISH.no_embedding
        except StoreUnavailable:
            return ENGLISH.not_remembered
        return ENGLISH.remembered.format(fact=fact)

    def _memories(self, owner: str, _rest: str) -> str:
        memories = self._service.list_memories(owner, limit=_LISTED)
        if not memories:
            return ENGLISH.no_memories
        return "\n".join([ENGLISH.memories, *(f"- {memory.text} [{memory.id[:_SHORT_ID]}]" for memory in memories)])

    def _search(self, owner: str, query: str) -> str:
        if not query:
            return ENGLISH.search_what
        try:
            found = self._found(owner, query, "hybrid")
        except EmbeddingUnavailable:
            log.warning("search.by_words", exc_info=True, extra={"owner": masked(owner)})
            found = [ENGLISH.searched_words_only, *self._found(owner, query, "text")]
        return "\n".join(found) if found else ENGLISH.found_nothing.format(words=query)

    def _found(self, owner: str, query: str, mode: Mode) -> list[str]:
        memories = search_for(self._service, owner, self._role_of(owner), query, mode=mode, limit=_FOUND)
        messages = self._service.history.search(owner, query, mode=mode, limit=_FOUND, min_relevance=_SURE)
        remembered = [
            f"- {found.memory.text} ({found.memory.created_at:%Y-%m-%d}) [{found.memory.id[:_SHORT_ID]}]"
            for found in memories
        ]
        spoken = [
            f"- {each.said_at:%Y-%m-%d}, {ENGLISH.speakers.get(each.speaker, each.speaker)}: {_short(each.text)}"
            for each in sorted((found.message for found in messages), key=lambda each: each.said_at)
        ]
        return [
            *([ENGLISH.found_memories, *remembered] if remembered else []),
            *([ENGLISH.found_messages, *spoken] if spoken else []),
        ]

    def _forget(self, owner: str, wanted: str) -> str:
        if not wanted:
            return ENGLISH.forget_what
        found = self._meant(owner, wanted)
        match found:
            case []:
                return ENGLISH.forget_unknown.format(words=wanted)
            case [memory]:
                self._service.forget(owner, memory.id)
                return ENGLISH.forgotten.format(fact=memory.text)
        choices = (f"- {memory.text} [{memory.id[:_SHORT_ID]}]" for memory in found)
        return "\n".join([ENGLISH.forget_which, *choices])

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
        return ENGLISH.conversation_cleared

    def _help(self, _owner: str, _rest: str) -> str:
        known = (self._of_memory if self._remembers else {}) | self._of_conversation
        return "\n".join(usage for command, usage in ENGLISH.usage.items() if command in known)


def _parted(text: str) -> tuple[str, str]:
    """The command's word and the rest."""
    word, _, rest = text.strip().partition(" ")
    # Telegram adds the bot's name in groups: /remember@mom_bot.
    return word.partition("@")[0].lower(), rest.strip()


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:_LONGEST]}…" if len(line) > _LONGEST else line
