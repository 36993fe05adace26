"""One person's memory as a LangChain retriever: for chains, agents and all else that takes one."""

from datetime import datetime
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables.config import run_in_executor
from pydantic import ConfigDict, Field, PrivateAttr

from langmem_plugin.agent.agent_parts import AgentParts
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.find.past_messages import FoundMessage
from langmem_plugin.memory.find.recall import search_for
from langmem_plugin.memory.models import EVERYTHING, Filter, Found

PAST = "past_message"
"""The `type` of a document that is no fact, but what was said in an earlier conversation."""


class MemoryRetriever(BaseRetriever):
    """A retriever of one person's memories, and of the shared ones they may see, as documents, the most certain first.

    `page_content` is the fact; `metadata` has its `id`, `type`, `category`, `tags`, `score` (how surely it is about the
    question, in [0, 1]), the `signals` behind that and `created_at`, all as JSON has them. At most `limit` facts, none
    below `min_relevance`; `where` filters them. With `past` as many messages of earlier conversations follow, with
    `session_id`, `by` and `note`; of `where` sessions and dates apply to them.

    Whose it is cannot be changed any more. The identifier is looked up at each call: after a link or a merge it finds
    what that person has. Raises what `MemoryService.search` raises. `memory.context.retriever` makes one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    limit: int = Field(default=5, ge=1)
    min_relevance: float = Field(default=0.7, ge=0.0, le=1.0)
    where: Filter = EVERYTHING
    past: bool = False

    _who: str = PrivateAttr()
    _parts: AgentParts = PrivateAttr()

    @classmethod
    def of(cls, who: str, parts: AgentParts, **fields: Any) -> "MemoryRetriever":
        """Make the retriever of a person; `who` is a normalised identifier."""
        made = cls(**fields)
        made._who, made._parts = who, parts
        return made

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's contract
    ) -> list[Document]:
        owner, service = self._parts.people.person_of(self._who), self._parts.service
        bounds: dict[str, Any] = {"limit": self.limit, "min_relevance": self.min_relevance}
        found = search_for(service, owner, self._parts.person.role(owner), query, where=self.where, **bounds)
        documents = [_fact(each, owner) for each in found]
        if self.past:
            zone = self._parts.people.time_zone(owner)
            said = service.history.search(owner, query, where=self.where, time_zone=zone, **bounds)
            documents += map(_message, said)
        return documents

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
    ) -> list[Document]:
        sync = run_manager.get_sync()
        # The configuration in force is the caller's: LangChain's own pool has few threads, and turns may wait in them.
        return await run_in_executor(self._parts.executor, self._get_relevant_documents, query, run_manager=sync)


def _fact(found: Found, owner: OwnerKey) -> Document:
    memory = found.memory
    about: dict[str, Any] = {"type": memory.fact_type, "category": memory.category, "tags": list(memory.tags)}
    about |= {"shared": memory.owner != owner}
    return _document(memory.id, memory.text, found, memory.created_at, about)


def _message(found: FoundMessage) -> Document:
    message = found.message
    about: dict[str, Any] = {"type": PAST, "category": None, "tags": [], "session_id": message.session_id}
    about |= {"by": message.speaker, "note": found.note}
    return _document(message.message_id, message.text, found, message.said_at, about)


def _document(known_by: str, text: str, found: Found | FoundMessage, at: datetime, about: dict[str, Any]) -> Document:
    metadata = {"id": known_by, "score": found.similarity, "signals": dict(found.signals), "created_at": at.isoformat()}
    return Document(id=known_by, page_content=text, metadata={**metadata, **about})
