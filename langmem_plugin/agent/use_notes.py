"""Notes after a reply what was used for it: memories, instructions; and that something was said that may be kept."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Protocol

from langchain_core.messages import BaseMessage
from sqlalchemy import Connection

from langmem_plugin.agent.identity import run_config, session_of_run, thread_of_run
from langmem_plugin.agent.memory_state import Recalled, reply_of
from langmem_plugin.agent.past_session_indexer import PastSessionIndexer
from langmem_plugin.agent.prompt.citations import citations_in, cites
from langmem_plugin.agent.prompt.memory_in_prompt import MemoryInPrompt
from langmem_plugin.agent.served_person import ServedPerson
from langmem_plugin.conversation.config_keys import is_automated
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.recall import scopes_of
from langmem_plugin.memory.find.reply_memory import Told
from langmem_plugin.memory.keep.usage_log import Access
from langmem_plugin.settings import Settings

log = event_log(__name__)


class MarksSessions(Protocol):
    """Says that something was said in a session."""

    def __call__(self, connection: Connection, thread: str, number: int) -> None: ...


@dataclass(eq=False)
class UseNotes:
    """Used memories rank higher later."""

    service: MemoryService
    saver: ConversationSaver
    person: ServedPerson
    shown: MemoryInPrompt
    settings: Settings
    _: KW_ONLY
    past_sessions: PastSessionIndexer | None
    extraction: MarksSessions | None

    def note(self, messages: Sequence[BaseMessage], recalled: Recalled) -> None:
        """Notes the use of memories; if the database does not take the note, the reply goes out all the same."""
        if not self.settings.remembers or is_automated(run_config()):
            return
        owner = self.person.owner()
        try:
            if self.past_sessions is not None:  # also for the extraction: it must know whose words they are
                self.past_sessions.claim(thread_of_run(), owner)
            # What the prompt was given is what was used: nothing is read again.
            told = self.shown.told_last(owner, recalled, messages)
            uses = self._uses(owner, messages, recalled, told)
            followed = [each.id for each in self.shown.instructions(owner, messages, told)]
            note = None
            if uses or followed:
                beside = self.person.beside(owner, messages)
                scopes = [scope.owner for scope in scopes_of(owner, self.person.role(owner), beside)]
                used = partial(self.service.note_used, scopes=scopes, uses=uses, followed=followed)
                note = partial(used, session_id=session_of_run())
            if note is not None or self.extraction is not None:
                self.saver.run_writes.write_along(run_config(), partial(self._write, note))
        except StoreUnavailable:
            log.warning("use.not_noted", exc_info=True, extra={"owner": masked(owner)})

    def _write(
        self, note: Callable[[Connection], None] | None, connection: Connection, session: Session | None
    ) -> None:
        # The job goes first: whoever works on one locks it before the memories too.
        if self.extraction is not None and session is not None:
            self.extraction(connection, session.thread, session.number)
        if note is not None:
            note(connection)

    def _uses(
        self, owner: OwnerKey, messages: Sequence[BaseMessage], recalled: Recalled, told: Told
    ) -> dict[str, tuple[Access, float | None]]:
        """How each recalled memory was used: cited, or shown for what was said; what filled the block was not used."""
        reply = reply_of(messages)
        shown = self.shown.numbered(owner, messages, recalled, told) if cites(reply) else []
        cited = {each.memory.id for each in citations_in(reply, shown) if each.memory is not None}
        return {
            each: ("cited" if each in cited else "injected", score)
            for each, score in recalled
            if score or each in cited
        }
