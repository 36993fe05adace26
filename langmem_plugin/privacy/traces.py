"""What a person leaves outside of our tables: files, collections of the vector index, and bytes of deleted rows."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.media.session_files import remove_unreferenced
from langmem_plugin.database import Database
from langmem_plugin.database.erasure_tables import erasure, held_file, held_row
from langmem_plugin.database.personal_tables import personal_tables
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.logs import event_log
from langmem_plugin.memory.index.vector_index import VectorIndex

log = event_log(__name__)


class Traces:
    def __init__(self, database: Database, folder: Media, index: VectorIndex | None) -> None:
        self._database = database
        self._folder = folder
        self._index = index

    @contextmanager
    def unindexed(self, owners: Iterable[OwnerKey]) -> Iterator[list[str]]:
        """Deletes the owners' collections; inside, their rows leave the database.

        The names of those that another process has open: it has to delete them.
        """
        left: list[str] = []
        collections = None if self._index is None else self._index.collections
        with ExitStack() as held:
            for owner in owners:
                names = [] if collections is None else collections.named(owner)
                if collections is None or not names:
                    continue
                held.close()  # of several owners the last one's stays so: the lock is one for all
                try:
                    held.enter_context(collections.erasing(owner))
                except StoreUnavailable:
                    log.warning("erasure.index_later", exc_info=True)
                    left += names
            yield left

    def collections_left(self, names: Sequence[str]) -> list[str]:
        """Deletes these; the names of those that cannot be deleted here and now."""
        if self._index is None:
            return list(names)
        return [each for each in names if not self._index.collections.drop_named(each)]

    def files_left(self, digests: Sequence[str]) -> list[str]:
        """Deletes the files that nobody else refers to; those that resist."""
        try:
            remove_unreferenced(self._database, self._folder, digests)
        except StoreUnavailable:
            log.warning("erasure.file_left", exc_info=True)
            return list(digests)
        return []

    def scrub(self) -> list[str]:
        """The bytes of deleted rows; in words, of what some may remain. Raises ErasureIncomplete."""
        tables = [table.name for table, _ in personal_tables()]
        remains = self._database.scrub([*tables, held_row.name, held_file.name, erasure.name])
        self._database.encryption.scrub()
        return remains
