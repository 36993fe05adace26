"""One turn at a time per conversation, first come first served, across threads, tasks and processes.

A turn takes a ticket in the database and runs when no older one is left. A ticket lives by a short lease that
its process keeps renewing, so a killed process frees its conversations within seconds.
"""

import asyncio
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from datetime import timedelta
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from sqlalchemy import (
    ClauseElement,
    ColumnElement,
    Float,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
    update,
)

from langmem_plugin import forks
from langmem_plugin.conversation.sessions import one_at_a_time
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import turn
from langmem_plugin.database.prepared import Prepared
from langmem_plugin.errors import StoreUnavailable, TurnTimeout

_Result = TypeVar("_Result")

_LEASE_SECONDS = 4.0
_RENEW_SECONDS = 1.0
_FIRST_POLL_SECONDS, _SLOWEST_POLL_SECONDS = 0.005, 0.1


class Turns:
    """Holds conversations. `begin` gives the config of a turn that has its place, `timeout` is the longest wait."""

    def __init__(
        self, database: Database, begin: Callable[[str], RunnableConfig], timeout: timedelta, executor: Executor
    ) -> None:
        self._database = database
        self._begin = begin
        self._timeout = timeout
        self._executor = executor
        self._begin_with_none()
        forks.register(after_in_child=self._begin_with_none)

    def _begin_with_none(self) -> None:
        """Also in a forked child: what the parent holds is the parent's."""
        self._tickets: set[tuple[str, int]] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._renewing: threading.Thread | None = None

    def turn(self, thread: str) -> "Turn":
        return Turn(self._hold(thread), self._ahold(thread))

    @contextmanager
    def _hold(self, thread: str) -> Iterator[RunnableConfig]:
        """Waits for its place, then holds the conversation until the block ends. Raises TurnTimeout."""
        ticket, first = self._take(thread)
        try:
            for pause in self._pauses(first):
                time.sleep(pause)
                if self._is_first(thread, ticket):
                    break
            yield self._begin(thread)
        finally:
            self._give_back(thread, ticket)

    @asynccontextmanager
    async def _ahold(self, thread: str) -> AsyncIterator[RunnableConfig]:
        """The same for a task; a waiting task holds no thread."""
        drawing = self._executor.submit(self._take, thread)
        try:
            ticket, first = await asyncio.wrap_future(drawing)
        except asyncio.CancelledError:
            # A thread that draws a ticket cannot be stopped, and nobody else would give that ticket back.
            self._executor.submit(self._give_back_drawn, thread, drawing)
            raise
        try:
            for pause in self._pauses(first):
                await asyncio.sleep(pause)
                if await self._in_thread(self._is_first, thread, ticket):
                    break
            yield await self._in_thread(self._begin, thread)
        finally:
            await asyncio.shield(self._in_thread(self._give_back, thread, ticket))

    def close(self) -> None:
        """Stops renewing; what is still held is free when its lease ends."""
        self._stopped.set()
        if self._renewing:
            self._renewing.join()

    def _pauses(self, first: bool) -> Iterator[float]:
        """How long to sleep before looking again; nothing to wait for if the place is the first."""
        waited, pause = 0.0, _FIRST_POLL_SECONDS
        while not first:
            if waited >= self._timeout.total_seconds():
                raise TurnTimeout(
                    f"the turn before this one did not end within {self._timeout}: try again, or raise turn_timeout"
                )
            yield pause
            waited += pause
            pause = min(pause * 1.5, _SLOWEST_POLL_SECONDS)

    def _take(self, thread: str) -> tuple[int, bool]:
        """A ticket, and whether it is the first in line."""
        with self._database.write(durable=False) as connection:
            one_at_a_time(connection, thread)
            _DROP_EXPIRED.run(connection, {"of_thread": thread})
            (last,) = _LAST.first(connection, {"of_thread": thread}) or (None,)
            # Never a number used before: a holder that overslept its lease must not give back the place of another.
            ticket = max(time.time_ns() // 1_000, (last or 0) + 1)
            _TAKE.run(connection, {"of_thread": thread, "of_ticket": ticket})
        with self._lock:
            self._tickets.add((thread, ticket))
            if self._renewing is None:
                self._renewing = threading.Thread(
                    target=_renew_until, args=(weakref.ref(self), self._stopped), name="langmem-turns", daemon=True
                )
                self._renewing.start()
        return ticket, last is None

    def _is_first(self, thread: str, ticket: int) -> bool:
        with self._database.read() as connection:
            return _AHEAD.first(connection, {"of_thread": thread, "of_ticket": ticket}) is None

    def _give_back(self, thread: str, ticket: int) -> None:
        with self._lock:
            self._tickets.discard((thread, ticket))
        with self._database.write(durable=False) as connection:
            _GIVE_BACK.run(connection, {"of_thread": thread, "of_ticket": ticket})

    def _give_back_drawn(self, thread: str, drawing: Future[tuple[int, bool]]) -> None:
        if not drawing.cancelled():
            self._give_back(thread, drawing.result()[0])

    def _renew(self) -> None:
        with self._lock:
            held = sorted(self._tickets)
        if not held:
            return
        # The next round may reach it; a lease that ends meanwhile frees the conversation.
        with suppress(StoreUnavailable), self._database.write(durable=False) as connection:
            _RENEW.run_each(connection, [{"of_thread": thread, "of_ticket": ticket} for thread, ticket in held])

    async def _in_thread(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._executor, function, *arguments)


def _renew_until(found: "weakref.ref[Turns]", stopped: threading.Event) -> None:
    """Between two rounds it keeps nobody alive, so that who was not closed can go."""
    while not stopped.wait(_RENEW_SECONDS) and (turns := found()) is not None:
        turns._renew()  # noqa: SLF001 - its own thread
        del turns


class Turn(AbstractContextManager[RunnableConfig], AbstractAsyncContextManager[RunnableConfig]):
    """One turn, used once, with `with` or `async with`; gives the config to run the graph with."""

    def __init__(
        self,
        held: AbstractContextManager[RunnableConfig],
        held_by_task: AbstractAsyncContextManager[RunnableConfig],
    ) -> None:
        self._held = held
        self._held_by_task = held_by_task

    def __enter__(self) -> RunnableConfig:
        return self._held.__enter__()

    def __exit__(self, *raised: object) -> bool | None:
        return self._held.__exit__(*raised)  # type: ignore[arg-type]

    async def __aenter__(self) -> RunnableConfig:
        return await self._held_by_task.__aenter__()

    async def __aexit__(self, *raised: object) -> bool | None:
        return await self._held_by_task.__aexit__(*raised)  # type: ignore[arg-type]


def _by_clock(statement: Callable[[ColumnElement[float]], ClauseElement]) -> Prepared:
    """The statement with now, in seconds since 1970, by the one clock that all processes share."""
    clocks = {
        "sqlite": "(julianday('now') - 2440587.5) * 86400.0",
        "postgresql": "extract(epoch from clock_timestamp())",
    }
    return Prepared({dialect: statement(literal_column(sql, Float)) for dialect, sql in clocks.items()})


_OF_THREAD = turn.c.thread == bindparam("of_thread")
_MINE = (_OF_THREAD, turn.c.ticket == bindparam("of_ticket"))
_DROP_EXPIRED = _by_clock(lambda now: delete(turn).where(_OF_THREAD, turn.c.lease_ends < now))
_LAST = Prepared(select(func.max(turn.c.ticket)).where(_OF_THREAD))
_TAKE = _by_clock(
    lambda now: insert(turn).values(
        thread=bindparam("of_thread"), ticket=bindparam("of_ticket"), lease_ends=now + _LEASE_SECONDS
    )
)
_AHEAD = _by_clock(
    lambda now: (
        select(turn.c.ticket)
        .where(_OF_THREAD, turn.c.ticket < bindparam("of_ticket"), turn.c.lease_ends >= now)
        .limit(1)
    )
)
_RENEW = _by_clock(lambda now: update(turn).where(*_MINE).values(lease_ends=now + _LEASE_SECONDS))
_GIVE_BACK = Prepared(delete(turn).where(*_MINE))
