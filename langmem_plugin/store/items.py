"""A memory as an item of the store, what an item is stored as, and the filters that an item may meet."""

import json
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from langgraph.store.base import Item, SearchItem
from langgraph.store.base.embed import get_text_at_path

from langmem_plugin.errors import InvalidInput
from langmem_plugin.memory.keep.memory_row_mapping import MARK, mark_of, value_with
from langmem_plugin.memory.memory_types import Memory, storable
from langmem_plugin.store.namespaces import MEMORIES, Location, spelled

Index = Literal[False] | list[str] | None
Value = dict[str, Any]

_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def key_of(location: Location, key: str) -> str:
    """Return the key of the item's memory."""
    return key if location.shape == MEMORIES else "/".join((*location.shape, key))


def checked(value: Mapping[str, Any]) -> str:
    """Return the value as JSON. Raises InvalidInput for what JSON does not hold."""
    try:
        written = json.dumps(value, allow_nan=False)
        read = json.loads(written)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"an item of the store holds JSON values only: {error}") from error
    if read != dict(value):
        raise InvalidInput("an item of the store holds JSON values only: lists, and objects whose keys are texts")
    return written


def text_of(key: str, value: Mapping[str, Any], index: Index) -> str:
    """Return the text that is recalled and searched: the fields of `index`, else every text and number with its name;
    with False the key alone.
    """
    if index is False:
        texts = []
    elif index is None:
        leaves = list(_leaves(dict(value)))
        texts = [leaves[0][1]] if len(leaves) == 1 else [f"{name}: {text}" for name, text in leaves]
    else:
        texts = [text for path in index for text in get_text_at_path(dict(value), path)]
    return storable("\n".join(each for each in texts if each.strip())).strip() or storable(key).strip() or "-"


def mark(location: Location, key: str, value: str, text: str) -> dict[str, Any]:
    """Return what tells in the metadata of a memory which item it is. The value is text: JSON of any depth and content
    comes back as it was.
    """
    return {MARK: {"namespace": list(location.shape), "key": key, "value": value, "text": text}}


def place_of(memory: Memory) -> tuple[tuple[str, ...], str]:
    """Return the shape of the memory's namespace, and its key there: of a memory that no store made, its
    own key or its id.
    """
    held = mark_of(memory.metadata)
    return (tuple(held["namespace"]), held["key"]) if held else (MEMORIES, memory.key or memory.id)


def value_of(memory: Memory) -> Value:
    """Return the value as it was put, with the corrected text if it was corrected elsewhere since."""
    held = mark_of(memory.metadata)
    return {"content": memory.text} if held is None else value_with(held, memory.text)


def item_of(memory: Memory, namespace: Sequence[str]) -> Item:
    return Item(
        namespace=tuple(namespace),
        key=place_of(memory)[1],
        value=value_of(memory),
        created_at=memory.created_at,
        updated_at=memory.updated_at,
    )


def search_item_of(memory: Memory, score: float | None) -> SearchItem:
    shape, key = place_of(memory)
    return SearchItem(
        namespace=spelled(Location(memory.owner, shape)),
        key=key,
        value=value_of(memory),
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        score=score,
    )


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if parts is not None:
        for part, held in parts:
            yield from _leaves(held, f"{name} {part}".strip())
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield name, str(value)


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Tell whether every field is as wanted. Raises InvalidInput for an operator that no store knows."""
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
