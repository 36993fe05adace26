"""Fits what the resolver weighs by, and says how well that holds in domains it was not fitted on.

    pip install scikit-learn
    python -m benchmarks.fit_references                      # our own lines
    python -m benchmarks.fit_references --data FOLDER        # and the rows that benchmarks/references.py describes
    python -m benchmarks.fit_references --data FOLDER --write

Three tables, each fitted on what the others before it say of lines that these were not fitted on:

- said/pointing_words.json: which words people point at something shown with (logistic regression);
- meant/nearest_property.json: which property of shown items a description means (a softmax over all that tell the
  items of the chat apart; of several properties that the same items have, any counts);
- meant/confidence.json: how sure a finding is. Every finding that any way offers for an utterance is one example, right
  or wrong, with its evidence; boosted trees tell them apart. The lines that tests promise weigh more where they are
  missed.

The rules are right more often on lines that they were made from: those examples have one feature more, KNOWN, which no
finding has later, so that they tell what evidence is worth and only the others how much can be claimed. The resolver is
judged on lines of which hardly any were looked at, by tables that a tenth of their domains, the line's own among them,
had no part in; `--write` stores those that all the lines give.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.messages import BaseMessage
from scipy.sparse import csr_matrix, hstack
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from benchmarks import references
from benchmarks.promised_lines import ID_NAMES, promises, small_talk
from benchmarks.reference_lines import FITTING, TUNING, Line, ids, read_lines
from benchmarks.softmax_fit import softmax_fitted
from langmem_plugin.references import Resolution, clear_cache, resolve
from langmem_plugin.references.meant import by_nearest_property, confidence
from langmem_plugin.references.meant.by_nearest_property import FEATURES, Description, described_lists, features
from langmem_plugin.references.meant.confidence import CLAIMED, GROUPS, SURE, Trees
from langmem_plugin.references.meant.decision import findings_of, utterance_of, wanted_of
from langmem_plugin.references.meant.ledger_cache import ledger_of
from langmem_plugin.references.said import pointing_words
from langmem_plugin.references.said.pointing_words import Weights, mean_vector, terms

Table = dict[str, Any]
FOLDS = 10
TREES: Table = {"n_estimators": 200, "learning_rate": 0.1, "max_leaf_nodes": 16, "max_depth": 6}
SAMPLED: Table = {"min_samples_leaf": 20, "subsample": 0.7, "max_features": 0.2, "random_state": 0}
RIDGE_OF_WORDS, SCALE_OF_MEANS, FEWEST_DOMAINS, LEAST_WEIGHT = 2.5, 0.15, 4, 0.02
RIDGE_OF_PROPERTIES = 0.002
WEIGHTS = {"fitting": 3.0, "tuning": 1.5, "texting": 1.5, "scenes": 5.0, "talk": 1.5, "refs": 4.0, "altentities": 3.0}
PROMISED, MORE_WHERE_MISSED, SPARE = ("scenes", "talk"), 4, 0.05
KNOWN, OF_KNOWN = "known", ("tuning", "texting")
OF_PUBLIC = ("refs", "altentities")
"""Sources that only the confidence is fitted on: their talk is not that of people who text."""
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
SURES = (0.9, 0.93, 0.95, 0.96, 0.97, 0.975, 0.98)


@dataclass(eq=False)
class Said:
    """One utterance of the data; `names` are the keys that an item's id may stand under."""

    utterance: str
    messages: list[BaseMessage]
    meant: frozenset[str]
    source: str
    domain: str
    names: Iterable[str] = ("_id",)
    terms: list[str] = field(default_factory=list)
    mean: np.ndarray = field(default_factory=lambda: np.zeros(0))
    rows: np.ndarray | None = None
    """Features of each property, where any of them is the one meant."""
    right: np.ndarray | None = None

    def ids_of(self, items: Iterable[Mapping[str, Any]]) -> frozenset[str]:
        return frozenset(str(item.get(next((name for name in self.names if name in item), ""))) for item in items)


@dataclass(frozen=True)
class Example:
    evidence: Mapping[str, float]
    right: bool
    source: str
    domain: str


@dataclass(frozen=True)
class Tables:
    words: Table
    properties: Table

    def use(self) -> None:
        pointing_words.use(Weights.read(self.words))
        by_nearest_property.use(self.properties)
        clear_cache()


class Data:
    """All lines, with what does not depend on any table."""

    def __init__(self, said: Iterable[Said]) -> None:
        self.said = list(said)
        for each in self.said:
            if each.source not in OF_PUBLIC:
                self._read(each)

    def _read(self, each: Said) -> None:
        ledger = ledger_of(each.messages)
        utterance = utterance_of(each.utterance, ledger)
        each.terms = terms(utterance.marks, utterance.known)
        each.mean = mean_vector(utterance.marks, utterance.language.name)
        if not each.meant or not ledger.shown_lists:
            return
        description = Description(wanted_of(each.utterance, ledger)[0], utterance)
        rows, right = [], []
        for age, listed in enumerate(described_lists(ledger)) if description.tells else ():
            rows.append(features(description, listed, age)[0])
            right += [
                each.ids_of(listed.entries[place].item for place in found.places) == each.meant
                for found in listed.properties.properties
            ]
        if any(right):
            each.rows, each.right = np.concatenate(rows), np.array(right)

    def tables(self, left_out: Collection[str] = ()) -> Tables:
        """Of words and properties: what all lines but those of some domains tell."""
        return Tables(self._of_words(left_out), self._of_properties(left_out))

    def _of_words(self, left_out: Collection[str]) -> Table:
        lines = [each for each in self.said if each.terms and each.domain not in left_out]
        domains: defaultdict[str, set[str]] = defaultdict(set)
        for each in lines:
            for term in each.terms:
                domains[term].add(each.domain)
        kept = sorted(term for term, of in domains.items() if len(of) >= FEWEST_DOMAINS)
        counter = CountVectorizer(analyzer=list, vocabulary=kept, binary=True)
        means = np.array([each.mean for each in lines])
        scale = means.std(axis=0) / SCALE_OF_MEANS
        rows = hstack([counter.transform([each.terms for each in lines]), csr_matrix(means / scale)]).tocsr()
        model = LogisticRegression(C=1 / RIDGE_OF_WORDS, max_iter=1000)
        model.fit(rows, [bool(each.meant) for each in lines])
        of_terms, of_mean = model.coef_[0][: len(kept)], model.coef_[0][len(kept) :] / scale
        weighed = {term: round(float(value), 2) for term, value in zip(kept, of_terms, strict=True)}
        return {
            "bias": round(float(model.intercept_[0]), 2),
            "vector": [round(float(value), 3) for value in of_mean],
            "terms": {term: value for term, value in weighed.items() if abs(value) >= LEAST_WEIGHT},
        }

    def _of_properties(self, left_out: Collection[str]) -> Table:
        lines = [each for each in self.said if each.rows is not None and each.domain not in left_out]
        groups = [each.rows for each in lines if each.rows is not None]
        right = [each.right for each in lines if each.right is not None]
        found = softmax_fitted(groups, right, ridge=RIDGE_OF_PROPERTIES)
        return {name: round(float(value), 3) for name, value in zip(FEATURES, found, strict=True)}

    def examples(self, domains: Collection[str]) -> Iterator[Example]:
        for each in self.said:
            if each.domain not in domains:
                continue
            found = findings_of(each.utterance, ledger_of(each.messages))
            for one in found:
                chosen = each.ids_of(entry.item for entry in one.entries)
                part = len(found) > 1 and len(each.meant) > 1  # of several meant together
                part = part and (one.sort != "nearest" or bool(one.evidence["joined"]))
                right = chosen <= each.meant if part else chosen == each.meant
                yield Example({**one.evidence, KNOWN: float(each.source in OF_KNOWN)}, right, each.source, each.domain)


def collected(folder: Path | None) -> Iterator[Said]:
    texting = [("texting", file) for file in sorted((folder or Path()).glob("texting_*.jsonl"))]
    for source, file in (("fitting", FITTING), ("tuning", TUNING), *texting):
        for line in read_lines(file):
            yield Said(line.utterance, line.messages, line.meant, source, line.domain)
    for source, promised in (("scenes", promises()), ("talk", small_talk())):
        yield from (Said(text, messages, meant, source, scene, ID_NAMES) for text, messages, meant, scene in promised)
    for source in OF_PUBLIC if folder else ():
        for row in references.read(folder, source)[: 200 if source == "altentities" else None]:
            meant = frozenset() if row["target"] == "none" else frozenset(map(str, row["target"]))
            domain = f"{row['source']} {row['id'].split('-')[0]}"
            yield Said(row["utterance"], references.conversation(row), meant, source, domain, ("_id", "number"))


def trees_of(examples: Sequence[Example], left_out: Collection[str] = ()) -> Table:
    """Fitted on all examples but those of some domains; as `confidence.Trees` reads them."""
    kept = [each for each in examples if each.domain not in left_out]
    names = sorted({name for each in kept for name in each.evidence})
    rows = np.array([[each.evidence.get(name, 0.0) for name in names] for each in kept], dtype=np.float32)
    right, weights = np.array([each.right for each in kept]), np.array([WEIGHTS[each.source] for each in kept])
    promised = np.array([each.source in PROMISED for each in kept])
    model = GradientBoostingClassifier(**TREES, **SAMPLED).fit(rows, right, sample_weight=weights)
    said = model.predict_proba(rows)[:, 1] >= np.where(right, CLAIMED + SPARE, CLAIMED - SPARE)
    missed = promised & (said != right)
    model.fit(rows, right, sample_weight=np.where(missed, weights * MORE_WHERE_MISSED, weights))
    return as_stored(model, names)


def as_stored(model: GradientBoostingClassifier, names: Sequence[str]) -> Table:
    """All trees as one list of nodes; a leaf goes on to itself."""
    nodes: dict[str, list[float]] = {name: [] for name in ("feature", "threshold", "left", "right", "values")}
    roots = []
    for (estimator,) in model.estimators_:
        tree, first = estimator.tree_, len(nodes["feature"])
        roots.append(first)
        for place in range(tree.node_count):
            leaf = tree.children_left[place] < 0
            left, right = (place, place) if leaf else (tree.children_left[place], tree.children_right[place])
            nodes["feature"].append(0 if leaf else int(tree.feature[place]))
            nodes["threshold"].append(0.0 if leaf else round(float(tree.threshold[place]), 4))
            nodes["left"].append(first + int(left))
            nodes["right"].append(first + int(right))
            nodes["values"].append(round(float(tree.value[place, 0, 0]) * model.learning_rate, 4) if leaf else 0.0)
    chance = float(model.init_.class_prior_[1])
    steps = max(estimator.get_depth() for (estimator,) in model.estimators_)
    return {"bias": round(log(chance / (1 - chance)), 4), "steps": steps, "names": list(names), "roots": roots, **nodes}


def folds(domains: Iterable[str]) -> list[frozenset[str]]:
    ordered = sorted(set(domains))
    return [frozenset(ordered[place::FOLDS]) for place in range(FOLDS)]


def report(lines: Sequence[Line], tables: Mapping[frozenset[str], Tables], examples: Sequence[Example]) -> None:
    """Prints what people would meet in a domain that no table was fitted on, by the confidence that is claimed."""
    closeness = references.offline_closeness()
    said: defaultdict[float, list[tuple[Line, Resolution]]] = defaultdict(list)
    usual = CLAIMED
    for left_out, without in tables.items():
        without.use()
        confidence.use(Trees.read(trees_of(examples, left_out)))
        of_domains = [line for line in lines if line.domain in left_out]
        for least in sorted({usual, *THRESHOLDS}):
            confidence.CLAIMED = least
            said[least] += [(line, resolve(line.utterance, line.messages, closeness=closeness)) for line in of_domains]
    confidence.CLAIMED = usual
    heads = "".join(f"{head:>20}" for head in ("claims right", "lines right", "item for none"))
    print(f"{'claimed from':14}{heads}{'rejected':>10}{'asked':>8}")
    for threshold, found in said.items():
        right = [ids(each) == line.meant for line, each in found]
        claims = [good for good, (_, each) in zip(right, found, strict=True) if each.references]
        none = [bool(each.references) for line, each in found if not line.meant]
        cells = "".join(f"{references.share(of):>20}" for of in (claims, right, none))
        rejected = sum(bool(ids(each) & line.rejected) for line, each in found)
        print(f"{threshold:<14}{cells}{rejected:>10}{sum(each.question is not None for _, each in found):>8}")
    surely: defaultdict[float, list[bool]] = defaultdict(list)
    sorts: defaultdict[str, list[bool]] = defaultdict(list)
    for line, each in said[usual]:
        good = ids(each) == line.meant
        for least in SURES if each.references else ():
            if min(reference.confidence for reference in each.references) >= least:
                surely[least].append(good)
        for reference in each.references[:1]:
            sorts[GROUPS[reference.sort]].append(good)
    print(f"sure from (now {SURE}): " + ", ".join(f"{least} {references.share(of)}" for least, of in surely.items()))
    print("of what is said: " + ", ".join(f"{group} {references.share(of)}" for group, of in sorted(sorts.items())))


def stored(path: Path, table: Table) -> None:
    """One key a line."""
    rows = ",\n".join(json.dumps({name: value}, ensure_ascii=False)[1:-1] for name, value in table.items())
    path.write_text("{\n" + rows + "\n}\n", "utf-8")
    print(f"written: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the .jsonl files")
    parser.add_argument("--write", action="store_true", help="store the tables")
    asked = parser.parse_args()
    data = Data(collected(asked.data))
    print(f"{len(data.said)} utterances: {dict(Counter(each.source for each in data.said))}")
    tables: dict[frozenset[str], Tables] = {}
    examples: list[Example] = []
    for left_out in folds(each.domain for each in data.said):
        tables[left_out] = data.tables(left_out)
        tables[left_out].use()
        examples += data.examples(left_out)
    report(list(read_lines(FITTING)), tables, examples)
    if asked.write:
        every = data.tables()
        stored(Path(pointing_words.__file__).with_suffix(".json"), every.words)
        stored(Path(by_nearest_property.__file__).with_name("nearest_property.json"), every.properties)
        stored(Path(confidence.__file__).with_suffix(".json"), trees_of(examples))


if __name__ == "__main__":
    sys.exit(main())
