"""Workers are killed with SIGKILL, one every second, while they take what people said into their memories.

    python -m benchmarks.extraction_jobs --jobs 1000                      # SQLite, a file of its own
    python -m benchmarks.extraction_jobs --jobs 1000 --url postgresql://…  # an empty database
    python -m benchmarks.extraction_jobs --cost

Each job is a conversation of three messages with one fact each. Ends with status 1 if a fact is missing in the end, is
there twice or in another person's memory. `--cost` tells what the mark of a session costs the write node: the same
turns with and without extraction.
"""

import argparse
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from sqlalchemy import select

from langmem_plugin import MemoryState, PhoneMemory, Settings
from langmem_plugin.database.memory_tables import memory as memory_table
from langmem_plugin.writing.extraction_worker import ExtractionWorker

_WORKERS = 3
_SETTINGS = Settings(sweep_every=None, search_past_sessions=False, extract_after=timedelta(0))
_TURNS = 300


def phone(number):
    return f"+9725{number:08}"


def facts(number):
    """Of one person; nobody else says the same."""
    return [
        f"My dentist is Dr. {name(number)}",
        f"I live in {name(number)}ville",
        f"I am allergic to {name(number)}nuts",
    ]


def name(number):
    letters = "abcdefghij"
    return "Zam" + "".join(letters[int(digit)] for digit in str(number))


def spoken(url, jobs):
    """The conversations, with a mark each."""
    with PhoneMemory(url, settings=_SETTINGS.model_copy(update={"extract_after": timedelta(days=1)})) as memory:
        graph = graph_of(memory)
        for number in range(jobs):
            memory.reply(graph, phone(number), "/privacy on")
            memory.reply(graph, phone(number), "/privacy sensitive on")
            for text in facts(number):
                memory.reply(graph, phone(number), f"{text}.")


def graph_of(memory):
    return (
        StateGraph(MemoryState)
        .add_node("recall", memory.recall_node())
        .add_node("agent", lambda _: {"messages": AIMessage("Good to know.")})
        .add_node("write", memory.write_node())
        .add_edge(START, "recall")
        .add_edge("recall", "agent")
        .add_edge("agent", "write")
        .compile(checkpointer=memory.saver)
    )


def forked(memory):
    """A worker as a service has it, that looks more often; its process id."""
    pid = os.fork()
    if not pid:
        memory.extraction.every = 0.2
        memory.extraction.start()
        while True:
            time.sleep(60)
    return pid


def killed_until_done(url, chance):
    """How many were killed, and the seconds it took."""
    ExtractionWorker.start, start = lambda _: None, ExtractionWorker.start  # this process only watches
    with PhoneMemory(url, settings=_SETTINGS) as memory:
        ExtractionWorker.start = start
        workers = [forked(memory) for _ in range(_WORKERS)]
        kills, begun = 0, time.monotonic()
        while set(states := memory.extraction.jobs.states()) - {"completed"} or not kills:
            time.sleep(1)
            doomed = workers.pop(chance.randrange(_WORKERS))
            os.kill(doomed, signal.SIGKILL)
            os.waitpid(doomed, 0)
            kills += 1
            workers.append(forked(memory))
            print(f"{time.monotonic() - begun:5.0f} s, {kills} kills, {states}", file=sys.stderr, flush=True)
        took = time.monotonic() - begun
        for each in workers:
            os.kill(each, signal.SIGKILL)
            os.waitpid(each, 0)
    return kills, took


def wrong_in(url, jobs):
    """What should not be: (owner, quote, how often it is stored)."""
    off = _SETTINGS.model_copy(update={"extraction": "off"})
    with PhoneMemory(url, settings=off) as memory, memory.database.read() as connection:
        found = connection.execute(select(memory_table.c.owner, memory_table.c.quote))
        stored = Counter((owner, (quote or "").rstrip(".")) for owner, quote in found)
    expected = {(phone(number), text) for number in range(jobs) for text in facts(number)}
    missing = [(owner, text, 0) for owner, text in expected - stored.keys()]
    return missing + [(*key, times) for key, times in stored.items() if times != 1 or key not in expected]


def cost_of_marking(url):
    """Milliseconds of the write node, without and with extraction: (median, 95th percentile) each."""
    told = []
    for extraction in ("off", "rules"):
        settings = _SETTINGS.model_copy(update={"extraction": extraction, "extract_after": timedelta(days=1)})
        with PhoneMemory(url, settings=settings) as memory:
            graph, spent = graph_of(memory), []
            note = memory.context.use_notes.note

            def timed(messages, recalled, note=note, spent=spent):
                begun = time.perf_counter()
                note(messages, recalled)
                spent.append(1000 * (time.perf_counter() - begun))

            memory.context.use_notes.note = timed
            for turns in (True, False):
                spent.clear()
                turns_ms = []
                for number in range(_TURNS):
                    who = phone(90_000_000 + 1000 * (extraction == "rules") + 500 * turns + number // 10)
                    begun = time.perf_counter()
                    if turns:
                        memory.reply(graph, who, "hello there")
                    else:
                        graph.invoke({"messages": "hello there"}, {"configurable": {"thread_id": who}})
                    turns_ms.append(1000 * (time.perf_counter() - begun))
                told.append((extraction, "in turns" if turns else "without turns", spent[10:], turns_ms[10:]))
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--url", help="an empty database; by default a SQLite file that is removed afterwards")
    parser.add_argument("--cost", action="store_true", help="only measure what the mark costs the write node")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = asked.url or f"sqlite:///{Path(folder) / 'jobs.db'}"
        for extraction, how, spent, turns in cost_of_marking(url) if asked.cost else ():
            for what, each in (("write node", spent), ("whole turn", turns)):
                quantiles = statistics.quantiles(each, n=20)
                told = f"{what:10}  extraction {extraction:5}  {how:13}"
                print(f"{told}  p50 {quantiles[9]:6.2f} ms  p95 {quantiles[18]:6.2f} ms")
        if asked.cost:
            return 0
        spoken(url, asked.jobs)
        kills, took = killed_until_done(url, random.Random(asked.seed))
        wrong = wrong_in(url, asked.jobs)
    told = f"{asked.jobs} jobs, {3 * asked.jobs} facts, {kills} kills in {took:.0f} s"
    print(f"{told}: {len(wrong)} lost, doubled or misplaced")
    for each in wrong[:5]:
        print(f"    {each}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
