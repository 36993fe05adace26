"""Vector collections in a Chroma database of our own: opened by one process, made anew when damaged."""

import contextlib
import logging
import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any, cast

import chromadb
import numpy as np
from chromadb.api.client import Client
from chromadb.config import Settings
from filelock import FileLock
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from langmem_plugin import forks
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory.index.noted_files import NotedFiles
from langmem_plugin.memory.index.vector_stores import StoredVectors, failures

log = logging.getLogger(__name__)

_DAMAGED = {11, 26}  # SQLite's codes of a file that is malformed, or no database at all


class ChromaCollections:
    """Opens collections, and the database anew when its file was replaced, deleted or is damaged."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "chroma.sqlite3"
        # Chroma ends the process when it reads vectors with flipped bits.
        self._vectors = NotedFiles(folder, _holds_vectors)
        self._settings = Settings(anonymized_telemetry=False)
        self._opening = forks.Lock()
        self._lock: FileLock | None = None
        self._client: Client | None = None
        self._inode: int | None = None
        self._is_of_parent = False
        forks.register(after_in_child=self._leave_to_parent)

    def __call__(self, name: str, embeddings: StoredVectors) -> VectorStore:
        """Raises ConfigurationError for a collection of this name that is of another distance or dimension."""
        with self._opening:
            self._hold_folder()
            try:
                return self._collection(name, embeddings)
            except failures() as error:
                if not _damaged(error):
                    raise
                log.warning("index.damaged", exc_info=True)
                self._delete_files()
                return self._collection(name, embeddings)

    def close(self) -> None:
        with self._opening:
            if self._is_of_parent:
                return
            self._close_client()
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def _collection(self, name: str, embeddings: StoredVectors) -> VectorStore:
        self.check_lock()
        client = self._current_client()
        store = _Collection(name, embeddings, client=client, collection_metadata={"hnsw:space": "cosine"})
        store.check_lock, store.note_vectors = self.check_lock, self._vectors.note
        made = client.get_collection(name)
        space = (made.configuration_json.get("hnsw") or {}).get("space")
        dimension = made._model.dimension  # noqa: SLF001 - Chroma tells it nowhere else
        if embeddings.strict and (space != "cosine" or dimension not in (None, embeddings.dimension)):
            raise ConfigurationError(
                f"the Chroma collection {name!r} in {self._folder} compares vectors of {dimension} dimensions by "
                f"{space}, not of {embeddings.dimension} by cosine: delete it or choose another name"
            )
        return store

    def _leave_to_parent(self) -> None:
        """A client does not work in a forked process, nor does a new one of the same folder, and closing it hangs."""
        self._is_of_parent = self._lock is not None

    def _hold_folder(self) -> None:
        """Raises TimeoutError where another process has it."""
        if self._is_of_parent:
            raise TimeoutError(f"{self._folder} was open when this process was forked")
        if self._lock is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = FileLock(self._folder / "in-use.lock", mode=0o600, thread_local=False)
            lock.acquire(blocking=False)
            self._lock = lock

    def _current_client(self) -> Client:
        if self._client is not None and self._inode != _inode(self._file):
            self._close_client()
        if self._client is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._readable():  # a client that fails to open is kept by chromadb, and fails for ever
                log.warning("index.damaged")
                self._delete_files()
            for folder in self._vectors.damaged():
                log.warning("index.damaged", extra={"folder": folder.name})
                rmtree(folder)
            self._client = cast(Client, chromadb.PersistentClient(str(self._folder), self._settings))
            self._inode = _inode(self._file)
        return self._client

    def check_lock(self) -> None:
        """Raises TimeoutError where a program that is none of ours has locked the database.

        Chroma would wait for it, however long, and stop every thread of this process when it opens or writes.
        """
        self._readable()

    def _readable(self) -> bool:
        if not self._file.exists():
            return True
        try:
            with contextlib.closing(sqlite3.connect(self._file, timeout=0)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError as error:
            raise TimeoutError(f"{self._file} is locked") from error
        except sqlite3.DatabaseError:
            return False
        return True

    def _close_client(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _delete_files(self) -> None:
        """Of a damaged database: everything in it is made anew from ours."""
        self._close_client()
        for path in self._folder.iterdir():
            if path.name.startswith(self._file.name):
                path.unlink()
            elif path.is_dir() and _holds_vectors(path):
                rmtree(path)


class _Collection(Chroma):
    check_lock: Callable[[], None]
    note_vectors: Callable[[], None]

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The inherited one fails for documents without metadata, and reads more than ids."""
        return [Document(page_content=each, id=each) for each in self.get(list(ids), include=[])["ids"]]

    def similarity_search_by_vector(self, embedding: list[float], k: int = 4, **_: Any) -> list[Document]:  # type: ignore[override]
        """Without the stored texts, which are the ids again, it takes half the time."""
        found = self._collection.query(query_embeddings=np.array([embedding], np.float32), n_results=k, include=[])
        return [Document(page_content=each, id=each) for each in found["ids"][0]]

    def add_texts(self, texts: Iterable[str], *arguments: Any, **named: Any) -> list[str]:
        self.check_lock()
        added = super().add_texts(texts, *arguments, **named)
        self.note_vectors()
        return added

    def delete(self, ids: list[str] | None = None, **named: Any) -> None:
        self.check_lock()
        super().delete(ids, **named)
        self.note_vectors()

    def delete_collection(self) -> None:
        self.check_lock()
        super().delete_collection()
        self.note_vectors()


def _damaged(error: BaseException) -> bool:
    code = re.search(r"\(code: (\d+)\)", str(error))
    return code is not None and int(code[1]) & 0xFF in _DAMAGED


def _holds_vectors(folder: Path) -> bool:
    return re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", folder.name) is not None


def _inode(file: Path) -> int | None:
    return file.stat().st_ino if file.exists() else None
