"""After a change of model: gives every memory and message a vector of the new one, in the background."""

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import Table, and_, delete, func, select, tuple_, update

from langmem_plugin.database.memory_tables import history_message, history_vector, memory, memory_vector
from langmem_plugin.memory.service import MemoryService
from langmem_plugin.memory.vectors import to_bytes

_BATCH = 64

_CORPORA = ((memory, memory_vector, "memory_id"), (history_message, history_vector, "message_id"))


def waiting(service: MemoryService) -> int:
    """How many texts have no vector of the present model; until then words alone find them."""
    with service.database.read() as connection:
        return sum(
            int(
                connection.execute(
                    select(func.count()).select_from(_joined(service, *corpus)).where(corpus[1].c.vector.is_(None))
                ).scalar_one()
            )
            for corpus in _CORPORA
        )


def reembed(service: MemoryService, progress: Callable[[int], object] = lambda _: None) -> int:
    """Embeds what waits, a batch at a time, and then deletes the vectors of other models; how many it embedded.

    Stopping it loses nothing: the next call goes on. Vectors of two models are never compared, as each search
    reads those of its own. Raises EmbeddingUnavailable, with what is done kept.
    """
    done = 0
    for corpus in _CORPORA:
        for size in _embedded(service, *corpus):
            done += size
            progress(done)
            if service.background.closing.is_set():
                return done
    with service.database.write() as connection:
        for _, vectors, _ in _CORPORA:
            connection.execute(delete(vectors).where(vectors.c.model != service.embedder.model))
    if service.index is not None:
        for owner in service.index.owners():
            service.index.drop_other_models(owner)
    return done


def reembed_in_background(service: MemoryService, progress: Callable[[int], object] = lambda _: None) -> None:
    """The same while the service answers: what has no vector yet is found by words. Closing the service stops it.

    Call it where the model was changed on purpose: the vectors of the other are deleted in the end.
    """
    service.background.ask("embeddings", lambda: reembed(service, progress))


def _embedded(service: MemoryService, texts: Table, vectors: Table, name: str) -> Iterable[int]:
    """How many of each batch were stored. What the model has no vector for is passed by until the next call."""
    key = texts.c[name]
    waiting_rows = (
        select(texts.c.owner, key.label("id"), texts.c.text)
        .select_from(_joined(service, texts, vectors, name))
        .where(vectors.c.vector.is_(None))
        .order_by(texts.c.owner, key)
        .limit(_BATCH)
    )
    after = ("", "")
    while True:
        with service.database.read() as connection:
            rows = connection.execute(waiting_rows.where(tuple_(texts.c.owner, key) > after)).all()
        if not rows:
            return
        after = (rows[-1].owner, rows[-1].id)
        made = service.embedder.each([row.text for row in rows])
        embedded = [(row, vector) for row, vector in zip(rows, made, strict=True) if vector is not None]
        with service.database.write() as connection:
            for row, vector in embedded:
                number, _ = service.repository.begin_change(connection, row.owner)
                # Only what still says what was embedded; whoever changed it has embedded it anew.
                kept = connection.execute(
                    update(texts)
                    .where(texts.c.owner == row.owner, key == row.id, texts.c.text == row.text)
                    .values(change=number)
                )
                if kept.rowcount:
                    stored = {"owner": row.owner, name: row.id, "vector": to_bytes(vector)}
                    service.repository.put_vectors(connection, vectors, name, [stored])
        yield len(embedded)


def _joined(service: MemoryService, texts: Table, vectors: Table, name: str) -> Any:
    return texts.outerjoin(
        vectors,
        and_(
            vectors.c.owner == texts.c.owner,
            vectors.c[name] == texts.c[name],
            vectors.c.model == service.embedder.model,
        ),
    )
