"""The searchable memory of an owner, vectors, words and columns, kept for a while and as new as the database."""

import contextlib
import json
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from langmem_plugin import process_forks
from langmem_plugin.database.transactions import is_shared
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.lru_cache import LruCache
from langmem_plugin.memory.find.bm25 import WordIndex
from langmem_plugin.memory.find.tokenizer import stemmed, terms
from langmem_plugin.memory.keep.changes_and_checksums import OwnerStates, microseconds, states_of
from langmem_plugin.memory.keep.vectors import Matrix, Vector, cosines, from_bytes
from langmem_plugin.memory.memory_types import storable

_WORDS = json.loads(files(__package__).joinpath("occasions.json").read_text("utf-8"))
_LIMITS = frozenset[str]().union(*(stemmed(words, language) for language, words in _WORDS["words"].items()))
_LIMITING = frozenset(_WORDS["attributes"].split())
_NEVER = np.iinfo(np.int64).max
_BYTES_PER_ROW = 260  # bytes of an id, the list of ids and the dictionary over them
_BYTES_OF_NOTHING = 2_500  # bytes of a corpus without texts, and its place in a cache
_FIRST_ROWS = 16
_MOST_USES = 2**31
_DEAD_SHARE = 4  # a corpus in which one row of so many is dead is read anew


class Entry(NamedTuple):
    """One searchable text as the database holds it: instants in microseconds, a vector in bytes, tags joined.

    The vector is missing until the present model has embedded the text.
    """

    id: str
    text: str
    vector: bytes | None
    created: int
    beside: tuple[str | None, ...] = ()  # searched by their words too: category, tags, key and summary of a memory
    slot: str | None = None
    confidence: float = 1.0
    uses: int = 0
    used: int | None = None
    expires: int | None = None
    session_id: str | None = None  # of a message
    speaker: str | None = None

    @property
    def can_be_searched(self) -> bool:
        """Tell whether each value has the right type; in a damaged database any may be anything."""
        return (
            all(isinstance(each, str) for each in (self.id, self.text))
            and all(each is None or isinstance(each, str) for each in (self.slot, *self.beside))
            and all(
                isinstance(each, int) and _FIRST <= each <= _LAST
                for each in (self.created, self.used or 0, self.expires or 0)
            )
            and isinstance(self.confidence, float)
            and isinstance(self.uses, int)
            and 0 <= self.uses < _MOST_USES
            and storable(self.id) == self.id  # else no query can ask for it by its id
        )


_COLUMNS = np.dtype(
    [
        ("live", np.bool_),
        ("embedded", np.bool_),
        ("speaker", np.int32),
        ("session", np.int32),
        ("confidence", np.float32),
        ("uses", np.int32),
        ("created", np.int64),  # microseconds since 1970, as in the database
        ("used", np.int64),
        ("expires", np.int64),
        ("said", np.int64),  # equal where texts have the same words
        ("words", np.int64),  # equal where texts differ only in their figures
        ("limits", np.bool_),  # it says what somebody must not eat, take or do
    ]
)


class Corpus:
    """The searchable texts of an owner; rows are only appended, and a memory with other words gets a new row
    while its old one is dead.

    The first vector decides the dimension; a text whose vector has another one counts as not embedded.
    """

    def __init__(self) -> None:
        self.holds_vectors = True
        self.ids: list[str] = []
        self.words = WordIndex()
        self._row_of: dict[str, int] = {}
        self._names: dict[str, int] = {}
        self._columns = np.zeros(_FIRST_ROWS, dtype=_COLUMNS)
        self._vectors: Matrix = np.zeros((_FIRST_ROWS, 0), dtype=np.float32)

    def put(self, entry: Entry) -> None:
        said = [term for each in (entry.text, *entry.beside) if each for term in terms(each)]
        row, same = self._row_of.get(entry.id), hash(tuple(said))
        if row is None or self._columns["said"][row] != same:
            self.drop(entry.id)
            row = self._add(entry.id, said)
        self._columns[row] = (
            True,
            self._embed(row, entry.vector),
            self._code(entry.speaker),
            self._code(entry.session_id),
            entry.confidence,
            entry.uses,
            entry.created,
            entry.created if entry.used is None else entry.used,
            _NEVER if entry.expires is None else entry.expires,
            same,
            hash(tuple(term for term in said if not term.isnumeric())),
            not _LIMITS.isdisjoint(said) or (entry.slot or "").rpartition("/")[2] in _LIMITING,
        )

    def _add(self, text_id: str, said: Sequence[str]) -> int:
        row = self.words.add(said)
        if row == len(self._columns):
            self._columns = np.concatenate([self._columns, np.zeros_like(self._columns)])
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
        self.ids.append(text_id)
        self._row_of[text_id] = row
        return row

    def note_used(self, memory_ids: Sequence[str], at: datetime) -> None:
        for row in (self._row_of[each] for each in memory_ids if each in self._row_of):
            self._columns["uses"][row] += 1
            self._columns["used"][row] = microseconds(at)

    def drop(self, memory_id: str) -> None:
        row = self._row_of.pop(memory_id, None)
        if row is not None:
            self._columns["live"][row] = False
            self.words.remove(row)

    def release_vectors(self) -> None:
        """Release the vectors, which an index has: from now on only its cosines are known."""
        if self.holds_vectors:
            self.holds_vectors = False
            self._vectors = np.zeros((len(self._columns), 0), dtype=np.float32)

    def compared(self, vector: Vector) -> NDArray[np.float32]:
        """Return the cosine of every row with `vector`; 0 where there is none to compare."""
        if self.vectors.shape[1] != len(vector):
            return np.zeros(len(self.ids), dtype=np.float32)
        return cosines(self.vectors, vector)

    def cosines(self, nearest: Sequence[tuple[str, float]]) -> NDArray[np.float32]:
        """Return one cosine per row; only the nearest are known, and the others are taken as near as
        the last of them.
        """
        lowest = min((cosine for _, cosine in nearest), default=-1.0)
        known = np.full(len(self.ids), lowest, dtype=np.float32)
        for memory_id, cosine in nearest:
            row = self._row_of.get(memory_id)
            if row is not None:
                known[row] = cosine
        return known

    def fitting(self, now: datetime, among: Collection[str] | None = None) -> NDArray[np.bool_]:
        """Return True for each row that is alive, not expired and among the ids where they are given."""
        fits: NDArray[np.bool_] = self.columns["live"] & (self.columns["expires"] > microseconds(now))
        if among is not None:
            wanted = np.zeros_like(fits)
            wanted[[self._row_of[each] for each in among if each in self._row_of]] = True
            fits &= wanted
        return fits

    @property
    def speakers(self) -> list[str]:
        """Return those who said the messages that are alive."""
        columns = self.columns
        present = set(np.unique(columns["speaker"][columns["live"]]).tolist())
        return [name for name, code in self._names.items() if code in present]

    def code_of(self, name: str) -> int:
        """Return the number that stands for a name in the columns; for an unknown name one that no row has."""
        return self._names.get(name, -2)

    @property
    def columns(self) -> NDArray[np.void]:
        return self._columns[: len(self.ids)]

    @property
    def vectors(self) -> Matrix:
        return self._vectors[: len(self.ids)]

    @property
    def live(self) -> int:
        return len(self._row_of)

    @property
    def dead(self) -> int:
        return len(self.ids) - len(self._row_of)

    @property
    def size(self) -> int:
        """Return the bytes held, roughly."""
        held = self._vectors.nbytes + self._columns.nbytes + self.words.size
        return held + len(self.ids) * _BYTES_PER_ROW + _BYTES_OF_NOTHING

    def _embed(self, row: int, stored: bytes | None) -> bool:
        """Store the row's vector; tell whether the row has one now."""
        if stored is None or not self.holds_vectors:
            return stored is not None
        vector = from_bytes(stored)
        if not self._vectors.shape[1]:
            self._vectors = np.zeros((len(self._columns), len(vector)), dtype=np.float32)
        if self._vectors.shape[1] != len(vector):
            return False
        self._vectors[row] = vector
        return True

    def _code(self, name: str | None) -> int:
        return -1 if name is None else self._names.setdefault(name, len(self._names))


def best(scores: NDArray[np.float32], fits: NDArray[np.bool_], limit: int) -> Sequence[int]:
    """Return the rows of the highest scores among those that fit, best first; equal scores keep their order."""
    if limit <= 0:
        return []
    rows = np.flatnonzero(fits)
    if len(rows) > limit:
        bound = np.partition(scores[rows], len(rows) - limit)[len(rows) - limit]
        rows = rows[scores[rows] >= bound]
    return [int(row) for row in rows[np.argsort(-scores[rows], kind="stable")][:limit]]


_FIRST = microseconds(datetime.min.replace(tzinfo=UTC))
_LAST = microseconds(datetime.max.replace(tzinfo=UTC))


Hit = TypeVar("Hit")
Text = TypeVar("Text")

# (connection, owner, change) -> what was written after that change: the entry, or None where it is gone
Changed = Callable[[Connection, OwnerKey, int], Iterable[tuple[str, Entry | None]]]


class _Slot:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.corpus: Corpus | None = None
        self.change = 0
        self.salt: bytes | None = None


class CorpusCache:
    """One corpus per owner, filled by `changed`; the least recently searched leaves first.

    One that is larger than all that may be held stays until the next owner's comes.
    """

    def __init__(self, changed: Changed, *, limit: int) -> None:
        self._changed = changed
        self._limit = limit  # bytes
        self._slots: LruCache[OwnerKey, _Slot] = LruCache(limit)
        # Another thread of the parent may have been in the middle of filling one.
        process_forks.register(after_in_child=self._slots.clear)

    @contextlib.contextmanager
    def corpus(self, connection: Connection, owner: OwnerKey, states: OwnerStates | None = None) -> Iterator[Corpus]:
        """Give the owner's corpus as `connection` sees the database; nobody else changes it inside the block.

        `states` are those of the owners, where this transaction has read them. Whoever puts or drops some there has to
        write the same, or call `forget`.
        """
        slot = self._slots.get(owner) or _Slot()
        with slot.lock:
            corpus = self._refreshed(connection, owner, slot, states)
            self._slots.put(owner, slot, min(corpus.size, self._limit))
            try:
                yield corpus
            finally:
                if is_shared(connection):  # it may hold what is never committed; who waits for the slot begins anew
                    slot.corpus = None
                    self.forget(owner)

    def answers(
        self,
        connection: Connection,
        owner: OwnerKey,
        rank: Callable[[Corpus], Mapping[str, Hit]],
        read: Callable[[list[str]], Mapping[str, Text]],
        states: OwnerStates | None = None,
    ) -> list[tuple[Hit, Text]]:
        """Return the texts that rank first, by id and best first, as `read` finds them.

        A text that is damaged, or gone without a change, is not found and drops out of the ranking.
        """
        with self.corpus(connection, owner, states) as corpus:
            while True:
                hits = rank(corpus)
                texts = read(list(hits))
                missing = hits.keys() - texts.keys()
                if not missing:
                    return [(hit, texts[text_id]) for text_id, hit in hits.items()]
                for text_id in missing:
                    corpus.drop(text_id)

    def held(self, owner: OwnerKey) -> int:
        """Return how many texts of the owner were held at the last search."""
        slot = self._slots.get(owner)
        return 0 if slot is None or slot.corpus is None else slot.corpus.live

    def note_used(self, owner: OwnerKey, text_ids: Sequence[str], at: datetime) -> None:
        """Count a use of each text in what is held of the owner; other processes see it with the next change."""
        if (slot := self._slots.get(owner)) is not None:
            with slot.lock:
                if slot.corpus is not None:
                    slot.corpus.note_used(text_ids, at)

    def forget(self, owner: OwnerKey) -> None:
        """Drop what is held of an owner; the next search reads it again."""
        self._slots.drop(owner)

    def _refreshed(self, connection: Connection, owner: OwnerKey, slot: _Slot, states: OwnerStates | None) -> Corpus:
        state = (states_of(connection, [owner]) if states is None else states).get(owner)
        corpus = slot.corpus
        if (
            corpus is None
            or state is None
            or slot.change < state.rebuild
            or slot.salt != state.salt  # the owner was erased and began anew: the changes are counted from 1 again
            or corpus.dead * _DEAD_SHARE > len(corpus.ids)
        ):
            corpus, slot.change = Corpus(), 0
        slot.salt = None if state is None else state.salt
        if state is not None and state.change > slot.change:
            for memory_id, entry in self._changed(connection, owner, slot.change):
                if entry is None:
                    corpus.drop(memory_id)
                else:
                    corpus.put(entry)
            slot.change = state.change
        slot.corpus = corpus
        return corpus
