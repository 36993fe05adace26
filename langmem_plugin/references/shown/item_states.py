"""In which states an item is and what it has, by its flags, its empty fields and its words: unpaid, nobody's, no lift."""

from collections.abc import Iterator, Mapping, Sequence

from langmem_plugin.references.text.tokens import key_words, normal, stem
from langmem_plugin.references.words.field_names import PRICE
from langmem_plugin.references.words.states import LONGEST_STATE, STATES

_BESIDE = frozenset(("is", "has", "at", "by", "date", "on"))
"""Words of a field's name that say no state: `is_paid`, `answered_at`."""
_NOT = frozenset(("not", "no", "never", "sin", "לא"))
_NOTHING = frozenset(("none", "no", "n/a", "false", "-", ""))
_COUNTS = frozenset(("delay", "late", "count"))
_PRICES = frozenset(PRICE[:5])
_FREE = next(state for state, holds in STATES["gratis"] if holds)
_LONGEST_TEXT = 40  # letters of a value that is a state, such as OUT_OF_ORDER


def states_of(item: Mapping[str, object]) -> dict[int, bool]:
    """The states of words/states.py that an item tells of, and whether they hold."""
    found: dict[int, bool] = {}
    for key, value in _fields(item):
        worded = {} if "due" in key else worded_states([word for word in key if word not in _BESIDE])
        for state, holds in worded.items():
            if (
                isinstance(value, bool)
                or value is None
                or value == ""
                or (isinstance(value, (int, float)) and not _COUNTS.isdisjoint(key))
            ):
                found.setdefault(state, holds is bool(value))
            elif key[-1:] in (("at",), ("date",), ("on",)):
                found.setdefault(state, holds)
        if not isinstance(value, bool) and not _PRICES.isdisjoint(key) and (figure := _figure(value)) is not None:
            found.setdefault(_FREE, figure == 0)
        if isinstance(value, str) and len(value) <= _LONGEST_TEXT:
            for state, holds in text_states(value).items():
                found.setdefault(state, holds)
    return found


def properties_of(item: Mapping[str, object]) -> dict[str, bool]:
    """By the words of its fields' names, whether there is anything of it: an empty list is no attachment."""
    found: dict[str, bool] = {}
    for key, value in _fields(item):
        there = _is_there(value)
        for word in key:
            found.setdefault(stem(word), there)
    return found


def _figure(value: object) -> float | None:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return value if isinstance(value, (int, float)) else None


def _is_there(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_is_there(inner) for inner in value.values())
    return value.lower() not in _NOTHING if isinstance(value, str) else bool(value)


def text_states(text: str) -> dict[int, bool]:
    """The states that a short text tells of: "OUT_OF_ORDER", "nobody on it yet"."""
    return worded_states(normal(text.replace("_", " ").replace("-", " ")).replace("'", "").split())


def worded_states(words: Sequence[str]) -> dict[int, bool]:
    """The longest forms first; each word tells once."""
    found: dict[int, bool] = {}
    used: set[int] = set()
    for size in range(min(LONGEST_STATE, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            told = STATES.get(" ".join(words[start : start + size]))
            places = range(start, start + size)
            if told is None or used.intersection(places):
                continue
            used.update(places)
            deny = not _NOT.isdisjoint(words[max(start - 2, 0) : start])
            for state, holds in told:
                found.setdefault(state, holds is not deny)
    return found


def _fields(item: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Names as words and values, nested one level."""
    for key, value in item.items():
        words = key_words(key)
        yield words, value
        if isinstance(value, Mapping):
            for inner, leaf in value.items():
                yield words + key_words(str(inner)), leaf
