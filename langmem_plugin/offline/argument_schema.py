"""One argument of a tool, as its JSON schema describes it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langmem_plugin.cached_property import cached_property
from langmem_plugin.offline.english import WORDS

Json = dict[str, Any]

PREPOSITIONS = frozenset(WORDS["prepositions"].split())
_SHAPES = {
    "email": re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++\.[\w.-]+"),
    "url": re.compile(r"https?://\S+"),
    "date": re.compile(r"\b\d{4}-\d{2}-\d{2}\b"),
    "time": re.compile(r"\b\d{1,2}:\d{2}\b"),
}
_TYPES: dict[str, Any] = {"string": str, "number": (int, float), "integer": int, "boolean": bool, "object": dict}


@dataclass(frozen=True)
class Argument:
    """`schema` is the property's; whether the tool insists on it stands beside the properties, so it comes apart."""

    name: str
    schema: Json
    required: bool

    @cached_property
    def type(self) -> str:
        return str(self._variant.get("type", "string"))

    @cached_property
    def options(self) -> list[Any]:
        """The values allowed; empty when any is."""
        return list(self._variant.get("enum", ())) or [self._variant[key] for key in ("const",) if key in self._variant]

    @cached_property
    def shape(self) -> re.Pattern[str] | None:
        """The pattern of a value, for texts with a known form: an address, a link, a date, a time."""
        names = (self.schema.get("format"), *self.name.split("_")) if self.type == "string" else ()
        return next((pattern for shape, pattern in _SHAPES.items() if shape in names), None)

    @cached_property
    def preposition(self) -> str:
        """`from` of `from_city`, else ""."""
        first = self.name.partition("_")[0]
        return first if first in PREPOSITIONS else ""

    @cached_property
    def base(self) -> str:
        """`city` of `from_city`."""
        return (self.name.removeprefix(self.preposition).lstrip("_") or self.name) if self.preposition else self.name

    @property
    def is_id(self) -> bool:
        return is_id(self.base)

    @property
    def is_free_text(self) -> bool:
        return self.type == "string" and not (self.is_id or self.options or self.shape)

    @property
    def is_list_of_texts(self) -> bool:
        return self.type == "array" and not self.is_id and self._variant.get("items", {}).get("type") == "string"

    @property
    def spoken(self) -> str:
        return self.name.replace("_", " ")

    def fits(self, value: Any) -> bool:
        if self.options:
            return value in self.options
        return self.type not in _TYPES or isinstance(value, _TYPES[self.type])

    @cached_property
    def _variant(self) -> Json:
        """The schema without the null of an optional type."""
        variants = [each for each in self.schema.get("anyOf", ()) if each.get("type") != "null"]
        return variants[0] if variants else self.schema


def arguments_of(tool: Json) -> list[Argument]:
    """`tool` is a function in OpenAI's form."""
    parameters = tool.get("parameters", {})
    required = parameters.get("required", ())
    return [Argument(name, schema, name in required) for name, schema in parameters.get("properties", {}).items()]


def is_id(name: str) -> bool:
    return name in ("id", "uuid") or name.endswith(("_id", "_ids", "Id"))


def title_of(item: Mapping[str, Any]) -> str:
    """The name that a person would use for the item: its title or name, else its first text that is no id and no detail
    of it.
    """
    texts = {key: value for key, value in item.items() if isinstance(value, str) and value and not is_id(key)}
    named = (texts[key] for key in ("title", "name", "subject", "label", "text") if key in texts)
    return next(named, "") or next((value for key, value in texts.items() if "_" not in key), "")
