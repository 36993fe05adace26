"""When a ticket's holder counts as gone: a pure rule over what was seen, by the watcher's own stopwatch.

No clocks are compared. A holder counts its ticket's renewals up every second, and who is watched and found silent
for long enough is gone, or frozen: then it must find out by itself that it has lost its place.
"""

import time
from collections.abc import Callable, Iterator, Mapping

from sqlalchemy import delete, select

from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import turn

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


_LONGEST_SECONDS = SILENT_SECONDS + 3 * RENEW_SECONDS


def stale_tickets_deleted(database: Database, stopwatch: Callable[[], float] = time.monotonic) -> Iterator[int]:
    """After each look how many were taken away; the caller waits for RENEW_SECONDS before the next.

    By the rule of ticket_watch.py: a holder counts its ticket up every second, whatever any clock says.
    """
    with database.read() as connection:
        first: dict[Ticket, int] = {(row.thread, row.ticket): row.renewals for row in connection.execute(select(turn))}
    watch, began = Watch(), stopwatch()
    while first and stopwatch() - began <= _LONGEST_SECONDS:
        taken = 0
        with database.write(durable=False) as connection:  # while nobody else could write, nobody could renew either
            line = {(row.thread, row.ticket): row.renewals for row in connection.execute(select(turn))}
            # Whoever has renewed meanwhile lives.
            first = {ticket: renewals for ticket, renewals in first.items() if line.get(ticket) == renewals}
            for (thread, ticket), renewals in watch.gone(first, stopwatch()):
                mine = (turn.c.thread == thread) & (turn.c.ticket == ticket) & (turn.c.renewals == renewals)
                taken += connection.execute(delete(turn).where(mine)).rowcount
                del first[thread, ticket]
        yield taken
