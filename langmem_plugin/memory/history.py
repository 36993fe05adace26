"""Everything that was said, searchable: "what did I say about …", also of sessions that have ended."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import BigInteger, Connection, and_, delete, func, insert, select, type_coerce, update

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import history_message as table
from langmem_plugin.database.memory_tables import history_vector, memory_owner
from langmem_plugin.memory.cache import CorpusCache
from langmem_plugin.memory.corpus import Corpus, Entry
from langmem_plugin.memory.embedder import Embedder
from langmem_plugin.memory.messages import ranked_messages
from langmem_plugin.memory.models import EVERYTHING, Filter, MatchType, Mode, storable
from langmem_plugin.memory.repository import MemoryRepository
from langmem_plugin.memory.search import Query
from langmem_plugin.memory.vectors import to_bytes

_AT_ONCE = 500


@dataclass(frozen=True)
class Said:
    """One message of a person or of the bot; `speaker` is a name or a role."""

    message_id: str
    session_id: str
    speaker: str
    text: str
    said_at: datetime


@dataclass(frozen=True)
class FoundMessage:
    """A message that answers a question; the other fields as in Found."""

    message: Said
    score: float
    similarity: float
    match_type: MatchType
    signals: dict[str, float]


class MessageHistory:
    """The messages of every owner, apart from their memories: another corpus, ranked in another way."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        repository: MemoryRepository,
        *,
        now: Callable[[], datetime],
        cache_bytes: int,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._repository = repository
        self._now = now
        self._messages = CorpusCache(
            lambda _connection, _owner: Corpus(embedder.dimension), self._changed, limit=cache_bytes
        )

    def add(self, owner: str, messages: Sequence[Said]) -> int:
        """Stores what is not there yet, by message id, and returns how many were new; empty texts are left out."""
        worded = {each.message_id: replace(each, text=storable(each.text)) for each in messages if each.text.strip()}
        with self._database.read() as connection:
            known = self._known(connection, owner, list(worded))
        fresh = [each for each in worded.values() if each.message_id not in known]
        if not fresh:
            return 0
        vectors = self._embedder.texts([each.text for each in fresh])
        with self._database.write() as connection:
            number, _ = self._repository.begin_change(connection, owner, len(fresh))
            known = self._known(connection, owner, list(worded))  # by another process, meanwhile
            rows, embedded = [], []
            for change, (each, vector) in enumerate(zip(fresh, vectors, strict=True), number + 1 - len(fresh)):
                if each.message_id in known:
                    continue
                key = {"owner": owner, "message_id": each.message_id}
                rows.append(
                    key
                    | {
                        "change": change,
                        "session_id": each.session_id,
                        "speaker": each.speaker,
                        "text": each.text,
                        "said_at": each.said_at,
                    }
                )
                embedded.append(key | {"model": self._embedder.model, "vector": to_bytes(vector)})
            if rows:
                connection.execute(insert(table), rows)
                connection.execute(insert(history_vector), embedded)
        return len(rows)

    def search(
        self,
        owner: str,
        question: str,
        *,
        mode: Mode = "hybrid",
        limit: int = 10,
        min_relevance: float = 0.0,
        where: Filter = EVERYTHING,
    ) -> list[FoundMessage]:
        """The messages most likely to answer, best first. Of the filter, sessions and dates apply."""
        if not question.strip():
            return []
        asked = Query.of(
            self._embedder, question, mode, limit=limit, min_relevance=min_relevance, where=where, now=self._now()
        )
        with self._database.read() as connection:
            with self._messages.corpus(connection, owner) as corpus:
                hits = ranked_messages(corpus, asked)
            said = self._by_ids(connection, owner, [hit.id for hit in hits])
        return [
            FoundMessage(said[hit.id], hit.score, hit.similarity, hit.match_type, hit.signals)
            for hit in hits
            if hit.id in said
        ]

    def remove_sessions(self, owner: str, session_ids: Sequence[str]) -> int:
        """Deletes every message of these sessions for good, and returns how many there were."""
        with self._database.write() as connection:
            number, _ = self._repository.begin_change(connection, owner)
            removed = connection.execute(
                delete(table).where(table.c.owner == owner, table.c.session_id.in_(session_ids))
            ).rowcount
            connection.execute(update(memory_owner).where(memory_owner.c.owner == owner).values(rebuild=number))
        return removed

    def count(self, owner: str) -> int:
        with self._database.read() as connection:
            counted = select(func.count()).select_from(table).where(table.c.owner == owner)
            return int(connection.execute(counted).scalar_one())

    def _known(self, connection: Connection, owner: str, message_ids: Sequence[str]) -> set[str]:
        known: set[str] = set()
        for start in range(0, len(message_ids), _AT_ONCE):
            part = message_ids[start : start + _AT_ONCE]
            known.update(
                connection.execute(
                    select(table.c.message_id).where(table.c.owner == owner, table.c.message_id.in_(part))
                ).scalars()
            )
        return known

    def _by_ids(self, connection: Connection, owner: str, message_ids: Sequence[str]) -> dict[str, Said]:
        rows = connection.execute(select(table).where(table.c.owner == owner, table.c.message_id.in_(message_ids)))
        return {
            row.message_id: Said(row.message_id, row.session_id, row.speaker, row.text, row.said_at) for row in rows
        }

    def _changed(self, connection: Connection, owner: str, since: int) -> Iterable[tuple[str, Entry | None]]:
        rows = connection.execute(
            select(
                table.c.message_id,
                table.c.text,
                history_vector.c.vector,
                type_coerce(table.c.said_at, BigInteger),
                table.c.session_id,
                table.c.speaker,
            )
            .outerjoin(
                history_vector,
                and_(
                    history_vector.c.owner == table.c.owner,
                    history_vector.c.message_id == table.c.message_id,
                    history_vector.c.model == self._embedder.model,
                ),
            )
            .where(table.c.owner == owner, table.c.change > since)
            .order_by(table.c.change)
        )
        for row in rows:
            yield row.message_id, Entry(*row)
