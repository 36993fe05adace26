"""How sure each finding is: a logistic table, fitted by `benchmarks/fit_confidence.py` and stored as data."""

import json
from collections.abc import Mapping
from importlib.resources import files
from math import exp

from langmem_plugin.references.words.language_table import by_form

SURE = 0.95
"""From this confidence on, a finding is acted on without asking."""
DOUBTED = 0.94
"""The most where other words may turn what is meant: a condition, an alternative, an amount."""
GROUPS = by_form(
    {
        "counted": "number|ordinal|exclusion|group|neighbour|other",
        "compared": "comparison",
        "described": "name|part of name|description",
        "pointed": "type|pointing|part|asked|older|agreed",
        "chosen": "chosen|perhaps chosen",
        **{alone: alone for alone in ("together", "offered", "model", "alike")},
    }
)
"""Which findings are weighed alike, by their sort."""
_table: dict[str, Mapping[str, float]] = json.loads(files(__package__).joinpath("confidence.json").read_text("utf-8"))


def use(table: Mapping[str, Mapping[str, float]]) -> None:
    """Weigh by another table: for judging one before it is stored."""
    _table.clear()
    _table.update(table)


def confidence(sort: str, evidence: Mapping[str, float]) -> float:
    """The chance that a finding is right, in [0, 1]."""
    weights = _table[group_of(sort, evidence)]
    total = weights["bias"] + weights.get(f"sort {sort}", 0.0)
    total += sum(weights.get(name, 0.0) * value for name, value in evidence.items() if name != "doubt")
    return 1 / (1 + exp(-max(min(total, 30.0), -30.0)))


def group_of(sort: str, evidence: Mapping[str, float]) -> str:
    """What stands in a list of its own is weighed apart."""
    return GROUPS[sort] + (" alone" if evidence.get("alone") and GROUPS[sort] in ("described", "pointed") else "")


CLAIMED: Mapping[str, float] = {
    "counted": 0.7,
    "compared": 0.6,
    "described": 0.7,
    "described alone": 0.7,
    "pointed": 0.5,
    "pointed alone": 0.5,
    "chosen": 0.5,
    "offered": 0.7,
    "together": 0.5,
    "alike": 0.75,
}
"""From which confidence a finding is said to be meant; below, and from ASKED on, the person is asked."""
BARE = 0.3
"""The same of "save those", which says no more than what is to be done with what was shown together."""
ASKED = 0.45


def claimed(sort: str, evidence: Mapping[str, float]) -> bool:
    bare = sort == "together" and not evidence.get("strange")
    return confidence(sort, evidence) >= (BARE if bare else CLAIMED[group_of(sort, evidence)])
