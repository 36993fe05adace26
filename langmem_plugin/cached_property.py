"""A `functools.cached_property` without its lock."""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

_Value = TypeVar("_Value")


class cached_property(Generic[_Value]):  # noqa: N801 - it stands for the one of functools
    """A value that is worked out when it is first asked for, and kept in the object.

    Before Python 3.12 `functools.cached_property` holds one lock for all objects of a class while it works a value out:
    threads wait for one another, and a process forked in that moment waits for ever. Here two threads may work it out
    at once, and the first result is kept: so working it out must have no side effects.
    """

    def __init__(self, found: Callable[[Any], _Value]) -> None:
        self._found = found
        self.__doc__ = found.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, owner: None, _: type | None = None) -> Self: ...
    @overload
    def __get__(self, owner: object, _: type | None = None) -> _Value: ...
    def __get__(self, owner: object, _: type | None = None) -> Self | _Value:
        if owner is None:
            return self
        kept: _Value = owner.__dict__.setdefault(self._name, self._found(owner))
        return kept
