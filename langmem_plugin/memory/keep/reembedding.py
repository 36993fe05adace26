"""Give memories and messages the vectors of the present model that they lack: after it changed, or after damage.

Damage is mended by itself. After a change of model PhoneMemory begins by itself; with a MemoryService alone call `run`,
as `langmem reindex` does, or `run_in_background`.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, delete, func, select, tuple_, update

from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.encryption import Encryption
from langmem_plugin.database.memory_tables import history_message, history_vector, memory, memory_vector
from langmem_plugin.database.operations_tables import upkeep
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.logs import event_log
from langmem_plugin.memory.calls_with_timeout import BackgroundThread
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.find import past_messages
from langmem_plugin.memory.find.past_messages import PastMessage, as_message
from langmem_plugin.memory.index.vector_index import VectorIndex
from langmem_plugin.memory.keep.changes_and_checksums import AnyRow, Damages, Kind, all_rows, begin_change
from langmem_plugin.memory.keep.memory_row_mapping import STORED, as_memory
from langmem_plugin.memory.keep.vectors import NAMED_BY, StoredVectors, vector_columns
from langmem_plugin.memory.memory_types import Memory, storable

log = event_log(__name__)

_BATCH = 64
_ONLY = "only vectors of "  # the model's name follows


class Texts(NamedTuple):
    """A table of texts, that of their vectors, and how a text is read from which columns."""

    texts: Table
    vectors: Table
    columns: Sequence[ColumnElement[Any]]
    read: Callable[[AnyRow, Encryption], Memory | PastMessage | None]

    @property
    def name(self) -> str:
        return NAMED_BY[self.vectors]

    def text(self, row: AnyRow, encryption: Encryption) -> str | None:
        """Return the text of a row; None where it cannot be had."""
        found = self.read(row, encryption)
        return None if found is None else found.text


MEMORIES = Texts(memory, memory_vector, STORED, as_memory)
MESSAGES = Texts(history_message, history_vector, past_messages.STORED, as_message)


class Reembedding:
    """The making of vectors anew: nothing is embedded in a transaction; when it stops, the next call goes
    on without loss.

    Vectors of two models are never compared, as each search reads those of its own. A damaged vector is made anew
    in the background as soon as it is met.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        vectors: StoredVectors,
        damages: Damages,
        *,
        index: VectorIndex | None,
        background: BackgroundThread,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._vectors = vectors
        self._damages = damages
        self._index = index
        self._background = background
        damages.mend = self._mend_soon

    def waiting(self) -> int:
        """Return how many texts have no vector of the present model; until then words alone find them."""
        with self._database.read() as connection:
            return sum(
                connection.scalar(select(func.count()).select_from(of.texts).where(self._is_missing(of)))
                for of in (MEMORIES, MESSAGES)
            )

    def begin_after_change(self) -> None:
        """Run `run_in_background`, with a WARNING, where vectors of another model are there.

        They are looked for once for each model: a note in the database tells that all are of this one.
        """
        noted = select(upkeep.c.name).where(upkeep.c.name == _ONLY + self._vectors.model)
        with self._database.read() as connection:
            if connection.execute(noted).first() is not None:
                return
            others = [
                select(of.vectors.c.model).where(of.vectors.c.model != self._vectors.model).limit(1)
                for of in (MEMORIES, MESSAGES)
            ]
            before = next(filter(None, (connection.execute(each).scalar() for each in others)), None)
        try:
            with self._database.write() as connection:
                self._note(connection, is_only=before is None)
        except StoreUnavailable:
            log.warning("embedding.not_noted", exc_info=True)
        if before is not None:
            log.warning("embedding.model_changed", extra={"model": self._vectors.model, "before": before})
            self.run_in_background()

    def _note(self, connection: Connection, *, is_only: bool) -> None:
        """Note that all vectors are of this model, or forget that they are of another."""
        connection.execute(delete(upkeep).where(upkeep.c.name.startswith(_ONLY, autoescape=True)))
        if is_only:
            noted = {"name": _ONLY + self._vectors.model, "noted_at": datetime.now(UTC)}
            connection.execute(insert_unless_there(upkeep)[connection.dialect.name], noted)

    def run(self, progress: Callable[[int], object] = lambda _: None) -> int:
        """Embed the texts that wait, a batch at a time, and then delete the vectors of other models; return how
        many were embedded.

        Raises EmbeddingUnavailable, with what is done kept.
        """
        done = 0
        for of in (MEMORIES, MESSAGES):
            for size in self._made(of):
                done += size
                progress(done)
                if self._background.closing.is_set():
                    return done
        with self._database.write(patience=BULK_WORK) as connection:
            for of in (MEMORIES, MESSAGES):
                connection.execute(delete(of.vectors).where(of.vectors.c.model != self._vectors.model))
            self._note(connection, is_only=True)
        if self._index is not None:
            for owner in self._index.owners():
                self._index.catch_up(owner)
        return done

    def run_in_background(self) -> None:
        """Embed while the service answers: texts without a vector are found by words. Closing the service stops it.

        Call it where the model was changed on purpose: the vectors of the other are deleted in the end.
        """
        self._background.ask("embeddings", self.run)

    def _mend_soon(self, kind: Kind, owner: OwnerKey, row_id: str) -> None:
        self._background.ask(f"{kind} {row_id} of {owner}", functools.partial(self._mend, kind, owner, row_id))

    def _made(self, of: Texts) -> Iterator[int]:
        """Give how many of each batch were made, once they are stored.

        A text the model has no vector for is passed by. Raises EmbeddingUnavailable.
        """
        key = of.texts.c[of.name]
        missing = select(*of.columns).where(self._is_missing(of)).order_by(of.texts.c.owner, key).limit(_BATCH)
        after = ("", "")
        while True:
            with self._database.read() as connection:
                rows = all_rows(connection, missing.where(tuple_(of.texts.c.owner, key) > after))
            if not rows:
                return
            after = (rows[-1].owner, getattr(rows[-1], of.name))
            yield self._embedded(of, rows)

    def _mend(self, kind: Kind, owner: OwnerKey, row_id: str) -> None:
        """Make one damaged vector anew. Until then, and where that fails, words alone find its text.

        Raises EmbeddingUnavailable.
        """
        of = MEMORIES if kind == "memory vector" else MESSAGES
        its_text = select(*of.columns).where(of.texts.c.owner == owner, of.texts.c[of.name] == row_id)
        with self._database.read() as connection:
            rows = all_rows(connection, its_text)
        if self._embedded(of, rows):
            self._damages.forget(kind, owner, row_id)

    def _embedded(self, of: Texts, rows: Sequence[AnyRow]) -> int:
        encryption = self._database.encryption
        texts = [of.text(row, encryption) for row in rows]
        readable = [(row, text) for row, text in zip(rows, texts, strict=True) if text is not None]
        vectors = self._embedder.each([text for _, text in readable])
        embedded = [
            (row, text, vector)
            for (row, text), vector in zip(readable, vectors, strict=True)
            if vector is not None and storable(text) == text
        ]
        with self._database.write() as connection:
            for row, text, vector in embedded:
                number, _ = begin_change(connection, row.owner)
                row_id = getattr(row, of.name)
                here = (of.texts.c.owner == row.owner, of.texts.c[of.name] == row_id)
                # Only texts that are still as they were embedded; a change has embedded its text anew.
                for now in all_rows(connection, select(*of.columns).where(*here)):
                    if of.text(now, encryption) != text:
                        continue
                    connection.execute(update(of.texts).where(*here).values(change=number))
                    self._vectors.put(connection, row.owner, [(row_id, vector)], of.vectors)
        return len(embedded)

    def _is_missing(self, of: Texts) -> ColumnElement[bool]:
        vector, _ = vector_columns(self._vectors.model, of.texts)
        return vector.is_(None)
