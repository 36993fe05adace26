"""The queue of turns: one at a time per conversation, first come first served, across threads, tasks and processes.

TURN_TIMEOUT of settings.py is the longest wait of a turn for its place.

A turn takes a ticket in the database and runs when no older one is left. Its process keeps renewing the ticket, so a
killed process frees its conversations within seconds. A process that was only frozen finds its ticket outrun: the
ticket is the epoch of the session from the turn's begin, and every write of the turn's run is conditional on it.
"""

import asyncio
import contextlib
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from sqlalchemy import Connection, bindparam, delete, insert, select, text, update

from langmem_plugin import process_forks
from langmem_plugin.conversation.config_keys import FIRST_STATE, ticket_of
from langmem_plugin.conversation.sessions.session_rows import one_at_a_time
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import turn
from langmem_plugin.database.prepared_statements import Prepared, given
from langmem_plugin.errors import InvalidInput, StoreUnavailable, TurnLost, TurnTimeout

RENEW_SECONDS = 1.0
"""The seconds between two renewals of a ticket: well below the longest gap, which is well below SILENT_SECONDS."""

_LONGEST_GAP_SECONDS = 2.0

SILENT_SECONDS = 4.0
"""The seconds after which a ticket that was watched and not renewed belongs to nobody."""

_ABANDONED_SECONDS = 20.0
"""The seconds after which it is taken away though nobody waits behind it: until then a process that stood still may
go on with its turn.
"""

Ticket = tuple[str, int]
_FIRST_POLL_SECONDS, _SLOWEST_POLL_SECONDS = 0.005, 0.1


class Watch:
    """Looks at tickets again and again, in a transaction that could write: only then could holders have renewed too."""

    def __init__(self) -> None:
        self._seen: dict[Ticket, tuple[int, float]] = {}
        self._looked_at = 0.0

    def gone(self, renewals: Mapping[Ticket, int], at: float) -> list[tuple[Ticket, int]]:
        """The tickets whose holders are gone, with the count at which they stopped; `at` is in monotonic seconds.

        After a gap (this process was frozen, or the database away) the watch begins anew: the gap may have kept the
        others from renewing as well.
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

    def silence(self, ticket: Ticket) -> float:
        """The seconds for which a ticket has not been renewed, at the last look."""
        return self._looked_at - self._seen[ticket][1]


_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Opened:
    """The config of a turn that has its place, and whether its conversation waits for the person's answer."""

    config: RunnableConfig
    awaits_answer: bool = False


Open = Callable[[Connection, str, int], Opened]
"""A function of (connection, thread, ticket) that opens the session of a turn.

It is called in the transaction that makes the ticket the first; from then on only this turn's run may write.
"""


class Arrival(Protocol):
    """A message that came in and wants the turn: it is noted, and taken, in the turn's own transactions."""

    def drawn(self, connection: Connection, thread: str, ticket: int) -> None:
        """Note the message, in the transaction that draws the ticket."""
        ...

    def begun(self, connection: Connection, thread: str, ticket: int) -> None:
        """Take the message, in the transaction that makes the ticket the first."""
        ...


@dataclass(slots=True)
class _Place:
    """A ticket of this process; `thread_id` is that of the thread that waits or holds, none for a task."""

    thread: str
    thread_id: int | None
    begun: bool = False


class Turns:
    """Holds conversations; `timeout` is the longest wait for a place.

    `settle` is called before a ticket is given back: it writes what the turn's runs left to be written.
    """

    def __init__(
        self,
        database: Database,
        conversation: Open,
        settle: Callable[[RunnableConfig], None],
        timeout: timedelta,
        executor: Executor,
    ) -> None:
        self._database = database
        self._conversation = conversation
        self._settle = settle
        self._timeout = timeout.total_seconds()
        self._executor = executor
        self.reset()
        process_forks.register(after_in_child=self.reset)

    def reset(self) -> None:
        """Begin as a process that holds nothing: tickets, locks and threads of a parent process are not its own."""
        self._places: dict[int, _Place] = {}
        self._changed = threading.Condition()
        self._closing = False
        self._stopped = threading.Event()  # set after the last turn: until then tickets are renewed
        self._renewing: threading.Thread | None = None

    def turn(self, thread: str, arrival: Arrival | None = None, conversation: Open | None = None) -> "Turn":
        """A turn of this thread; `conversation` opens its session in another way than the usual."""

        def begin(connection: Connection, thread: str, ticket: int) -> Opened:
            opened = (conversation or self._conversation)(connection, thread, ticket)
            if arrival is not None:
                arrival.begun(connection, thread, ticket)
            else:  # a program's own turn may begin its run much later, or write before it
                opened.config["configurable"].pop(FIRST_STATE, None)
            return opened

        return Turn(self._hold(thread, arrival, begin), self._ahold(thread, arrival, begin))

    def close(self) -> None:
        """Take no more turns, and wait for those that run here, up to the longest wait for a place."""
        mine = threading.get_ident()
        with self._changed:
            self._closing = True
            self._changed.wait_for(
                lambda: not any(place.begun and place.thread_id != mine for place in self._places.values()),
                self._timeout,
            )
        self._stopped.set()
        if self._renewing:
            self._renewing.join()

    @contextmanager
    def _hold(self, thread: str, arrival: Arrival | None, begin: Open) -> Iterator[Opened]:
        """Wait for a place, then hold the conversation until the block ends."""
        self._refuse_own(thread, threading.get_ident())
        ticket, opened = self._take(thread, arrival, begin, threading.get_ident())
        try:
            for pause in self._pauses(opened):
                time.sleep(pause)
                if opened := self._claim(thread, ticket, begin):
                    break
            assert opened is not None  # noqa: S101 - the pauses end no other way
            try:
                yield opened
            finally:
                self._settle(opened.config)
        finally:
            self._give_back(thread, ticket)

    @asynccontextmanager
    async def _ahold(self, thread: str, arrival: Arrival | None, begin: Open) -> AsyncIterator[Opened]:
        """Do as `_hold` for a task; a waiting task holds no thread."""
        self._refuse_own(thread, None)
        drawing = self._executor.submit(self._take, thread, arrival, begin)
        try:
            ticket, opened = await asyncio.wrap_future(drawing)
        except asyncio.CancelledError:
            # A thread that draws a ticket cannot be stopped, and nobody else would give that ticket back.
            self._executor.submit(self._give_back_drawn, thread, drawing)
            raise
        try:
            for pause in self._pauses(opened):
                await asyncio.sleep(pause)
                if opened := await self._in_thread(self._claim, thread, ticket, begin):
                    break
            assert opened is not None  # noqa: S101 - the pauses end no other way
            try:
                yield opened
            finally:
                await asyncio.shield(self._in_thread(self._settle, opened.config))
        finally:
            await asyncio.shield(self._in_thread(self._give_back, thread, ticket))

    def _pauses(self, opened: Opened | None) -> Iterator[float]:
        """The seconds to sleep before each look; none if the place is the first. Raises TurnTimeout."""
        deadline, pause = time.monotonic() + self._timeout, _FIRST_POLL_SECONDS
        while opened is None:
            self._refuse_closed()
            if time.monotonic() >= deadline:
                raise TurnTimeout(
                    f"the turn before this one did not end within {self._timeout} s: try again, or raise turn_timeout"
                )
            yield pause
            pause = min(pause * 1.5, _SLOWEST_POLL_SECONDS)

    def _take(
        self, thread: str, arrival: Arrival | None, begin: Open, thread_id: int | None = None
    ) -> tuple[int, Opened | None]:
        """A new ticket, and the turn if the ticket is the first in line."""
        self._refuse_closed()
        with self._database.write(durable=False) as connection:
            (ticket,) = _TAKE.first(connection, {"of_thread": thread}) or (0,)
            opened = None
            if arrival is not None:
                arrival.drawn(connection, thread, ticket)
            if _AHEAD.first(connection, {"of_thread": thread, "of_ticket": ticket}) is None:
                opened = begin(connection, thread, ticket)
        with self._changed:
            self._places[ticket] = _Place(thread, thread_id, opened is not None)
            if self._renewing is None:
                arguments = (weakref.ref(self), self._stopped)
                self._renewing = threading.Thread(target=_renew, args=arguments, name="langmem-turns", daemon=True)
                self._renewing.start()
        return ticket, opened

    def _claim(self, thread: str, ticket: int, begin: Open) -> Opened | None:
        """The turn, once no ticket is ahead. Raises TurnLost if this one was taken away meanwhile."""
        with self._changed:
            if any(place.thread == thread and ahead < ticket for ahead, place in self._places.items()):
                return None  # behind others of this process: the database need not be asked
        mine = {"of_thread": thread, "of_ticket": ticket}
        if self._database.select(lambda connection: _AHEAD.first(connection, mine)) is not None:
            return None
        with self._database.write(durable=False) as connection:
            one_at_a_time(connection, thread)
            if not holds(connection, thread, ticket):
                raise TurnLost("this process stood still and lost its place in the line: send the message again")
            opened = begin(connection, thread, ticket)
        with self._changed:
            self._places[ticket].begun = True
        return opened

    def _give_back(self, thread: str, ticket: int) -> None:
        if ticket not in self._places:  # a forked child leaves its parent's turn to the parent
            return
        try:
            with self._database.write(durable=False) as connection:
                _GIVE_BACK.run(connection, {"of_thread": thread, "of_ticket": ticket})
        finally:
            with self._changed:
                self._places.pop(ticket, None)
                self._changed.notify_all()

    def _give_back_drawn(self, thread: str, drawing: Future[tuple[int, Opened | None]]) -> None:
        if not drawing.cancelled() and drawing.exception() is None:
            self._give_back(thread, drawing.result()[0])

    def runs_here(self, config: RunnableConfig) -> bool:
        """Tell whether this process holds the turn of the config."""
        place = self._places.get(ticket_of(config) or 0)
        return place is not None and place.begun

    def _refuse_own(self, thread: str, thread_id: int | None) -> None:
        """Raise InvalidInput for a turn inside a turn of the same conversation: it would wait in vain."""
        run = var_child_runnable_config.get() or {}
        of_run = self._places.get(ticket_of(run) or 0)
        of_thread = [each for each in list(self._places.values()) if thread_id and each.thread_id == thread_id]
        if any(place.begun and place.thread == thread for place in (of_run, *of_thread) if place):
            raise InvalidInput(
                "this conversation's turn is running right here: return messages from the node, or write after the turn"
            )

    def _refuse_closed(self) -> None:
        if self._closing:
            raise StoreUnavailable("the checkpointer is closed: open another")

    def renew(self, watch: Watch) -> None:
        """Renew this process's tickets once, and take away those of processes that are gone."""
        with self._changed:
            own = {(place.thread, ticket) for ticket, place in self._places.items()}
        if not own:
            return
        with self._database.write(durable=False) as connection:
            _RENEW.run_each(connection, [{"of_thread": thread, "of_ticket": ticket} for thread, ticket in sorted(own)])
        # Read in another transaction: else a turn that gives its ticket back would wait for the rows just renewed.
        seen = self._database.select(lambda connection: _LINE.all(connection, {}))
        others = {(thread, ticket): renewals for thread, ticket, renewals in seen if (thread, ticket) not in own}
        last = {thread: ticket for thread, ticket, _ in sorted(seen)}
        gone = [
            {"of_thread": thread, "of_ticket": ticket, "of_renewals": renewals}
            for (thread, ticket), renewals in watch.gone(others, time.monotonic())
            if ticket < last[thread] or watch.silence((thread, ticket)) >= _ABANDONED_SECONDS
        ]
        if gone:
            with self._database.write(durable=False) as connection:
                _TAKE_AWAY.run_each(connection, gone)

    async def _in_thread(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._executor, function, *arguments)


def line(connection: Connection, thread: str) -> set[int]:
    """The tickets of the thread that are held or wait."""
    return {ticket for (ticket,) in _OF_ONE.all(connection, {"of_thread": thread})}


def holds(connection: Connection, thread: str, ticket: int) -> bool:
    """Tell whether the ticket is still in the line."""
    return _HELD.first(connection, {"of_thread": thread, "of_ticket": ticket}) is not None


def _renew(turns: "weakref.ref[Turns]", stopped: threading.Event) -> None:
    """Renew in a loop, in a thread of its own, without keeping the object alive."""
    watch = Watch()
    while (found := turns()) is not None:
        with contextlib.suppress(StoreUnavailable):  # the next round may reach the database
            found.renew(watch)
        del found
        if stopped.wait(RENEW_SECONDS):
            return


class Turn(AbstractContextManager[RunnableConfig], AbstractAsyncContextManager[RunnableConfig]):
    """One turn, used once, with `with` or `async with`; gives the config to run the graph with."""

    def __init__(self, held: AbstractContextManager[Opened], held_by_task: AbstractAsyncContextManager[Opened]) -> None:
        self._held = held
        self._held_by_task = held_by_task
        self._used = False
        self.awaits_answer = False
        """True if the conversation's last run stopped to ask the person something; known once the turn has begun."""

    def __enter__(self) -> RunnableConfig:
        self._use()
        return self._begun(self._held.__enter__())

    def __exit__(self, *raised: object) -> bool | None:
        return self._held.__exit__(*raised)  # type: ignore[arg-type]

    async def __aenter__(self) -> RunnableConfig:
        self._use()
        return self._begun(await self._held_by_task.__aenter__())

    async def __aexit__(self, *raised: object) -> bool | None:
        return await self._held_by_task.__aexit__(*raised)  # type: ignore[arg-type]

    def _use(self) -> None:
        if self._used:
            raise InvalidInput("a turn is used once: ask for another with turn(phone)")
        self._used = True

    def _begun(self, opened: Opened) -> RunnableConfig:
        self.awaits_answer = opened.awaits_answer
        return opened.config


_OF_THREAD = given(turn.c.thread)
_MINE = given(turn.c.thread, turn.c.ticket)
# Tickets are drawn in the order of their transactions: on PostgreSQL one at a time, as `one_at_a_time` has it.
_TAKE = Prepared(
    {
        "sqlite": insert(turn).values(thread=bindparam("of_thread"), renewals=0).returning(turn.c.ticket),
        "postgresql": text(
            "WITH alone AS MATERIALIZED ("
            "SELECT pg_advisory_xact_lock(hashtextextended(CAST(:of_thread AS VARCHAR), 0))"
            ") INSERT INTO langmem_turn (thread, renewals) "
            "SELECT CAST(:of_thread AS VARCHAR), 0 FROM alone RETURNING ticket"
        ),
    }
)
_AHEAD = Prepared(select(turn.c.ticket).where(*_OF_THREAD, turn.c.ticket < bindparam("of_ticket")).limit(1))
_HELD = Prepared(select(turn.c.ticket).where(*_MINE))
_OF_ONE = Prepared(select(turn.c.ticket).where(*_OF_THREAD))
_LINE = Prepared(select(turn.c.thread, turn.c.ticket, turn.c.renewals))
_RENEW = Prepared(update(turn).where(*_MINE).values(renewals=turn.c.renewals + 1))
_GIVE_BACK = Prepared(delete(turn).where(*_MINE))
_TAKE_AWAY = Prepared(delete(turn).where(*_MINE, *given(turn.c.renewals)))
