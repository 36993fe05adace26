"""What answering a message does to the world, step by step, so that one copy of it serves threads and event loops.

The answering is a generator that yields steps. `perform` takes them in the thread that asks; `aperform` awaits them,
and runs what lies between in a thread, because that reads and writes the database.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Executor
from contextvars import Context, copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel

from langmem_plugin.conversation.turns.turns import Turn
from langmem_plugin.errors import InvalidInput

Graph = Pregel[Any, Any, Any, Any]
Sending = Callable[[str], Awaitable[object] | object]

_Result = TypeVar("_Result")


class Step(Protocol):
    def here(self) -> Any:
        """Done in this thread."""
        ...

    async def awaited(self, place: "Place") -> Any:
        """Done without holding up the event loop."""
        ...


Steps = Generator[Step, Any, _Result]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an asynchronous answer runs: its threads, and the context variables that all of its steps share."""

    executor: Executor
    context: Context

    async def in_thread(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        run = partial(self.context.run, function, *arguments)
        return await asyncio.get_running_loop().run_in_executor(self.executor, run)

    def task(self, awaitable: Awaitable[_Result]) -> "asyncio.Task[_Result]":
        async def run() -> _Result:
            return await awaitable

        return asyncio.get_running_loop().create_task(run(), context=self.context)


@dataclass(frozen=True, slots=True)
class Begin:
    """Waits for the turn; gives its config."""

    turn: Turn

    def here(self) -> RunnableConfig:
        return self.turn.__enter__()

    async def awaited(self, place: Place) -> RunnableConfig:
        beginning = place.task(self.turn.__aenter__())
        try:
            return await asyncio.shield(beginning)
        except asyncio.CancelledError:
            beginning.cancel()
            await asyncio.wait([beginning])
            if not beginning.cancelled() and beginning.exception() is None:  # it had begun in the same moment
                await place.task(self.turn.__aexit__(None, None, None))
            raise


@dataclass(frozen=True, slots=True)
class End:
    """Gives the turn back, also after an error."""

    turn: Turn
    error: BaseException | None

    def here(self) -> None:
        self.turn.__exit__(self.error and type(self.error), self.error, None)

    async def awaited(self, place: Place) -> None:
        await place.task(self.turn.__aexit__(self.error and type(self.error), self.error, None))


@dataclass(frozen=True, slots=True)
class Run:
    """Runs the graph; gives what it ends with."""

    graph: Graph
    given: Any
    config: RunnableConfig

    def here(self) -> Any:
        return self.graph.invoke(self.given, self.config)

    async def awaited(self, place: Place) -> Any:
        return await place.task(self.graph.ainvoke(self.given, self.config))


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float

    def here(self) -> None:
        time.sleep(self.seconds)

    async def awaited(self, place: Place) -> None:  # noqa: ARG002 - others need it
        await asyncio.sleep(self.seconds)


@dataclass(frozen=True, slots=True)
class Send:
    """Hands a text to the channel's own function."""

    send: Sending
    text: str

    def here(self) -> None:
        if inspect.isawaitable(sent := self.send(self.text)):
            if inspect.iscoroutine(sent):
                sent.close()
            raise InvalidInput("`send` is asynchronous: use `await memory.areply(…)`, or give a plain function")

    async def awaited(self, place: Place) -> None:
        if inspect.iscoroutinefunction(self.send):
            await place.task(self.send(self.text))
        elif inspect.isawaitable(sent := await place.in_thread(self.send, self.text)):
            await place.task(sent)


def perform(steps: Steps[_Result]) -> _Result:
    """Takes the steps one after another; what one raises is raised where it was asked for."""
    proceed: Callable[[], Step] = partial(next, steps)
    while True:
        try:
            step = proceed()
        except StopIteration as end:
            result: _Result = end.value
            return result
        try:
            proceed = partial(steps.send, step.here())
        except BaseException as error:  # noqa: BLE001 - whatever it is belongs to who asked
            proceed = partial(steps.throw, error)


async def aperform(steps: Steps[_Result], executor: Executor) -> _Result:
    """The same for an event loop. A cancelled task still gives its turn back."""
    place = Place(executor, copy_context())
    proceed: Callable[[], Step] = partial(next, steps)
    while True:
        between = asyncio.ensure_future(place.in_thread(_unless_ended, proceed))
        cancelled: asyncio.CancelledError | None = None
        try:
            try:
                step = await asyncio.shield(between)
            except asyncio.CancelledError as error:
                cancelled, step = error, await between  # a thread cannot be stopped
        except _Ended as end:
            if cancelled is not None:
                raise cancelled from None
            result: _Result = end.value
            return result
        if cancelled is not None and not isinstance(step, End):
            proceed = partial(steps.throw, cancelled)
            continue
        try:
            proceed = partial(steps.send, await step.awaited(place))
        except BaseException as error:  # noqa: BLE001 - as above
            proceed = partial(steps.throw, error)


class _Ended(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


def _unless_ended(proceed: Callable[[], Step]) -> Step:
    try:
        return proceed()
    except StopIteration as end:  # a future cannot hold one
        raise _Ended(end.value) from None
