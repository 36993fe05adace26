"""Whether this machine's clock can be believed: it is compared with others before anything is deleted by it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

_MOST = timedelta(hours=1)


def running_seconds() -> float:
    """A stopwatch that nobody sets, and that goes on while the machine sleeps where there is such a one."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class ClockCheck:
    """From when it is made: the clock `wall` must move as `stopwatch` (in seconds) does.

    It is the machine's clock that is checked, which whoever is given another one knows nothing of.
    """

    def __init__(
        self,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
        stopwatch: Callable[[], float] = running_seconds,
    ) -> None:
        self._wall = wall
        self._stopwatch = stopwatch
        self._began_at = wall()
        self._began = stopwatch()

    def jumped_by(self, other: datetime | None = None) -> timedelta | None:
        """How far off it is, if by more than an hour; `other` is what another clock says just now."""
        now = self._wall()
        expected = [self._began_at + timedelta(seconds=self._stopwatch() - self._began)]
        if other is not None:
            expected.append(other)
        off = max((now - each for each in expected), key=abs)
        return off if abs(off) > _MOST else None
