"""Fits what a new text does to a known one where the rules are not sure, and says how well that holds in other stories.

    python -m benchmarks.fit_pairs              # each story judged by what all the others give
    python -m benchmarks.fit_pairs --write

A pair is a new text and one that is remembered when it is told: of the stories in changes_tuning.jsonl, and of the
facts in pairs_alike.tsv, which look alike and are not the same. Two questions are asked of
each: does the new one say nothing else, and does it say that the old one is no longer so? Each is a logistic model
(ridge 30, by Newton's method) over the features of langmem_plugin/memory/pairs, without the weights that hardly count.
Of what should be kept, at most 1.5 % may be replaced and 1 % taken for a repetition; of all bounds that keep to that,
those are taken with which most steps are right. `--write` stores what all pairs give:
langmem_plugin/memory/pairs/judgement.json.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.logistic_fit import fitted
from langmem_plugin.facts import Statement, relation, statement_of
from langmem_plugin.memory.pairs import judgement
from langmem_plugin.memory.pairs.judgement import BIAS, QUESTIONS, Bounds, Chances, Known, chances_of, compared
from langmem_plugin.memory.pairs.pair_features import Features

TABLE_FILE = Path(judgement.__file__).with_suffix(".json")
STORIES = Path(__file__).with_name("changes_tuning.jsonl")
ALIKE = Path(__file__).with_name("pairs_alike.tsv")
RIDGE, FOLDS = 30.0, 10
LEAST = 0.02
"""Of a weight, on features of one spread."""
MOST_REPLACED, MOST_KNOWN = 0.015, 0.01
WEIGHTS = {"story": 1.0, "own": 1.0, "rules": 0.7, "alike": 0.3}
"""Of stories by strangers, of those written for this, of those the rules were written by, and of the tests' tables."""
OUTCOMES = {"duplicate": "duplicate", "superseded": "supersedes"}
SAID_AT = datetime(2026, 11, 22, 20, tzinfo=UTC)


@dataclass(frozen=True)
class Step:
    """A text that is told, with what was remembered then; `answers` are what it does to each of them.

    `rows` are the features of those it is held against, whose places are `weighed`.
    """

    story: str
    source: str
    language: str
    expected: str
    new: Statement
    known: tuple[Known, ...]
    weighed: tuple[int, ...]
    rows: tuple[Features, ...]
    answers: tuple[str, ...]


@cache
def _stated(text: str, said_at: datetime) -> Statement:
    return statement_of(text, said_at)


def step_of(new: Statement, held: Sequence[Statement], answers: Sequence[str], **told: str) -> Step:
    known = tuple(Known(each, relation(new, each)) for each in held)
    places = tuple(judgement.weighed(new, known))
    rows = tuple(compared(new, [known[at] for at in places]))
    return Step(**told, new=new, known=known, weighed=places, rows=rows, answers=tuple(answers))


def steps_of_stories(path: Path = STORIES) -> Iterator[Step]:
    """Each step but the first, with what is remembered by then if all went well; what is told late is left out."""
    for line in path.read_text("utf-8").splitlines():
        story = json.loads(line)
        live: list[int] = []
        told = [_stated(each["text"], datetime.fromisoformat(each["said_at"])) for each in story["steps"]]
        for at, step in enumerate(story["steps"]):
            if step.get("late"):
                continue
            concerns, answer = step.get("concerns") or [], OUTCOMES.get(step["expect"], "keeps_both")
            if live:
                answers = [answer if each in concerns else "keeps_both" for each in live]
                of = {"story": story["id"], "language": story["lang"], "expected": answer}
                source = story.get("by", "story")
                yield step_of(told[at], [told[each] for each in live], answers, source=source, **of)
            if answer == "supersedes":
                live = [each for each in live if each not in concerns]
            if answer != "duplicate":
                live.append(at)


def steps_of_tables() -> Iterator[Step]:
    """Of facts that look alike: what is of one thing may take its place, and is no duplicate."""
    for line in ALIKE.read_text("utf-8").splitlines():
        name, answer, ways, *texts = line.split("\t")
        for new, old in (texts, texts[::-1]) if ways == "both ways" else (texts,):
            of = {"story": f"{name} {texts}", "source": "alike", "language": "", "expected": answer}
            yield step_of(_stated(new, SAID_AT), [_stated(old, SAID_AT)], [answer], **of)


Judged = tuple[Step, Sequence[Chances]]


def table_of(steps: Sequence[Step]) -> dict[str, dict[str, float]]:
    """For each question the weight of each feature, on the features as they are."""
    rows = [
        (row, step.answers[at], WEIGHTS[step.source])
        for step in steps
        for at, row in zip(step.weighed, step.rows, strict=True)
    ]
    names = sorted(rows[0][0])
    values = np.array([[row[name] for name in names] for row, _, _ in rows])
    middle, spread = values.mean(0), np.maximum(values.std(0), 1e-6)
    features = np.hstack([np.ones((len(values), 1)), (values - middle) / spread])
    weights = np.array([weight for _, _, weight in rows])
    found = {}
    for question in QUESTIONS:
        of = np.array([question != "supersedes" or answer != "no duplicate" for _, answer, _ in rows])
        right = np.array([float(answer == question) for _, answer, _ in rows])
        weighed = fitted(features[of], right[of], weights[of], ridge=RIDGE)
        counts = np.abs(weighed) >= LEAST
        counts[0] = True
        weighed[counts] = fitted(features[of][:, counts], right[of], weights[of], ridge=RIDGE)
        scaled = weighed[1:] / spread
        bias = weighed[0] - float(scaled[counts[1:]] @ middle[counts[1:]])
        found[question] = {BIAS: round(float(bias), 3)} | {
            name: round(float(value), 3) for name, value, kept in zip(names, scaled, counts[1:], strict=True) if kept
        }
    return found


def outcome(step: Step, found: Sequence[Chances], bounds: Bounds) -> tuple[str, str]:
    """What is decided, and what it should have been for the text that it is decided on."""
    said = judgement.settled(step.new, step.known, step.weighed, found, bounds)
    for kind in QUESTIONS:
        for each, answer in zip(said, step.answers, strict=True):
            if each.kind == kind:
                return kind, answer
    return "keeps_both", step.expected


@dataclass(frozen=True)
class Figures:
    """`replaced` and `known`: what was done to how many of `kept`, which should be stored beside all else."""

    right: int
    steps: int
    replaced: int
    known: int
    kept: int
    by_kind: dict[str, tuple[int, int]]

    @property
    def is_allowed(self) -> bool:
        return self.replaced <= MOST_REPLACED * self.kept and self.known <= MOST_KNOWN * self.kept

    def __str__(self) -> str:
        kinds = "  ".join(f"{kind} {right} of {count}" for kind, (right, count) in self.by_kind.items())
        lost = f"of {self.kept} to keep {self.replaced} replaced, {self.known} taken for known"
        return f"{self.right / max(self.steps, 1):6.1%} of {self.steps} right, {lost}   {kinds}"


def figures(judged: Sequence[Judged], bounds: Bounds) -> Figures:
    """With the first step of each story, which is always stored."""
    first = len({step.story for step, _ in judged})
    right, kept = first, first
    lost: Counter[str] = Counter()
    by_kind: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for step, found in judged:
        got, wanted = outcome(step, found, bounds)
        well = got == step.expected == wanted
        right += well
        by_kind[step.expected][0] += well
        by_kind[step.expected][1] += 1
        if step.expected == "keeps_both":
            kept += 1
            lost[got] += 1
    of_kind = {kind: (well, count) for kind, (well, count) in sorted(by_kind.items())}
    return Figures(right, len(judged) + first, lost["supersedes"], lost["duplicate"], kept, of_kind)


def best_bounds(judged: Sequence[Judged]) -> Bounds:
    """First of what is decided, then of what is doubted."""
    grid = [round(each / 50, 2) for each in range(20, 46)]
    best = _best(judged, [Bounds(*each, 0.05, 0.2) for each in product(grid[::2], grid)])
    doubts = product((0.02, 0.05, 0.1, 0.2), (0.3, 0.4, 0.5))
    return _best(judged, [Bounds(best.duplicate, best.supersedes, *each) for each in doubts])


def _best(judged: Sequence[Judged], tried: Sequence[Bounds]) -> Bounds:
    found = [(figures(judged, each), each) for each in tried]
    allowed = [each for each in found if each[0].is_allowed] or found
    return max(allowed, key=lambda each: (each[0].right, -each[0].replaced - each[0].known))[1]


def left_out(steps: Sequence[Step]) -> list[Judged]:
    """Each story judged by a table of nine tenths of the stories, it not among them."""
    stories = sorted({step.story for step in steps})
    np.random.default_rng(0).shuffle(stories)
    fold = {story: at % FOLDS for at, story in enumerate(stories)}
    found = []
    for left in range(FOLDS):
        weights = table_of([step for step in steps if fold[step.story] != left])
        found += [(step, [chances_of(row, weights) for row in step.rows]) for step in steps if fold[step.story] == left]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the table")
    asked = parser.parse_args()
    steps = [*steps_of_stories(), *steps_of_tables()]
    judged = left_out(steps)
    told = [each for each in judged if each[0].source == "story"]
    bounds = best_bounds(told)
    print(f"bounds {asdict(bounds)}")
    print(f"{'stories by strangers':34}", figures(told, bounds))
    for language in sorted({step.language for step, _ in told}):
        print(f"{'  ' + language:34}", figures([each for each in told if each[0].language == language], bounds))
    print(f"{'stories written for this':34}", figures([e for e in judged if e[0].source == "own"], bounds))
    print(f"{'stories the rules were written by':34}", figures([e for e in judged if e[0].source == "rules"], bounds))
    alike = [each for each in judged if each[0].source == "alike" and each[0].expected == "keeps_both"]
    print(f"{'facts that look alike':34}", figures(alike, bounds))
    if asked.write:
        TABLE_FILE.write_text(
            json.dumps({"bounds": asdict(bounds), **table_of(steps)}, indent=1, sort_keys=True) + "\n", "utf-8"
        )
        print(f"\nwritten: {TABLE_FILE}")


if __name__ == "__main__":
    sys.exit(main())
