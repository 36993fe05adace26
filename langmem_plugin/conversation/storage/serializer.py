"""Values as bytes of which exactly those values are built again, and no code is run that the bytes name.

Text, numbers, lists and dicts are MessagePack. All else is its class and the plain parts that it is made of
(`value_parts.py`); reading builds allowed classes only (`buildable_types.py`). What LangGraph's own serializer wrote is
read as that reads it.
"""

from collections.abc import Callable, Iterable
from typing import Any, Self

import ormsgpack
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.jsonplus import EXT_PYDANTIC_V2, JsonPlusSerializer

from langmem_plugin.conversation.storage import value_parts
from langmem_plugin.conversation.storage.buildable_types import BuildableTypes
from langmem_plugin.errors import DamagedSession, LangMemError, NotSerializable, TypeNotAllowed

_TUPLE, _OBJECT, _DICT, _INT, _ARRAY, _CLASS = range(40, 46)
"""Our own kinds of MessagePack's extensions; those below are LangGraph's. Stored, so they never change."""

_OPTIONS = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
    | ormsgpack.OPT_REPLACE_SURROGATES
)
_OF_64_BITS = range(-(2**63), 2**64)


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
        """Raises NotSerializable, and TypeNotAllowed."""
        if obj is None or type(obj) in (bytes, bytearray):
            return super().dumps_typed(obj)
        reason: object = "something else comes back"
        for exactly in (False, True):
            packing = _Packing(self.types, exactly=exactly)
            try:
                typed = "msgpack", packing.packed(obj)
                back = self.loads_typed(typed)
                # What is stored as plain data on purpose differs, and is taken apart into the same bytes.
                if value_parts.is_same(obj, back) or (exactly and packing.packed(back) == typed[1]):
                    return typed
            except (TypeError, ValueError, OverflowError, RecursionError) as error:
                if packing.refused:
                    raise packing.refused[0] from error
                reason = error
        for part in obj.values() if isinstance(obj, dict) else obj if isinstance(obj, list | tuple) else ():
            self.dumps_typed(part)  # to name what it is in it that cannot be stored
        kind = type(obj)
        raise NotSerializable(f"a {kind.__module__}.{kind.__qualname__} cannot be stored ({reason})")

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, payload = data
        if kind == "json":  # never written here, and what reads it knows many more types
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
    """One value becomes bytes. `exactly` marks what MessagePack would take and give back as something else."""

    def __init__(self, types: BuildableTypes, *, exactly: bool) -> None:
        self._types = types
        self._exactly = exactly
        self.refused: list[LangMemError] = []  # what is raised within MessagePack reaches nobody

    def packed(self, value: Any) -> bytes:
        return ormsgpack.packb(_marked(value) if self._exactly else value, self._extension, _OPTIONS)

    def _extension(self, value: Any) -> Any:
        try:
            code, parts = self._parts(value)
        except TypeNotAllowed as error:
            plain = value_parts.plain_of(value)
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
            # What a provider put beside its answer must not end the turn: kept as data, as LangGraph keeps it.
            self.refused.clear()
            module, name, fields, how = parts
            told = {**value.model_dump(exclude={"artifact"}), "artifact": fields.get("artifact")}
            return ormsgpack.Ext(code, self.packed([module, name, {field: told[field] for field in fields}, how]))

    def _parts(self, value: Any) -> tuple[int, Any]:
        kind = type(value)
        if kind is tuple:
            return _TUPLE, [*value]
        if kind is _Marked:
            return value.code, value.parts
        if isinstance(value, BaseMessage) and (fields := value_parts.fields_of(value)) is not None:
            return EXT_PYDANTIC_V2, [*self._types.name(kind), fields, "model_validate_json"]  # as LangGraph has it
        if isinstance(value, type):
            return _CLASS, [*self._types.name(value)]
        if value_parts.is_numpy(value):
            number = value_parts.number_of(value)
            return (_ARRAY, value_parts.array_parts(value)) if number is None else (0, number)
        parts = value_parts.parts_of(value)
        return _OBJECT, [*self._types.name(kind), *parts]


class _Unpacking:
    """One value is built of bytes; `stock` builds what LangGraph's serializer wrote."""

    def __init__(self, types: BuildableTypes, stock: Callable[[int, bytes], Any]) -> None:
        self._types = types
        self._stock = stock
        self.refused: list[LangMemError] = []  # what is raised within MessagePack reaches nobody

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
                    return value_parts.build_message(kind, fields)
        except DamagedSession as error:
            self.refused.append(error)
            raise
        return self._stock(code, payload)

    def _build(self, code: int, parts: Any) -> Any:
        if code == _OBJECT:
            module, name, *made_of = parts
            return value_parts.build(self._types.find(module, name), *made_of)
        if code == _ARRAY:
            return value_parts.build_array(*parts)
        if code == _CLASS:
            return self._types.find(*parts)
        if code == _INT:
            return int(parts, 16)
        return tuple(parts) if code == _TUPLE else dict(parts)


class _Marked:
    """A value that is stored in another form than MessagePack has for it."""

    __slots__ = ("code", "parts")

    def __init__(self, code: int, parts: Any) -> None:
        self.code = code
        self.parts = parts


def _marked(value: Any) -> Any:
    kind = type(value)
    if kind is list:
        return [_marked(part) for part in value]
    if kind is dict:  # as a key, MessagePack takes less than as a value
        return _Marked(_DICT, [[*entry] for entry in value.items()])
    if kind is int and value not in _OF_64_BITS:
        return _Marked(_INT, hex(value))
    if kind is bytearray:
        return _Marked(_OBJECT, ["builtins", "bytearray", False, [bytes(value)]])
    if kind is memoryview:
        raise TypeError("a view of memory is no value: take its bytes")
    return value
