"""Row numbers reserved by this process, and what else it relies on in a session without asking the database again."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from langmem_plugin import process_forks
from langmem_plugin.conversation.storage.checkpoint_format import StoredCheckpoint
from langmem_plugin.conversation.storage.message_cache import SessionKey

CheckpointKey = tuple[str, str]
"""A namespace and a checkpoint's id."""

_MOST_EXPECTED = 32
_MOST_LATER = 256
_MOST_SESSIONS = 1_024
_BLOCK = 16  # row numbers reserved at once: a few turns of a conversation


@dataclass(frozen=True, slots=True)
class Reservation:
    """Valid while `at` is the session's next row. Deleting or rewriting in it raises that number."""

    next_row: int
    free: range = range(0)  # row numbers that are this process's to give; they stay its own whatever others do
    expected: tuple[int, ...] = ()  # rows written by tasks or read lately: likely the next list's new messages
    newest: tuple[str, StoredCheckpoint] | None = None  # the namespace and checkpoint this process stored last


class RowAllocator:
    """Keeps a reservation for each session that this process wrote to lately; a forked child has none."""

    def __init__(self) -> None:
        self._lock = process_forks.Lock()
        self._begin_with_none()
        # What a parent reserved is its own: a child that gave it out again would store two messages in one row.
        process_forks.register(after_in_child=self._begin_with_none)

    def of(self, session: SessionKey, next_row: int) -> Reservation:
        """The reservation of the session whose next row is this now."""
        with self._lock:
            return self._of(session, next_row)

    def expect(self, session: SessionKey, next_row: int, rows: Iterable[int]) -> None:
        """Notes rows that were read when the session's next row was this."""
        with self._lock:
            known = self._reservations.get(session)
            if known is None or known.next_row <= next_row:
                before = self._of(session, next_row)
                self._keep(session, replace(before, expected=_latest(before.expected, rows)))

    def wrote(self, session: SessionKey, since: int, left: Reservation) -> None:
        """Notes where a transaction left the session, its `expected` being what it added; it began at `since`."""
        with self._lock:
            before = self._of(session, since)
            self._keep(session, replace(left, expected=_latest(before.expected, left.expected)))

    def note_order(
        self, session: SessionKey, made: CheckpointKey, earlier: set[CheckpointKey], missing: Iterable[CheckpointKey]
    ) -> None:
        """Notes that this checkpoint was made after `earlier`, of which these are not stored yet, and after whatever
        those that are stored still wait for.
        """
        with self._lock:
            for each in missing:
                self._later.setdefault((session, each), {})
                if len(self._later) > _MOST_EXPECTED:
                    self._later.popitem(last=False)
            for (of, awaited), later in self._later.items():
                if of == session and len(later) < _MOST_LATER and not earlier.isdisjoint((awaited, *later)):
                    later[made] = None

    def later_than(self, session: SessionKey, made: CheckpointKey) -> list[CheckpointKey]:
        """The checkpoints that were stored here while this one, made before them, was missing."""
        with self._lock:
            found = self._later.get((session, made), {})
            for (of, _), later in self._later.items():
                if of == session and made in later:
                    later.update(found)
            return [*found]

    def forget(self, session: SessionKey) -> None:
        with self._lock:
            self._reservations.pop(session, None)

    def _begin_with_none(self) -> None:
        self._reservations: OrderedDict[SessionKey, Reservation] = OrderedDict()
        self._later: OrderedDict[tuple[SessionKey, CheckpointKey], dict[CheckpointKey, None]] = OrderedDict()

    def _of(self, session: SessionKey, next_row: int) -> Reservation:
        known = self._reservations.get(session, Reservation(next_row))
        return known if known.next_row == next_row else Reservation(next_row, known.free)

    def _keep(self, session: SessionKey, reservation: Reservation) -> None:
        self._reservations[session] = reservation
        self._reservations.move_to_end(session)
        if len(self._reservations) > _MOST_SESSIONS:
            self._reservations.popitem(last=False)


class RowLease:
    """The rows that one transaction takes from the allocator. `next_row` is the session's after the transaction."""

    def __init__(self, allocator: RowAllocator, session: SessionKey, next_row: int) -> None:
        self.next_row = next_row
        self._allocator = allocator
        self._session = session
        self._began_at = next_row
        self._reservation = allocator.of(session, next_row)
        self._free = self._reservation.free
        self._newest = self._reservation.newest

    @property
    def expected(self) -> tuple[int, ...]:
        """Rows whose messages the next list is likely to hold."""
        return self._reservation.expected

    def expect(self, rows: Iterable[int]) -> None:
        """Notes rows read as pending writes: the list that comes next holds their messages."""
        self._allocator.expect(self._session, self._began_at, rows)

    def take(self) -> int:
        """A row number nobody else has, reserved in blocks so that most steps leave the session's row as it is."""
        if not self._free:
            self._free = range(self.next_row, self.next_row + _BLOCK)
            self.next_row += _BLOCK
        number, self._free = self._free[0], self._free[1:]
        return number

    def parent(self, namespace: str, checkpoint_id: str) -> StoredCheckpoint | None:
        """The checkpoint, if this process stored it last and nobody has touched the session's past since."""
        match self._newest:
            case (known, stored) if known == namespace and stored.checkpoint_id == checkpoint_id:
                return stored
        return None

    def note_order(self, made: CheckpointKey, earlier: set[CheckpointKey], missing: Iterable[CheckpointKey]) -> None:
        """Notes which checkpoints were made before this one: the calls of a run come from several threads."""
        self._allocator.note_order(self._session, made, earlier, missing)

    def later_than(self, made: CheckpointKey) -> list[CheckpointKey]:
        """Those that were stored before it and made after it."""
        return self._allocator.later_than(self._session, made)

    def stored(self, namespace: str, stored: StoredCheckpoint) -> None:
        """Notes the checkpoint, for the one that continues it."""
        self._newest = namespace, stored

    def disturb(self) -> None:
        """Tells every process that what it remembers of the session may not be so any more."""
        self.next_row += 1

    def publish(self, added: Iterable[int]) -> None:
        """Once the transaction is on disk, with the rows it added."""
        left = Reservation(self.next_row, self._free, tuple(added), self._newest)
        self._allocator.wrote(self._session, self._began_at, left)

    def forget(self) -> None:
        """Forget a transaction that failed: no number it reserved is given again, nothing it read is relied on."""
        self._allocator.forget(self._session)


def _latest(before: tuple[int, ...], more: Iterable[int]) -> tuple[int, ...]:
    return (*before, *more)[-_MOST_EXPECTED:]
