"""`langmem chat`, `demo` and `bench`: try an agent that remembers, without writing a program."""

import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from typing import Annotated, Any

import typer
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from langmem_plugin.agent.graph_state import MemoryState
from langmem_plugin.cli.command_context import Create, Where, memory_of, on, quiet, refuse_missing
from langmem_plugin.cli.output import Json, Rows, Told, print_json, progress, say, tell
from langmem_plugin.cli.serve_and_mcp import address_of, graph_named, listening_on, run_server
from langmem_plugin.settings import Settings

_WHO = ("Anna", "Ben", "Carla", "David", "Eva", "Frank", "Gila", "Hugo", "Iris", "Jonas")
_WHAT = ("tea", "chess", "olives", "hiking", "jazz", "tennis", "cats", "sushi", "opera", "cycling")
_BENCH_PHONE = "+12025550123"
_NAME, _PHONE = "Erin", "+12025550123"
_SECOND = ("Jason", "+12025550145")
PORT = 8421
_ERIN_SAYS = (  # in the order of the page's tour
    "find me a chicken dinner",
    "save number 2",
    "/remember my daughter Mia is seven",
    "how old is Mia?",
    "what about pasta?",
    "save the second one",
)
_JASON_SAYS = ("what's on our calendar?", "find me a soup", "save the first one", "how old is Mia?")
_TRY = "Try: find me a chicken dinner, then: save number 2, then: /remember Leo is allergic to peanuts."
_HELP = "/help lists the memory's own commands; an empty line or Ctrl-D ends."
_BEFORE = (
    "/remember Leo is allergic to peanuts",
    "find me a chicken dinner",
    "save number 2",
)
_AFTER = ("what is Leo allergic to?", "/memories")


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
            stored = [timed(partial(remember, _BENCH_PHONE, f"{who} likes {what}")) for who, what in facts]
            asked = [facts[number * 7 % len(facts)] for number in range(turns)]
            questions = [f"who is {who}, who likes {what}?" for who, what in asked]
            recalled = [timed(partial(recall, _BENCH_PHONE, each, min_similarity=0)) for each in questions]
            answered = [timed(partial(memory.reply, agent, _BENCH_PHONE, each)) for each in questions]
    first = [
        found[0].memory.text == f"{f[0]} likes {f[1]}" for f, (_, found) in zip(asked, recalled, strict=True) if found
    ]
    figures = {
        "remember": _figures(stored),
        "recall": {**_figures(recalled), "found": sum(first) / len(asked)},
        "turn": _figures(answered),
    }
    rows = [
        (name, each["times"], f"{each['median']:.1f}", f"{each['p95']:.1f}", _percent(each.get("found")))
        for name, each in figures.items()
    ]
    table = Rows(("what", "times", "median ms", "95th ms", "found"), rows)
    tell(Told({"memories": len(facts), "milliseconds": figures}, [table]), as_json=as_json)


def _figures(timed: list[tuple[float, Any]]) -> dict[str, float]:
    taken = sorted(took for took, _ in timed)
    return {"times": len(taken), "median": statistics.median(taken), "p95": taken[math.ceil(0.95 * len(taken)) - 1]}


def _percent(part: float | None) -> str:
    return "" if part is None else f"{part:.0%}"


def _bar() -> Any:
    return progress(TextColumn("timing"), BarColumn(), MofNCompleteColumn(), transient=True)


Port = Annotated[int, typer.Option("--port", min=0, max=65_535, help="of --web; 0: any that is free")]


@on(nullcontext)
def chat(
    where: Where,
    graph: Annotated[
        str | None, typer.Argument(help="a graph of your own: package.module:name, or ./file.py:name")
    ] = None,
    *,
    phone: Annotated[str, typer.Option("--phone", help="who you are")] = _PHONE,
    web: Annotated[bool, typer.Option("--web", help="on two phones in a browser, beside what happens")] = False,
    port: Port = PORT,
    create: Create = False,
) -> None:
    """Text with a small agent, or with a graph of your own; what you tell it is in the database, also the next time.

    A graph is named as in langgraph.json: a compiled one, or a function that gives one and may take the PhoneMemory.
    LANGMEM_MODEL names the model of the small agent; without it the offline one answers, which only picks tools.
    """
    if web:
        refuse_missing(where.settings(), where.database, create=create)
        arguments = [where.database or "", str(where.config or ""), graph or "", ""]
        _in_browser(arguments, [(_NAME, phone, ()), (*_SECOND, ())], port)
        return
    from langmem_plugin.cli.demo_agent import demo_agent  # noqa: PLC0415 - loads models

    with memory_of(where, create=create) as memory:
        phone = memory.people.typed(phone)
        agent = demo_agent(memory) if graph is None else graph_named(graph, memory)
        say(f"You text as {phone}.", *([_TRY] if graph is None else []), _HELP)
        while text := _heard():
            say(memory.reply(agent, phone, text))


def demo(
    as_json: Json = False,
    web: Annotated[bool, typer.Option("--web", help="two phones in a browser, and beside them what happens")] = False,
    port: Port = PORT,
) -> None:
    """Play a short conversation: a fact, a list, "number 2", a restart, half an hour of silence. Nothing is kept.

    With --web you play it yourself, on Erin's phone and on Jason's.
    """
    from langmem_plugin.cli.demo_agent import demo_agent  # noqa: PLC0415 - loads models
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415

    if web:
        with tempfile.TemporaryDirectory(prefix="langmem-demo-") as folder:
            arguments = [f"sqlite:///{folder}/langmem.db", "", "", f"{folder}/household.json"]
            _in_browser(arguments, [(_NAME, _PHONE, _ERIN_SAYS), (*_SECOND, _JASON_SAYS)], port)
        return

    passed, said = timedelta(), []
    with tempfile.TemporaryDirectory(prefix="langmem-demo-") as folder:
        for heading, texts, silence in (
            ("the agent starts", _BEFORE, timedelta()),
            ("it starts again on the same database, after 31 minutes of silence", _AFTER, timedelta(minutes=31)),
        ):
            passed += silence
            if not as_json:
                say(f"— {heading}")
            with PhoneMemory(
                f"sqlite:///{folder}/langmem.db",
                settings=quiet(Settings()),
                now=lambda passed=passed: datetime.now(UTC) + passed,  # type: ignore[misc] # a clock that is moved
            ) as memory:
                agent = demo_agent(memory)
                for text in texts:
                    reply = memory.reply(agent, _PHONE, text)
                    said.append({"text": text, "reply": str(reply)})
                    if not as_json:
                        say(f"you: {text}", f"  {reply}".replace("\n", "\n  "))
    if as_json:
        print_json({"turns": said})


def _in_browser(arguments: Sequence[str], people: Sequence[tuple[str, str, Sequence[str]]], port: int) -> None:
    """Serve the phones until interrupted. Raises ConfigurationError where the agent does not start."""
    from langmem_plugin.web.phones.agent_process import AgentProcess  # noqa: PLC0415
    from langmem_plugin.web.phones.two_phones_page import Phone, phones_app  # noqa: PLC0415 - of the extra `web`

    agent = AgentProcess([sys.executable, "-m", "langmem_plugin.cli.demo_agent", *arguments])
    try:
        agent.start()
        with listening_on("127.0.0.1", port) as socket:
            say(f"open {address_of(socket)}/ in a browser on this machine; Ctrl-C ends it")
            sys.stdout.flush()
            app = phones_app(agent, [Phone(name, number, [*says]) for name, number, says in people])
            run_server(app, socket)
    except KeyboardInterrupt:
        return
    finally:
        agent.close()


def _heard() -> str:
    """Return the next message; "" at the end of the input."""
    sys.stdout.flush()
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except (EOFError, KeyboardInterrupt):
        return ""
