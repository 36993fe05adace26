"""The steps of answering a message that act on the world, so that one copy of the logic serves threads and event loops.

The answering is a generator that yields steps. `perform` takes them in the calling thread. `aperform` awaits them, and
runs the code between them in a thread, because that reads and writes the database.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Executor
from contextvars import Context, copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel

from langmem_plugin.conversation.turns.turn_queue import Turn
from langmem_plugin.errors import InvalidInput


class Reply(str):
    """A text to send. `repeated` says that it was given to another call before: for the same message, delivered twice,
    or for one that it was answered together with. A channel that sends by itself then leaves it out, as it does with
    "".
    """

    __slots__ = ("repeated",)

    repeated: bool

    def __new__(cls, text: str, *, repeated: bool = False) -> Self:
        made = super().__new__(cls, text)
        made.repeated = repeated
        return made


Graph = Pregel[Any, Any, Any, Any]
Sending = Callable[[str], Awaitable[object] | object]

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Step:
    """One act: done `here`, in this thread, or `awaited` in a place without holding up the event loop."""

    here: Callable[[], Any]
    awaited: Callable[["Place"], Awaitable[Any]]
    ends_turn: bool = False


Steps = Generator[Step, Any, _Result]


@dataclass(slots=True)
class Place:
    """The place where an asynchronous answer runs: its threads, and the context variables that all of its steps share.

    `cancelled` is set where the task was cancelled while it waited for what cannot be stopped.
    """

    executor: Executor
    context: Context
    cancelled: asyncio.CancelledError | None = None

    async def in_thread(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """Call the function in a thread and wait until it ends, however often the task is cancelled: a thread cannot be
        stopped, and two must not be in one context.
        """
        run = partial(self.context.run, _without_stop_iteration, function, *arguments)
        return await self._to_its_end(asyncio.get_running_loop().run_in_executor(self.executor, run))

    async def in_task(self, awaitable: Awaitable[_Result]) -> _Result:
        """Return the result, also to a task that was cancelled at the very moment it was done: a turn that has begun
        must be given back, and an answer that was sent must be known as sent.
        """
        task = self._task(awaitable)
        try:
            return await task
        except asyncio.CancelledError as error:
            if not task.done() or task.cancelled() or task.exception() is not None:
                raise
            self.cancelled = error
            return task.result()

    async def in_task_to_its_end(self, awaitable: Awaitable[_Result]) -> _Result:
        return await self._to_its_end(self._task(awaitable))

    def _task(self, awaitable: Awaitable[_Result]) -> asyncio.Task[_Result]:
        async def run() -> _Result:
            return await awaitable

        # A coroutine inside another one would never be awaited if the task were cancelled before it began.
        begun = awaitable if inspect.iscoroutine(awaitable) else run()
        return asyncio.get_running_loop().create_task(begun, context=self.context)

    async def _to_its_end(self, future: asyncio.Future[_Result]) -> _Result:
        while not future.done():
            try:
                await asyncio.wait([future])
            except asyncio.CancelledError as error:
                self.cancelled = error
        return future.result()


def begin(turn: Turn) -> Step:
    """Wait for the turn, and give its config."""
    return Step(turn.__enter__, lambda place: place.in_task(turn.__aenter__()))


def end(turn: Turn, error: BaseException | None) -> Step:
    """Give the turn back, also after an error."""
    kind = error and type(error)
    return Step(
        lambda: turn.__exit__(kind, error, None),
        lambda place: place.in_task_to_its_end(turn.__aexit__(kind, error, None)),
        ends_turn=True,
    )


def pause(seconds: float) -> Step:
    return Step(lambda: time.sleep(seconds), lambda _: asyncio.sleep(seconds))


def send(sending: Sending, text: str) -> Step:
    """Hand a text to the channel's own function, and give what that returns."""

    def here() -> Any:
        if inspect.isawaitable(sent := sending(text)):
            if inspect.iscoroutine(sent):
                sent.close()
            raise InvalidInput("`send` is asynchronous: use `await memory.areply(…)`, or give a plain function")
        return sent

    async def awaited(place: Place) -> Any:
        if inspect.iscoroutinefunction(sending):
            return await place.in_task(sending(text))
        sent = await place.in_thread(sending, text)
        return await place.in_task(sent) if inspect.isawaitable(sent) else sent

    return Step(here, awaited)


def run(graph: Graph, given: Any, config: RunnableConfig) -> Step:
    """Run the graph, and give what it ends with."""
    return Step(lambda: graph.invoke(given, config), lambda place: place.in_task(graph.ainvoke(given, config)))


def perform(steps: Steps[_Result]) -> _Result:
    """Take the steps one after another. An error of a step is raised in the generator, where it asked for it."""
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
            proceed = partial(steps.throw, _throwable(error))


async def aperform(steps: Steps[_Result], executor: Executor) -> _Result:
    """Take the steps in an event loop, as `perform` does. A task still gives its turn back, however often it is
    cancelled.
    """
    place = Place(executor, copy_context())
    proceed: Callable[[], Step] = partial(next, steps)
    while True:
        try:
            step = await place.in_thread(_unless_ended, proceed)
        except _Ended as end:
            if place.cancelled is not None:
                raise place.cancelled from None
            result: _Result = end.value
            return result
        if place.cancelled is not None and not step.ends_turn:
            proceed = partial(steps.throw, place.cancelled)
            place.cancelled = None
            continue
        try:
            proceed = partial(steps.send, await step.awaited(place))
        except BaseException as error:  # noqa: BLE001 - as above
            proceed = partial(steps.throw, _throwable(error))


def _throwable(error: BaseException) -> BaseException:
    """Return an error that a generator can be given: after GeneratorExit its turn would never be given back."""
    return RuntimeError(repr(error)) if isinstance(error, GeneratorExit) else error


class _Ended(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


def _unless_ended(proceed: Callable[[], Step]) -> Step:
    try:
        return proceed()
    except StopIteration as end:  # a future cannot hold one
        raise _Ended(end.value) from None


def _without_stop_iteration(function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Call the function; raise RuntimeError for StopIteration, for which a future's caller would wait for ever."""
    try:
        return function(*arguments)
    except StopIteration as error:
        raise RuntimeError("a StopIteration was raised") from error
