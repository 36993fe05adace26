"""An item that a person could point at, with its names, words and typed values, and the figures it is compared by."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from langmem_plugin.cached_property import cached_property
from langmem_plugin.references.dates_and_numbers import atoms, typed_atoms
from langmem_plugin.references.tokens import is_stop, key_words, normal, stem, word_atoms, words_of
from langmem_plugin.references.words import KEYS, LANGUAGES

_SIGNS = re.compile(r"[\W_]")
_BRACKETS = re.compile(r"\([^)]{0,120}\)|\[[^\]]{0,120}\]")
Item = dict[str, Any]
_LONGEST_NAME = 120  # letters
_LONGEST_CODE = 60
_JOINS = "".join(language.joins for language in LANGUAGES)
_NAME_KEYS, _ID_KEYS, _KIND_KEYS = KEYS["name"], KEYS["id"], KEYS["kind"]
_NAMING, _NUMBERING = frozenset(KEYS["naming"]), frozenset(KEYS["numbering"])
_INSTANT = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[T ](\d\d?):(\d\d)(?::\d\d(?:\.\d+)?)?\s?(?:Z|[+-]\d\d:?\d\d)?)?", re.IGNORECASE
)
_CLOCK = re.compile(r"(\d\d?):(\d\d)(?::\d\d)?\s?(am|pm)?|(\d\d?)\s?(am|pm)", re.IGNORECASE)
_LASTING = re.compile(r"(?:(\d+(?:\.\d+)?)\s?h(?:ours?|rs?)?)?\s?(?:(\d+)\s?m(?:in(?:ute)?s?)?)?", re.IGNORECASE)
_AMOUNT = re.compile(
    r"([A-Z]{0,2}[$€£₪]|[A-Z]{3}(?=\s)|)\s?([+-]?\d[\d.,]{0,15})\s?([^\W\d_]{0,10}|[$€£₪%])(/\w{1,10})?(?:\s.{0,20})?"
)
_FREE = frozenset(("free", "gratis", "חינם"))


def leaves(value: object, key: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """Give every scalar under `value` with the key it stands under, at most four levels down."""
    if isinstance(value, Mapping):
        if depth < 4:
            for inner_key, inner in value.items():
                yield from leaves(inner, str(inner_key), depth + 1)
    elif isinstance(value, (list, tuple)):
        if depth < 4:
            for inner in value:
                yield from leaves(inner, key, depth + 1)
    elif value is not None and value != "":
        yield key, value


@dataclass(eq=False)
class ItemEntry:
    """An item of a result. `item` is the tool's own dict and is never changed; `key` names it in a dict of
    dicts.
    """

    item: Item
    key: str = ""
    position: int = 0
    nouns: frozenset[str] = frozenset()
    parts: Mapping[str, list["ItemEntry"]] = field(default_factory=dict)
    called: str | None = None
    """The name that a line of a text begins with, "" where it has none; None where the item is data."""

    @property
    def proper_name(self) -> str:
        """The item's name as a person would say it; "" if its only fields are no names."""
        return self.called if self.called is not None else next(iter(self._named), "")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names that people may call it by, best first: its name, else the first short text of its fields."""
        found = [self.called] if self.called else []
        found += self._named
        keys = {key: key_words(key) for key in self.item}
        others = (value for key, value in self.item.items() if keys[key][-1:] != ("id",))
        found = found or [value for value in others if _is_text(value, 60) and not value[0].isdigit()][:1]
        return tuple(dict.fromkeys(found))

    @cached_property
    def _named(self) -> list[str]:
        """The values of name-like fields, then the key it was found under, then the name of what it holds."""
        keys = {key: key_words(key) for key in self.item}
        whole = [wanted for wanted in _NAME_KEYS if (wanted,) in keys.values()][:1]
        named = (
            self.item[key]
            for wanted in whole or _NAME_KEYS
            for key, words in keys.items()
            if words == (wanted,) or (not whole and words[-1:] == (wanted,))
        )
        found = [value for value in named if _is_text(value, _LONGEST_NAME)]
        if self.key and not self.key.isdigit():
            found.append(self.key.replace("_", " "))
        inner = (
            value[name]
            for value in self.item.values()
            if isinstance(value, Mapping)
            for name in ("name", "title", "nombre", "titulo")
            if name in value
        )
        return found or [name for name in inner if _is_text(name, _LONGEST_NAME)][:1]

    @property
    def title(self) -> str:
        """The shortest honest name of the item for a person."""
        if self.names:
            return self.names[0]
        return next((f"{key} {value}" for key, value in leaves(self.item)), "")

    @cached_property
    def name_words(self) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(word_atoms(name)) or frozenset(words_of(name)) for name in self.names)

    @cached_property
    def name_text(self) -> tuple[str, ...]:
        """The names in the form that is compared: whole, then without the words in brackets."""
        spoken = [*self.names[:1], *(_BRACKETS.sub(" ", name) for name in self.names[:1]), *self.names[1:]]
        found = dict.fromkeys(" ".join(words_of(name)) for name in spoken)
        return tuple(name for name in found if name)

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """The identifying values long enough, and with a digit, to be recognised anywhere in a text."""
        return tuple(
            value
            for value in self.identity
            if any(letter.isdigit() for letter in value)
            and (len(value) >= 4 or (len(value) == 3 and not value.isdigit()))
        )

    @cached_property
    def spoken_names(self) -> tuple[str, ...]:
        """The names with a space on either side, to be found as whole words in a spaced text; also with an "and" that
        is written onto them.
        """
        return tuple(f" {joined}{name} " for name in self.name_text[:3] if len(name) > 1 for joined in ("", *_JOINS))

    @cached_property
    def bare_name(self) -> str:
        """The first name without function words, when several words are left."""
        if not self.name_text:
            return ""
        words = [word for word in self.name_text[0].split() if not is_stop(word)]
        return " ".join(words) if len(words) > 1 else ""

    @cached_property
    def signature(self) -> str:
        """A value that is equal for items that are equal in every key and value."""
        return repr(self.item)

    @cached_property
    def identity(self) -> frozenset[str]:
        """The values that identify the item: ids, codes, links."""
        known = ((key_words(key)[-1:], value) for key, value in self.item.items() if type(value) in (str, int))
        return frozenset(normal(str(value)) for last, value in known if last and last[0] in _ID_KEYS)

    @cached_property
    def atoms(self) -> frozenset[str]:
        """The words and numbers of all its scalar values, and the names of its true flags."""
        found: set[str] = set()
        for key, value in leaves(self.item):
            if isinstance(value, bool) or (isinstance(value, str) and value.lower() in ("true", "yes")):
                if value is not False:
                    found.update(key_words(key))
            elif isinstance(value, (int, float)):
                found |= typed_atoms(str(value))
            elif isinstance(value, str) and value.lower() not in ("false", "no", "none"):
                found |= atoms(value[:800])
        if self.key:
            found |= atoms(self.key.replace("_", " "))
        return frozenset(found)

    @cached_property
    def fields(self) -> dict[str, frozenset[str]]:
        """The words of each field's name, nested one level, by the field."""
        found = {}
        for key, value in self.item.items():
            found[key] = frozenset(key_words(key))
            if isinstance(value, Mapping):
                for inner in value:
                    found[f"{key}.{inner}"] = frozenset(key_words(str(inner))) | found[key]
        return found

    @cached_property
    def kind_words(self) -> frozenset[str]:
        """The nouns of its type: where it was found, field prefixes (`restaurant_name`), and values of type-like
        fields.
        """
        found = set(self.nouns)
        for key, value in self.item.items():
            words = key_words(key)
            if len(words) > 1 and words[-1] in (*_NAME_KEYS, *_ID_KEYS, *_KIND_KEYS):
                found.update(words[:-1])
            if words and words[-1] in _KIND_KEYS and isinstance(value, str):
                found.update(words_of(value))
        return frozenset(stem(word) for word in found)

    @cached_property
    def _numberings(self) -> tuple[str, ...]:
        """The values with a digit of fields named as ids, masks and plates are, and all that look like a code."""
        found = []
        for key, value in leaves(self.item):
            words = key_words(key)
            text = str(value)[:_LONGEST_CODE] if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
            if words and any(map(str.isdigit, text)) and (words[-1] in _NUMBERING or is_code(text)):
                found.append(text)
        return tuple(found)

    @cached_property
    def numbered(self) -> tuple[str, ...]:
        """The codes with a number, of which people may say the end: "4471", "A-1042"."""
        return tuple(text for text in self._numberings if text[-1].isdigit())

    @cached_property
    def coded(self) -> tuple[str, ...]:
        """The codes of the item, each as one word without signs: "ej009331jp", "24cr0871"."""
        return tuple(_SIGNS.sub("", normal(text)) for text in self._numberings)

    def part_called(self, noun: str) -> str | None:
        """Return the name of the field that holds a list and is called so: its "steps"."""
        wanted = {noun, *word_atoms(noun)}
        called = (name for name, words in self.fields.items() if words & wanted)
        return next((name for name in called if isinstance(self.field_value(name), (list, tuple))), None)

    def field_value(self, path: str) -> object:
        """Return the value at `name` or `name.inner`."""
        value: object = self.item
        for part in path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value


def _is_text(value: object, limit: int) -> bool:
    return isinstance(value, str) and 0 < len(value) < limit


def is_code(text: str) -> bool:
    """Tell whether a text looks like a code: "A-1042" does; "12.50", "7:40", "12A" and "2 rooms" do not."""
    return (
        not any(mark in text for mark in " :.,/")
        and any(letter.isalpha() for letter in text)
        and any(map(str.isdigit, text))
        and figure_of(text) is None
    )


def has_identity(item: Mapping[str, Any]) -> bool:
    """Tell whether a dict is a thing of its own (has a name or an id) and not a wrapper around others."""
    last_words = ((key_words(str(key))[-1:], value) for key, value in item.items())
    return any(_NAMING.issuperset(last) and last and isinstance(value, (str, int)) for last, value in last_words)


def figure_of(value: object) -> tuple[str, float] | None:
    """Return measure and amount: ("date", minutes), ("clock", minutes), ("min", minutes), ("€", 95.0) or ("", 4)."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float, Decimal)):
        return "", float(value)
    if isinstance(value, (date, time)):
        value = value.isoformat()
    return _of_text(value.strip()[:60]) if isinstance(value, str) else None


def _of_text(text: str) -> tuple[str, float] | None:
    if normal(text) in _FREE:
        return "", 0.0
    if found := _INSTANT.fullmatch(text):
        year, month, day, hour, minute = (int(part or 0) for part in found.groups())
        try:
            return "date", datetime(year, month, day, min(hour, 23), minute, tzinfo=UTC).timestamp() / 60
        except ValueError:
            return None
    if found := _CLOCK.fullmatch(text):
        hour, minute, half = int(found[1] or found[4]), int(found[2] or 0), (found[3] or found[5] or "").lower()
        return "clock", (hour % 12 + 12 * (half == "pm") if half else hour) * 60 + minute
    if (found := _LASTING.fullmatch(text)) and any(found.groups()):
        return "min", float(found[1] or 0) * 60 + float(found[2] or 0)
    if found := _AMOUNT.fullmatch(text):
        return (found[1] or normal(found[3])) + (found[4] or ""), number(found[2])
    return None


def number(text: str) -> float:
    """Read a figure with separators in any manner: 1,250.00, 1.250,00, 12,5 and 1,250."""
    comma, point = text.rfind(","), text.rfind(".")
    if min(comma, point) >= 0:
        mark = max(comma, point)
        text = re.sub(r"[.,]", "", text[:mark]) + "." + re.sub(r"[.,]", "", text[mark + 1 :])
    elif text.count(",") == 1 and len(text) - comma != 4:
        text = text.replace(",", ".")
    elif text.count(".") > 1 or (text.count(".") == 1 and len(text) - point == 4):
        text = text.replace(".", "")
    try:
        return float(text.replace(",", "") or 0)
    except ValueError:
        return 0.0


def comparable(values: Sequence[object]) -> list[float] | None:
    """Return the figures of a field in each item of a list; None if one has none, or if their measures differ."""
    figures = [figure_of(value) for value in values]
    told = [each for each in figures if each is not None]
    if len(told) < len(figures) or len({measure for measure, amount in told if amount or measure}) > 1:
        return None
    return [amount for _, amount in told]
