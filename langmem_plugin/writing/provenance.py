"""The reasons for what is remembered: who said it when, in which words, in place of what, and how it was last used."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select

from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.session_manager import SessionManager
from langmem_plugin.database.conversation_tables import thread_owner
from langmem_plugin.database.memory_tables import memory_access
from langmem_plugin.database.owners_and_erasures import owner_key
from langmem_plugin.errors import DamagedSession, MemoryNotFound, UnknownSession
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.memory_types import plain
from langmem_plugin.notebook_view import Cells, card, in_words
from langmem_plugin.text_sanitizing import indented

_LONGEST_CHAIN = 10  # facts, each in the place of the one before


@dataclass(frozen=True)
class Said:
    """The person's message that a memory is from."""

    text: str
    session_id: str
    at: datetime
    message_id: str


@dataclass(frozen=True)
class LastUse:
    """The last use by a reply; `kind` as in the access log: injected or cited."""

    kind: str
    at: datetime
    relevance: float | None
    session_id: str | None


@dataclass(frozen=True)
class Why:
    """The reasons for one memory.

    `said` is the message it is from, where that is still there; `memory.quote` is the person's own words anyway.
    `instead_of` is what it took the place of, the last first, and `replaced_by` what took its place. `signals` say by
    what a query finds it.
    """

    memory: Memory
    said: Said | None = None
    instead_of: tuple[Memory, ...] = ()
    replaced_by: Memory | None = None
    last_use: LastUse | None = None
    signals: Mapping[str, float] = field(default_factory=dict)

    @property
    def quote(self) -> str | None:
        """Return the person's words, where they are known."""
        return self.memory.quote or (self.said.text if self.said is not None else None)

    @property
    def told_at(self) -> datetime:
        return self.said.at if self.said is not None else self.memory.told_at

    def cells(self) -> Cells:
        held, use = self.memory, self.last_use
        by = ", ".join(f"{name} {value:.2f}" for name, value in self.signals.items())
        before = [f"{each.text} (until {each.over_at or each.updated_at:%Y-%m-%d})" for each in self.instead_of]
        return {
            "memory": held.text,
            "status": held.status,
            "from": held.source_type.replace("_", " "),
            "told": self.told_at,
            "said": f"“{self.quote}”" if self.quote else None,
            "in session": self.said.session_id if self.said else None,
            "instead of": before,
            "replaced by": self.replaced_by.text if self.replaced_by else None,
            f"last {use.kind}" if use else "last used": use.at if use else None,
            "relevance": use.relevance if use else None,
            "found by": by,
        }

    def _repr_html_(self) -> str:
        return card("Why it is remembered", self.cells())

    def __str__(self) -> str:
        told = {name: cell for name, cell in self.cells().items() if cell and name not in ("memory", "status")}
        return "\n".join(
            [indented(self.memory.text), *(f"  {name}: {indented(in_words(cell))}" for name, cell in told.items())]
        )


class Provenance:
    """The explainer of one owner's memories at a time; what is damaged, forgotten or another's is left
    out, or not found.
    """

    def __init__(self, service: MemoryService, saver: ConversationSaver, sessions: SessionManager) -> None:
        self._service = service
        self._saver = saver
        self._sessions = sessions

    def why(self, who: str | int, memory_id: str, *, query: str | None = None) -> Why:
        """Explain one memory of a person, and note that it was looked at; with `query`, by what that finds it.

        `str` makes the answer text. Raises as `by_id`, and EmbeddingUnavailable for a query.
        """
        owner = owner_key(self._service.database, who)
        why = self.by_id(owner, memory_id, query=query)
        self._service.note_viewed(owner, [memory_id])
        return why

    def by_id(self, owner: OwnerKey, memory_id: str, *, query: str | None = None) -> Why:
        """Explain the memory without noting a look. Raises MemoryNotFound, also for what was forgotten, and
        DamagedMemory where the database holds something else than what was written.
        """
        service = self._service
        with service.database.read() as connection:
            held = service.repository.by_id(connection, owner, memory_id)
            if held is None:
                service.repository.refuse_damaged(connection, owner, [memory_id])
        if held is None or held.status == "forgotten":
            raise MemoryNotFound(f"there is no memory {memory_id}: list the memories for their ids")
        return self.explained(held, None if query is None else self._signals(held, query))

    def explained(self, held: Memory, signals: Mapping[str, float] | None = None) -> Why:
        """Explain a memory that was just read."""
        service = self._service
        with service.database.read() as connection:
            before: list[Memory] = []
            looking, seen = [held.id], {held.id}
            while looking and len(before) < _LONGEST_CHAIN:
                older = [
                    each
                    for memory_id in looking
                    for each in service.repository.replaced_by(connection, held.owner, memory_id)
                    if each.id not in seen
                ]
                seen |= {each.id for each in older}
                before += older
                looking = [each.id for each in older]
            after = [] if held.superseded_by is None else [held.superseded_by]
            newer = service.repository.by_ids(connection, held.owner, after)
            used = connection.execute(
                select(*_USE)
                .where(memory_access.c.owner == held.owner, memory_access.c.memory_id == held.id, _BY_A_REPLY)
                .order_by(memory_access.c.at.desc())
                .limit(1)
            ).first()
        return Why(
            held,
            self._said(held),
            tuple(before[:_LONGEST_CHAIN]),
            next((each for each in newer if each.status != "forgotten"), None),
            LastUse(*used) if used is not None else None,
            signals or {},
        )

    def _said(self, held: Memory) -> Said | None:
        """Return the message that a memory is from, only out of a conversation of the owner's, whatever session
        the memory names.
        """
        if held.session_id is None or not self._is_own(held.session_id, held.owner):
            return None
        try:
            messages = self._sessions.messages(held.session_id)
        except (UnknownSession, DamagedSession):
            return None
        said = [each for each in messages if each.role == "user"]
        found = next((each for each in said if each.message_id == held.source_id), None)
        if found is None and held.quote:
            quote = plain(held.quote)
            found = next((each for each in said if quote in plain(each.content)), None)
        return None if found is None else Said(found.content, found.session_id, found.timestamp, found.message_id)

    def _is_own(self, session_id: str, owner: OwnerKey) -> bool:
        """Tell whether the session is the owner's. On a server a conversation's key is no person's: there its
        owner was noted.
        """
        try:
            thread = self._sessions.session(session_id).whatsapp_chat
        except (UnknownSession, DamagedSession):
            return False
        if thread == owner:
            return True
        with self._service.database.read() as connection:
            noted = connection.execute(select(thread_owner.c.owner).where(thread_owner.c.thread == thread)).scalar()
        return noted is not None and noted == owner

    def _signals(self, held: Memory, query: str) -> Mapping[str, float]:
        found = self._service.search(held.owner, query, min_relevance=0.0)
        return next((each.signals for each in found if each.memory.id == held.id), {})


_BY_A_REPLY = memory_access.c.kind.in_(("injected", "cited"))
_USE = (memory_access.c.kind, memory_access.c.at, memory_access.c.relevance, memory_access.c.session_id)
