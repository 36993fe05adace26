"""Takes tickets out of the line whose processes are gone, also where nobody waits behind them."""

import time
from collections.abc import Callable, Iterator

from sqlalchemy import delete, select

from langmem_plugin.conversation.turns.ticket_watch import RENEW_SECONDS, SILENT_SECONDS, Ticket, Watch
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import turn

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
