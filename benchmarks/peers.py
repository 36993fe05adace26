"""Long-term memory beside what others have: the same facts, the same offline embeddings, one run.

    python -m benchmarks.peers

LangGraph's store is asked as it is, LangChain's langmem by the tool that it gives a model. LangGraph's SqliteStore
searches by meaning only where Python's sqlite3 loads extensions, which many builds do not; mem0 stores nothing without
a model's key.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from langgraph.store.memory import InMemoryStore
from langmem import create_manage_memory_tool

from langmem_plugin import MemoryService
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings

ERIN = "+972501234567"
_SPACE = ("memories", ERIN)
_HERE = Path(__file__).parent
_OLD, _NEW = "My dentist is Dr. Cohen", "My dentist is Dr. Levi now"


class Peer(NamedTuple):
    """What is asked of each."""

    name: str
    store: Callable[[str], object]
    found: Callable[[str, int], list[str]]
    held: Callable[[], list[str]]


def facts() -> list[tuple[str, str]]:
    """A fact and a question that asks for it, many of them in other words."""
    rows = [
        line.split("\t")[:2]
        for name in ("everyday", "natural", "other_words")
        for line in (_HERE / f"retrieval_{name}.tsv").read_text("utf-8").splitlines()
    ]
    return list({fact: (fact, question) for fact, question in rows}.values())


def of_service(service: MemoryService) -> Peer:
    return Peer(
        "phone-memory, SQLite",
        lambda text: service.remember(ERIN, text),
        lambda question, limit: [
            each.memory.text for each in service.search(ERIN, question, limit=limit, min_relevance=0)
        ],
        lambda: [each.text for each in service.list_memories(ERIN, limit=1_000)],
    )


def of_store(name: str, embeddings: OfflineEmbeddings, *, by_tool: bool) -> Peer:
    store = InMemoryStore(index={"dims": embeddings.dimension, "embed": embeddings, "fields": ["content"]})
    tool = create_manage_memory_tool(_SPACE, store=store)

    def texts(question: str | None, limit: int) -> list[str]:
        return [str(each.value["content"]) for each in store.search(_SPACE, query=question, limit=limit)]

    return Peer(
        name,
        (lambda text: tool.invoke({"content": text, "action": "create"}))
        if by_tool
        else (lambda text: store.put(_SPACE, str(time.perf_counter_ns()), {"content": text})),
        texts,
        lambda: texts(None, 10_000),
    )


def told(peer: Peer, asked: list[tuple[str, str]]) -> str:
    peer.store("I like tea")  # what is loaded once is no part of it
    peer.found("tea", 1)
    started = time.perf_counter()
    for fact, _ in asked:
        peer.store(fact)
    stored = time.perf_counter()
    ranks = [peer.found(question, 5) for _, question in asked]
    ended = time.perf_counter()
    first = sum(fact == rank[0] for (fact, _), rank in zip(asked, ranks, strict=True)) / len(asked)
    in_five = sum(fact in rank for (fact, _), rank in zip(asked, ranks, strict=True)) / len(asked)
    for text in ("I like tea", _OLD, _NEW):
        peer.store(text)
    held = peer.held()
    store_ms, find_ms = ((end - begin) / len(asked) * 1000 for begin, end in ((started, stored), (stored, ended)))
    twice = "known" if held.count("I like tea") == 1 else "twice"
    both = "old and new" if _OLD in held else "the new one"
    return f"{peer.name:28} {store_ms:8.1f} {find_ms:8.1f} {first:7.1%} {in_five:7.1%}  {twice:6}  {both}"


def main() -> None:
    asked, embeddings = facts(), OfflineEmbeddings()
    print(f"{len(asked)} facts, one question each\n{'':28} store ms  find ms   first    in 5  again   corrected")
    with tempfile.TemporaryDirectory() as folder, MemoryService(f"{folder}/ours.db", embeddings=embeddings) as service:
        for peer in (
            of_service(service),
            of_store("LangGraph's InMemoryStore", embeddings, by_tool=False),
            of_store("langmem's tool on it", embeddings, by_tool=True),
        ):
            print(told(peer, asked))


if __name__ == "__main__":
    main()
