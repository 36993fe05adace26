"""Fits how sure each finding of the resolver is, and says how well that holds in domains it was not fitted on.

    python -m benchmarks.fit_confidence                      # our own lines
    python -m benchmarks.fit_confidence --data FOLDER        # and the rows that benchmarks/references.py describes
    python -m benchmarks.fit_confidence --data FOLDER --write

Every finding that any way offers for an utterance is one example, right or wrong, with its evidence. Findings are
fitted in groups by logistic regression (ridge 4, by Newton's method). The rules are right more often on lines that
they were made from: those examples have one feature more, KNOWN, which no finding has later, so that they tell what
evidence is worth and only the others how much can be claimed. The resolver is judged on lines that nobody looked at,
by a table that a tenth of their domains, the line's own among them, had no part in; `--write` stores the one that all
the examples give: langmem_plugin/references/meant/confidence.json.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.messages import BaseMessage

from benchmarks import references
from benchmarks.logistic_fit import fitted
from benchmarks.reference_lines import FITTING, TUNING, Line, ids, read_lines
from langmem_plugin.references import Resolution, clear_cache, resolve
from langmem_plugin.references.meant import confidence
from langmem_plugin.references.meant.decision import findings_of
from langmem_plugin.references.meant.ledger_cache import ledger_of
from tests.references.scenes import SCENES
from tests.references.test_small_talk import FOCUSED, TALK
from tests.references.test_texting import NAMES, TABLE

TABLE_FILE = Path(confidence.__file__).with_suffix(".json")
RIDGE, FOLDS = 4.0, 10
WEIGHTS = {"fitting": 3.0, "tuning": 1.5, "texting": 1.5, "scenes": 5.0, "refs": 1.5, "altentities": 1.5}
KNOWN, OF_KNOWN = "known", ("tuning", "texting")
THRESHOLDS = (0.6, 0.7, 0.75, 0.8, 0.9)
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
        ids = {str(entry.item.get(next((name for name in names if name in entry.item), ""))) for entry in each.entries}
        part = len(found) > 1 and len(meant) > 1  # one finding of several that are meant together
        evidence = {**each.evidence, KNOWN: float(source in OF_KNOWN)}
        yield Example(each.sort, evidence, ids <= meant if part else ids == meant, source, domain)


def collected(folder: Path | None) -> Iterator[Example]:
    texting = [("texting", file) for file in sorted((folder or Path()).glob("texting_*.jsonl"))]
    for source, file in (("fitting", FITTING), ("tuning", TUNING), *texting):
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


def tables(examples: Sequence[Example], left_out: Collection[str] = ()) -> dict[str, dict[str, float]]:
    """A table for each group, of all examples but those of some domains."""
    groups: defaultdict[str, list[Example]] = defaultdict(list)
    for example in examples:
        if example.domain not in left_out:
            groups[example.group].append(example)
    return {**{group: fit(of_group) for group, of_group in sorted(groups.items())}, **FIXED}


def fit(examples: Sequence[Example]) -> dict[str, float]:
    """The table of one group."""
    names = sorted({name for each in examples for name in each.evidence} | {f"sort {each.sort}" for each in examples})
    rows = [[1.0, *({**each.evidence, f"sort {each.sort}": 1.0}.get(name, 0.0) for name in names)] for each in examples]
    right = np.array([float(each.right) for each in examples])
    weights = np.array([WEIGHTS[each.source] for each in examples])
    found = fitted(np.array(rows), right, weights, ridge=RIDGE)
    weighed = zip(names, found[1:], strict=True)
    kept = {name: round(float(value), 3) for name, value in weighed if abs(value) > 0.02 and name != KNOWN}
    return {"bias": round(float(found[0]), 3), **kept}


def report(lines: Sequence[Line], examples: Sequence[Example]) -> None:
    """Prints what people would meet in a domain that the table was not fitted on, by the confidence that is claimed."""
    domains = sorted({line.domain for line in lines})
    closeness = references.offline_closeness()
    said: defaultdict[float | None, list[tuple[Line, Resolution]]] = defaultdict(list)
    usual = dict(confidence.CLAIMED)
    for left_out in (domains[place::FOLDS] for place in range(FOLDS)):
        confidence.use(tables(examples, left_out))
        of_domains = [line for line in lines if line.domain in left_out]
        for least in (None, *THRESHOLDS):
            confidence.CLAIMED = dict.fromkeys(usual, least) if least is not None else usual
            clear_cache()
            said[least] += [(line, resolve(line.utterance, line.messages, closeness=closeness)) for line in of_domains]
    confidence.CLAIMED = usual
    print(
        f"{'claimed from':14}{'claims right':>18}{'lines right':>18}{'item for none':>18}{'sure right':>16}{'asked':>8}"
    )
    for threshold, found in said.items():
        right = [ids(each) == line.meant for line, each in found]
        claims = [good for good, (_, each) in zip(right, found, strict=True) if each.references]
        sure = [good for good, (_, each) in zip(right, found, strict=True) if each.sure]
        none = [bool(each.references) for line, each in found if not line.meant]
        cells = "".join(f"{references.share(of):>18}" for of in (claims, right, none, sure))
        print(f"{threshold or 'as it is'!s:14}{cells}{sum(each.question is not None for _, each in found):>8}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the .jsonl files")
    parser.add_argument("--write", action="store_true", help="store the table")
    asked = parser.parse_args()
    examples = list(collected(asked.data))
    report(list(read_lines(FITTING)), examples)
    if asked.write:
        rows = (
            f"{json.dumps(group)}: {json.dumps(table, sort_keys=True)}" for group, table in tables(examples).items()
        )
        TABLE_FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")
        print(f"\nwritten: {TABLE_FILE}")


if __name__ == "__main__":
    sys.exit(main())
