"""When a ticket's holder counts as gone: a pure rule over what was seen, by the watcher's own stopwatch.

No clocks are compared. A holder counts its ticket's renewals up every second, and who is watched and found silent
for long enough is gone, or frozen: then it must find out by itself that it has lost its place.
"""

from collections.abc import Mapping

RENEW_SECONDS = 1.0
"""How often a holder counts its ticket up. Well below the longest gap, and that well below the silence."""

_LONGEST_GAP_SECONDS = 2.0

SILENT_SECONDS = 4.0
"""A ticket not renewed for so long while somebody looked is nobody's any more."""

Ticket = tuple[str, int]


class Watch:
    """Looks again and again, in a transaction that could write: only then could the holders have renewed, too."""

    def __init__(self) -> None:
        self._seen: dict[Ticket, tuple[int, float]] = {}
        self._looked_at = 0.0

    def gone(self, renewals: Mapping[Ticket, int], at: float) -> list[tuple[Ticket, int]]:
        """The tickets whose holders are gone, with the count at which they stopped; `at` is in monotonic seconds.

        After a gap (this process was frozen, or the database away) the watch begins anew: the gap may have kept
        the others from renewing as well.
        """
        if at - self._looked_at > _LONGEST_GAP_SECONDS:
            self._seen = {}
        self._looked_at = at
        before = self._seen
        self._seen = {
            ticket: before[ticket] if ticket in before and before[ticket][0] == count else (count, at)
            for ticket, count in renewals.items()
        }
        return [(ticket, count) for ticket, (count, since) in self._seen.items() if at - since >= SILENT_SECONDS]
