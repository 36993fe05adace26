"""Whether a collection holds what it should: an index is believed only after it was examined in this process."""

from langchain_core.vectorstores import VectorStore

from langmem_plugin.database import Database
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.index.index_progress import IndexProgress
from langmem_plugin.memory.stored_vectors import StoredVectors

_FOUND_SHARE = 0.9  # of the vectors that an undamaged index finds by themselves
_SAMPLE = 50  # nearest, of one vector in each page
_THE_SAME = 0.9999  # cosine


class Examination:
    """The two, ids and vectors, can be lost apart: every id is asked for, and a sample is searched by its vector."""

    def __init__(self, database: Database, progress: IndexProgress, vectors: StoredVectors) -> None:
        self._database = database
        self._progress = progress
        self._vectors = vectors

    def passed(self, store: VectorStore, owner: OwnerKey, indexed: int) -> bool:
        """Whether the store holds what it should when it has followed the owner's changes to `indexed`."""
        asked = found = 0
        for page in self._progress.held(owner, indexed):
            if not {each.page_content for each in store.get_by_ids(list(page))}.issuperset(page):
                return False
            vector = next(iter(page.values()))
            nearest = store.similarity_search_by_vector(vector.tolist(), k=_SAMPLE)
            with self._database.read() as connection:
                cosines = self._vectors.cosines(connection, owner, vector, [each.page_content for each in nearest])
            asked += 1
            found += any(cosine > _THE_SAME for _, cosine in cosines)  # of equal ones any may be found
        return found >= _FOUND_SHARE * asked
