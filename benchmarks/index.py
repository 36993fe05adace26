"""When a vector index pays: a search for one owner, and its semantic step alone, exactly and through an index.

    python benchmarks/index.py                                  # 10k to 100k memories, SQLite with Chroma
    python benchmarks/index.py --sizes 10000 300000 --plot docs/index.png
    python benchmarks/index.py --database postgresql://…        # an empty database, with pgvector

Vectors are drawn around one centre for every 50, and asked for with noise, as meanings lie; they are stored with their
texts as an import stores them, neither embedded nor weighed against what is known; ten are added one by one in the
end, and weighed. A "search" is all of it, words and meaning, but for the embedding of the question; it is cold when
nothing of the owner is held. "exact, held" compares with the vectors in the owner's cache, "exact, read" reads them
from the database first: what happens while an index is mended. "index" is all that replaces the comparison: how far
the index is, its 100 nearest, what it has not seen, and their exact cosines. Held memory is that of the owner's cache;
at the end, for the largest size, what a new process grows by, Chroma's own memory included. Processor time is what a
call takes on a core of its own: where other programs run it is the one to compare.
"""

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np

from langmem_plugin.database import Database
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from langmem_plugin.memory.find.fact_ranking import Meaning, Query
from langmem_plugin.memory.find.fact_search import Ask
from langmem_plugin.memory.index.stores import chroma, pgvector
from langmem_plugin.memory.keep.vectors import Vector, cosines, unit
from langmem_plugin.memory.memory_types import EVERYTHING

NEAREST, ASKED, PER_CENTRE, ADDED, AT_ONCE = 10, 100, 50, 10, 5_000
OWNER = "owner"


class Vectors:
    def __init__(self, dimension: int) -> None:
        self.numbers = np.random.default_rng(11)
        self.dimension = dimension
        self.centres: list[Vector] = []

    def batch(self, size: int) -> list[list[float]]:
        centres = [self.numbers.standard_normal(self.dimension) for _ in range(size // PER_CENTRE)]
        self.centres.extend(centres)
        return (np.repeat(centres, PER_CENTRE, 0) + self.numbers.standard_normal((size, self.dimension))).tolist()

    def questions(self) -> Iterator[Vector]:
        for chosen in self.numbers.integers(0, len(self.centres), ASKED):
            yield unit(self.centres[chosen] + self.numbers.standard_normal(self.dimension))


def timed(calls: list[Callable[[], object]]) -> tuple[float, float, float]:
    """p50 and p95 by the clock, and p50 of the processor time of all threads, in milliseconds."""
    taken, worked = [], []
    for call in calls:
        started, working = time.perf_counter(), time.process_time()
        call()
        taken.append((time.perf_counter() - started) * 1_000)
        worked.append((time.process_time() - working) * 1_000)
    return (*np.percentile(taken, [50, 95]), float(np.median(worked)))


class Texts:
    """Eight words each, a few of them common and most of them rare."""

    def __init__(self) -> None:
        self.numbers = np.random.default_rng(12)

    def one(self) -> str:
        return " ".join(f"word{number % 30_000}" for number in self.numbers.zipf(1.3, 8))


def asked(memory: MemoryService, vector: Vector, words: str = "") -> Ask:
    meaning = Meaning(vector, memory.embedder.calibration)
    mode = "hybrid" if words else "semantic"
    return memory.facts.ask(OWNER, Query(words, meaning, mode, NEAREST, 0.0, EVERYTHING, memory.now()))


def searched(memory: MemoryService, questions: list[tuple[Vector, str]], how: str) -> dict[str, float]:
    """Milliseconds of the first search and p50 of the others, by the clock and of the processor."""

    def search(vector: Vector, words: str) -> None:
        ask = asked(memory, vector, words)
        with memory.database.read() as connection:
            memory.facts.best_of(connection, [ask], ask.query.limit)

    memory.facts.corpora.forget(OWNER)
    cold, _, cold_worked = timed([lambda: search(*questions[0])])
    warm, _, warm_worked = timed([lambda each=each: search(*each) for each in questions[1:]])
    return {
        f"search, {how}": warm,
        f"search, {how}, processor": warm_worked,
        f"search, {how}, cold": cold,
        f"search, {how}, cold, processor": cold_worked,
    }


def store(memory: MemoryService, facts: list[tuple[str, Vector]]) -> None:
    drafts = [(memory.repository.draft(OWNER, text, {}, now=memory.now()), vector) for text, vector in facts]
    with memory.database.write() as connection:
        memory.repository.insert(connection, OWNER, drafts)


def measure(memory: MemoryService, vectors: Vectors, texts: Texts, added: int, held: int) -> dict[str, object]:
    started = time.perf_counter()
    for start in range(0, added, AT_ONCE):
        store(memory, [(texts.one(), unit(each)) for each in vectors.batch(min(AT_ONCE, added - start))])
    filled = time.perf_counter() - started
    more = vectors.batch(PER_CENTRE)[:ADDED]
    one_more, *_ = timed([lambda each=each: memory.remember(OWNER, texts.one(), embedding=each) for each in more])
    memory.index.after = 10**9
    questions = list(vectors.questions())
    whole = [(vector, texts.one()) for vector in questions[:30]]
    exact_search = searched(memory, whole, "exact")
    with memory.database.read() as connection, memory.facts.corpora.corpus(connection, OWNER) as corpus:
        with_vectors = corpus.size
        exact = timed([lambda vector=vector: cosines(corpus.vectors, vector) for vector in questions])
        ids = np.array(corpus.ids)
        nearest = [set(ids[np.argsort(-cosines(corpus.vectors, vector))[:NEAREST]]) for vector in questions]
        corpus.release_vectors()
        without = corpus.size
        read = timed(
            [
                lambda vector=vector: memory.facts._cosines(connection, asked(memory, vector), corpus)
                for vector in questions[:5]
            ]
        )
    figures: dict[str, object] = {
        "memories": held + added,
        **exact_search,
        "exact, held p50": exact[0],
        "exact, held p95": exact[1],
        "exact, held processor": exact[2],
        "exact, read p50": read[0],
        "MB held": with_vectors / 2**20,
        "ms to add one": one_more,
        "s to fill": filled,
    }
    shown(figures)
    started = time.perf_counter()
    assert memory.reindex(OWNER)
    indexed = time.perf_counter() - started
    memory.index.after = 0
    index_search = searched(memory, whole, "index")
    found: list[set[str]] = []

    def ask(vector: Vector) -> None:
        scored = sorted(memory.facts._cosines(connection, asked(memory, vector), corpus), key=lambda each: -each[1])
        found.append({memory_id for memory_id, _ in scored[:NEAREST]})

    with memory.database.read() as connection, memory.facts.corpora.corpus(connection, OWNER) as corpus:
        ask(questions[0])
        found.clear()
        through = timed([lambda vector=vector: ask(vector) for vector in questions])
    recall = np.mean([len(one & other) / NEAREST for one, other in zip(nearest, found, strict=True)])
    through_index: dict[str, object] = {
        **index_search,
        "index p50": through[0],
        "index p95": through[1],
        "index processor": through[2],
        "recall@10": float(recall),
        "MB with index": without / 2**20,
        "s to index": indexed,
    }
    shown(through_index)
    return figures | through_index


def shown(figures: dict[str, object]) -> None:
    print(" | ".join(f"{name} {value:.4g}" for name, value in figures.items()), flush=True)


def grown(url: str, folder: str | None, index_after: int) -> float:
    """By how many megabytes this process grows with searches, in memory of its own; OWNER's memories are there."""
    vectors, texts = Vectors(384), Texts()
    vectors.batch(PER_CENTRE)
    with Database(url, timeout=timedelta(minutes=5)) as database, service(database, folder, index_after) as memory:
        before = own_memory()
        if index_after == 0:
            assert memory.reindex(OWNER)
        searched(memory, [(vector, texts.one()) for vector in list(vectors.questions())[:10]], "grown")
        return own_memory() - before


def own_memory() -> float:
    [line] = [each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("RssAnon")]
    return int(line.split()[1]) / 1024


def service(database: Database, folder: str | None, index_after: int) -> MemoryService:
    return MemoryService(
        database,
        embeddings=OfflineEmbeddings(),
        owner_limit=2 * 10**9,
        cache_bytes=4 * 2**30,
        open_collection=pgvector(database) if folder is None else chroma(folder),
        index_after=index_after,
    )


def plot(rows: list[dict[str, object]], file: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.5))
    for name in ("exact, held processor", "index processor"):
        axes.plot([row["memories"] for row in rows], [row[name] for row in rows], marker="o", label=name)
    axes.set(xlabel="memories of one owner", ylabel="ms of a core", ylim=(0, None))
    axes.legend()
    figure.tight_layout()
    figure.savefig(file)


def main(url: str | None, sizes: list[int], file: Path | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = (url, None) if url else (f"sqlite:///{folder}/bench.db", f"{folder}/index")
        with Database(place[0], timeout=timedelta(minutes=5)) as database, service(database, place[1], 10**9) as memory:
            vectors, texts, rows, held = Vectors(memory.embedder.dimension), Texts(), [], 0
            for size in sizes:
                rows.append(measure(memory, vectors, texts, size - held, held))
                held = size
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as fresh:
            exact, index = (fresh.apply(grown, (*place, after)) for after in (10**9, 0))
        print(f"\na new process grows by {exact:.0f} MB exactly, by {index:.0f} MB through the index")
    print("\n| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for row in rows:
        cells = (f"{value:,}" if isinstance(value, int) else f"{value:.2f}" for value in row.values())
        print("| " + " | ".join(cells) + " |")
    if file is not None:
        plot(rows, file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--database", help="an empty PostgreSQL database; SQLite in a temporary folder if not given")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 25_000, 50_000, 100_000])
    parser.add_argument("--plot", type=Path, help="a file for the picture")
    given = parser.parse_args()
    main(given.database, given.sizes, given.plot)
