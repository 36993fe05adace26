"""What all methods of the checkpointer have in common: they end with it, and have asynchronous twins.

A twin is the same method in a thread of the object's own executor. Never asyncio's default one: it has few threads,
and turns that wait in them would keep out what they wait for.
"""

import asyncio
import functools
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor
from contextvars import copy_context
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from langmem_plugin.errors import StoreUnavailable


class _Closable(Protocol):
    executor: Executor
    is_closed: bool


_Object = TypeVar("_Object", bound=_Closable)
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_CLOSED = "the checkpointer is closed: open another"


def while_open(
    method: Callable[Concatenate[_Object, _Given], _Result],
) -> Callable[Concatenate[_Object, _Given], _Result]:
    """The method, which raises StoreUnavailable once its object is closed."""

    @functools.wraps(method)
    def called(self: _Object, /, *arguments: _Given.args, **named: _Given.kwargs) -> _Result:
        if self.is_closed:
            raise StoreUnavailable(_CLOSED)
        return method(self, *arguments, **named)

    return called


def in_executor(
    method: Callable[Concatenate[_Object, _Given], _Result],
) -> Callable[Concatenate[_Object, _Given], Coroutine[Any, Any, _Result]]:
    """The method for asynchronous code. Raises StoreUnavailable once the executor is shut down."""

    @functools.wraps(method)  # LangGraph looks at the signature
    async def forward(self: _Object, /, *arguments: _Given.args, **named: _Given.kwargs) -> _Result:
        if self.is_closed:
            raise StoreUnavailable(_CLOSED)
        return await run_in(self.executor, functools.partial(method, self, *arguments, **named))

    return forward


async def run_in(executor: Executor, function: Callable[[], _Result]) -> _Result:
    """What it returns, called in a thread that knows the current run."""
    loop = asyncio.get_running_loop()
    try:
        called = loop.run_in_executor(executor, functools.partial(copy_context().run, function))
    except RuntimeError as error:
        raise StoreUnavailable("the threads of this checkpointer are shut down: open another") from error
    return await called


class Done:
    """May be awaited, and need not be."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()
