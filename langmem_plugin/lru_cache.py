"""Caches that are bounded in bytes and drop what was used least recently."""

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, Generic, ParamSpec, TypeVar

from langmem_plugin import process_forks

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_Rest = ParamSpec("_Rest")
_WORDS = 100


class LruCache(Generic[_Key, _Value]):
    """A cache that is safe for threads. `limit` is in bytes, as is `size`; a larger value is not kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.size = 0
        self._entries: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()
        self._lock = process_forks.Lock()

    def get(self, key: _Key) -> _Value | None:
        with self._lock:
            if (entry := self._entries.get(key)) is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: _Key, value: _Value, size: int) -> None:
        """Keep the value, which takes about `size` bytes, in place of the one before."""
        with self._lock:
            self._drop(key)
            if size > self._limit:
                return
            self._entries[key] = value, size
            self.size += size
            while self.size > self._limit:
                self._drop(next(iter(self._entries)))

    def drop(self, key: _Key) -> None:
        with self._lock:
            self._drop(key)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self.size = 0

    def _drop(self, key: _Key) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self.size -= entry[1]


def cached_if_short(
    entries: int, longest: int = _WORDS
) -> Callable[[Callable[Concatenate[str, _Rest], _Value]], Callable[Concatenate[str, _Rest], _Value]]:
    """Return a decorator for pure functions of a text: `functools.lru_cache`, but a text of more characters than
    `longest` is not kept.
    """

    def cached(
        function: Callable[Concatenate[str, _Rest], _Value],
    ) -> Callable[Concatenate[str, _Rest], _Value]:
        kept: Callable[..., _Value] = lru_cache(entries)(function)

        @wraps(function)
        def called(text: str, /, *rest: _Rest.args, **named: _Rest.kwargs) -> _Value:
            return kept(text, *rest, **named) if len(text) <= longest else function(text, *rest, **named)

        return called

    return cached
