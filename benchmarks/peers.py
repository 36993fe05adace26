"""Memories and savers beside what others have: the same texts, the same offline embeddings, the same machine, one run.

    python -m benchmarks.peers                    # both tables
    python -m benchmarks.peers --only memories    # or savers
    python -m benchmarks.peers --installs         # what each adds to an empty environment (downloads)

Each is played in processes of its own. mem0 is asked where `mem0ai` is installed; it has no model here, so that it
keeps what it is given (`infer=False`), on its default index in a folder. LangGraph's store is the one in RAM:
SqliteStore searches by meaning only where Python's sqlite3 loads extensions, which many builds do not.
"""

import argparse
import functools
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

HERE = Path(__file__).parent
ERIN = "+972501234567"
TEA, OLD, NEW = "I like tea", "My dentist is Dr. Cohen", "My dentist is Dr. Levi now"
AT_ONCE = 30  # texts of each of two processes
TURNS = 100
MEMORIES = ("phone-memory", "InMemoryStore", "langmem's tool", "mem0")
SAVERS = ("phone-memory", "SqliteSaver", "SqliteSaver, DeltaChannel")
INSTALLED = ("langgraph", "phone-memory", "langgraph-checkpoint-sqlite", "langmem", "mem0ai")


def facts() -> list[tuple[str, str]]:
    """A fact and a question that asks for it, many of them in other words."""
    rows = [
        line.split("\t")[:2]
        for name in ("everyday", "natural", "other_words")
        for line in (HERE / f"retrieval_{name}.tsv").read_text("utf-8").splitlines()
    ]
    return list({fact: (fact, question) for fact, question in rows}.values())


class OfService:
    def __init__(self, folder):
        from langmem_plugin import MemoryService

        self.service = MemoryService(f"{folder}/ours.db")

    def store(self, text):
        self.service.remember(ERIN, text)

    def found(self, question, limit):
        hits = self.service.search(ERIN, question, limit=limit, min_relevance=0)
        return [each.memory.text for each in hits]

    def held(self):
        return [each.text for each in self.service.list_memories(ERIN, limit=1_000)]

    def erase(self):
        self.service.erase(ERIN)
        self.service.close()


class OfStore:
    space = ("memories", ERIN)

    def __init__(self, folder, *, by_tool=False):
        from langgraph.store.memory import InMemoryStore

        embeddings = offline()
        self.items = InMemoryStore(index={"dims": embeddings.dimension, "embed": embeddings, "fields": ["content"]})
        self.tool = None
        if by_tool:
            from langmem import create_manage_memory_tool

            self.tool = create_manage_memory_tool(self.space, store=self.items)

    def store(self, text):
        if self.tool is None:
            self.items.put(self.space, str(time.perf_counter_ns()), {"content": text})
        else:
            self.tool.invoke({"content": text, "action": "create"})

    def found(self, question, limit):
        return [str(each.value["content"]) for each in self.items.search(self.space, query=question, limit=limit)]

    def held(self):
        return self.found(None, 10_000)

    def erase(self):
        for each in self.items.search(self.space, limit=10_000):
            self.items.delete(self.space, each.key)


class OfMem0:
    def __init__(self, folder):
        os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none", "MEM0_DIR": f"{folder}/home"}
        from mem0 import Memory

        embeddings = offline()
        index = {"path": f"{folder}/index", "on_disk": True, "embedding_model_dims": embeddings.dimension}
        self.memory = Memory.from_config(
            {
                "embedder": {
                    "provider": "langchain",
                    "config": {"model": embeddings, "embedding_dims": embeddings.dimension},
                },
                "vector_store": {"provider": "qdrant", "config": index},
                "history_db_path": f"{folder}/history.db",
            }
        )

    def store(self, text):
        self.memory.add(text, user_id=ERIN, infer=False)

    def found(self, question, limit):
        return self._texts(self.memory.search(question, filters={"user_id": ERIN}, top_k=limit, threshold=0.0))

    def held(self):
        return self._texts(self.memory.get_all(filters={"user_id": ERIN}, top_k=10_000))

    def erase(self):
        self.memory.delete_all(user_id=ERIN)

    @staticmethod
    def _texts(found):
        return [each["memory"] for each in found["results"]]


def offline():
    from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings

    return OfflineEmbeddings()


def memory_of(name, folder):
    if name == "phone-memory":
        return OfService(folder)
    return OfMem0(folder) if name == "mem0" else OfStore(folder, by_tool=name == "langmem's tool")


def measured_memory(name, folder):
    peer = memory_of(name, folder)
    peer.store(TEA)
    peer.found("tea", 1)
    first_result = time.process_time()
    asked = facts()
    started = time.perf_counter()
    for fact, _ in asked:
        peer.store(fact)
    stored = time.perf_counter()
    ranks = [peer.found(question, 5) for _, question in asked]
    ended = time.perf_counter()
    for text in (TEA, OLD, NEW):
        peer.store(text)
    held = peer.held()
    kept = on_disk(folder) / len(asked)
    peer.erase()
    return {
        "first result, s": f"{first_result:.1f}",
        "stores in, ms": f"{(stored - started) / len(asked) * 1000:.0f}",
        "finds in, ms": f"{(ended - stored) / len(asked) * 1000:.0f}",
        "first": f"{sum(fact == rank[0] for (fact, _), rank in zip(asked, ranks, strict=True)) / len(asked):.0%}",
        "among 5": f"{sum(fact in rank for (fact, _), rank in zip(asked, ranks, strict=True)) / len(asked):.0%}",
        "kB a fact": f"{kept / 1000:.1f}" if kept else "in RAM",
        "the same text again": "is known" if held.count(TEA) == 1 else "is there twice",
        "a corrected fact": "both hold" if OLD in held else "the new one holds",
    }


def failures(act: Callable[[int], object]) -> dict:
    """How many of the acts of one of two processes that work at once raise."""
    failed = 0
    for number in range(AT_ONCE):
        try:
            act(number)
        except Exception as error:  # noqa: BLE001 - each of the peers raises what it likes
            failed += 1
            print(f"{type(error).__name__}: {error}"[:200], file=sys.stderr)
    return {"failed": failed}


def crowd_of_facts(name, folder, who):
    opened = functools.cache(memory_of)  # again where it was refused: what raises is not kept
    return failures(
        lambda number: opened(name, folder).store(f"Locker {who}{number} opens with {7 * number + len(who)}")
    )


def held_by(name, folder):
    return {"held": sum(text.startswith("Locker ") for text in memory_of(name, folder).held())}


def saver_of(name, folder):
    if name == "phone-memory":
        from langmem_plugin import ConversationSaver, Settings

        return ConversationSaver.from_settings(Settings(), f"sqlite:///{folder}/ours.db")
    import sqlite3

    from langgraph.checkpoint.sqlite import SqliteSaver

    return SqliteSaver(sqlite3.connect(f"{folder}/stock.db", check_same_thread=False))


def chatting(name, folder, **more):
    from benchmarks.chatting import Chatting, DeltaState, MessagesState

    return Chatting(saver_of(name, folder), state=DeltaState if "Delta" in name else MessagesState, **more)


def config():
    return {"configurable": {"thread_id": ERIN}}


def measured_saver(name, folder):
    talk = chatting(name, folder)
    talk.turn()
    first_result = time.process_time()
    took = []
    for _ in range(TURNS):
        started = time.perf_counter()
        talk.turn()
        took.append(time.perf_counter() - started)
    kept = on_disk(folder) / (TURNS + 1)
    talk.graph.checkpointer.delete_thread(ERIN)
    return {
        "first result, s": f"{first_result:.1f}",
        "kB a turn": f"{kept / 1000:.1f}",
        "turns 1–10, ms": f"{sum(took[:10]) * 100:.0f}",
        f"turns {TURNS - 9}–{TURNS}, ms": f"{sum(took[-10:]) * 100:.0f}",
    }


def crowd_of_turns(name, folder, who):
    """Ours takes turns, as its documentation says; the others have nothing of the kind."""
    if name == "phone-memory":
        from benchmarks.chatting import Chatting
        from langmem_plugin import PhoneMemory, Settings

        memory = PhoneMemory(f"sqlite:///{folder}/ours.db", settings=Settings(sweep_every=None))
        talk, in_turn = Chatting(memory.saver, seed=len(who)), memory.turn
    else:
        talk, in_turn = chatting(name, folder, seed=len(who)), lambda _phone: nullcontext(config())

    def act(_number):
        with in_turn(ERIN) as given:
            talk.graph.invoke(talk.said(), given)

    return failures(act)


def turns_held(name, folder):
    messages = chatting(name, folder).graph.get_state(config()).values["messages"]
    return {"held": sum(each.type == "human" for each in messages)}


def one_turn(name, folder):
    chatting(name, folder).turn()
    return {}


PLAYS: dict[str, Callable] = {
    play.__name__: play
    for play in (measured_memory, crowd_of_facts, held_by, measured_saver, crowd_of_turns, turns_held, one_turn)
}


def on_disk(folder) -> int:
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def holds(folder, text: str) -> bool:
    return any(text.encode() in path.read_bytes() for path in Path(folder).rglob("*") if path.is_file())


def played(play: Callable, *given: str, behind: int = 0) -> dict:
    """Runs a play in a process of its own; its clock may be behind by so many seconds."""
    command = [sys.executable, "-m", "benchmarks.peers", "--play", play.__name__, *given]
    clock = os.environ | {"CLOCK_BEHIND": str(behind)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=clock)
    if done.returncode:
        sys.exit(f"{' '.join(given)}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def two_at_once(crowd: Callable, count: Callable, name: str) -> str:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        failed = sum(each["failed"] for each in pool.map(lambda who: played(crowd, name, folder, who), ("a", "bb")))
        lost = 2 * AT_ONCE - failed - played(count, name, folder)["held"]
    return f"{failed} refused, {lost} lost"


def told_memory(name: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        figures = played(measured_memory, name, folder)
        left = "is on disk" if holds(folder, TEA) else "is gone"
    in_ram = figures["kB a fact"] == "in RAM"
    at_once = "in RAM" if in_ram else two_at_once(crowd_of_facts, held_by, name)
    return {**figures, "after erasing, the text": left, f"2 × {AT_ONCE} by two processes": at_once}


def told_saver(name: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        figures = played(measured_saver, name, folder)
        left = "is on disk" if holds(folder, "Here is what I found") else "is gone"
    with tempfile.TemporaryDirectory() as folder:
        for behind in (0, 600, 0):
            played(one_turn, name, folder, behind=behind)
        turns = played(turns_held, name, folder)["held"]
    return {
        **figures,
        "after delete_thread, the text": left,
        "turns kept of 3, one by a clock 10 minutes behind": str(turns),
        f"2 × {AT_ONCE} turns by two processes": two_at_once(crowd_of_turns, turns_held, name),
    }


def table(names, told: Callable[[str], dict]) -> None:
    """One column a peer."""
    columns = {name: told(name) for name in names}
    print("| |" + "".join(f" {name} |" for name in columns) + "\n|---|" + "---|" * len(columns))
    for row in next(iter(columns.values())):
        print(f"| {row} |" + "".join(f" {column[row]} |" for column in columns.values()), flush=True)
    print()


def installs() -> None:
    for name in INSTALLED:
        with tempfile.TemporaryDirectory() as folder:
            venv.create(folder, with_pip=True)
            packages = Path(folder) / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
            before, there = on_disk(packages), len(list(packages.glob("*.dist-info")))
            source = str(HERE.parent) if name == "phone-memory" else name
            command = [f"{folder}/bin/pip", "install", "--quiet", "--no-compile", source]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            size, count = on_disk(packages) - before, len(list(packages.glob("*.dist-info"))) - there
            print(f"{name:28} {count:4} packages {size / 1e6:6.0f} MB", flush=True)


def put_the_clock_back(seconds: int) -> None:
    now, nanoseconds = time.time, time.time_ns
    time.time = lambda: now() - seconds
    time.time_ns = lambda: nanoseconds() - seconds * 10**9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["memories", "savers"])
    parser.add_argument("--installs", action="store_true")
    parser.add_argument("--play", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.play:
        put_the_clock_back(int(os.environ["CLOCK_BEHIND"]))
        print(json.dumps(PLAYS[asked.play[0]](*asked.play[1:])))
        return
    if asked.installs:
        installs()
        return
    if asked.only != "savers":
        known = [name for name in MEMORIES if name != "mem0" or importlib.util.find_spec("mem0")]
        table(known, told_memory)
    if asked.only != "memories":
        table(SAVERS, told_saver)


if __name__ == "__main__":
    main()
