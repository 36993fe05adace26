"""The vector index of owners who have very many memories: derived from the database, behind it at worst.

It begins at INDEX_AFTER memories (settings.py). Any LangChain VectorStore serves: it holds vectors under memory ids and
no text. Vectors that it does not know yet are compared exactly, and so are the private. A collection is believed once
this process has seen that it holds what it should; whatever it raises, lacks or takes too long for, everything is
compared exactly until it was mended, or made anew, in the background.
"""

import contextlib
import dataclasses
import functools
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection, func, select

from langmem_plugin import process_forks
from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.errors import ConfigurationError, StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.background import BackgroundThread, TimedCalls
from langmem_plugin.memory.embedding.embedder import Vector
from langmem_plugin.memory.index.index_progress import Change, IndexProgress, OwnerProgress
from langmem_plugin.memory.index.stores import Collection, OpenCollection, VectorsById
from langmem_plugin.memory.keep.stored_vectors import StoredVectors
from langmem_plugin.operation_timing import timing

log = event_log(__name__)

Answer = TypeVar("Answer")

_FOLLOW_AFTER = 200  # changes: fewer are compared exactly in no time
_TOO_FAR_BEHIND = 2_000  # changes: with more to compare, the index is not asked
_ANSWER_SECONDS = 0.5
_UPKEEP_SECONDS = 600.0  # the longest step, examining a whole collection, takes a minute for a million vectors
_NEXT_REPAIR_SECONDS = 30.0


@dataclass(frozen=True)
class Nearest:
    """The answer of one generation of the index, and the change that it had followed to."""

    memory_ids: list[str]
    followed: int
    generation: int


@dataclass
class _Collection:
    store: Collection
    vectors: VectorsById
    examined: int = 0  # the generation for which it was seen to hold what it should, or was begun empty

    def replace(self, vectors: Mapping[str, Vector], gone: Sequence[str]) -> bool:
        """Write vectors, in place of older ones of the same memories, and take others out; return True."""
        if gone:
            self.store.delete(ids=list(gone))
        if vectors:
            self.vectors.of = vectors
            self.store.add_texts(list(vectors), ids=list(vectors))
            self.vectors.of = {}
        return True

    def nearest(self, vector: Vector, limit: int) -> list[str]:
        return [each.page_content for each in self.store.similarity_search_by_vector(vector.tolist(), k=limit)]


class _Collections:
    """The open collections by name. Every method serves any thread."""

    def __init__(self, open_collection: OpenCollection, dimension: Callable[[], int]) -> None:
        self._open_collection = open_collection
        self._dimension = dimension
        self._open: dict[str, _Collection] = {}
        process_forks.register(after_in_child=self._forget_all)
        self._questions, self._upkeep = TimedCalls("langmem-index"), TimedCalls("langmem-index-upkeep")

    def tried(
        self, name: str, ask: Callable[[_Collection], Answer], *, seconds: float | None = None, strict: bool = True
    ) -> Answer | None:
        """Try again once, newly opened, after a failure; None after the second. `seconds` is for what a
        reply waits for.

        Raises ConfigurationError where the collection of this name is another's.
        """
        calls, patience = (self._upkeep, _UPKEEP_SECONDS) if seconds is None else (self._questions, seconds)
        for _ in range(2):
            try:
                return calls.answer(lambda: ask(self._opened(name, strict=strict)), patience)
            except ConfigurationError:
                raise
            except Exception:
                log.warning("index.failed", exc_info=True)
                if seconds is None:  # else a reply would wait, and must not see a collection nobody has examined
                    self.forget(name)
        return None

    def dropped(self, name: str, memory_ids: Sequence[str] = ()) -> bool:
        """Delete a collection, or where the store cannot do that these vectors; False when that fails now."""

        def drop(opened: _Collection) -> bool:
            if hasattr(opened.store, "delete_collection"):
                opened.store.delete_collection()
                return True
            return bool(memory_ids) and opened.replace({}, memory_ids)

        self.forget(name)
        is_gone = self.tried(name, drop, strict=False) is True
        self.forget(name)
        return is_gone

    def forget(self, name: str) -> None:
        """Drop the collection; it is opened anew when it is next asked."""
        self._open.pop(name, None)

    def examined(self, name: str) -> int | None:
        """Return the generation for which the collection was examined; None if it is not open."""
        opened = self._open.get(name)
        return None if opened is None else opened.examined

    def note_examined(self, name: str, generation: int) -> bool:
        """Note the examined generation; False if the collection is no longer open."""
        opened = self._open.get(name)
        if opened is not None:
            opened.examined = generation
        return opened is not None

    def close(self) -> None:
        """Close the stores where their factory can do that."""
        getattr(self._open_collection, "close", lambda: None)()

    def _forget_all(self) -> None:
        self._open.clear()

    def _opened(self, name: str, *, strict: bool) -> _Collection:
        opened = self._open.get(name)
        if opened is None:
            vectors = VectorsById(self._dimension(), strict=strict)
            opened = self._open[name] = _Collection(self._open_collection(name, vectors), vectors)
        return opened


class VectorIndex:
    """The index of owners of more than `after` memories, one collection each. Every method serves any thread.

    `dimension` is asked when the first collection is opened. `names` are those of owners whose collection is kept
    from the start: `begin` makes them. The others are named by a keyed hash, for each model and generation.
    """

    def __init__(
        self,
        database: Database,
        vectors: StoredVectors,
        open_collection: OpenCollection,
        background: BackgroundThread,
        *,
        after: int,
        dimension: Callable[[], int],
        names: Mapping[OwnerKey, str],
    ) -> None:
        self.after = after
        self.names = names
        self._database = database
        self._model = vectors.model
        self._background = background
        self._progress = IndexProgress(database, vectors)
        self._collections = _Collections(open_collection, dimension)
        self._not_before: dict[str, float] = {}  # owner -> when the next repair may be tried

    def begin(self) -> None:
        """Make the collections that have names, and follow their owners. Raises ConfigurationError.

        A store that cannot be reached now is tried again in the background.
        """
        if len(set(self.names.values())) < len(self.names):
            raise ConfigurationError("each owner whose memories are always indexed needs a collection of their own")
        for owner, name in self.names.items():
            self.drop_other_models(owner)
            self._collections.tried(name, lambda _: True)
            self.follow(owner)

    def close(self) -> None:
        self._collections.close()

    def large_owners(self) -> list[OwnerKey]:
        """Return the owners whose memories are to be searched through the index: those above `after`, and
        those with names.
        """
        counted = select(memory.c.owner).where(memory.c.status == "active").group_by(memory.c.owner)
        with self._database.read() as connection:
            large = connection.execute(counted.having(func.count() > self.after)).scalars().all()
        return sorted({*large, *self.names})

    def nearest(self, owner: OwnerKey, vector: Vector, limit: int) -> Nearest | None:
        """Return about the `limit` nearest memories of those the index has followed; None: ask another way.

        An index that is missing, behind or broken is brought up to date in the background.
        """
        progress = self._progress.read(owner)
        if progress is None:
            return None
        behind = progress.change - progress.followed
        trusted = progress.whole and self._is_examined(owner, progress)
        if not trusted or behind > _FOLLOW_AFTER:
            self.follow(owner)
        if not trusted or behind > _TOO_FAR_BEHIND:
            return None
        name = self._name(owner, progress)
        found = self._collections.tried(name, lambda opened: opened.nearest(vector, limit), seconds=_ANSWER_SECONDS)
        if not found:
            if found is not None:
                log.warning("index.empty")
            self._collections.forget(name)
            self.follow(owner)
            return None
        return Nearest(found, progress.followed, progress.generation)

    def brought_up_to_date(self, connection: Connection, owner: OwnerKey, nearest: Nearest) -> list[str] | None:
        """Return the ids, with those of all that changed since; None if the index was made anew meanwhile.

        The order means nothing, and some may be gone: look them up and compare.
        """
        progress = self._progress.of(connection, owner)
        if progress is None or not progress.whole or progress.generation != nearest.generation:
            return None
        return list(dict.fromkeys([*nearest.memory_ids, *self._progress.unseen(connection, owner, nearest.followed)]))

    def stands(self, connection: Connection, owner: OwnerKey) -> bool:
        """Tell whether the owner's vectors are indexed, as far as the database knows."""
        progress = self._progress.of(connection, owner)
        return progress is not None and progress.whole

    def follow(self, owner: OwnerKey) -> None:
        """Bring the owner's collection up to date, or mend it, in the background."""
        self._background.ask(f"index of {owner}", functools.partial(self._follow, owner))

    def catch_up(self, owner: OwnerKey, report: Callable[[int], object] = lambda _: None) -> bool:
        """Bring the owner's collection up to date, from scratch where it is not whole; False when it fails now.

        `report` is told the number of changes done after each batch. What is done stays done, and several
        processes take turns. Each process examines the whole collection once before it trusts it.
        Raises ConfigurationError where a collection of its name is another's.
        """
        return self._tried(owner, report, anew=(False, True))

    def owners(self) -> list[OwnerKey]:
        """Return the owners who have a collection, of whatever model."""
        return self._progress.indexed_owners()

    @contextlib.contextmanager
    def removing(self, owner: OwnerKey, memory_ids: Sequence[str]) -> Iterator[None]:
        """Take vectors out before their memories are deleted for good, which is to be done inside the block."""
        progress = self._progress.read(owner)
        if progress is None or not progress.generation:
            yield
            return
        if self._is_examined(owner, progress):
            self.catch_up(owner)
        name = self._name(owner, progress)
        with self._progress.alone(owner):
            told = self._collections.tried(name, lambda opened: opened.replace({}, memory_ids))
            yield
            if told:
                self._progress.skip_removal(owner)

    @contextlib.contextmanager
    def erasing(self, owner: OwnerKey) -> Iterator[None]:
        """Delete the owner's collections; inside the block the owner is to be deleted from the database.

        Raises StoreUnavailable when a collection cannot be deleted: nothing is deleted from the database then.
        """
        progress = self._progress.read(owner)
        if progress is None:
            yield
            return
        with self._progress.alone(owner):
            if not self._dropped(owner, self.named(owner)):
                raise StoreUnavailable("the vector index of this owner cannot be deleted now: try again")
            yield
        if owner in self.names:
            self._collections.tried(self.names[owner], lambda _: True)

    def drop_named(self, name: str) -> bool:
        """Delete a collection whose owner is gone already; False when that fails."""
        return self._collections.dropped(name)

    def named(self, owner: OwnerKey) -> list[str]:
        """Return every collection of the owner that may be there, of whatever model."""
        progress = self._progress.read(owner)
        if progress is None:
            return []
        begun = self._progress.generations(owner)
        return list(dict.fromkeys(name for each in begun for name in self._names(owner, progress, *each)))

    def drop_other_models(self, owner: OwnerKey) -> None:
        """Delete the collections that hold the owner's vectors of other models than the present one."""
        progress = self._progress.read(owner)
        others = [each for each in self._progress.generations(owner) if each[0] != self._model]
        if progress is not None and others:
            with self._progress.alone(owner):
                for model, generation in others:
                    if self._dropped(owner, self._names(owner, progress, model, generation)):
                        self._progress.forget(owner, model)

    def _follow(self, owner: OwnerKey) -> None:
        before = self._not_before.get(owner)
        if before is not None and time.monotonic() < before:
            return
        try:
            mended = self._tried(owner, anew=[before is not None])
        except ConfigurationError:
            mended = False
            log.exception("index.mistake", extra={"owner": masked(owner)})
        if mended:
            self._not_before.pop(owner, None)
        else:
            self._not_before[owner] = time.monotonic() + _NEXT_REPAIR_SECONDS

    def _tried(
        self, owner: OwnerKey, report: Callable[[int], object] = lambda _: None, *, anew: Iterable[bool]
    ) -> bool:
        with timing(self._database.operations, "index") as call:
            caught_up = any(self._caught_up(owner, report, anew=each) for each in anew)
            call.failed = not caught_up and not self._background.closing.is_set()
        return caught_up

    def _caught_up(self, owner: OwnerKey, report: Callable[[int], object], *, anew: bool = False) -> bool:
        done, at, after = 0, (0, 0), (0, "")
        while not self._background.closing.is_set():
            with self._progress.alone(owner):
                progress = self._progress.read(owner)
                if progress is None:
                    return True
                if (progress := self._sound_or_begun_anew(owner, progress, anew=anew)) is None:
                    return False
                if at != (progress.mark, progress.generation):  # the beginning, or another process has been here
                    after = (progress.followed + 1, "")
                with self._database.read() as connection:
                    batch = self._progress.changes(connection, owner, after)
                if not batch:
                    self._progress.mark(owner, progress.change, progress.generation)
                    log.info("index.current", extra={"changes": done})
                    return True
                if not self._written(self._name(owner, progress), batch):
                    return False
                after = (batch[-1].change, batch[-1].memory_id)
                followed = after[0] - 1  # the next batch may hold more of this change
                at = (-followed if progress.unfinished else followed, progress.generation)
                self._progress.mark(owner, *at)
            done += len(batch)
            report(done)
        return False

    def _is_examined(self, owner: OwnerKey, progress: OwnerProgress) -> bool:
        return self._collections.examined(self._name(owner, progress)) == progress.generation

    def _is_sound(self, owner: OwnerKey, progress: OwnerProgress) -> bool | None:
        """Tell whether the collection, as it is opened now, can still be used; None where it cannot be asked now."""
        if not (progress.whole or progress.unfinished):
            return False
        if self._is_examined(owner, progress):
            return True
        name, followed = self._name(owner, progress), progress.followed
        holds = self._collections.tried(name, lambda opened: self._progress.is_held(opened.store, owner, followed))
        if holds is False:
            log.warning("index.incomplete")
        return holds and self._collections.note_examined(name, progress.generation)

    def _sound_or_begun_anew(self, owner: OwnerKey, progress: OwnerProgress, *, anew: bool) -> OwnerProgress | None:
        """Return the progress of a usable collection, else that of an empty one to fill; None where there
        can be none now. One that cannot be asked is begun `anew` at the second try: it may be locked.
        """
        sound = self._is_sound(owner, progress)
        if sound or (sound is None and not anew):
            return progress if sound else None
        before = self._names(owner, progress, self._model, progress.generation)
        if progress.generation and not self._dropped(owner, before):
            return None
        begun = dataclasses.replace(progress, mark=0, generation=progress.generation + 1)
        name = self._name(owner, begun)
        if self._background.closing.is_set() or self._collections.tried(name, lambda _: True) is None:
            return None
        self._progress.mark(owner, 0, begun.generation)
        return begun if self._collections.note_examined(name, begun.generation) else None

    def _written(self, name: str, batch: Sequence[Change]) -> bool:
        vectors = {each.memory_id: each.vector for each in batch if each.vector is not None}
        gone = [each.memory_id for each in batch if each.vector is None]
        before = self._collections.examined(name)
        written = self._collections.tried(name, lambda opened: opened.replace(vectors, gone))
        return written is not None and self._collections.examined(name) == before  # opened anew it may be another one

    def _dropped(self, owner: OwnerKey, names: Sequence[str]) -> bool:
        with self._database.read() as connection:
            mine = select(memory.c.memory_id).where(memory.c.owner == owner)
            memory_ids = connection.execute(mine).scalars().all()
        dropped = [self._collections.dropped(name, memory_ids) for name in names]
        return all(dropped)

    def _names(self, owner: OwnerKey, progress: OwnerProgress, model: str, generation: int) -> list[str]:
        """Return the names of one model's collection: it may have been made before the owner's had one of its own."""
        own = [self.names[owner]] if owner in self.names else []
        return [_hashed(owner, progress.salt, model, generation), *own]

    def _name(self, owner: OwnerKey, progress: OwnerProgress) -> str:
        return self.names.get(owner) or _hashed(owner, progress.salt, self._model, progress.generation)


def _hashed(owner: OwnerKey, salt: bytes, model: str, generation: int) -> str:
    hashed = hashlib.blake2b(f"{model}\n{owner}".encode(), key=salt, digest_size=16).hexdigest()
    return f"memories{hashed}g{generation}"
