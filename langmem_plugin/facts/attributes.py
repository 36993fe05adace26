"""The attributes that facts are about: which of them hold one value at a time, and the kind of memory they make."""

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from langmem_plugin.facts.statement import FactType


@dataclass(frozen=True)
class Attribute:
    """The traits of an attribute; `single` says that only one value can hold at a time."""

    single: bool
    fact_type: FactType
    category: str
    sensitive: bool = False


ATTRIBUTES: Final = {
    name: Attribute(key == "single", row["type"], row["category"], row.get("sensitive", False))
    for row in json.loads(files(__package__).joinpath("attributes.json").read_text("utf-8"))
    for key in ("single", "several")
    for name in row.get(key, "").split("|")
    if name
}
_OTHER: Final = Attribute(True, "fact", "other")


def attribute_of(name: str) -> Attribute:
    """Return the traits of an attribute; one that is not in the table holds a single value ("favorite
    color", "locker").
    """
    if name.startswith("favorite ") or name.endswith(" preference"):
        return Attribute(True, "preference", "taste")
    return ATTRIBUTES.get(name, _OTHER)
