"""`langmem bench`: how fast the installed package recalls and answers on this machine."""

import math
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Annotated, Any

import typer
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from langmem_plugin.agent.memory_state import MemoryState
from langmem_plugin.cli.opening import quiet
from langmem_plugin.cli.printing import Json, print_json, print_table
from langmem_plugin.cli.progress import progress
from langmem_plugin.settings import Settings

_WHO = ("Anna", "Ben", "Carla", "David", "Eva", "Frank", "Gila", "Hugo", "Iris", "Jonas")
_WHAT = ("tea", "chess", "olives", "hiking", "jazz", "tennis", "cats", "sushi", "opera", "cycling")
_PHONE = "+12025550123"


def bench(
    memories: Annotated[int, typer.Option(min=1, max=100, help="how many are stored")] = 100,
    turns: Annotated[int, typer.Option(min=1, max=1000, help="how many questions and turns are timed")] = 20,
    as_json: Json = False,
) -> None:
    """Time remembering, recall and a whole turn (without a chat model), in a new SQLite file that is deleted again.

    Of every question the memory is known that answers it; `found` tells how often it came first.
    """
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415 - loads the embedding model

    facts = [(who, what) for what, who in product(_WHAT, _WHO)][:memories]
    with tempfile.TemporaryDirectory(prefix="langmem-bench-") as folder:  # noqa: SIM117 - its name is needed
        with PhoneMemory(f"sqlite:///{folder}/langmem.db", settings=quiet(Settings())) as memory, _bar() as bar:
            task = bar.add_task("", total=len(facts) + 2 * turns)

            def timed(work: Callable[[], Any]) -> tuple[float, Any]:
                begun = time.perf_counter()
                result = work()
                took = time.perf_counter() - begun
                bar.advance(task)
                return took * 1000, result

            def answer(state: MemoryState) -> dict[str, Any]:
                memory.prompt(state, "You help.")
                return {"messages": [AIMessage("All right.")]}

            graph = StateGraph(MemoryState).add_node("recall", memory.recall_node()).add_node("answer", answer)
            graph.add_node("write", memory.write_node()).add_edge(START, "recall").add_edge("recall", "answer")
            agent = graph.add_edge("answer", "write").compile(checkpointer=memory.saver)
            remember, recall = memory.service.remember, memory.service.recall
            stored = [timed(partial(remember, _PHONE, f"{who} likes {what}")) for who, what in facts]
            asked = [facts[number * 7 % len(facts)] for number in range(turns)]
            questions = [f"who is {who}, who likes {what}?" for who, what in asked]
            recalled = [timed(partial(recall, _PHONE, each, min_similarity=0)) for each in questions]
            answered = [timed(partial(memory.reply, agent, _PHONE, each)) for each in questions]
    first = [
        found[0].memory.text == f"{f[0]} likes {f[1]}" for f, (_, found) in zip(asked, recalled, strict=True) if found
    ]
    figures = {
        "remember": _figures(stored),
        "recall": {**_figures(recalled), "found": sum(first) / len(asked)},
        "turn": _figures(answered),
    }
    if as_json:
        print_json({"memories": len(facts), "milliseconds": figures})
        return
    print_table(
        ("what", "times", "median ms", "95th ms", "found"),
        [
            (name, each["times"], f"{each['median']:.1f}", f"{each['p95']:.1f}", _percent(each.get("found")))
            for name, each in figures.items()
        ],
    )


def _figures(timed: list[tuple[float, Any]]) -> dict[str, float]:
    taken = sorted(took for took, _ in timed)
    return {"times": len(taken), "median": statistics.median(taken), "p95": taken[math.ceil(0.95 * len(taken)) - 1]}


def _percent(part: float | None) -> str:
    return "" if part is None else f"{part:.0%}"


def _bar() -> Any:
    return progress(TextColumn("timing"), BarColumn(), MofNCompleteColumn(), transient=True)
