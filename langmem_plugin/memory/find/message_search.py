"""The search in everything that was said: "what did I say about …", also of sessions that have ended."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select

from langmem_plugin.database import Database
from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.memory_tables import history_message as table
from langmem_plugin.database.memory_tables import history_vector
from langmem_plugin.database.owners_and_erasures import erasures_seen, owner_key, refuse_erased
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.find.corpus_cache import CorpusCache, Entry
from langmem_plugin.memory.find.fact_ranking import Query
from langmem_plugin.memory.find.message_ranking import ranked_messages
from langmem_plugin.memory.find.past_messages import (
    STORED,
    FoundMessage,
    PastMessage,
    as_it_stands,
    as_message,
    as_values,
)
from langmem_plugin.memory.keep.changes_and_checksums import (
    Damages,
    all_rows,
    begin_change,
    begin_removal,
    each_row,
    is_any,
    microseconds,
    owned,
)
from langmem_plugin.memory.keep.memory_repository import MemoryRepository
from langmem_plugin.memory.keep.vectors import StoredVectors, Vector, vector_columns
from langmem_plugin.memory.memory_types import EVERYTHING, Filter, Mode, storable
from langmem_plugin.telemetry import timed

Vectors = Mapping[str, Vector | None]  # by text; None where the model has none for it: words find it

_SPARE = 8  # messages shown in place of those that say what was forgotten


class MessageHistory:
    """The messages of every owner, apart from their memories: another corpus, ranked in another way. `corpora` are what
    this process holds of them.

    Above `owner_limit` messages an owner's oldest are deleted, a tenth of the limit at a time.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        vectors: StoredVectors,
        repository: MemoryRepository,
        damages: Damages,
        *,
        now: Callable[[], datetime],
        cache_bytes: int,
        owner_limit: int = 100_000,
    ) -> None:
        self.owner_limit = owner_limit
        self.operations = database.operations
        self._database = database
        self._embedder = embedder
        self._vectors = vectors
        self._repository = repository
        self._damages = damages
        self._now = now
        self.corpora = CorpusCache(self._changed, limit=cache_bytes)

    def add(self, owner: str | int, messages: Sequence[PastMessage]) -> int:
        """Store the messages that are not there yet, by message id; return how many were new. Empty
        texts are left out.
        """
        key, seen = owner_key(self._database, owner), erasures_seen(self._database)

        def may_write(connection: Connection) -> bool:
            begin_change(connection, key, 0)  # an erasure waits from here on
            refuse_erased(connection, key, seen)
            return True

        return self.follow(key, None, messages, may_write) or 0

    def follow(
        self,
        owner: str | int | None,
        session_id: str | None,
        messages: Sequence[PastMessage],
        may_write: Callable[[Connection], bool],
    ) -> int | None:
        """Make what is searchable of a session of this database equal to `messages`: added, changed, taken away.

        Searchable for `owner` alone, or, with None, for nobody. From then on whatever deletes the session deletes them
        too. Without a session they are added to those of no session here. `may_write` is asked inside the transaction:
        when it says no, nothing is written and the answer is None, else how many messages were new.
        """
        if owner is not None:
            owner = owner_key(self._database, owner)
        said = messages if owner is not None else []
        worded = [replace(each, text=storable(each.text)) for each in said if each.text.strip()]
        with self._database.read() as connection:
            _, fresh = self._difference(connection, owner, session_id, worded)
        if session_id is None and not fresh:
            return 0
        vectors = self._embedded(fresh.values())
        with self._database.write() as connection:
            if not may_write(connection):
                return None
            stale, fresh = self._difference(connection, owner, session_id, worded)
            self._remove(connection, stale)
            if owner is not None:
                self._store(connection, owner, fresh, vectors, of_session=session_id)
        return len(fresh)

    @timed("search")
    def search(
        self,
        owner: str | int,
        question: str,
        *,
        mode: Mode = "hybrid",
        limit: int = 10,
        min_relevance: float = 0.0,
        where: Filter = EVERYTHING,
        time_zone: tzinfo = UTC,
    ) -> list[FoundMessage]:
        """Return the messages most likely to answer, best first, as they stand now. Of the filter, sessions
        and dates apply.

        Words that the person asked to be forgotten are left out; corrected messages are marked. "Yesterday" in the
        question is a day of `time_zone`.
        """
        owner = owner_key(self._database, owner)
        if not question.strip():
            return []
        now = self._now().astimezone(time_zone)
        most = limit + _SPARE if limit > 0 else limit
        asked = Query.of(
            self._embedder,
            question,
            mode,
            limit=most,
            min_relevance=min_relevance,
            where=where,
            now=now,
        )
        with self._database.read() as connection:
            asked = replace(asked, among=_among(connection, owner, where))
            found = self.corpora.answers(
                connection,
                owner,
                lambda corpus: {hit.id: hit for hit in ranked_messages(corpus, asked)},
                lambda message_ids: self._by_ids(connection, owner, message_ids),
            )
            standing = as_it_stands(connection, self._repository, owner, [message for _, message in found])
        shown = [(hit, standing[hit.id]) for hit, _ in found if hit.id in standing][: max(limit, 0)]
        return [
            FoundMessage(each.message, each.corrected_by, hit.score, hit.similarity, hit.match_type, hit.signals)
            for hit, each in shown
        ]

    def of_no_session_here(self, connection: Connection, owner: OwnerKey) -> list[PastMessage]:
        """Return the messages that were added by themselves, in order: no session of this database has them."""
        mine = select(*STORED).where(table.c.owner == owner, table.c.of_session.is_(None))
        rows = all_rows(connection, mine.order_by(table.c.said_at, table.c.message_id))
        return list(self._damages.whole("message", rows, as_message, encryption_of(connection)))

    def count(self, owner: str | int) -> int:
        owner = owner_key(self._database, owner)
        with self._database.read() as connection:
            return self._count(connection, owner)

    def _count(self, connection: Connection, owner: OwnerKey) -> int:
        counted = select(func.count()).select_from(table).where(table.c.owner == owner)
        return int(connection.execute(counted).scalar_one())

    def _store(
        self,
        connection: Connection,
        owner: OwnerKey,
        messages: Mapping[str, PastMessage],
        vectors: Vectors,
        *,
        of_session: str | None,
    ) -> None:
        """Store the messages under the keys given; words alone find those whose text is not among `vectors`."""
        if not messages:
            return
        number, _ = begin_change(connection, owner, len(messages))
        encryption = encryption_of(connection)
        rows = [
            {"change": change, **as_values(owner, replace(each, message_id=key), of_session, encryption)}
            for change, (key, each) in enumerate(messages.items(), number + 1 - len(messages))
        ]
        connection.execute(insert(table), rows)
        found = ((key, vectors.get(each.text)) for key, each in messages.items())
        embedded = [(key, vector) for key, vector in found if vector is not None]
        if embedded:
            self._vectors.put(connection, owner, embedded, history_vector)
        above = self._count(connection, owner) - self.owner_limit
        if above > self.owner_limit // 10:
            mine = select(table.c.message_id).where(table.c.owner == owner)
            oldest = connection.execute(mine.order_by(table.c.said_at, table.c.change).limit(above)).scalars()
            self._remove(connection, [(owner, message_id) for message_id in oldest])

    def _remove(self, connection: Connection, keys: Sequence[tuple[OwnerKey, str]]) -> None:
        """Delete messages by (owner, message id); their owners' readers start again."""
        for owner in {whose for whose, _ in keys}:
            begin_removal(connection, owner)
            theirs = [message_id for whose, message_id in keys if whose == owner]
            connection.execute(delete(table).where(table.c.owner == owner, is_any(table.c.message_id, theirs)))

    def _embedded(self, messages: Iterable[PastMessage]) -> Vectors:
        """Return the vectors by text. A model may be slow: nobody is to wait for it in a transaction."""
        texts = list(dict.fromkeys(each.text for each in messages))
        return dict(zip(texts, self._embedder.each(texts), strict=True))

    def _difference(
        self, connection: Connection, owner: OwnerKey | None, session_id: str | None, messages: Sequence[PastMessage]
    ) -> tuple[list[tuple[OwnerKey, str]], dict[str, PastMessage]]:
        """Return the keys of what is searchable of a session and should not be, and by id what should be and is not."""
        held = {} if session_id is None else self._held(connection, session_id)
        wanted = self._keyed(connection, owner, session_id, messages) if owner is not None else {}
        stale = [key for key, text in held.items() if key[0] != owner or _text(wanted.get(key[1])) != text]
        kept = {message_id for whose, message_id in held.keys() - set(stale) if whose == owner}
        return stale, {key: each for key, each in wanted.items() if key not in kept}

    def _held(self, connection: Connection, session_id: str) -> dict[tuple[OwnerKey, str], str]:
        """Return (owner, message id) → text of what is searchable of a session of this database; "" if damaged."""
        rows = all_rows(connection, select(*STORED).where(table.c.of_session == session_id))
        encryption = encryption_of(connection)
        return {(row.owner, row.message_id): _text(as_message(row, encryption)) or "" for row in rows}

    def _keyed(
        self, connection: Connection, owner: OwnerKey, session_id: str | None, messages: Sequence[PastMessage]
    ) -> dict[str, PastMessage]:
        """Return the messages by id; where the owner has that id from another session, a copy of it, by both ids, or
        without a session nothing.
        """
        another = () if session_id is None else (table.c.of_session.is_distinct_from(session_id),)
        elsewhere = owned(connection, owner, table.c.message_id, [each.message_id for each in messages], *another)
        if session_id is None:
            return {each.message_id: each for each in messages if each.message_id not in elsewhere}
        return {
            f"{session_id}/{each.message_id}" if each.message_id in elsewhere else each.message_id: each
            for each in messages
        }

    def _by_ids(self, connection: Connection, owner: OwnerKey, message_ids: Sequence[str]) -> dict[str, PastMessage]:
        mine, encryption = select(*STORED).where(table.c.owner == owner), encryption_of(connection)
        rows = all_rows(connection, mine.where(is_any(table.c.message_id, message_ids)))
        found = self._damages.whole("message", rows, as_message, encryption)
        return {each.message_id: each for each in found}

    def _changed(self, connection: Connection, owner: OwnerKey, since: int) -> Iterable[tuple[str, Entry | None]]:
        statement = (
            select(*STORED, *vector_columns(self._vectors.model, table))
            .where(table.c.owner == owner, table.c.change > since)
            .order_by(table.c.change)
        )
        encryption = encryption_of(connection)
        for row in each_row(connection, statement):
            message = as_message(row[:-2], encryption)
            if message is None:
                self._damages.report("message", owner, row.message_id)
                continue
            message_id = message.message_id
            whole = self._vectors.whole(encryption, "message vector", owner, message_id, row[-2:])
            at = microseconds(message.said_at)
            said_in, by = message.session_id, message.speaker
            yield message_id, Entry(message_id, message.text, whole, at, session_id=said_in, speaker=by)


def _among(connection: Connection, owner: OwnerKey, where: Filter) -> Sequence[str] | None:
    """Return the ids of what the filter lets through; None for everything."""
    fitting: list[ColumnElement[bool]] = []
    if where.sessions:
        fitting.append(is_any(table.c.session_id, where.sessions))
    if where.created_after is not None:
        fitting.append(table.c.said_at >= where.created_after)
    if where.created_before is not None:
        fitting.append(table.c.said_at < where.created_before)
    ids = select(table.c.message_id).where(table.c.owner == owner, *fitting)
    return connection.execute(ids).scalars().all() if fitting else None


def _text(message: PastMessage | None) -> str | None:
    return None if message is None else message.text
