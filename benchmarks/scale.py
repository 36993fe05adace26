"""Replies per second of processor time by 1, 2 and 4 processes that answer the same people, beside a stock saver.

python -m benchmarks.scale [--people 200] [--seconds 15] [--processes 1 2 4] [--cold] [--routed]
                           [--sqlite | --postgresql]

Each process has answered each person once before it is measured; with --cold it has not, as after a restart.
Each message goes to any process, or with --routed to the person's own, as behind a proxy that routes by phone.
The control is work of a reply's kind without any database: Python and the embedding model. What more of its
processes lose is the machine's (its clock, caches and threads), and each rate is also told relative to that.
"""

import argparse
import itertools
import json
import logging
import multiprocessing
import random
import sqlite3
import sys
import tempfile
import threading
import time
from contextlib import contextmanager

from benchmarks.reply_cost import Ours, Stock, postgres_saver, server
from langmem_plugin.agent.models import embedding_model

_THREADS = 4  # of each process
_LOOK_SECONDS = 0.02


def phone(number):
    return f"+9725012{number:05}"


class Control:
    """Works as long as a reply or so, and neither reads nor waits."""

    def __init__(self):
        self.count = 0
        self._embeddings = embedding_model("offline")

    def reply(self, phone):
        self.count += 1
        near = self._embeddings.embed_query(f"what shall we cook tonight? ({self.count})")[:20]
        said = [{"id": str(at), "type": "human", "content": f"{phone} said {at}", "near": near} for at in range(60)]
        for _ in range(20):
            said = [{**each, "content": each["content"].upper().casefold()} for each in json.loads(json.dumps(said))]


@contextmanager
def player(kind, url):
    if kind == "control":
        yield Control()
    elif kind == "ours":
        ours = Ours(url)
        yield ours
        ours.memory.close()
    elif kind == "PostgresSaver":
        with postgres_saver(url, _THREADS) as saver:
            yield Stock(saver)
    else:
        from langgraph.checkpoint.sqlite import SqliteSaver

        connection = sqlite3.connect(url, check_same_thread=False, timeout=60)
        yield Stock(SqliteSaver(connection))
        connection.close()


def worker(kind, url, seed, people, seconds, *, writing, known, ready, start, results):
    """Answers whoever is `writing`, as a process of a service does; first replies to `known` people are not counted."""
    logging.disable()
    with player(kind, url) as mine:
        mine.count = seed * 10_000_000
        mine.reply(phone(people + seed))
        for number in range(known):
            mine.reply(phone(number))
        ready.put(seed)
        start.wait()
        chances = random.Random(seed)
        began, until, taken = time.process_time(), time.monotonic() + seconds, []

        def answer():
            while time.monotonic() < until:
                asked = time.perf_counter()
                mine.reply(phone(chances.choice(writing)))
                taken.append(time.perf_counter() - asked)

        threads = [threading.Thread(target=answer) for _ in range(_THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        results.put((len(taken), time.process_time() - began, taken))


def run(kind, url, processes, people, seconds, *, known=0, routed=False):
    """Replies, seconds of the processors, and how long each reply took."""
    context = multiprocessing.get_context("spawn")
    ready, start, results = context.Queue(), context.Event(), context.Queue()
    shared = {"known": known, "ready": ready, "start": start, "results": results}
    seeds = next(_seeds), next(_seeds), next(_seeds), next(_seeds)
    started = [
        context.Process(
            target=worker,
            args=(kind, url, seed, people, seconds),
            kwargs={"writing": range(at, people, processes) if routed else range(people), **shared},
        )
        for at, seed in enumerate(seeds[:processes])
    ]
    for each in started:
        each.start()
    for _ in started:
        ready.get(timeout=600)
    start.set()
    done = [results.get(timeout=seconds + 120) for _ in started]
    for each in started:
        each.join()
    return (
        sum(count for count, _, _ in done),
        sum(used for _, used, _ in done),
        [each for *_, took in done for each in took],
    )


_seeds = itertools.count(1)


class Server:
    """What a PostgreSQL server says of one database: commits so far, and how many of its clients wait for a lock."""

    def __init__(self, url):
        import psycopg

        self._connection = psycopg.connect(url, autocommit=True)
        self._stopped = threading.Event()
        self.looks = self.waits = 0

    @contextmanager
    def watched(self):
        before = self._commits()
        thread = threading.Thread(target=self._look)
        thread.start()
        yield
        self._stopped.set()
        thread.join()
        time.sleep(1.5)  # the statistics of clients that ended arrive
        self.commits = self._commits() - before - self.looks
        self._connection.close()

    def _commits(self):
        query = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        return self._connection.execute(query).fetchone()[0]

    def _look(self):
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        while not self._stopped.wait(_LOOK_SECONDS):
            self.looks += 1
            self.waits += self._connection.execute(query).fetchone()[0]


def line(database, kind, processes, outcome, *, first, kept=None, watched=None):
    """Prints a line of the table; `kept` is what the control keeps with so many processes of its rate with the first.

    Gives the rate.
    """
    replies, used, taken = outcome
    rate = replies / used
    share = rate / (first or rate)
    text = (
        f"{database:11} {kind:14} {processes} processes: {rate:6.1f} replies a processor second"
        f" ({share:4.2f} x of the first{'' if kept is None else f', {share / kept:4.2f} x relative to the control'}),"
        f" {sorted(taken)[int(len(taken) * 0.95)] * 1000:6.0f} ms p95"
    )
    if watched is not None:
        text += (
            f", {watched.commits / replies:4.1f} commits a reply, {watched.waits / watched.looks:5.2f} wait for a lock"
        )
    print(text, flush=True)
    return rate


def measured(arguments, kind, url, processes):
    known = 0 if arguments.cold else arguments.people
    return run(kind, url, processes, arguments.people, arguments.seconds, known=known, routed=arguments.routed)


def controlled(arguments):
    """What the machine itself keeps of the first rate with each number of processes."""
    kept, first = {}, None
    for processes in arguments.processes:
        outcome = run("control", "", processes, arguments.people, arguments.seconds)
        rate = line("none", "control", processes, outcome, first=first)
        first = first or rate
        kept[processes] = rate / first
    return kept


def on_postgresql(arguments, kept):
    with server() as (made, _):
        for kind in ("PostgresSaver", "ours"):
            url, first = made(f"db_{kind}".lower()), None
            run(kind, url, 1, arguments.people, 1)  # the tables are made
            for processes in arguments.processes:
                watched = Server(url)
                with watched.watched():
                    outcome = measured(arguments, kind, url, processes)
                rate = line("PostgreSQL", kind, processes, outcome, first=first, kept=kept[processes], watched=watched)
                first = first or rate


def on_sqlite(arguments, kept):
    with tempfile.TemporaryDirectory() as folder:
        urls = {"SqliteSaver": f"{folder}/stock.db", "ours": f"sqlite:///{folder}/ours.db"}
        for kind, url in urls.items():
            first = None
            run(kind, url, 1, arguments.people, 1)
            for processes in sorted({arguments.processes[0], arguments.processes[-1]}):
                outcome = measured(arguments, kind, url, processes)
                rate = line("SQLite", kind, processes, outcome, first=first, kept=kept[processes])
                first = first or rate


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--cold", action="store_true", help="measure the first replies of each process too")
    parser.add_argument("--routed", action="store_true", help="a person's messages all go to one process")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--sqlite", action="store_true")
    only.add_argument("--postgresql", action="store_true")
    arguments = parser.parse_args()
    kept = controlled(arguments)
    if not arguments.sqlite:
        on_postgresql(arguments, kept)
    if not arguments.postgresql:
        on_sqlite(arguments, kept)


if __name__ == "__main__":
    sys.exit(main())
