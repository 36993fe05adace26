"""Any value as the plain parts that it is built from again, and whether two values are the same to every reader."""

import copyreg
import re
import sys
from array import array
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from itertools import chain
from operator import is_
from typing import Any
from zoneinfo import ZoneInfo

from langchain_core.messages import BaseMessage

from langmem_plugin.conversation.storage.buildable_types import with_new_fields
from langmem_plugin.errors import NotSerializable

_NEW = vars(copyreg)["__newobj__"]  # says that the class is to be made without being called
_SCALARS: frozenset[type] = frozenset({str, int, float, bool, bytes, type(None)})
_NUMBERS = frozenset({bool, int, float, complex, str, bytes})
_PLAIN: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: bytes.__bytes__,
}
_NUMBER_KINDS = "biufcSU"  # as numpy calls them; a number of it that Python's cannot hold is an array of no dimension


def parts_of(value: Any) -> list[Any]:
    """As `build` takes them: whether the class is not to be called, its arguments, items, entries and state.

    Raises NotSerializable, and TypeError as `__reduce_ex__` does.
    """
    kind = type(value)
    if isinstance(value, Enum):
        return [False, [value.value]]
    if kind is re.Pattern:
        return [False, [value.pattern, value.flags]]
    if kind is ZoneInfo and value.key:
        return [False, [value.key]]
    reduced = value.__reduce_ex__(2 if isinstance(value, array) else 4)  # a function's is its name alone
    function, arguments, state, items, entries, *more = (*reduced, None, None, None)[: max(5, len(reduced))]
    if isinstance(value, BaseException):
        state = state or None  # one whose empty attributes were once looked at says so
    uncalled = function is _NEW
    if kind is not (arguments[0] if uncalled else function) or any(more):
        raise NotSerializable(f"a {kind.__module__}.{kind.__qualname__} cannot be taken apart into plain values")
    listed = None if items is None else [*items]
    paired = None if entries is None else [[*pair] for pair in entries]
    parts = [uncalled, [*arguments[uncalled:]], listed, paired, state]
    while parts[-1] is None:
        parts.pop()
    return parts


def build(  # noqa: PLR0917 - as they are stored
    kind: type,
    uncalled: bool,
    arguments: Sequence[Any],
    items: Sequence[Any] | None = None,
    entries: Sequence[tuple[Any, Any]] | None = None,
    state: Any = None,
) -> Any:
    """Build a value again from the parts that `parts_of` gave."""
    make: Any = re.compile if kind is re.Pattern else kind
    made = make.__new__(kind, *arguments) if uncalled else make(*arguments)
    for item in items or ():
        made.append(item)
    for key, part in entries or ():
        made[key] = part
    if state is not None:
        _set_state(made, state)
    return with_new_fields(made)


def _set_state(made: Any, state: Any) -> None:
    setter = getattr(made, "__setstate__", None)
    if setter is not None:
        setter(state)
        return
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    if attributes:
        made.__dict__.update(attributes)
    for name, part in (slots or {}).items():
        object.__setattr__(made, name, part)


def fields_of(message: BaseMessage) -> dict[str, Any] | None:
    """All that a message consists of; None if there is more than its fields."""
    fields = message.__dict__
    if message.__pydantic_private__ or fields.keys() != type(message).model_fields.keys():
        return None
    return {**fields, **message.__pydantic_extra__} if message.__pydantic_extra__ else fields


def build_message(kind: type[BaseMessage], fields: dict[str, Any]) -> BaseMessage:
    known = kind.model_fields
    if not known.keys() <= fields.keys():  # of an older version of the class
        return kind(**fields)
    made = kind.__new__(kind)
    more = {name: part for name, part in fields.items() if name not in known}
    made.__setstate__(
        {
            "__dict__": {name: part for name, part in fields.items() if name in known} if more else fields,
            "__pydantic_extra__": more if kind.model_config.get("extra") == "allow" else None,
            "__pydantic_fields_set__": {*fields},
            "__pydantic_private__": None,
        }
    )
    return made


def is_numpy(value: Any) -> bool:
    """True for an array or a number of numpy's own. A module that is not imported yet has made no value."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and (type(value) is numpy.ndarray or isinstance(value, numpy.generic))


def number_of(value: Any) -> Any:
    """Python's own number or text of a scalar of numpy; None for an array, and where Python has no such number."""
    is_scalar = isinstance(value, sys.modules["numpy"].generic) and value.dtype.kind in _NUMBER_KINDS
    return plain if is_scalar and type(plain := value.item()) in _NUMBERS else None


def plain_of(value: Any) -> Any:
    """The text or number that a value of a class of its own is; None for all else, an Enum's members among it."""
    if isinstance(value, Enum):
        return None
    return next((plain(value) for kind, plain in _PLAIN.items() if isinstance(value, kind)), None)


def array_parts(value: Any) -> list[Any]:
    """As `build_array` takes them. Raises NotSerializable for records with objects in them."""
    numpy = sys.modules["numpy"]
    shape = [*value.shape] if type(value) is numpy.ndarray else None
    if value.dtype == object:
        return [None, shape, "C", [*value.flat]]
    if value.dtype.hasobject:
        raise NotSerializable(f"an array of {value.dtype} holds objects: use an array of objects, or a list")
    in_order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
    return [numpy.lib.format.dtype_to_descr(value.dtype), shape, in_order, value.tobytes(in_order)]


def build_array(description: Any, shape: list[int] | None, in_order: Any, held: Any) -> Any:
    import numpy as np  # noqa: PLC0415 - many conversations hold no array

    if description is None:
        made = np.empty(len(held), dtype=object)
        for index, part in enumerate(held):
            made[index] = part
        return made.reshape(shape)
    dtype = np.lib.format.descr_to_dtype(description)
    made = np.ndarray(shape or (), dtype, buffer=bytearray(held), order=in_order)  # a buffer that may be changed
    return made[()] if shape is None else made


def is_same(left: Any, right: Any) -> bool:
    """True where nobody could tell `right` from `left`; it may be Python's number in place of numpy's."""
    kind = type(left)
    if left is right or isinstance(left, type):
        return left is right
    if kind is not type(right):
        return is_numpy(left) and (number := number_of(left)) is not None and is_same(number, right)
    compare = _COMPARED.get(kind)
    if compare is not None:
        return compare(left, right)
    if is_numpy(left):
        return is_same(array_parts(left), array_parts(right))
    if isinstance(left, BaseMessage) and (fields := fields_of(left)) is not None:
        return is_same(fields, fields_of(right))
    return is_same(parts_of(left), parts_of(right))


def _same_scalars(left: Any, right: Any) -> bool:
    return bool(left == right) or (left != left and right != right)  # noqa: PLR0124 - not a number


def _same_texts(left: str, right: str) -> bool:
    return left == right or left.encode(errors="replace").decode() == right  # half a surrogate pair is "?"


def _same_lists(left: Sequence[Any], right: Sequence[Any]) -> bool:
    if len(left) == len(right) and _SCALARS.issuperset(map(type, left)) and left == right:  # a long one at once
        return all(map(is_, map(type, left), map(type, right)))
    return len(left) == len(right) and all(map(is_same, left, right))


def _same_dicts(left: dict[Any, Any], right: dict[Any, Any]) -> bool:
    return len(left) == len(right) and all(map(is_same, chain(*left.items()), chain(*right.items())))


def _same_sets(left: AbstractSet[Any], right: AbstractSet[Any]) -> bool:
    return len(left) == len(right) and all(each in right or any(is_same(each, one) for one in right) for each in left)


_COMPARED: dict[type, Callable[[Any, Any], bool]] = {
    **dict.fromkeys(_SCALARS, _same_scalars),
    str: _same_texts,
    **dict.fromkeys((list, tuple), _same_lists),
    dict: _same_dicts,
    **dict.fromkeys((set, frozenset), _same_sets),
}
