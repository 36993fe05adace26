"""Vector collections in a Chroma database of our own: opened by one process, made anew when damaged."""

import contextlib
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any, cast

import numpy as np
from filelock import FileLock
from langchain_core.documents import Document

from langmem_plugin import process_forks
from langmem_plugin.errors import ConfigurationError, StoreUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.memory.index.stores import Collection, ForeignDocument, VectorsById

try:
    import chromadb
    from chromadb.api.client import Client
    from chromadb.config import Settings
    from chromadb.errors import ChromaError
    from langchain_chroma import Chroma
except ImportError as error:
    raise ImportError("the index chroma needs more: pip install 'phone-memory[chroma]'") from error

log = event_log(__name__)

_DAMAGED = {11, 26}  # SQLite's codes of a file that is malformed, or no database
_PATIENCE_SECONDS = 5.0
_PAGE = 1_000


class ChromaCollections:
    """The collections of one database, which is opened anew when its file was replaced, deleted or is damaged.

    One call at a time: Chroma must not be closed while another thread is in it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "chroma.sqlite3"
        self._settings = Settings(anonymized_telemetry=False)
        self._calls = process_forks.Lock()
        self._lock: FileLock | None = None
        self._client: Client | None = None
        self._inode: int | None = None
        self._is_of_parent = False
        process_forks.register(after_in_child=self._leave_to_parent)

    def __call__(self, name: str, embeddings: VectorsById) -> Collection:
        """Open the collection. Raises ConfigurationError for one of this name that is of another
        distance or dimension.
        """
        with self._calls:
            self._hold_folder()
            try:
                with _named_errors():
                    return self._collection(name, embeddings)
            except StoreUnavailable as error:
                if not _damaged(error):
                    raise
                log.warning("index.damaged", exc_info=True)
                self._delete_files()
            with _named_errors():
                return self._collection(name, embeddings)

    @contextlib.contextmanager
    def calling(self, opened: Client | None = None) -> Iterator[Client]:
        """Give the client, for one call. With `opened`, raises StoreUnavailable where it was closed meanwhile.

        Raises TimeoutError where another process has the folder, or a program that is none of ours has locked the
        database: Chroma would wait for it, however long, and stop every thread of this process.
        """
        with self._calls, _named_errors():
            if opened in (None, self._client):
                self._hold_folder()
                client = self._current_client()
            if opened not in (None, self._client):
                raise StoreUnavailable("the Chroma database was closed meanwhile: open it anew")
            yield client

    def close(self) -> None:
        with self._calls:
            if self._is_of_parent:
                return
            self._close_client()
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def foreign_documents(self, name: str) -> list[ForeignDocument]:
        """Return the documents that are not ours, as OpenCollection says. Ours have their id for a text."""
        with self.calling() as client:
            if name not in {each.name for each in client.list_collections()}:
                return []
            return list(_foreign(client.get_collection(name)))

    def remove_foreign(self, name: str, document_ids: Sequence[str]) -> None:
        """Remove documents that are not ours, as OpenCollection says; the collection goes as well if
        nothing else is in it.
        """
        with self.calling() as client:
            made = client.get_collection(name)
            for start in range(0, len(document_ids), _PAGE):
                made.delete(ids=list(document_ids[start : start + _PAGE]))
            if not made.count():
                client.delete_collection(name)
            self._close_client()
            with self._reading() as connection:
                connection.execute("VACUUM")  # what SQLite has deleted is still in the file
            self.remove_left_folders()

    def remove_left_folders(self) -> None:
        """Remove the folders of deleted collections, which Chroma leaves with their vectors where they were."""
        folders = [each for each in self._folder.iterdir() if _holds_vectors(each)]
        with self._reading() as connection:  # read only now: a collection is in the database before it has a folder
            used = {name for (name,) in connection.execute("SELECT id FROM segments")}
        for folder in folders:
            if folder.name not in used:
                rmtree(folder)

    def keep_private(self) -> None:
        """Close Chroma's files to other users, as it makes them readable. Other files in the folder are left alone."""
        for path in self._folder.iterdir():
            if path.name.startswith(self._file.name):
                with contextlib.suppress(FileNotFoundError):  # the journal comes and goes
                    path.chmod(0o600)
            elif _holds_vectors(path):
                path.chmod(0o700)
                for file in path.iterdir():
                    file.chmod(0o600)

    def _collection(self, name: str, embeddings: VectorsById) -> Collection:
        client = self._current_client()
        store = _Collection(self, client, name, embeddings)
        made = client.get_collection(name)
        if embeddings.strict:
            first = made.get(limit=1, include=["documents"])
            if any(map(_is_foreign, first["ids"], first["documents"] or ())):
                # Making the index would delete them.
                raise StoreUnavailable(
                    f"the Chroma collection {name!r} holds documents of another application: they are taken over "
                    "when the service is opened, or by `adopt_collection`"
                )
            self._refuse_another(made, embeddings.dimension)
        self.keep_private()
        return store

    def _refuse_another(self, made: chromadb.Collection, expected: int) -> None:
        # Made by chromadb 0.4, a collection says so in its metadata alone.
        said = (made.metadata or {}).get("hnsw:space")
        space = said or (made.configuration_json.get("hnsw") or {}).get("space")
        dimension = made._model.dimension  # noqa: SLF001 - Chroma has it nowhere else
        if space != "cosine" or dimension not in (None, expected):
            raise ConfigurationError(
                f"the Chroma collection {made.name!r} in {self._folder} compares vectors of {dimension} dimensions by "
                f"{space}, not of {expected} by cosine: delete it or choose another name"
            )

    def _leave_to_parent(self) -> None:
        """Leave the client to the parent: it works in no forked process, nor does a new one of the folder, and
        closing it hangs.
        """
        self._is_of_parent = self._lock is not None

    def _hold_folder(self) -> None:
        """Hold the folder. Raises TimeoutError where another process has it."""
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
        if self._client is None or not self._readable():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._readable():  # a client that fails to open is kept by chromadb, and fails for ever
                log.warning("index.damaged")
                self._delete_files()
            self._file.touch(mode=0o600)  # Chroma would make it for everybody to read
            self._client = cast(Client, chromadb.PersistentClient(str(self._folder), self._settings))
            self._inode = _inode(self._file)
        return self._client

    def _readable(self) -> bool:
        if not self._file.exists():
            return True
        try:
            with self._reading(patience=0) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.DatabaseError:
            return False
        return True

    @contextlib.contextmanager
    def _reading(self, patience: float = _PATIENCE_SECONDS) -> Iterator[sqlite3.Connection]:
        """Read the database beside Chroma. Raises TimeoutError where another has locked it for longer than that."""
        try:
            with contextlib.closing(sqlite3.connect(self._file, timeout=patience)) as connection:
                yield connection
        except sqlite3.OperationalError as error:
            raise TimeoutError(f"{self._file} is locked") from error

    def _close_client(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _delete_files(self) -> None:
        """Delete the files of a damaged database: everything in it is made anew from ours."""
        self._close_client()
        for path in self._folder.iterdir():
            if path.name.startswith(self._file.name):
                path.unlink()
            elif _holds_vectors(path):
                rmtree(path)


class _Collection(Chroma):
    def __init__(self, database: ChromaCollections, client: Client, name: str, embeddings: VectorsById) -> None:
        super().__init__(name, embeddings, client=client, collection_metadata={"hnsw:space": "cosine"})
        self._database = database
        self._opened = client

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return documents by id; the inherited method fails for documents without metadata, and
        reads more than ids.
        """
        with self._database.calling(self._opened):
            return [Document(page_content=each, id=each) for each in self.get(list(ids), include=[])["ids"]]

    def similarity_search_by_vector(self, embedding: list[float], k: int = 4, **_: Any) -> list[Document]:  # type: ignore[override]
        """Return the nearest, without the stored texts, which are the ids again: that takes half the time."""
        with self._database.calling(self._opened):
            found = self._collection.query(query_embeddings=np.array([embedding], np.float32), n_results=k, include=[])
        return [Document(page_content=each, id=each) for each in found["ids"][0]]

    def add_texts(self, texts: Iterable[str], *arguments: Any, **named: Any) -> list[str]:
        with self._database.calling(self._opened):
            added = super().add_texts(texts, *arguments, **named)
            self._database.keep_private()
        return added

    def delete(self, ids: list[str] | None = None, **named: Any) -> None:
        with self._database.calling(self._opened):
            super().delete(ids, **named)

    def delete_collection(self) -> None:
        with self._database.calling(self._opened):
            super().delete_collection()
            self._database.remove_left_folders()


@contextlib.contextmanager
def _named_errors() -> Iterator[None]:
    """Turn Chroma's own errors, and those of Python for what is not there any more, into StoreUnavailable."""
    try:
        yield
    except (ChromaError, ValueError, RuntimeError) as error:
        raise StoreUnavailable(f"Chroma: {error}") from error


def _foreign(made: chromadb.Collection) -> Iterator[ForeignDocument]:
    for start in range(0, made.count(), _PAGE):
        page = made.get(limit=_PAGE, offset=start, include=["documents", "metadatas"])
        whole = zip(page["ids"], page["documents"] or (), page["metadatas"] or (), strict=True)
        yield from (ForeignDocument(key, text, more or {}) for key, text, more in whole if _is_foreign(key, text))


def _is_foreign(document_id: str, text: str | None) -> bool:
    return text != document_id


def _damaged(error: BaseException) -> bool:
    code = re.search(r"\(code: (\d+)\)", str(error))
    return code is not None and int(code[1]) & 0xFF in _DAMAGED


def _holds_vectors(folder: Path) -> bool:
    return re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", folder.name) is not None


def _inode(file: Path) -> int | None:
    return file.stat().st_ino if file.exists() else None
