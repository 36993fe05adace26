"""How well the search of past messages answers, over conversations that a folder holds.

Two people chatting, LoCoMo: the messages that hold the evidence. Talk with an assistant, RealMem: the sessions that
hold it, asked in the session that begins after them; each person stands alone, so that a weight chosen on the others
can be believed. Beside each stands plain BM25 over the same messages.
"""

import json
import sqlite3
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings

from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from langmem_plugin.memory.find.bm25 import WordIndex
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.find.tokenizer import terms
from langmem_plugin.memory.keep.vectors import Vector, from_bytes, to_bytes

START = datetime(2026, 1, 1, tzinfo=UTC)
GET = """
The conversation files hold one JSON object a line: {corpus_id, items: [{id, text, date, speaker}]} and
{corpus_id, query, relevant: [item id], answerable, source}, with item ids "session:number"; recall_corpora_dev.jsonl
and recall_dev.jsonl can be made from https://github.com/snap-research/locomo (CC BY-NC 4.0). In
realmem_corpora_dev.jsonl and realmem_dev.jsonl, of RealMem (MIT), items have "at" too, the place of their session, and
questions the place where they are asked; their `relevant` are sessions. None of it is part of this project."""


class KeptVectors(OfflineEmbeddings):
    """The offline model, with its vectors kept in a file: they are the same every time."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._kept = sqlite3.connect(path, check_same_thread=False)
        self._kept.execute("CREATE TABLE IF NOT EXISTS vector (text TEXT PRIMARY KEY, value BLOB)")

    def vector(self, text: str) -> Vector:
        row = self._kept.execute("SELECT value FROM vector WHERE text = ?", (text,)).fetchone()
        if row is not None:
            return from_bytes(row[0])
        made = super().vector(text)
        with self._kept:
            self._kept.execute("INSERT OR IGNORE INTO vector VALUES (?, ?)", (text, to_bytes(made)))
        return made


class Shares:
    """Of how many questions each thing is true, in percent."""

    def __init__(self) -> None:
        self.questions = 0
        self.sums: dict[str, float] = defaultdict(float)

    def count(self, **true: float) -> None:
        self.questions += 1
        for name, value in true.items():
            self.sums[name] += value

    def __str__(self) -> str:
        shares = "  ".join(f"{name} {100 * value / self.questions:5.1f}" for name, value in self.sums.items())
        return f"{self.questions:4} questions  {shares}"


def two_people_chatting(folder: Path, model: Embeddings) -> None:
    """any@k: evidence is in the first k. F@10: the share of it."""
    corpora = lines(folder / "recall_corpora_dev.jsonl")
    questions = [question for question in lines(folder / "recall_dev.jsonl") if question["answerable"]]
    tallies: dict[str, Shares] = defaultdict(Shares)
    started = time.perf_counter()
    with MemoryService("sqlite://", embeddings=model) as memory:
        words = {}
        for corpus in corpora:
            memory.history.add(corpus["corpus_id"], [said(item, n) for n, item in enumerate(corpus["items"])])
            words[corpus["corpus_id"]] = PlainWords(corpus["items"])
        for question in questions:
            owner, wanted = question["corpus_id"], set(question["relevant"])
            found = memory.history.search(owner, question["query"], limit=400)
            ids = [each.message.message_id for each in found]
            tallies[question["source"]].count(
                **{f"any@{k}": bool(wanted & set(ids[:k])) for k in (1, 5, 10)},
                **{"F@10": len(wanted & set(ids[:10])) / len(wanted)},
                **{"sessions any@5": in_first_sessions({session_of(each) for each in wanted}, ids, 5)},
            )
            plain = words[owner].ranked(question["query"])
            tallies[f"{question['source']}, BM25"].count(
                **{f"any@{k}": bool(wanted & set(plain[:k])) for k in (1, 5, 10)},
                **{"sessions any@5": in_first_sessions({session_of(each) for each in wanted}, plain, 5)},
            )
    for source, tally in sorted(tallies.items()):
        print(f"{source:24} {tally}")
    print(f"{'':24} {time.perf_counter() - started:.0f} s")


def talk_with_an_assistant(folder: Path, model: Embeddings) -> None:
    """Sessions any@k: one that holds the answer is among the first k, of those that were over when it was asked.

    In 10 messages: the first ten messages are of one that does, as a caller with the usual limit is shown them.
    """
    corpora = lines(folder / "realmem_corpora_dev.jsonl")
    asked: dict[tuple[str, int], list[dict]] = defaultdict(list)
    for question in lines(folder / "realmem_dev.jsonl"):
        asked[question["corpus_id"], question["at"]].append(question)
    tallies: dict[str, Shares] = defaultdict(Shares)
    for corpus in corpora:
        person = corpus["corpus_id"]
        clock = [START]
        with MemoryService("sqlite://", embeddings=model, now=lambda clock=clock: clock[0]) as memory:
            earlier: list[dict] = []
            for at, messages in sessions(corpus["items"]):
                clock[0] = messages[0].said_at
                words = PlainWords(earlier) if (person, at) in asked else None
                for question in asked[person, at] if words else ():
                    found = memory.history.search(person, question["query"], limit=400)
                    ids = [each.message.message_id for each in found]
                    wanted = set(question["relevant"])
                    for name, ranked in (("RealMem", ids), ("RealMem, BM25", words.ranked(question["query"]))):
                        hit: dict[str, float] = {
                            f"sessions any@{k}": in_first_sessions(wanted, ranked, k) for k in (5, 10)
                        }
                        hit["in 10 messages"] = bool(wanted & set(map(session_of, ranked[:10])))
                        tallies[name].count(**hit)
                        tallies[f"{name}, {person.rsplit('/', 1)[-1]}"].count(**hit)
                memory.history.add(person, messages)
                earlier += [{"id": each.message_id, "text": each.text} for each in messages]
    for name, tally in sorted(tallies.items()):
        print(f"{name:32} {tally}")


class PlainWords:
    """Messages by BM25 alone."""

    def __init__(self, items: list[dict]) -> None:
        self._ids = [item["id"] for item in items]
        self._index = WordIndex()
        for item in items:
            self._index.add(terms(item["text"]))

    def ranked(self, question: str) -> list[str]:
        scores, _ = self._index.scores(terms(question))
        return [self._ids[row] for row in np.argsort(-scores, kind="stable")[:400]]


def sessions(items: list[dict]) -> Iterator[tuple[int, list[PastMessage]]]:
    numbered = [(item["at"], said(item, number)) for number, item in enumerate(items)]
    for at, messages in groupby(numbered, key=lambda pair: pair[0]):
        yield at, [message for _, message in messages]


def in_first_sessions(wanted: set[str], ranked: list[str], k: int) -> bool:
    return bool(wanted & set(list(dict.fromkeys(map(session_of, ranked)))[:k]))


def said(item: dict, number: int) -> PastMessage:
    at = datetime.fromisoformat(item["date"]).replace(tzinfo=UTC) if item["date"] else START
    return PastMessage(
        item["id"], session_of(item["id"]), item["speaker"], item["text"], at + timedelta(seconds=number)
    )


def session_of(item_id: str) -> str:
    return item_id.split("#", maxsplit=1)[0] if "#" in item_id else item_id.split(":", maxsplit=1)[0]


def lines(path: Path) -> list[dict]:
    try:
        with path.open(encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    except FileNotFoundError:
        sys.exit(f"{path} is missing.{GET}")
