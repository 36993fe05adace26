"""How long a person waits for an answer: `memory.reply` beside a bare graph, for one person and for twenty at once.

python -m benchmarks.channel [--url postgresql://…] [--plot docs/channel.png] [--quick]
"""

import argparse
import asyncio
import itertools
import logging
import random
import statistics
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import START, MessagesState, StateGraph

from langmem_plugin import MemoryState, PhoneMemory

_SYSTEM = "You are a travel assistant."
_TEXTS = ("find flights to London", "tell me more about number 2", "what luggage do I take?", "thanks, see you")
_THREADS = 32  # of every event loop, for the nodes that run in it
_WARM_UP = 3  # messages of each conversation that are not counted
_ids = itertools.count(1)
_phones = (f"+9725{number:08}" for number in itertools.count(random.randrange(50_000_000)))


class Scripted(BaseChatModel):
    """Answers at once, or after so many seconds."""

    seconds: float

    @property
    def _llm_type(self):
        return "scripted"

    def _generate(self, messages, stop=None, run_manager=None, **_):
        time.sleep(self.seconds)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(f"That is my answer to {len(messages)}."))])


# Each way gives, for a model, a function that answers one text of a phone


@contextmanager
def replying(model, url):
    with PhoneMemory(url) as memory:
        graph = remembering(memory, model)
        yield lambda phone, text: memory.reply(graph, phone, text, message_id=next(_ids))


@asynccontextmanager
async def areplying(model, url):
    async with await asyncio.to_thread(PhoneMemory, url) as memory:
        graph = remembering(memory, model)
        yield lambda phone, text: memory.areply(graph, phone, text, message_id=next(_ids))


@contextmanager
def invoking(model, url):
    if url.startswith("sqlite"):
        from langgraph.checkpoint.sqlite import SqliteSaver

        opened = SqliteSaver.from_conn_string(url.removeprefix("sqlite:///") + ".stock")
    else:
        opened = postgres_saver(url)
    with opened as saver:
        saver.setup()
        graph = bare(model, saver)
        yield lambda phone, text: graph.invoke(*asked(phone, text))


@asynccontextmanager
async def ainvoking(model, url):
    async with AsyncExitStack() as stack:
        if url.startswith("sqlite"):
            from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

            path = url.removeprefix("sqlite:///") + ".async"
            saver = await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(path))
        else:
            from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
            from psycopg_pool import AsyncConnectionPool

            pool = AsyncConnectionPool(url, max_size=20, kwargs=_connecting(), open=False)
            saver = AsyncPostgresSaver(await stack.enter_async_context(pool))
        await saver.setup()
        graph = bare(model, saver)
        yield lambda phone, text: graph.ainvoke(*asked(phone, text))


@contextmanager
def forgetting(model, _url):
    graph = bare(model, None)
    yield lambda phone, text: graph.invoke(*asked(phone, text))


@asynccontextmanager
async def aforgetting(model, _url):
    graph = bare(model, None)
    yield lambda phone, text: graph.ainvoke(*asked(phone, text))


WAYS = {
    "no checkpointer, invoke": forgetting,
    "stock saver, invoke": invoking,
    "memory.reply": replying,
    "no checkpointer, ainvoke": aforgetting,
    "stock saver, ainvoke": ainvoking,
    "memory.areply": areplying,
}
COMPARED = {"memory.reply": "stock saver, invoke", "memory.areply": "stock saver, ainvoke"}
ASYNCHRONOUS = {"no checkpointer, ainvoke", "stock saver, ainvoke", "memory.areply"}


def remembering(memory, model):
    """The graph of the README."""
    return (
        StateGraph(MemoryState)
        .add_node("recall", memory.recall_node())
        .add_node("agent", lambda state: {"messages": model.invoke(memory.prompt(state, _SYSTEM))})
        .add_node("write", memory.write_node())
        .add_edge(START, "recall")
        .add_edge("recall", "agent")
        .add_edge("agent", "write")
        .compile(checkpointer=memory.saver)
    )


def bare(model, saver):
    return (
        StateGraph(MessagesState)
        .add_node("agent", lambda state: {"messages": model.invoke([SystemMessage(_SYSTEM), *state["messages"]])})
        .add_edge(START, "agent")
        .compile(checkpointer=saver)
    )


def asked(phone, text):
    return {"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": phone}}


@contextmanager
def postgres_saver(url):
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg_pool import ConnectionPool

    with ConnectionPool(url, max_size=20, kwargs=_connecting()) as pool:
        yield PostgresSaver(pool)


def _connecting():
    from psycopg.rows import dict_row

    return {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}


# Measuring


def texts(count):
    return [_TEXTS[number % len(_TEXTS)] for number in range(_WARM_UP + count)]


def milliseconds(way, model, url, people, messages):
    """Of every message: each person texts from a thread or task of their own, the next when the last is answered."""
    phones = [next(_phones) for _ in range(people)]
    return (
        asyncio.run(_texting(way, model, url, phones, messages))
        if way in ASYNCHRONOUS
        else _texting_in_threads(way, model, url, phones, messages)
    )


def _texting_in_threads(way, model, url, phones, messages):
    taken = []
    together = threading.Barrier(len(phones))

    def text(phone, answer):
        together.wait()
        for number, each in enumerate(texts(messages)):
            start = time.perf_counter()
            answer(phone, each)
            if number >= _WARM_UP:
                taken.append((time.perf_counter() - start) * 1000)

    with WAYS[way](model, url) as answer, ThreadPoolExecutor(len(phones)) as pool:
        list(pool.map(lambda phone: text(phone, answer), phones))
    return taken


async def _texting(way, model, url, phones, messages):
    taken = []
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))

    async def text(phone, answer):
        for number, each in enumerate(texts(messages)):
            start = time.perf_counter()
            await answer(phone, each)
            if number >= _WARM_UP:
                taken.append((time.perf_counter() - start) * 1000)

    async with WAYS[way](model, url) as answer:
        await asyncio.gather(*(text(phone, answer) for phone in phones))
    return taken


def measured(url, rounds, counts):
    """p50 and p95 by (people, seconds of the model, way): of all rounds, in which the ways take turns."""
    found = {}
    for _ in range(rounds):
        for seconds, (people, messages) in itertools.product((0.0, 0.05), counts.items()):
            for way in WAYS:
                with tempfile.TemporaryDirectory() as folder:
                    own = url or f"sqlite:///{folder}/langmem.db"
                    taken = milliseconds(way, Scripted(seconds=seconds), own, people, messages)
                found.setdefault((people, seconds, way), []).extend(taken)
    return {key: (statistics.median(taken), statistics.quantiles(taken, n=20)[-1]) for key, taken in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="a PostgreSQL database to measure on, beside its stock savers")
    parser.add_argument("--plot", type=Path, help="write the times as a picture")
    parser.add_argument("--quick", action="store_true", help="one round, fewer messages")
    arguments = parser.parse_args()
    logging.getLogger("langmem_plugin").setLevel(logging.ERROR)

    rounds, counts = (1, {1: 15, 20: 4}) if arguments.quick else (3, {1: 40, 20: 10})
    found = measured(arguments.url, rounds, counts)
    print(f"{'milliseconds a message':26} {'people':>6} {'model':>6} {'p50':>7} {'p95':>7}  of the stock saver's")
    for (people, seconds, way), (median, slowest) in found.items():
        against = ""
        if way in COMPARED:
            stock = found[people, seconds, COMPARED[way]]
            against = f"{median / stock[0]:.2f} x, {slowest / stock[1]:.2f} x; {median - stock[0]:+.1f}, "
            against += f"{slowest - stock[1]:+.1f} ms"
        print(f"{way:26} {people:6} {seconds * 1000:6.0f} {median:7.1f} {slowest:7.1f}  {against}")
    if arguments.plot:
        plot(found, arguments.plot, "PostgreSQL" if arguments.url else "SQLite")


def plot(found, file, engine):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    models = sorted({seconds for _, seconds, _ in found})
    crowds = sorted({people for people, _, _ in found})
    figure, panels = plt.subplots(1, len(crowds), figsize=(10, 4), layout="constrained")
    for axes, people in zip(panels, crowds, strict=True):
        for at, way in enumerate(WAYS):
            place = [number + (at - 2.5) / 8 for number in range(len(models))]
            medians, slowest = zip(*(found[people, seconds, way] for seconds in models), strict=True)
            above = [most - middle for most, middle in zip(slowest, medians, strict=True)]
            axes.bar(place, medians, width=0.11, label=way, yerr=[[0] * len(models), above], capsize=2)
        axes.set(title="one person" if people == 1 else f"{people} people at once", ylabel="milliseconds")
        axes.set_xticks(range(len(models)), [f"model takes {seconds * 1000:.0f} ms" for seconds in models])
    panels[0].legend(fontsize="small")
    figure.suptitle(f"Time until a message is answered, {engine}: median, and p95 above it")
    figure.savefig(file, dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    main()
