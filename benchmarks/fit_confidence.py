"""Fits how sure each finding of the resolver is, and says how well that holds in domains it was not fitted on.

    python -m benchmarks.fit_confidence                      # our own lines
    python -m benchmarks.fit_confidence --data FOLDER        # and the rows that benchmarks/references.py describes
    python -m benchmarks.fit_confidence --data FOLDER --write

Every finding that any way offers for an utterance is one example, right or wrong, with its evidence. Findings are
fitted in groups by logistic regression (ridge 4, by Newton's method). The table is judged with each domain left out in
turn; `--write` stores the one that all the examples give: langmem_plugin/references/meant/confidence.json.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.messages import BaseMessage

from benchmarks import references
from benchmarks.reference_lines import TUNING, read_lines
from langmem_plugin.references.meant import confidence
from langmem_plugin.references.meant.decision import findings_of
from langmem_plugin.references.meant.ledger_cache import ledger_of
from tests.references.scenes import SCENES
from tests.references.test_small_talk import FOCUSED, TALK
from tests.references.test_texting import NAMES, TABLE

TABLE_FILE = Path(confidence.__file__).with_suffix(".json")
RIDGE, STEPS = 4.0, 50
WEIGHTS = {"tuning": 1.5, "texting": 1.5, "scenes": 0.7, "refs": 0.5, "altentities": 0.5}
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
FIXED = {"model": {"bias": 1.4}, "alike": {"bias": 1.4}}
"""A model's choice alone, and what is nearest in meaning: about 8 of 10, as far as it was tried."""


@dataclass(frozen=True)
class Example:
    sort: str
    evidence: dict[str, float]
    right: bool
    source: str
    domain: str

    @property
    def group(self) -> str:
        return confidence.group_of(self.sort, self.evidence)


def examples_of(
    utterance: str,
    messages: list[BaseMessage],
    meant: frozenset[str],
    *,
    names: Iterable[str],
    source: str,
    domain: str,
) -> Iterator[Example]:
    """`names` are the keys that an item's id may stand under."""
    found = findings_of(utterance, ledger_of(messages))
    for each in found:
        ids = {str(entry.item[next(name for name in names if name in entry.item)]) for entry in each.entries}
        part = len(found) > 1 and len(meant) > 1  # one finding of several that are meant together
        yield Example(each.sort, dict(each.evidence), ids <= meant if part else ids == meant, source, domain)


def collected(folder: Path | None) -> Iterator[Example]:
    files = [("tuning", TUNING), *(("texting", file) for file in sorted((folder or Path()).glob("texting_*.jsonl")))]
    for source, file in files:
        of: Any = {"names": ("_id",), "source": source}
        for line in read_lines(file):
            yield from examples_of(line.utterance, line.messages, line.meant, **of, domain=line.domain)
    said = [*TABLE, *((scene, text, "") for text in TALK for scene in FOCUSED)]
    for scene, text, expected in said:
        meant = frozenset(expected.split("|")) - {""}
        yield from examples_of(text, SCENES[scene], meant, names=NAMES, source="scenes", domain=scene)
    for source in ("refs", "altentities") if folder else ():
        for row in references.read(folder, source)[: 200 if source == "altentities" else None]:
            meant = frozenset() if row["target"] == "none" else frozenset(map(str, row["target"]))
            messages = references.conversation(row)
            names = ("_id", "number")
            yield from examples_of(row["utterance"], messages, meant, names=names, source=source, domain=row["source"])


def fitted(features: np.ndarray, right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Coefficients; the first column of `features` is the bias, which has no ridge."""
    ridge = np.eye(features.shape[1]) * RIDGE
    ridge[0, 0] = 0.01
    found = np.zeros(features.shape[1])
    for _ in range(STEPS):
        chance = probability(features, found)
        slope = features.T @ (weights * (right - chance)) - ridge @ found
        curve = (features * (weights * chance * (1 - chance))[:, None]).T @ features + ridge
        step = np.linalg.solve(curve, slope)
        found += step
        if np.abs(step).max() < 1e-6:
            break
    return found


def probability(features: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-np.clip(features @ coefficients, -30, 30))))


def fit(group: str, examples: list[Example]) -> dict[str, float]:
    """The table of one group; prints how right it is with each domain left out."""
    names = sorted({name for each in examples for name in each.evidence} | {f"sort {each.sort}" for each in examples})
    rows = [[1.0, *({**each.evidence, f"sort {each.sort}": 1.0}.get(name, 0.0) for name in names)] for each in examples]
    features = np.array(rows)
    right = np.array([float(each.right) for each in examples])
    weights = np.array([WEIGHTS[each.source] for each in examples])
    domains = np.array([each.domain for each in examples])
    left_out = np.zeros(len(examples))
    for domain in set(domains):
        out = domains == domain
        left_out[out] = probability(features[out], fitted(features[~out], right[~out], weights[~out]))
    report(group, left_out, right, np.array([each.source for each in examples]))
    found = fitted(features, right, weights)
    kept = {name: round(float(value), 3) for name, value in zip(names, found[1:], strict=True) if abs(value) > 0.02}
    return {"bias": round(float(found[0]), 3), **kept}


def report(group: str, chance: np.ndarray, right: np.ndarray, sources: np.ndarray) -> None:
    print(
        f"\n{group}: {len(right)} findings, {100 * right.mean():.1f} % right; from a confidence on: how many, % right"
    )
    for name in ("all", *sorted(set(sources))):
        of = sources == name if name != "all" else np.full(len(sources), fill_value=True)
        cells = []
        for least in THRESHOLDS:
            kept = of & (chance >= least)
            cells.append(f"{least}: {kept.sum():4} {100 * right[kept].mean() if kept.any() else 0:5.1f}")
        print(f"  {name:12}{'  '.join(cells)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the .jsonl files")
    parser.add_argument("--write", action="store_true", help="store the table")
    asked = parser.parse_args()
    groups: defaultdict[str, list[Example]] = defaultdict(list)
    for example in collected(asked.data):
        groups[example.group].append(example)
    table = {group: fit(group, examples) for group, examples in sorted(groups.items())}
    if asked.write:
        TABLE_FILE.write_text(json.dumps({**table, **FIXED}, indent=1, sort_keys=True) + "\n", "utf-8")
        print(f"\nwritten: {TABLE_FILE}")


if __name__ == "__main__":
    sys.exit(main())
