"""Notes that a reply had to do without the memory, so that channel.py adds a sentence about it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_noted: ContextVar[list[str] | None] = ContextVar("langmem_outage", default=None)


@contextmanager
def watched() -> Iterator[list[str]]:
    """The list fills with what could not be had inside the block, also in the threads that a graph's nodes run in."""
    missing: list[str] = []
    token = _noted.set(missing)
    try:
        yield missing
    finally:
        _noted.reset(token)


def note(what: str) -> None:
    """Notes that the memory could not be reached and the reply goes out without it."""
    noted = _noted.get()
    if noted is not None:
        noted.append(what)
