"""The filters of LangGraph's stores: `{"kind": "recipe", "minutes": {"$lt": 30}}`, nested as the value is."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

from langmem_plugin.errors import InvalidInput

_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether every field is as wanted. Raises InvalidInput for an operator that no store knows."""
    return all(_is(value.get(name), each) for name, each in (wanted or {}).items())


def _is(held: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(name).startswith("$") for name in wanted):
            return all(_compares(held, name, other) for name, other in wanted.items())
        return isinstance(held, Mapping) and matches(held, wanted)
    if isinstance(wanted, list | tuple):
        same_length = isinstance(held, list | tuple) and len(held) == len(wanted)
        return same_length and all(_is(one, other) for one, other in zip(held, wanted, strict=True))
    return bool(held == wanted)


def _compares(held: Any, name: str, other: Any) -> bool:
    if name not in _COMPARED:
        raise InvalidInput(f"a filter cannot ask by {name!r}: use {', '.join(_COMPARED)}")
    try:
        if name not in ("$eq", "$ne") and isinstance(held, str) != isinstance(other, str):
            held, other = float(held), float(other)
        return bool(_COMPARED[name](held, other))
    except (TypeError, ValueError):
        return False  # of another kind, or not there
