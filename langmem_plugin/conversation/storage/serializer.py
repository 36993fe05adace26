"""Turns values into bytes from which exactly these values are built again, and runs no code that the bytes name.

Text, numbers, lists and dicts are MessagePack. Any other value is its class and the plain parts that it is made of;
reading builds allowed classes only: Python's values, data of LangChain and LangGraph, those named. Bytes of LangGraph's
own serializer are read as that reads them.
"""

import builtins
import copyreg
import dataclasses
import datetime as dt
import functools
import importlib
import ipaddress
import pathlib
import re
import sys
import types
import typing
import uuid
import zoneinfo
from array import array
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, Self

import ormsgpack
from langchain_core.messages import BaseMessage
from langgraph.channels.base import BaseChannel
from langgraph.checkpoint.serde.jsonplus import EXT_PYDANTIC_V2, JsonPlusSerializer
from langgraph.store.base import Item
from langgraph.types import Send
from pydantic import BaseModel

from langmem_plugin.errors import DamagedSession, InvalidInput, LangMemError, NotSerializable, TypeNotAllowed

if typing.TYPE_CHECKING:
    from langgraph.pregel import Pregel

_TUPLE, _OBJECT, _DICT, _INT, _ARRAY, _CLASS = range(40, 46)
"""Our own MessagePack extension codes; those below are LangGraph's. They are stored, so they never change."""

_OPTIONS = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_BIG_INT
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
    | ormsgpack.OPT_REPLACE_SURROGATES
)
_AS_THEY_ARE: frozenset[type] = frozenset({str, int, float, bool, bytes, type(None)})
_PACKAGES = frozenset({"langchain", "langchain_core", "langgraph"})
_PLAIN_TYPES = (
    *(str, int, float, complex, bool, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice),
    *(deque, defaultdict, OrderedDict, Counter, ChainMap, UserDict, UserList, UserString, types.SimpleNamespace, array),
    *(dt.datetime, dt.date, dt.time, dt.timedelta, dt.timezone, zoneinfo.ZoneInfo),
    *(Decimal, Fraction, uuid.UUID, uuid.SafeUUID, re.Pattern),
    *(ipaddress.IPv4Address, ipaddress.IPv4Interface, ipaddress.IPv4Network),
    *(ipaddress.IPv6Address, ipaddress.IPv6Interface, ipaddress.IPv6Network),
    *(each for each in vars(builtins).values() if isinstance(each, type) and issubclass(each, BaseException)),
)
_PATHS = (
    *(pathlib.Path, pathlib.PosixPath, pathlib.WindowsPath),
    *(pathlib.PurePath, pathlib.PurePosixPath, pathlib.PureWindowsPath),
)
_STANDARD: dict[str, type] = {
    **{f"{each.__module__}.{each.__qualname__}": each for each in _PLAIN_TYPES},
    # Their module is one of these, depending on the version of Python.
    **{f"{module}.{each.__name__}": each for each in _PATHS for module in ("pathlib", "pathlib._local")},
}
_DATA = (BaseModel, BaseException, Enum, Send, Item, dict, list, set, str, int, float)
_NUMBERS = frozenset({bool, int, float, complex, str, bytes})
_NUMBER_KINDS = "biufcSU"  # as numpy calls them; a number of it that Python's cannot hold is an array of no dimension


class StrictSerializer(JsonPlusSerializer):
    """Stores values so that they come back equal and of the same type; refuses others as they are written.

    A number of numpy comes back as Python's number, a text or number of a class that is not allowed as plain text or
    number, a model in a message's metadata as data, and half a surrogate pair as "?". `allowed` are the full names, as
    `shop.recipes.Recipe`, of classes that may be stored besides those of Python, LangChain and LangGraph.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        named = [*allowed]
        super().__init__(allowed_msgpack_modules=[tuple(name.rpartition(".")[::2]) for name in named] or None)
        self.types = BuildableTypes(named)

    def with_msgpack_allowlist(self, extra_allowlist: Iterable[tuple[str, ...] | type]) -> Self:
        extra = [*extra_allowlist]
        clone: Any = super().with_msgpack_allowlist(extra)
        clone.types = self.types.with_more(extra)
        return clone  # type: ignore[no-any-return]

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The value's type and bytes. Raises NotSerializable, and TypeNotAllowed."""
        if obj is None or type(obj) in (bytes, bytearray):
            return super().dumps_typed(obj)
        reason: object = "something else comes back"
        packing = _Packing(self.types)
        try:
            typed = "msgpack", packing.packed(obj)
            # No two values give the same bytes, except one that is stored as plain data on purpose.
            if packing.packed(self.loads_typed(typed)) == typed[1]:
                return typed
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            if packing.refused:
                raise packing.refused[0] from error
            reason = error
        for part in obj.values() if isinstance(obj, dict) else obj if isinstance(obj, list | tuple) else ():
            self.dumps_typed(part)  # raises the error of the part that cannot be stored
        kind = type(obj)
        raise NotSerializable(f"a {kind.__module__}.{kind.__qualname__} cannot be stored ({reason})")

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, payload = data
        if kind == "json":  # never written here, and its reader builds many more types
            raise NotImplementedError("Unknown serialization type: json")
        if kind != "msgpack":
            return super().loads_typed(data)
        unpacking = _Unpacking(self.types, self._unpack_ext_hook)
        try:
            return unpacking.value(payload)
        except ValueError as error:
            if unpacking.refused:
                raise unpacking.refused[0] from error
            raise


class _Packing:
    """Turns one value into bytes, and marks what MessagePack would give back as something else."""

    def __init__(self, types: "BuildableTypes") -> None:
        self._types = types
        self.refused: list[LangMemError] = []  # MessagePack hides the errors that are raised inside it

    def packed(self, value: Any) -> bytes:
        return ormsgpack.packb(self._marked(value), self._extension, _OPTIONS)

    def _marked(self, value: Any) -> Any:
        kind = type(value)
        if kind is list:
            return value if _AS_THEY_ARE.issuperset(map(type, value)) else [self._marked(part) for part in value]
        if kind is dict:  # MessagePack takes fewer types as keys than as values
            entries = {self._as_key(key): self._marked(part) for key, part in value.items()}
            if len(entries) == len(value) and {str}.issuperset(map(type, entries)):
                return entries
            return _Marked(_DICT, [[*entry] for entry in value.items()])
        if kind is bytearray:
            return _Marked(_OBJECT, ["builtins", "bytearray", False, [bytes(value)]])
        if kind is memoryview:
            raise TypeError("a view of memory is no value: take its bytes")
        return value

    def _as_key(self, key: Any) -> Any:
        """The plain text of a key that comes back as a text."""
        if type(key) is not str:
            if not isinstance(key, str) or isinstance(key, Enum) or self._types.builds(type(key)):
                return key
            key = str.__str__(key)
        return key if key.isascii() else key.encode(errors="replace").decode()

    def _extension(self, value: Any) -> Any:
        try:
            code, parts = self._parts(value)
        except TypeNotAllowed as error:
            plain = plain_of(value)
            if plain is not None:
                return plain
            self.refused.append(error)
            raise
        except (NotSerializable, DamagedSession) as error:
            self.refused.append(error)
            raise
        if code != EXT_PYDANTIC_V2:
            return ormsgpack.Ext(code, self.packed(parts)) if code else parts
        try:
            return ormsgpack.Ext(code, self.packed(parts))
        except TypeError:
            # A provider's extra data must not end the turn: it is kept as plain data, as LangGraph keeps it.
            self.refused.clear()
            module, name, fields, how = parts
            told = {**value.model_dump(exclude={"artifact"}), "artifact": fields.get("artifact")}
            return ormsgpack.Ext(code, self.packed([module, name, {field: told[field] for field in fields}, how]))

    def _parts(self, value: Any) -> tuple[int, Any]:
        kind = type(value)
        if kind in (tuple, int):  # an int of more than 64 bits
            return (_TUPLE, [*value]) if kind is tuple else (_INT, hex(value))
        if kind is _Marked:
            return value.code, value.parts
        if isinstance(value, BaseMessage) and (fields := fields_of(value)) is not None:
            return EXT_PYDANTIC_V2, [*self._types.name(kind), fields, "model_validate_json"]  # as LangGraph has it
        if isinstance(value, type):
            return _CLASS, [*self._types.name(value)]
        if is_numpy(value):
            number = number_of(value)
            return (_ARRAY, array_parts(value)) if number is None else (0, number)
        parts = parts_of(value)
        if isinstance(value, set | frozenset):
            # Else one that was built anew may have another order.
            parts[1] = [sorted(part, key=self.packed) if part == [*value] else part for part in parts[1]]
        return _OBJECT, [*self._types.name(kind), *parts]


class _Unpacking:
    """Builds one value from bytes; `stock` builds those of LangGraph's serializer."""

    def __init__(self, types: "BuildableTypes", stock: Callable[[int, bytes], Any]) -> None:
        self._types = types
        self._stock = stock
        self.refused: list[LangMemError] = []  # MessagePack hides the errors that are raised inside it

    def value(self, payload: bytes) -> Any:
        return ormsgpack.unpackb(payload, ext_hook=self._built, option=ormsgpack.OPT_NON_STR_KEYS)

    def _built(self, code: int, payload: bytes) -> Any:
        try:
            if _TUPLE <= code <= _CLASS:
                return self._build(code, self.value(payload))
            if code == EXT_PYDANTIC_V2:
                module, name, fields, *_ = self.value(payload)
                kind = self._types.find(module, name)
                if issubclass(kind, BaseMessage):
                    return build_message(kind, fields)
        except DamagedSession as error:
            self.refused.append(error)
            raise
        return self._stock(code, payload)

    def _build(self, code: int, parts: Any) -> Any:
        if code == _OBJECT:
            module, name, *made_of = parts
            return build(self._types.find(module, name), *made_of)
        if code == _ARRAY:
            return build_array(*parts)
        if code == _CLASS:
            return self._types.find(*parts)
        if code == _INT:
            return int(parts, 16)
        return tuple(parts) if code == _TUPLE else dict(parts)


class _Marked(typing.NamedTuple):
    """A value that is stored in another form than MessagePack has for it."""

    code: int
    parts: Any


class BuildableTypes:
    """The classes that may be built: by full names `named`, as `shop.recipes.Recipe`, or given as `classes`.

    `classes` need no name that leads to them.
    """

    def __init__(self, named: Iterable[str] = (), classes: Iterable[type] = ()) -> None:
        self._named = frozenset(named)
        self._classes = {_full_name(each): each for each in classes}
        self._found = {**_STANDARD, **self._classes}

    def with_more(self, more: Iterable[tuple[str, ...] | type]) -> "BuildableTypes":
        added = list(more)
        named = {".".join(each) for each in added if not isinstance(each, type)}
        classes = [each for each in added if isinstance(each, type)]
        return BuildableTypes(self._named | named, [*self._classes.values(), *classes])

    def find(self, module: str, name: str) -> type:
        """The class of this name. Raises TypeNotAllowed, and DamagedSession if it is allowed but does not exist."""
        full_name = f"{module}.{name}"
        found = self._found.get(full_name)
        if found is None:
            found = self._found[full_name] = self._imported(module, name, is_named=full_name in self._named)
        return found

    def name(self, kind: type) -> tuple[str, str]:
        """The module and the name by which `find` finds the class. Raises TypeNotAllowed and NotSerializable."""
        if self.find(kind.__module__, kind.__qualname__) is not kind:
            raise NotSerializable(f"{_full_name(kind)} is another class there: define it at the top of its module")
        return kind.__module__, kind.__qualname__

    def builds(self, kind: type) -> bool:
        """Tell whether values of the class are built again as such."""
        try:
            return bool(self.name(kind))
        except (TypeNotAllowed, NotSerializable):
            return False

    def _imported(self, module: str, name: str, *, is_named: bool) -> type:
        if not is_named and module.partition(".")[0] not in _PACKAGES:
            raise TypeNotAllowed(module, name)
        try:
            found = functools.reduce(getattr, name.split("."), importlib.import_module(module))
        except (ImportError, AttributeError) as error:
            raise DamagedSession(
                f"the class {module}.{name} is not there ({error}): install what defines it"
            ) from error
        # A module does not own its imports: `langchain_core.x.subprocess` is not of LangChain.
        if not isinstance(found, type) or not (
            is_named or (_full_name(found) == f"{module}.{name}" and _is_data(found))
        ):
            raise TypeNotAllowed(module, name)
        return found


def classes_of(graph: "Pregel[Any, Any, Any, Any]") -> set[type]:
    """The classes in the declared state of the graph and of its subgraphs. Raises InvalidInput for no graph."""
    # Who has a graph has imported them; a command without one starts a quarter of a second earlier.
    from langgraph.graph.state import CompiledStateGraph  # noqa: PLC0415
    from langgraph.pregel import Pregel  # noqa: PLC0415

    if not isinstance(graph, Pregel):
        raise InvalidInput(f"a {type(graph).__name__} is no compiled graph: call compile(…) on it first")
    found: set[type] = set()
    waiting: list[Any] = []
    subgraphs = [subgraph for _, subgraph in graph.get_subgraphs(recurse=True) if isinstance(subgraph, Pregel)]
    for each in (graph, *subgraphs):
        if isinstance(each, CompiledStateGraph):  # a Send holds a whole input; else only values of channels are stored
            waiting += [node.input_schema for node in each.builder.nodes.values()]
        waiting += _answer_schemas(each)
        channels = [held for held in each.channels.values() if isinstance(held, BaseChannel)]
        waiting += [kind for held in channels for kind in (held.ValueType, held.UpdateType)]
    while waiting:
        declared = waiting.pop()
        waiting += [each for each in typing.get_args(declared) if not isinstance(each, str | int | bytes)]
        waiting += [getattr(declared, more) for more in ("__supertype__", "__value__") if hasattr(declared, more)]
        kind = typing.get_origin(declared) or declared
        if isinstance(kind, type) and kind not in found and kind.__module__ not in ("builtins", "typing"):
            found.add(kind)
            waiting += _annotations(kind)
    return found


def _answer_schemas(graph: "Pregel[Any, Any, Any, Any]") -> Iterator[Any]:
    """The schemas of an agent's structured answers (`create_agent(…, response_format=…)`), which no state declares: the
    function of its model's node holds them.
    """
    for node in graph.nodes.values():
        for cell in getattr(getattr(node.bound, "func", None), "__closure__", None) or ():
            if cell != types.CellType() and type(cell.cell_contents).__module__ == "langchain.agents.structured_output":
                yield cell.cell_contents.schema


def _annotations(kind: type) -> Iterator[Any]:
    try:
        yield from typing.get_type_hints(kind, localns=vars(kind), include_extras=True).values()
    except (NameError, TypeError, AttributeError):  # such as a name that only a type checker sees
        fields = getattr(kind, "model_fields", None)
        yield from (field.annotation for field in fields.values()) if isinstance(fields, dict) else ()


def with_new_fields(made: Any) -> Any:
    """Add to the built object the defaults of fields that its class did not have when it was stored; return it."""
    if isinstance(made, BaseModel):
        for name, field in type(made).model_fields.items():
            if name not in made.__dict__ and not field.is_required():
                made.__dict__[name] = field.get_default(call_default_factory=True, validated_data=made.__dict__)
    elif dataclasses.is_dataclass(made) and not isinstance(made, type):
        for each in dataclasses.fields(made):
            if not hasattr(made, each.name) and each.default_factory is not dataclasses.MISSING:
                object.__setattr__(made, each.name, each.default_factory())
    return made


def _is_data(kind: type) -> bool:
    return issubclass(kind, _DATA) or dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")


def _full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


_NEW = vars(copyreg)["__newobj__"]  # means that the instance is made without calling the class


def parts_of(value: Any) -> list[Any]:
    """The arguments of `build` for a value: whether its class is not called, its arguments, items, entries and state.

    Raises NotSerializable, and TypeError as `__reduce_ex__` does.
    """
    kind = type(value)
    if isinstance(value, Enum):
        return [False, [value.value]]
    if kind is re.Pattern:
        return [False, [value.pattern, value.flags]]
    if kind is zoneinfo.ZoneInfo and value.key:
        return [False, [value.key]]
    reduced = value.__reduce_ex__(2 if isinstance(value, array) else 4)  # a function gives only its name
    function, arguments, state, items, entries, *more = (*reduced, None, None, None)[: max(5, len(reduced))]
    if isinstance(value, BaseException):
        state = state or None  # an empty dict if its attributes were ever looked at
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
    """All the fields of a message, as a dict; None if it has more than its fields."""
    fields = message.__dict__
    if message.__pydantic_private__ or fields.keys() != type(message).model_fields.keys():
        return None
    return {**fields, **message.__pydantic_extra__} if message.__pydantic_extra__ else fields


def build_message(kind: type[BaseMessage], fields: dict[str, Any]) -> BaseMessage:
    known = kind.model_fields
    if not known.keys() <= fields.keys():  # stored by an older version of the class
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
    """Tell whether a value is an array or a number of numpy's own. numpy is not imported to find out."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and (type(value) is numpy.ndarray or isinstance(value, numpy.generic))


def number_of(value: Any) -> Any:
    """Python's own number or text for a scalar of numpy; None for an array, and if Python has no such number."""
    is_scalar = isinstance(value, sys.modules["numpy"].generic) and value.dtype.kind in _NUMBER_KINDS
    return plain if is_scalar and type(plain := value.item()) in _NUMBERS else None


def plain_of(value: Any) -> Any:
    """The plain text or number in a value of a class of its own; None for all else, an Enum's members among it."""
    if isinstance(value, Enum):
        return None
    kinds: tuple[Any, ...] = (str, int, float, bytes)
    return next((kind.__getnewargs__(value)[0] for kind in kinds if isinstance(value, kind)), None)


def array_parts(value: Any) -> list[Any]:
    """The arguments of `build_array` for an array. Raises NotSerializable for records with objects in them."""
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
    made = np.ndarray(shape or (), dtype, buffer=bytearray(held), order=in_order)  # its buffer may be changed
    return made[()] if shape is None else made
