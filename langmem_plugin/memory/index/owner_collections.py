"""Which collections of the vector store are an owner's, what they are called, and how they are deleted."""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping

from langchain_core.vectorstores import VectorStore

from langmem_plugin.database import Database
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.logs import event_log
from langmem_plugin.memory.index.index_progress import IndexProgress, OwnerProgress
from langmem_plugin.memory.index.vector_store_pool import VectorStorePool

log = event_log(__name__)


class OwnerCollections:
    """One for each model and generation, named by a keyed hash, or, whatever these are, as `names` says."""

    def __init__(
        self,
        database: Database,
        progress: IndexProgress,
        pool: VectorStorePool,
        *,
        model: str,
        names: Mapping[OwnerKey, str],
    ) -> None:
        self.names = names
        self._database = database
        self._progress = progress
        self._pool = pool
        self._model = model

    def name(self, owner: OwnerKey, progress: OwnerProgress) -> str:
        return self.names.get(owner) or _hashed(owner, progress.salt, self._model, progress.generation)

    def drop(self, owner: OwnerKey, name: str) -> bool:
        """Deletes the collection where the store can do that, else all vectors in it; False when that fails."""
        self._pool.forget(name)
        dropped = self._pool.tried(name, lambda opened: self._emptied(opened.store, owner), strict=False)
        self._pool.forget(name)
        if dropped is None:
            log.warning("index.left_behind")
        return dropped is True

    def drop_other_models(self, owner: OwnerKey) -> None:
        """Deletes the collections that hold the owner's vectors of other models than the present one."""
        progress = self._progress.read(owner)
        others = [each for each in self._progress.generations(owner) if each[0] != self._model]
        if progress is not None and others:
            with self._progress.alone(owner):
                for model, newest in others:
                    if self._drop_all(owner, progress, model, newest):
                        self._progress.forget(owner, model)

    @contextlib.contextmanager
    def erasing(self, owner: OwnerKey) -> Iterator[None]:
        """Deletes the owner's collections; inside the block the owner is to be deleted from the database.

        Raises StoreUnavailable when a collection cannot be deleted: nothing is deleted from the database then.
        """
        progress = self._progress.read(owner)
        if progress is None:
            yield
            return
        with self._progress.alone(owner):
            for model, newest in self._progress.generations(owner):
                if not self._drop_all(owner, progress, model, newest):
                    raise StoreUnavailable("the vector index of this owner cannot be deleted now: try again")
            yield
        if owner in self.names:
            self._pool.tried(self.names[owner], lambda _: True)

    def drop_named(self, name: str) -> bool:
        """Deletes a collection whose owner is gone already; False when that fails, or the store cannot."""

        def emptied(store: VectorStore) -> bool:
            if not hasattr(store, "delete_collection"):
                return False
            store.delete_collection()
            return True

        self._pool.forget(name)
        dropped = self._pool.tried(name, lambda opened: emptied(opened.store), strict=False)
        self._pool.forget(name)
        return dropped is True

    def named(self, owner: OwnerKey) -> list[str]:
        """Every collection of the owner that may be there, of whatever model."""
        progress = self._progress.read(owner)
        if progress is None:
            return []
        names = [
            _hashed(owner, progress.salt, model, each)
            for model, newest in self._progress.generations(owner)
            for each in range(1, newest + 1)
        ]
        return [*names, *([self.names[owner]] if owner in self.names else [])]

    def _drop_all(self, owner: OwnerKey, progress: OwnerProgress, model: str, newest: int) -> bool:
        """Every collection of the model that may be there, those that were left behind among them."""
        names = [_hashed(owner, progress.salt, model, each) for each in range(1, newest + 1)]
        names += [self.names[owner]] if owner in self.names else []
        dropped = [self.drop(owner, name) for name in names]
        return all(dropped)

    def _emptied(self, store: VectorStore, owner: OwnerKey) -> bool:
        if hasattr(store, "delete_collection"):
            store.delete_collection()
            return True
        after = ""
        while True:
            with self._database.read() as connection:
                ids = self._progress.ids(connection, owner, after)
            if not ids:
                return True
            store.delete(ids=ids)
            after = ids[-1]


def _hashed(owner: OwnerKey, salt: bytes, model: str, generation: int) -> str:
    hashed = hashlib.blake2b(f"{model}\n{owner}".encode(), key=salt, digest_size=16).hexdigest()
    return f"memories{hashed}g{generation}"
