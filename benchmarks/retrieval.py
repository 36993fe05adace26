"""How well memory finds things: questions about long conversations, and facts asked for in other words.

    python benchmarks/retrieval.py --data FOLDER    # conversations: recall_dev.jsonl, recall_corpora_dev.jsonl
    python benchmarks/retrieval.py                  # only the facts written for this project

The conversation files hold one JSON object a line: {corpus_id, items: [{id, text, date, speaker}]} and
{corpus_id, query, relevant: [item id], answerable}, with item ids "session:number". LoCoMo in that form can be
made from https://github.com/snap-research/locomo (CC BY-NC 4.0); none of it is part of this project.
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.embeddings import OfflineEmbeddings
from langmem_plugin.memory.history import Said

FACTS = Path(__file__).with_name("retrieval_facts.jsonl")
START = datetime(2026, 1, 1, tzinfo=UTC)


def conversations(folder: Path, model: OfflineEmbeddings) -> None:
    """Turn level: any@k, the share of evidence found in 10 (F@10). Session level: any@5."""
    try:
        corpora = lines(folder / "recall_corpora_dev.jsonl")
        questions = [question for question in lines(folder / "recall_dev.jsonl") if question["answerable"]]
    except FileNotFoundError as error:
        sys.exit(f"{error.filename} is missing: {__doc__}")
    tallies: dict[str, Tally] = defaultdict(Tally)
    started = time.perf_counter()
    with MemoryService("sqlite://", embeddings=model) as memory:
        for corpus in corpora:
            memory.history.add(corpus["corpus_id"], [said(item, n) for n, item in enumerate(corpus["items"])])
        for question in questions:
            found = memory.history.search(question["corpus_id"], question["query"], limit=400)
            tallies[question["source"]].count(
                question["relevant"],
                [each.message.message_id for each in found],
                [each.message.session_id for each in found],
            )
    for source, tally in sorted(tallies.items()):
        print(f"{source:22} {tally}")
    print(f"{'':22} {time.perf_counter() - started:.0f} s")


class Tally:
    def __init__(self) -> None:
        self.questions = 0
        self.sums: dict[str, float] = defaultdict(float)

    def count(self, relevant: list[str], ranked: list[str], sessions: list[str]) -> None:
        wanted = set(relevant)
        self.questions += 1
        for k in (1, 5, 10):
            self.sums[f"any@{k}"] += bool(wanted & set(ranked[:k]))
        self.sums["F@10"] += len(wanted & set(ranked[:10])) / len(wanted)
        wanted_sessions = {session_of(each) for each in wanted}
        self.sums["sessions any@5"] += bool(wanted_sessions & set(list(dict.fromkeys(sessions))[:5]))

    def __str__(self) -> str:
        shares = "  ".join(f"{name} {100 * value / self.questions:5.1f}" for name, value in self.sums.items())
        return f"{self.questions:4} questions  {shares}"


def said(item: dict, number: int) -> Said:
    at = datetime.fromisoformat(item["date"]).replace(tzinfo=UTC) if item["date"] else START
    return Said(item["id"], session_of(item["id"]), item["speaker"], item["text"], at + timedelta(seconds=number))


def session_of(item_id: str) -> str:
    return item_id.split("#", maxsplit=1)[0] if "#" in item_id else item_id.split(":", maxsplit=1)[0]


def lines(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--data", type=Path, help="the folder with the conversations")
    asked = arguments.parse_args()
    offline = OfflineEmbeddings()
    if asked.data:
        conversations(asked.data, offline)
