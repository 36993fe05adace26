"""After a change of model: gives every memory and message a vector of the new one, in the background."""

from collections.abc import Callable

from sqlalchemy import delete

from langmem_plugin.database import BULK_WORK
from langmem_plugin.memory.embedding.missing_vectors import MEMORIES, MESSAGES
from langmem_plugin.memory.service import MemoryService


def waiting(service: MemoryService) -> int:
    """How many texts have no vector of the present model; until then words alone find them."""
    return sum(service.missing_vectors.count(of) for of in (MEMORIES, MESSAGES))


def reembed(service: MemoryService, progress: Callable[[int], object] = lambda _: None) -> int:
    """Embeds what waits, a batch at a time, and then deletes the vectors of other models; how many it embedded.

    Stopping it loses nothing: the next call goes on. Vectors of two models are never compared, as each search
    reads those of its own. Raises EmbeddingUnavailable, with what is done kept.
    """
    done = 0
    for of in (MEMORIES, MESSAGES):
        for size in service.missing_vectors.made(of):
            done += size
            progress(done)
            if service.background.closing.is_set():
                return done
    with service.database.write(patience=BULK_WORK) as connection:
        for of in (MEMORIES, MESSAGES):
            connection.execute(delete(of.vectors).where(of.vectors.c.model != service.embedder.model))
    if service.index is not None:
        for owner in service.index.owners():
            service.index.drop_other_models(owner)
    return done


def reembed_in_background(service: MemoryService, progress: Callable[[int], object] = lambda _: None) -> None:
    """The same while the service answers: what has no vector yet is found by words. Closing the service stops it.

    Call it where the model was changed on purpose: the vectors of the other are deleted in the end.
    """
    service.background.ask("embeddings", lambda: reembed(service, progress))
