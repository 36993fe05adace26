"""Keeps the owners searched lately in memory: always as new as the database, within bytes unless one alone has more."""

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from sqlalchemy import Connection

from langmem_plugin import process_forks
from langmem_plugin.database.together import is_shared
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.find.corpus import Corpus, Entry
from langmem_plugin.memory.keep.owner_changes import OwnerStates, states_of

_DEAD_SHARE = 4  # a corpus in which one row of so many is dead is read anew

C = TypeVar("C", bound=Corpus)
Hit = TypeVar("Hit")
Text = TypeVar("Text")

# (connection, owner, change) -> what was written after that change: the entry, or None where it is gone
Changed = Callable[[Connection, OwnerKey, int], Iterable[tuple[str, Entry | None]]]


class _Slot(Generic[C]):
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.corpus: C | None = None
        self.change = 0
        self.salt: bytes | None = None
        self.size = 0


class CorpusCache(Generic[C]):
    """One corpus per owner, made by `new` and filled by `changed`. Least recently searched leaves first.

    `beside` is called before a change is read, for what else of the owner the corpus holds, and says whether that is
    another than it was: then all is read anew.
    """

    def __init__(
        self,
        new: Callable[[Connection, OwnerKey], C],
        changed: Changed,
        *,
        limit: int,
        beside: Callable[[Connection, OwnerKey, C], bool] = lambda *_: False,
    ) -> None:
        self._new = new
        self._changed = changed
        self._beside = beside
        self._limit = limit  # bytes
        self._begin_empty()
        process_forks.register(after_in_child=self._begin_empty)

    def _begin_empty(self) -> None:
        """In a forked child too: another thread of the parent may have been in the middle of filling one."""
        self._slots: OrderedDict[str, _Slot[C]] = OrderedDict()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def corpus(self, connection: Connection, owner: OwnerKey, states: OwnerStates | None = None) -> Iterator[C]:
        """The owner's corpus as `connection` sees the database; nobody else changes it inside the block.

        `states` are those of the owners, where this transaction has read them.
        """
        with self._lock:
            slot = self._slots.setdefault(owner, _Slot())
            self._slots.move_to_end(owner)
        with slot.lock:
            yield self._refreshed(connection, owner, slot, states)
        if is_shared(connection):
            self.forget(owner)
        else:
            self._shrink(owner, slot)

    def answers(
        self,
        connection: Connection,
        owner: OwnerKey,
        rank: Callable[[C], Mapping[str, Hit]],
        read: Callable[[list[str]], Mapping[str, Text]],
        states: OwnerStates | None = None,
    ) -> list[tuple[Hit, Text]]:
        """The texts that rank first, by id and best first, as `read` finds them.

        What is damaged, or gone without a change, is not found and drops out of the ranking.
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

    def held(self, owner: OwnerKey) -> int | None:
        """How many texts of the owner are held, as of the last search; None if nothing is."""
        with self._lock:
            slot = self._slots.get(owner)
        corpus = None if slot is None else slot.corpus
        return None if corpus is None else corpus.live

    def forget(self, owner: OwnerKey) -> None:
        """Drops what is held of an owner; the next search reads it again."""
        with self._lock:
            self._slots.pop(owner, None)

    @property
    def size(self) -> int:
        """Bytes held, roughly."""
        with self._lock:
            return sum(slot.size for slot in self._slots.values())

    def _refreshed(self, connection: Connection, owner: OwnerKey, slot: _Slot[C], states: OwnerStates | None) -> C:
        state = (states_of(connection, [owner]) if states is None else states).get(owner)
        corpus = slot.corpus
        if (
            corpus is None
            or state is None
            or slot.change < state.rebuild
            or slot.salt != state.salt  # erased and begun anew: its changes are counted from 1 again
            or corpus.dead * _DEAD_SHARE > len(corpus.ids)
        ):
            corpus, slot.change = self._new(connection, owner), 0
        slot.salt = None if state is None else state.salt
        if state is not None and state.change > slot.change:
            if self._beside(connection, owner, corpus) and corpus.ids:
                corpus, slot.change = self._new(connection, owner), 0
                self._beside(connection, owner, corpus)
            for memory_id, entry in self._changed(connection, owner, slot.change):
                if entry is None:
                    corpus.drop(memory_id)
                else:
                    corpus.put(entry)
            slot.change = state.change
        slot.corpus = corpus
        return corpus

    def _shrink(self, owner: OwnerKey, slot: _Slot[C]) -> None:
        with self._lock:
            if slot.corpus is not None:
                slot.size = slot.corpus.size
            held = sum(each.size for each in self._slots.values())
            for name in list(self._slots):
                if held <= self._limit:
                    break
                if name != owner:
                    held -= self._slots.pop(name).size
