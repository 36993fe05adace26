"""The owner of a namespace: the person whom its first label with an identifier names, else the application.

LangGraph refuses a period in a label, so that `972501234567@c.us` has to be written with escapes.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from langgraph.store.base import MatchCondition

from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey, ScopeKey, identified

APPLICATION = ScopeKey.named("store")
"""The owner of what is in a namespace that names nobody."""

WHO = "."  # LangGraph refuses it as a label
MEMORIES: tuple[str, ...] = ("memories", WHO)
"""The namespace of every memory of a person, whichever door it came through; other namespaces hold their own items."""

_FEWEST_DIGITS = 10  # digits of a number without a plus: a shorter one may be anything
_ESCAPES = {"%": "%25", ".": "%2E", "@": "%40"}


class Location(NamedTuple):
    """The place of an item; `shape` is the namespace with WHO in the place of the person."""

    owner: OwnerKey
    shape: tuple[str, ...]


def escaped(label: str) -> str:
    """Return the label as LangGraph takes it in a namespace; reading turns the escapes back."""
    return "".join(_ESCAPES.get(each, each) for each in label)


def located(namespace: Sequence[str], person_of: Callable[[str], OwnerKey]) -> Location:
    for at, label in enumerate(namespace):
        key = _identifier(unquote(label))
        if key is not None:
            return Location(person_of(key), (*namespace[:at], WHO, *namespace[at + 1 :]))
    return Location(APPLICATION, tuple(namespace))


def spelled(location: Location) -> tuple[str, ...]:
    """Return the namespace, with the person's key where an identifier may have had another spelling."""
    if location.owner == APPLICATION:
        return location.shape
    at = location.shape.index(WHO)
    return (*location.shape[:at], escaped(location.owner), *location.shape[at + 1 :])


def fits(namespace: Sequence[str], conditions: Sequence[MatchCondition]) -> bool:
    return all(_fits(namespace, each) for each in conditions)


def _fits(namespace: Sequence[str], condition: MatchCondition) -> bool:
    if len(namespace) < len(condition.path):
        return False
    labels = namespace if condition.match_type == "prefix" else namespace[len(namespace) - len(condition.path) :]
    return all(wanted in ("*", label) for wanted, label in zip(condition.path, labels, strict=False))


def _identifier(label: str) -> str | None:
    if label.isdigit() and len(label) < _FEWEST_DIGITS:
        return None
    try:
        found = identified(label)
    except InvalidInput:
        return None  # what can be nobody's key may still be a label
    return None if found.kind == "opaque" else found.key
