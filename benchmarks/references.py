"""How often references are understood, and how long it takes, against the targets; then what is left, by cause.

    python -m benchmarks.references                          # our own lines: see benchmarks/reference_lines.py
    python -m benchmarks.references --data FOLDER            # and refs_*, altentities_*, followup_*, texting_*.jsonl
    python -m benchmarks.references --data FOLDER --no-embedder --causes

The rows of FOLDER are not part of this project. They are made from public dialogues: Schema-Guided Dialogue and
SMCalFlow (CC BY-SA 4.0), MultiWOZ, tau-bench and ToolTalk (MIT), AltEntities (CC BY-SA 3.0).
One JSON object a line:

  refs, altentities: dialogue [{role, content}], results [{tool, turn, items [{_id, …}], shown_order, n_total}],
      utterance, target [ids] or "none", kind, and rejects for kind "negation"
  followup: dialogue, utterance, label ("revise" when it changes the call before it)
"""

import argparse
import gc
import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from benchmarks.reference_lines import FITTING, TUNING, UNSEEN, Line, ids, read_lines, used
from langmem_plugin.references import Closeness, Resolution, clear_cache, resolve

Row = dict[str, Any]
TARGETS = {
    "refs": 90,
    "refs deictic": 85,
    "refs descriptive": 95,
    "refs ordinal": 98,
    "refs negation": 92,
    "refs none": 92,
    "refs in an older list": 60,
    "altentities": 80,
    "revisions that are found": 90,
    "found that are revisions": 45,
}
BINS = (0.0, 0.7, 0.8, 0.9, 0.95, 1.01)


def read(folder: Path, name: str) -> list[Row]:
    lines = [line for path in sorted(folder.glob(f"{name}_*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines if line.strip()]


def as_message(turn: Row) -> BaseMessage:
    return HumanMessage(turn["content"]) if turn["role"] == "user" else AIMessage(turn["content"])


def conversation(row: Row) -> list[BaseMessage]:
    """The row as messages. Results older than the dialogue's excerpt get a reply that names what was shown of them."""
    dialogue = row["dialogue"]
    last = row["id"].rsplit("-", 1)[1]
    first = (int(last) - len(dialogue)) if row["source"] != "altentities" else 0
    waiting: defaultdict[int, list[tuple[int, Row]]] = defaultdict(list)
    for number, result in enumerate(row["results"]):
        waiting[max(result["turn"], -1)].append((number, result))
    messages: list[BaseMessage] = []
    for turn in sorted(turn for turn in waiting if turn < first):
        for number, result in waiting.pop(turn):
            messages += used(result["tool"], {}, result["items"], number)
            if len(result["shown_order"]) < result["n_total"]:
                shown = [result["items"][place] for place in result["shown_order"] if place < len(result["items"])]
                messages.append(AIMessage("I found " + ", ".join(map(named, shown)) + "."))
            messages.append(HumanMessage("ok"))
    for place, turn in enumerate(dialogue, first):
        if turn["role"] != "user":
            for number, result in waiting.pop(place, []):
                messages += used(result["tool"], {}, result["items"], number)
        messages.append(as_message(turn))
    for turn in sorted(waiting):
        for number, result in waiting[turn]:
            messages += used(result["tool"], {}, result["items"], number)
    return messages


def named(item: Row) -> str:
    values = {key: value for key, value in item.items() if key != "_id"}
    return str(
        next(
            (value for key, value in values.items() if "name" in key or key == "title"),
            " ".join(map(str, values.values())),
        )
    )


def right(row: Row, predicted: set[str]) -> bool:
    """Exact, but where shown items are turned down: then nothing, or some of the others, is right."""
    target = set() if row["target"] == "none" else set(row["target"])
    if row["kind"] == "negation" and row["source"] != "altentities":
        return not predicted & set(row.get("rejects", [])) and predicted <= target
    return predicted == target


class Tally:
    """Right and all per row of the table, and right and all per confidence."""

    def __init__(self) -> None:
        self.right: Counter[str] = Counter()
        self.all: Counter[str] = Counter()
        self.sure: defaultdict[int, list[bool]] = defaultdict(list)
        self.sorts: defaultdict[str, list[bool]] = defaultdict(list)
        self.causes: Counter[str] = Counter()

    def add(self, names: Iterable[str], good: bool) -> None:
        for name in names:
            self.all[name] += 1
            self.right[name] += good

    def confide(self, found: Resolution, good: bool) -> None:
        for reference in found.references[:1]:
            place = next(place for place in range(len(BINS)) if reference.confidence < BINS[place + 1])
            self.sure[place].append(good)
            self.sorts[reference.sort].append(good)


def measure_references(rows: Sequence[Row], tally: Tally, closeness: Closeness | None) -> None:
    for row in rows:
        found = resolve(row["utterance"], conversation(row), closeness=closeness)
        ids = {str(item.get("_id")) for item in found.items}
        good = right(row, ids)
        if row["source"] == "altentities":
            names = ["altentities"]
        else:
            names = ["refs", f"refs {row['kind']}", *(["refs in an older list"] if row.get("hops") else [])]
            tally.confide(found, good)
        tally.add(names, good)
        if not good:
            what = (
                "found none"
                if not ids
                else "found one where none is meant"
                if row["target"] == "none"
                else "found another"
            )
            tally.causes[f"{names[-1]}, {row.get('cue')} ({row.get('rule', '')}): {what}"] += 1


def measure_revisions(rows: Sequence[Row], tally: Tally) -> None:
    call = [HumanMessage("hello"), *used("call_before", {}, [], 0)]
    for row in rows:
        found = resolve(row["utterance"], [*call, *map(as_message, row["dialogue"])]).previous_call is not None
        revises = row["label"] == "revise"
        if revises:
            tally.add(["revisions that are found"], found)
        if found:
            tally.add(["found that are revisions"], revises)
        if found != revises:
            tally.causes[f"revisions: {row['label']}, found: {found}"] += 1


def measure_lines(lines: Iterable[Line], name: str, closeness: Closeness | None) -> None:
    """Prints the shares that a person who texts would feel, and the right of each kind."""
    kinds: defaultdict[str, list[bool]] = defaultdict(list)
    claimed: list[bool] = []
    sure: list[bool] = []
    nothing: list[bool] = []
    asked = rejected = 0
    for line in lines:
        found = resolve(line.utterance, line.messages, closeness=closeness)
        good = ids(found) == line.meant
        kinds[line.kind].append(good)
        claimed += [good] if found.references else []
        sure += [good] if found.sure else []
        nothing += [bool(found.references)] if not line.meant else []
        asked += found.question is not None
        rejected += bool(ids(found) & line.rejected)
    every = [good for of_kind in kinds.values() for good in of_kind]
    print(
        f"{name:10} {share(every)} right; something said {share(claimed)} right, sure {share(sure)} right; "
        f"an item where none is meant {share(nothing)}; rejected but picked {rejected}; asked {asked}"
    )
    print("           " + ", ".join(f"{kind} {sum(good)}/{len(good)}" for kind, good in sorted(kinds.items())))


def share(of: Sequence[bool]) -> str:
    return f"{100 * sum(of) / max(len(of), 1):.1f} % of {len(of)}"


WORDS = (
    "chicken",
    "beef",
    "tofu",
    "lemon",
    "garlic",
    "stew",
    "curry",
    "soup",
    "salad",
    "rice",
    "pasta",
    "pizza",
    "basil",
    "ginger",
)
UTTERANCES = (
    "number 7",
    "the last two",
    "the cheapest one",
    "the ginger one",
    "save it",
    "what's the weather",
    "all but the first",
    "thanks",
    "tell me more about the quickest",
    "something else",
    "is there anything with basil",
    "book a table for 2 at 7",
    "השני",
    "el más barato",
)


def measure_time(results: int = 50, items: int = 20) -> tuple[list[float], list[float]]:
    """Milliseconds per utterance on a conversation read before, and per turn as it grows by one result at a time."""
    chance = random.Random(0)
    messages: list[BaseMessage] = []
    growing = []
    clear_cache()
    gc.collect()
    gc.freeze()  # what was measured before is not looked through again and again
    for number in range(results):
        found = [
            {
                "id": f"r{number}-{place}",
                "title": " ".join(chance.sample(WORDS, 3)).title() + f" {number * items + place}",
                "minutes": chance.randint(10, 90),
                "price": f"${chance.randint(5, 40)}",
                "tags": chance.sample(WORDS, 3),
            }
            for place in range(items)
        ]
        shown = "\n".join(f"{place}. {item['title']}" for place, item in enumerate(found, 1))
        messages += [
            HumanMessage("find recipes"),
            *used("search_recipes", {}, {"results": found}, number),
            AIMessage(f"Here:\n{shown}"),
        ]
        growing.append(timed(lambda messages=tuple(messages): resolve("number 3", messages)))
    warm = [
        timed(lambda utterance=utterance: resolve(utterance, messages)) for _ in range(20) for utterance in UTTERANCES
    ]
    return sorted(warm), sorted(growing)


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of the processor: what else runs on the machine does not count."""
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


def offline_closeness() -> Closeness:
    """Cosine by the offline embedder, which an agent has anyway; each text is embedded once."""
    from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings

    embeddings = OfflineEmbeddings()
    known: dict[str, list[float]] = {}

    def vector(text: str) -> list[float]:
        if text not in known:
            known[text] = embeddings.embed_query(text)
        return known[text]

    return lambda text, others: [sum(map(float.__mul__, vector(text), vector(other))) for other in others]


def report(tally: Tally, *, causes: bool) -> None:
    print(f"{'set':28}{'right':>12}{'%':>8}{'target':>8}")
    for name in sorted(tally.all, key=lambda name: (list(TARGETS).index(name) if name in TARGETS else 99, name)):
        share = 100 * tally.right[name] / tally.all[name]
        print(f"{name:28}{tally.right[name]:>6}/{tally.all[name]:<5}{share:>8.1f}{TARGETS.get(name, '-'):>8}")
    if tally.sure:
        print("\nreferences by confidence      said   right %")
        total = sum(map(len, tally.sure.values()))
        for place in sorted(tally.sure):
            good = tally.sure[place]
            claimed, correct = 100 * len(good) / total, 100 * sum(good) / len(good)
            print(f"{BINS[place]:.2f} to {min(BINS[place + 1], 1):.2f}{'':14}{claimed:>6.1f} %{correct:>8.1f}")
        print(
            "by sort of evidence: "
            + ", ".join(
                f"{sort} {100 * sum(good) / len(good):.0f} of {len(good)}" for sort, good in sorted(tally.sorts.items())
            )
        )
    if causes:
        print("\nwhat is left, by cause")
        for cause, count in tally.causes.most_common(40):
            print(f"{count:5}  {cause}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the .jsonl files")
    parser.add_argument("--no-embedder", action="store_true", help="resolve choices by words alone")
    parser.add_argument("--causes", action="store_true", help="list the remaining errors by cause")
    asked = parser.parse_args()
    tally = Tally()
    closeness = None if asked.no_embedder else offline_closeness()
    texting = sorted(asked.data.glob("texting_*.jsonl")) if asked.data else []
    for file in (TUNING, FITTING, UNSEEN, *texting):
        measure_lines(read_lines(file), file.stem.removeprefix("references_"), closeness)
    print()
    if asked.data is None or not any(asked.data.glob("refs_*.jsonl")):
        print("No data: give --data a folder with refs_*.jsonl and the like (see --help for the format). Time only.")
    else:
        measure_references(read(asked.data, "refs"), tally, closeness)
        measure_references(read(asked.data, "altentities"), tally, closeness)
        measure_revisions(read(asked.data, "followup"), tally)
        report(tally, causes=asked.causes)
    warm, growing = measure_time()
    for name, taken in (("an utterance", warm), ("a turn with a new result", growing)):
        half, most = taken[len(taken) // 2], taken[int(len(taken) * 0.95)]
        print(f"{name}, 50 results x 20 items: p50 {half:.1f} ms, p95 {most:.1f} ms (target 5)")


if __name__ == "__main__":
    sys.exit(main())
