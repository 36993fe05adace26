"""How fast memory answers and stores, on one core, against the targets; a table in the end.

    python benchmarks/recall.py                                 # SQLite in a temporary folder
    python benchmarks/recall.py --database postgresql://…       # an empty database
    python benchmarks/recall.py --quick                         # without the large owners
    python benchmarks/recall.py --encrypt
    python benchmarks/recall.py --judging                       # only what weighing pairs of texts adds to `remember`

Texts are made up and, but for `remember` and the import, their vectors are random: speed does not depend on
what they mean. Every query is embedded by the offline model and never asked before, so nothing is cached.
Processor time is what a call takes on a core of its own; where other programs run it is the one to compare.
"""

import argparse
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import numpy as np

from langmem_plugin.database.database_from_settings import open_database
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from langmem_plugin.memory.instructions.conditions import Situation
from langmem_plugin.settings import Settings

WORDS = re.findall(
    r"\w+",
    "invoice meeting coffee garden lawyer Berlin birthday allergy project budget train doctor "
    "school piano contract kitchen holiday insurance laptop dinner launch client rent passport "
    "dentist football novel parking delivery vitamin bicycle wedding server flight recipe "
    "painting neighbour salary manager hiking ",
)
ROWS: list[tuple[str, float, float, float, float | None]] = []  # name, p50, p95, processor p95, target; in ms


def sentence(chance: random.Random, words: int = 9) -> str:
    return " ".join(chance.choice(WORDS) + str(chance.randrange(400)) * (chance.random() < 0.3) for _ in range(words))


def two_in_one(chance: random.Random, words: int) -> str:
    return f"where is the {sentence(chance, words // 2)} and when is the {sentence(chance, words - words // 2)}?"


def fill(memory: MemoryService, owner: str, count: int, chance: random.Random) -> None:
    numbers = np.random.default_rng(7)
    for start in range(0, count, 5_000):
        size = min(5_000, count - start)
        vectors = numbers.standard_normal((size, memory.embedder.dimension)).tolist()
        texts = [(f"{sentence(chance)} {start + number}", {}) for number in range(size)]
        memory.remember_many(owner, texts, embeddings=vectors)


def timed(name: str, target: float | None, calls: Iterator[Callable[[], object]]) -> None:
    taken, worked = [], []
    for call in calls:
        started, working = time.perf_counter(), time.process_time()
        call()
        taken.append((time.perf_counter() - started) * 1_000)
        worked.append((time.process_time() - working) * 1_000)
    p50, p95 = np.percentile(taken, [50, 95])
    processor = np.percentile(worked, 95)
    ROWS.append((name, p50, p95, processor, target))
    print(
        f"{name:58} p50 {p50:8.2f}  p95 {p95:8.2f}  processor p95 {processor:8.2f}  target {target or '-'}", flush=True
    )


def recalled(memory: MemoryService, owner: str, question: str) -> object:
    """What a turn asks for: memories about the question, and the instructions that hold."""
    found = memory.recall(owner, question)
    memory.get(owner, [each.memory.id for each in found])
    return memory.instructions.applicable(owner, Situation(datetime.now(UTC), message=question))


def main(url: str, *, quick: bool, only_judging: bool, encrypt: bool) -> None:
    chance = random.Random(11)
    model = OfflineEmbeddings()
    settings = Settings(keys=new_master_key()) if encrypt else Settings()
    with (
        open_database(settings, url) as database,
        MemoryService(database, embeddings=model, owner_limit=1_000_000, cache_bytes=1_000_000_000) as memory,
    ):
        if only_judging:
            return
        fill(memory, "small", 1_000, chance)
        for number in range(50):
            condition = f'message contains "{chance.choice(WORDS)}"' if number % 2 else None
            memory.instructions.add("small", sentence(chance), priority=1 + number % 10, condition=condition)
        recalled(memory, "small", "first")
        questions = [sentence(chance) for _ in range(200)]
        timed(
            "recall, 1,000 memories + 50 instructions, embed included",
            15,
            (lambda question=question: recalled(memory, "small", question) for question in questions),
        )
        timed(
            "the same, question embedded before",
            4,
            (lambda question=question: recalled(memory, "small", question) for question in questions),
        )
        timed(
            "recall, a question that asks for one thing",
            15,
            (lambda: recalled(memory, "small", f"where is {sentence(chance, 8)}?") for _ in range(200)),
        )
        timed(
            "recall, a question of as many words that asks for two",
            22,
            (lambda: recalled(memory, "small", two_in_one(chance, 8)) for _ in range(200)),
        )
        timed("remember, embed included", 30, (lambda: memory.remember("small", sentence(chance)) for _ in range(200)))
        timed("recall after each remember", 15, alternating(memory, chance))
        importing(memory, chance)
        many_owners(memory, chance, 2_000 if quick else 10_000)
        large_owner(memory, chance, 10_000, 20)
        if not quick:
            large_owner(memory, chance, 100_000, 40)


def large_owner(memory: MemoryService, chance: random.Random, count: int, target: float) -> None:
    owner = f"owner of {count}"
    started = time.perf_counter()
    fill(memory, owner, count, chance)
    print(f"filled {count} in {time.perf_counter() - started:.1f} s")
    timed(f"recall, {count:,} memories, cold", None, iter([lambda: memory.recall(owner, "cold")]))
    timed(
        f"recall, {count:,} memories",
        target,
        (lambda: memory.recall(owner, sentence(chance)) for _ in range(100)),
    )
    timed(
        f"recall, {count:,} memories, two questions in one",
        None,
        (lambda: memory.recall(owner, two_in_one(chance, 9)) for _ in range(100)),
    )


def alternating(memory: MemoryService, chance: random.Random) -> Iterator[Callable[[], object]]:
    for _ in range(50):
        memory.remember("small", sentence(chance))
        yield lambda: memory.recall("small", sentence(chance))


def importing(memory: MemoryService, chance: random.Random) -> None:
    facts = [(sentence(chance), {}) for _ in range(1_000)]
    started = time.perf_counter()
    for start in range(0, len(facts), 250):
        memory.remember_many("import", facts[start : start + 250])
    rate = len(facts) / (time.perf_counter() - started)
    print(f"{'import, embed included':58} {rate:.0f} facts/s  target 150")


def many_owners(memory: MemoryService, chance: random.Random, count: int) -> None:
    numbers = np.random.default_rng(5)
    vectors = numbers.standard_normal((100, memory.embedder.dimension)).tolist()
    for number in range(count):
        texts = [(f"{sentence(chance)} {each}", {}) for each in range(100)]
        memory.remember_many(f"owner {number}", texts, embeddings=vectors)
    asked = chance.sample(range(count), 200)
    for name, target in (("cold", 25), ("warm", 12)):
        timed(
            f"recall, one of {count:,} owners x 100 memories, {name}",
            target,
            (lambda number=number: memory.recall(f"owner {number}", sentence(chance)) for number in asked),
        )


def report() -> None:
    print("\n| measure | p50 ms | p95 ms | processor time p95 ms | target p95 |\n|---|---|---|---|---|")
    for name, p50, p95, processor, target in ROWS:
        print(f"| {name} | {p50:.1f} | {p95:.1f} | {processor:.1f} | {'-' if target is None else target} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--database", help="an empty database; SQLite in a temporary folder if not given")
    parser.add_argument("--quick", action="store_true", help="leave out the large owners")
    parser.add_argument("--judging", action="store_true", help="only what weighing pairs adds to `remember`")
    parser.add_argument("--encrypt", action="store_true", help="with a new key")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = asked.database or f"sqlite:///{folder}/bench.db"
        main(url, quick=asked.quick, only_judging=asked.judging, encrypt=asked.encrypt)
    if ROWS:
        report()
