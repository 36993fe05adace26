"""Recall before a reply: which memories bear on the talk, as many as the prompt has room for."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from langchain_core.messages import BaseMessage

from langmem_plugin.agent.memory_state import Recalled, last_said, topic
from langmem_plugin.agent.past_session_indexer import PastSessionIndexer
from langmem_plugin.agent.prompt.memory_in_prompt import MemoryInPrompt, RetrieverDocuments
from langmem_plugin.agent.replying import outage_note
from langmem_plugin.agent.served_person import ServedPerson, answered_now
from langmem_plugin.errors import EmbeddingUnavailable, SessionExpired, StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import Memory
from langmem_plugin.memory.find.reply_memory import ReplyMemory
from langmem_plugin.settings import Settings

log = event_log(__name__)

_FEWEST_LINES, _SHORT_LINE = 20, 10  # tokens: few lines with the day they were said are shorter


@dataclass(eq=False)
class Recall:
    reminders: ReplyMemory
    person: ServedPerson
    shown: MemoryInPrompt
    settings: Settings
    _: KW_ONLY
    documents: RetrieverDocuments | None
    past_sessions: PastSessionIndexer | None

    def of(self, messages: Sequence[BaseMessage], phone: str | None = None) -> Recalled:
        """(memory id, similarity) of what bears on the talk, best first, and behind it, with 0, what is nearest of the
        rest, as many as `recall_tokens` holds whole.

        Nothing, and a warning, if memory is down. Raises SessionExpired if there is no message: the run resumed a
        conversation that is over.
        """
        if not messages:
            raise SessionExpired("this conversation has ended and its question with it: send a new message")
        owner = self.person.owner(phone)
        if not self.settings.remembers:
            return []
        said = last_said(messages)
        if self.past_sessions is not None and len(said) <= 1:  # a session begins, so another may just have ended
            self.past_sessions.look(self.person.thread(owner, phone))
        if self.documents is not None:
            self.documents.ask(owner, topic(said))
        try:
            found = self._found(owner, said, messages)
        except EmbeddingUnavailable:
            log.warning("recall.skipped", exc_info=True, extra={"owner": masked(owner)})
            return []
        except StoreUnavailable:
            log.warning("recall.skipped", exc_info=True, extra={"owner": masked(owner)})
            outage_note.note("recall")
            return []
        return self.shown.in_budget(owner, found)

    def _found(
        self, owner: OwnerKey, said: Sequence[str], messages: Sequence[BaseMessage]
    ) -> list[tuple[Memory, float]]:
        beside = self.person.beside(owner, messages)
        limit = self.settings.recall_limit
        return self.reminders.recall(
            owner,
            self.person.role(owner),
            said,
            limit=limit or max(_FEWEST_LINES, self.settings.recall_tokens // _SHORT_LINE),
            min_similarity=self.settings.min_similarity,
            beside=beside,
            # What another asked in the group before asks nothing of what is only theirs.
            by_one=last_said(answered_now(messages)) if beside else [],
        )
