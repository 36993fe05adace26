"""Which classes may be built from what is stored: Python's values, data of LangChain and LangGraph, those allowed."""

import builtins
import dataclasses
import datetime as dt
import functools
import importlib
import ipaddress
import pathlib
import re
import types
import typing
import uuid
import zoneinfo
from array import array
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque
from collections.abc import Iterable, Iterator
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

from langgraph.channels.base import BaseChannel
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.store.base import Item
from langgraph.types import Send
from pydantic import BaseModel

from langmem_plugin.errors import DamagedSession, InvalidInput, NotSerializable, TypeNotAllowed

_PACKAGES = frozenset({"langchain", "langchain_core", "langgraph"})
_PLAIN = (
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
    **{f"{each.__module__}.{each.__qualname__}": each for each in _PLAIN},
    # Their module is one of these, as the version of Python has it.
    **{f"{module}.{each.__name__}": each for each in _PATHS for module in ("pathlib", "pathlib._local")},
}
_DATA = (BaseModel, BaseException, Enum, Send, Item, dict, list, set, str, int, float)


class BuildableTypes:
    """`named` are full names, as `shop.recipes.Recipe`; `classes` may be built whether or not a name leads to them."""

    def __init__(self, named: Iterable[str] = (), classes: Iterable[type] = ()) -> None:
        self._named = frozenset(named)
        self._classes = {_full_name(each): each for each in classes}
        self._found = {**_STANDARD, **self._classes}
        self._names: dict[type, tuple[str, str]] = {}

    def with_more(self, more: Iterable[tuple[str, ...] | type]) -> "BuildableTypes":
        added = list(more)
        named = {".".join(each) for each in added if not isinstance(each, type)}
        classes = [each for each in added if isinstance(each, type)]
        return BuildableTypes(self._named | named, [*self._classes.values(), *classes])

    def find(self, module: str, name: str) -> type:
        """The class. Raises TypeNotAllowed, and DamagedSession if it is allowed and not there."""
        full_name = f"{module}.{name}"
        found = self._found.get(full_name)
        if found is None:
            found = self._found[full_name] = self._imported(module, name, is_named=full_name in self._named)
        return found

    def name(self, kind: type) -> tuple[str, str]:
        """The module and the name that `find` finds the class by. Raises TypeNotAllowed and NotSerializable."""
        name = self._names.get(kind)
        if name is None:
            name = kind.__module__, kind.__qualname__
            if self.find(*name) is not kind:
                raise NotSerializable(f"{_full_name(kind)} is another class there: define it at the top of its module")
            self._names[kind] = name
        return name

    def _imported(self, module: str, name: str, *, is_named: bool) -> type:
        if not is_named and module.partition(".")[0] not in _PACKAGES:
            raise TypeNotAllowed(module, name)
        try:
            found = functools.reduce(getattr, name.split("."), importlib.import_module(module))
        except (ImportError, AttributeError) as error:
            raise DamagedSession(
                f"the class {module}.{name} is not there ({error}): install what defines it"
            ) from error
        # What a module has only imported is not its own: `langchain_core.x.subprocess` is not of LangChain.
        if not isinstance(found, type) or not (
            is_named or (_full_name(found) == f"{module}.{name}" and _is_data(found))
        ):
            raise TypeNotAllowed(module, name)
        return found


def classes_of(graph: Pregel[Any, Any, Any, Any]) -> set[type]:
    """The classes that the graph's own state, and those of its subgraphs, are declared with. Raises InvalidInput."""
    if not isinstance(graph, Pregel):
        raise InvalidInput(f"a {type(graph).__name__} is no compiled graph: call compile(…) on it first")
    found: set[type] = set()
    waiting: list[Any] = []
    subgraphs = [subgraph for _, subgraph in graph.get_subgraphs(recurse=True) if isinstance(subgraph, Pregel)]
    for each in (graph, *subgraphs):
        if isinstance(each, CompiledStateGraph):
            built = each.builder
            waiting += [built.state_schema, built.input_schema, built.output_schema, built.context_schema]
            waiting += [node.input_schema for node in built.nodes.values()]
            waiting += [branch.input_schema for branches in built.branches.values() for branch in branches.values()]
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


def _annotations(kind: type) -> Iterator[Any]:
    try:
        yield from typing.get_type_hints(kind, localns=vars(kind), include_extras=True).values()
    except (NameError, TypeError, AttributeError):  # such as a name that only a type checker sees
        fields = getattr(kind, "model_fields", None)
        yield from (field.annotation for field in fields.values()) if isinstance(fields, dict) else ()


def with_new_fields(made: Any) -> Any:
    """Give the built object, with the defaults of fields that its class did not have when it was stored."""
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
