"""The vector index of owners who have very many memories: derived from the database, behind it at worst.

It begins at INDEX_AFTER memories (settings.py). Any LangChain VectorStore serves: it holds vectors under memory ids and
no text. Vectors that it does not know yet are compared exactly, and so are the private. A collection is believed once
this process has seen that it holds what it should; whatever it raises, lacks or takes too long for, everything is
compared exactly until it was mended, or made anew, in the background.
"""

import contextlib
import functools
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection, and_, delete, func, select, tuple_, union, update

from langmem_plugin import process_forks
from langmem_plugin.database import Database, process_lease
from langmem_plugin.database.memory_tables import memory, memory_index, memory_owner
from langmem_plugin.database.schema import put
from langmem_plugin.errors import ConfigurationError, StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.calls_with_timeout import BackgroundThread, TimedCalls
from langmem_plugin.memory.index.stores import Collection, OpenCollection, VectorsById
from langmem_plugin.memory.keep.vectors import StoredVectors, Vector
from langmem_plugin.telemetry import timing

log = event_log(__name__)

Answer = TypeVar("Answer")

_FOLLOW_AFTER = 200  # changes: fewer are compared exactly in no time
_TOO_FAR_BEHIND = 2_000  # changes: with more to compare, the index is not asked
_ANSWER_SECONDS = 0.5
_UPKEEP_SECONDS = 600.0  # the longest step, examining a whole collection, takes a minute for a million vectors
_NEXT_REPAIR_SECONDS = 30.0


_BATCH = 500
_FOUND_SHARE = 0.9  # part of the vectors that an undamaged index finds by themselves
_SAMPLE = 50  # nearest, of one vector in each page
_THE_SAME = 0.9999  # cosine
# In place of the change that a collection has followed to: it has to be made anew, unless what is being taken out is.
_UNSOUND, _TAKING_OUT = -1, -2
_KEPT = and_(memory.c.status == "active", ~memory.c.private)


@dataclass(frozen=True)
class Progress:
    """An owner's newest change, and their collection: the model of its vectors, and the change it has followed to.

    Without a collection its name is "". A collection that is made anew has another name, so that nobody takes one for
    the other.
    """

    newest: int
    model: str = ""
    name: str = ""
    followed: int = _UNSOUND

    @property
    def behind(self) -> int:
        return self.newest - self.followed


class Change(NamedTuple):
    memory_id: str
    change: int
    vector: Vector | None  # None for what is private or not active


class _Progresses:
    """The row of each owner's collection, and the changes that it has still to follow."""

    def __init__(self, database: Database, vectors: StoredVectors) -> None:
        self._database = database
        self._vectors = vectors
        self._one_thread = process_forks.Lock()

    @contextlib.contextmanager
    def alone(self, owner: OwnerKey) -> Iterator[None]:
        """Give a block in which nobody else, in any process, changes the owner's collection. Not re-entrant."""
        with self._one_thread, process_lease.alone(self._database, "index", owner):
            yield

    def of(self, connection: Connection, owner: OwnerKey) -> Progress | None:
        """Return the owner's progress; None where nothing was ever kept of them."""
        collection = memory_index.c.model, memory_index.c.name, memory_index.c.change
        joined = memory_owner.outerjoin(memory_index, memory_index.c.owner == memory_owner.c.owner)
        wanted = select(memory_owner.c.change, *collection).select_from(joined).where(memory_owner.c.owner == owner)
        row = connection.execute(wanted).first()
        return None if row is None else Progress(row[0]) if row.name is None else Progress(*row)

    def read(self, owner: OwnerKey) -> Progress | None:
        with self._database.read() as connection:
            return self.of(connection, owner)

    def owners(self) -> list[OwnerKey]:
        with self._database.read() as connection:
            return list(connection.execute(select(memory_index.c.owner)).scalars())

    def begin(self, owner: OwnerKey, name: str) -> None:
        """Note the owner's collection, which is empty."""
        with self._database.write() as connection:
            put(connection, memory_index, {"owner": owner}, {"model": self._vectors.model, "name": name, "change": 0})

    def forget(self, owner: OwnerKey) -> None:
        with self._database.write() as connection:
            connection.execute(delete(memory_index).where(memory_index.c.owner == owner))

    def mark(self, owner: OwnerKey, before: int, followed: int) -> bool:
        """Note how far the collection has followed; False, and nothing is noted, where that was not `before`."""
        with self._database.write() as connection:
            row = update(memory_index).where(memory_index.c.owner == owner, memory_index.c.change == before)
            return connection.execute(row.values(change=followed)).rowcount > 0

    def changes(self, connection: Connection, owner: OwnerKey, after: tuple[int, str]) -> list[Change]:
        """Return the next batch of changes in the order of (change, id)."""
        # Vectors are looked up for the batch alone: with a join, PostgreSQL compared every memory with every vector as
        # long as it had no statistics (20,000 just stored: a minute a batch).
        statement = (
            select(memory.c.memory_id, memory.c.change, _KEPT.label("kept"))
            .where(memory.c.owner == owner, tuple_(memory.c.change, memory.c.memory_id) > after)
            .order_by(memory.c.change, memory.c.memory_id)
            .limit(_BATCH)
        )
        batch = connection.execute(statement).all()
        vectors = self._vectors.of(connection, owner, [row.memory_id for row in batch if row.kept])
        return [Change(row.memory_id, row.change, vectors.get(row.memory_id)) for row in batch]

    def unseen(self, connection: Connection, owner: OwnerKey, followed: int) -> list[str]:
        """Return the ids that no index knows in their present state: what changed after it, and the private."""
        mine = select(memory.c.memory_id).where(memory.c.owner == owner)
        apart = (memory.c.change > followed, memory.c.private)
        unseen = union(*map(mine.where, apart))  # each by its own index
        return list(connection.execute(unseen).scalars())

    def is_held(self, store: Collection, owner: OwnerKey, followed: int) -> bool:
        """Tell whether the store holds all it should once it has followed the owner's changes that far.

        Ids and vectors can be lost apart: every id is asked for, and a sample is searched by its vector.
        """
        asked = found = 0
        after = (0, "")
        while True:
            with self._database.read() as connection:
                batch = [each for each in self.changes(connection, owner, after) if each.change <= followed]
            if not batch:
                return found >= _FOUND_SHARE * asked
            after = (batch[-1].change, batch[-1].memory_id)
            vectors = {each.memory_id: each.vector for each in batch if each.vector is not None}
            if not vectors:
                continue
            if not {each.page_content for each in store.get_by_ids(list(vectors))}.issuperset(vectors):
                return False
            vector = next(iter(vectors.values()))
            nearest = store.similarity_search_by_vector(vector.tolist(), k=_SAMPLE)
            with self._database.read() as connection:
                cosines = self._vectors.cosines(connection, owner, vector, [each.page_content for each in nearest])
            asked += 1
            found += any(cosine > _THE_SAME for _, cosine in cosines)  # of equal vectors any may be found


@dataclass(frozen=True)
class Nearest:
    """The answer of a collection, and the change that it had followed to."""

    memory_ids: list[str]
    name: str
    followed: int


@dataclass
class _Collection:
    store: Collection
    vectors: VectorsById
    examined: bool = False  # it was seen to hold what it should, or was begun empty

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

    def is_examined(self, name: str) -> bool:
        opened = self._open.get(name)
        return opened is not None and opened.examined

    def note_examined(self, name: str) -> bool:
        """Note that a collection was examined; False if it is no longer open."""
        if (opened := self._open.get(name)) is not None:
            opened.examined = True
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
    from the start: `begin` makes them. The others have random names.
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
        self._progress = _Progresses(database, vectors)
        self._collections = _Collections(open_collection, dimension)
        self._not_before: dict[str, float] = {}  # owner -> when the next repair may be tried

    def begin(self) -> None:
        """Make the collections that have names, and follow their owners. Raises ConfigurationError.

        A store that cannot be reached now is tried again in the background.
        """
        if len(set(self.names.values())) < len(self.names):
            raise ConfigurationError("each owner whose memories are always indexed needs a collection of their own")
        for owner, name in self.names.items():
            progress = self._progress.read(owner)
            if progress is not None and progress.name and not self._is_usable(owner, progress):
                with self._progress.alone(owner):
                    self._drop(owner, progress.name)
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
        name = progress.name
        is_filled = progress.followed > 0
        trusted = is_filled and self._is_usable(owner, progress) and self._collections.is_examined(name)
        if not trusted or progress.behind > _FOLLOW_AFTER:
            self.follow(owner)
        if not trusted or progress.behind > _TOO_FAR_BEHIND:
            return None
        found = self._collections.tried(name, lambda opened: opened.nearest(vector, limit), seconds=_ANSWER_SECONDS)
        if not found:
            if found is not None:
                log.warning("index.empty")
            self._collections.forget(name)
            self.follow(owner)
            return None
        return Nearest(found, name, progress.followed)

    def brought_up_to_date(self, connection: Connection, owner: OwnerKey, nearest: Nearest) -> list[str] | None:
        """Return the ids, with those of all that changed since; None if the index was made anew meanwhile.

        The order means nothing, and some may be gone: look them up and compare.
        """
        progress = self._progress.of(connection, owner)
        if progress is None or progress.name != nearest.name or progress.followed < nearest.followed:
            return None
        return list(dict.fromkeys([*nearest.memory_ids, *self._progress.unseen(connection, owner, nearest.followed)]))

    def follow(self, owner: OwnerKey) -> None:
        """Bring the owner's collection up to date, or mend it, in the background."""
        self._background.ask(f"index of {owner}", functools.partial(self._follow, owner))

    def catch_up(self, owner: OwnerKey, report: Callable[[int], object] = lambda _: None) -> bool:
        """Bring the owner's collection up to date, from scratch where it cannot be used; False when it fails now.

        `report` is told the number of changes done after each batch. What is done stays done, and several
        processes take turns. Each process examines the whole collection once before it trusts it.
        Raises ConfigurationError where a collection of its name is another's.
        """
        return self._tried(owner, report, anew=(False, True))

    def owners(self) -> list[OwnerKey]:
        """Return the owners who have a collection, of whatever model."""
        return self._progress.owners()

    @contextlib.contextmanager
    def removing(self, owner: OwnerKey, memory_ids: Sequence[str]) -> Iterator[None]:
        """Take vectors out before their memories are deleted for good, which is to be done inside the block.

        Where either fails the collection is made anew.
        """
        with self._progress.alone(owner) if self.named(owner) else contextlib.nullcontext():
            progress = self._progress.read(owner)
            if progress is None or not progress.name:
                yield
                return
            self._progress.mark(owner, progress.followed, _TAKING_OUT)
            told = self._collections.tried(progress.name, lambda opened: opened.replace({}, memory_ids))
            yield
            if told:
                self._progress.mark(owner, _TAKING_OUT, progress.followed)

    def distrust(self, connection: Connection, owner: OwnerKey) -> None:
        """Have the owner's collection made anew: memories are deleted that it may still have to take out."""
        connection.execute(update(memory_index).where(memory_index.c.owner == owner).values(change=_UNSOUND))

    @contextlib.contextmanager
    def erasing(self, owner: OwnerKey) -> Iterator[None]:
        """Delete the owner's collection; inside the block the owner is to be deleted from the database.

        Raises StoreUnavailable when it cannot be deleted: nothing is deleted from the database then.
        """
        with self._progress.alone(owner) if self._progress.read(owner) else contextlib.nullcontext():
            progress = self._progress.read(owner)
            if progress is not None and not self._drop(owner, progress.name):
                raise StoreUnavailable("the vector index of this owner cannot be deleted now: try again")
            yield
        if owner in self.names:
            self._collections.tried(self.names[owner], lambda _: True)

    def drop_named(self, name: str) -> bool:
        """Delete a collection whose owner is gone already; False when that fails."""
        return self._collections.dropped(name)

    def named(self, owner: OwnerKey) -> list[str]:
        """Return the name of the owner's collection, where there is one."""
        progress = self._progress.read(owner)
        return [] if progress is None or not progress.name else [progress.name]

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
        done, at, after = 0, ("", _UNSOUND), (0, "")
        while not self._background.closing.is_set():
            with self._progress.alone(owner):
                progress = self._progress.read(owner)
                if progress is None:
                    return True
                if (progress := self._usable_or_begun_anew(owner, progress, anew=anew)) is None:
                    return False
                if at != (progress.name, progress.followed):  # the beginning, or another process has been here
                    after = (progress.followed + 1, "")
                with self._database.read() as connection:
                    batch = self._progress.changes(connection, owner, after)
                if batch and not self._written(progress.name, batch):
                    return False
                # The next batch may hold more of the last change.
                followed = batch[-1].change - 1 if batch else progress.newest
                if not self._progress.mark(owner, progress.followed, followed):
                    continue
                if not batch:
                    log.info("index.current", extra={"changes": done})
                    return True
                at, after = (progress.name, followed), (batch[-1].change, batch[-1].memory_id)
            done += len(batch)
            report(done)
        return False

    def _is_usable(self, owner: OwnerKey, progress: Progress) -> bool:
        """Tell whether the collection is of the present model and name, and whole up to where it has followed."""
        is_its_name = self.names.get(owner, progress.name) == progress.name
        return progress.followed > _UNSOUND and progress.model == self._model and is_its_name

    def _is_sound(self, owner: OwnerKey, progress: Progress) -> bool | None:
        """Tell whether the collection, as it is opened now, can still be used; None where it cannot be asked now."""
        name, followed = progress.name, progress.followed
        if not self._is_usable(owner, progress) or self._collections.is_examined(name):
            return self._is_usable(owner, progress)
        holds = self._collections.tried(name, lambda opened: self._progress.is_held(opened.store, owner, followed))
        if holds is False:
            log.warning("index.incomplete")
        return holds and self._collections.note_examined(name)

    def _usable_or_begun_anew(self, owner: OwnerKey, progress: Progress, *, anew: bool) -> Progress | None:
        """Return the progress of a usable collection, else that of an empty one to fill; None where there
        can be none now. One that cannot be asked is begun `anew` at the second try: it may be locked.
        """
        sound = self._is_sound(owner, progress)
        if sound or (sound is None and not anew):
            return progress if sound else None
        if not self._drop(owner, progress.name) or self._background.closing.is_set():
            return None
        name = self.names.get(owner) or f"memories{uuid.uuid4().hex}"
        if self._collections.tried(name, lambda _: True) is None:  # it may be another's: noted, it would be deleted
            return None
        self._progress.begin(owner, name)
        return replace(progress, name=name, followed=0) if self._collections.note_examined(name) else None

    def _written(self, name: str, batch: Sequence[Change]) -> bool:
        vectors = {each.memory_id: each.vector for each in batch if each.vector is not None}
        gone = [each.memory_id for each in batch if each.vector is None]
        written = self._collections.tried(name, lambda opened: opened.replace(vectors, gone))
        return written is not None and self._collections.is_examined(name)  # opened anew it may be another one

    def _drop(self, owner: OwnerKey, name: str) -> bool:
        """Delete the owner's collection, if there is one, and its row; False when that fails now."""
        if not name:
            return True
        with self._database.read() as connection:
            mine = select(memory.c.memory_id).where(memory.c.owner == owner)
            memory_ids = connection.execute(mine).scalars().all()
        dropped = self._collections.dropped(name, memory_ids)
        if dropped:
            self._progress.forget(owner)
        return dropped
