"""What a transaction asks for, and who is inside one: so many at once, nobody while the process forks."""

import threading
import time
from typing import NamedTuple

from langmem_plugin.errors import StoreUnavailable


class Transaction(NamedTuple):
    """It may wait `seconds`, until `deadline`, for all that comes before its first answer."""

    writes: bool
    durable: bool
    seconds: float
    deadline: float  # of time.monotonic(), as all deadlines here

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())


class Gate:
    """Lets `room` threads in at once."""

    def __init__(self, room: float) -> None:
        self._room = room
        self._inside: dict[int, int] = {}  # thread -> how many transactions, one inside the other
        self._shut = 0
        self._changed = threading.Condition()

    def enter(self, asked: Transaction) -> None:
        """Raises StoreUnavailable if there is no place in time."""
        thread = threading.get_ident()
        with self._changed:
            # Who is inside has what the others wait for, and must not wait for them.
            already = self._inside.get(thread, 0)
            if (
                not already
                and not self._has_place()
                and not self._changed.wait_for(self._has_place, asked.seconds_left)
            ):
                raise StoreUnavailable(f"no place for another transaction within {asked.seconds} s: try again")
            self._inside[thread] = already + 1

    def leave(self) -> None:
        thread = threading.get_ident()
        with self._changed:
            self._inside[thread] -= 1
            if not self._inside[thread]:
                del self._inside[thread]
                self._changed.notify_all()

    def shut(self, deadline: float) -> bool:
        """Lets nobody in until `open`; whether all have left in time."""
        with self._changed:
            self._shut += 1
            return self._changed.wait_for(self._others_left, deadline - time.monotonic()) and not self._inside

    def open(self) -> None:
        with self._changed:
            self._shut -= 1
            self._changed.notify_all()

    def _has_place(self) -> bool:
        return not self._shut and len(self._inside) < self._room

    def _others_left(self) -> bool:
        """To wait for oneself would be for ever."""
        return self._inside.keys() <= {threading.get_ident()}
