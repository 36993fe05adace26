"""`langmem chat` and `langmem demo`: text with an agent that remembers, without a program of one's own."""

import sys
import tempfile
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from langmem_plugin.cli.named_graph import graph_named
from langmem_plugin.cli.opening import Config, Create, Url, memory_of, quiet
from langmem_plugin.cli.printing import Json, print_json, say
from langmem_plugin.settings import Settings

_PHONE = "+12025550123"
_WELCOME = (
    "Try: find me a chicken dinner, then: save number 2, then: /remember Leo is allergic to peanuts.",
    "/help lists the memory's own commands; an empty line or Ctrl-D ends.",
)
_BEFORE = (
    "/remember Leo is allergic to peanuts",
    "find me a chicken dinner",
    "save number 2",
)
_AFTER = ("what is Leo allergic to?", "/memories")


def chat(
    phone: Annotated[str, typer.Option("--phone", help="who you are")] = _PHONE,
    graph: Annotated[
        str | None, typer.Option("--graph", help="a graph of your own: package.module:name, or ./file.py:name")
    ] = None,
    create: Create = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Text with a small agent, or with a graph of your own; what you tell it is in the database, also the next time.

    A graph is named as in langgraph.json: a compiled one, or a function that gives one and may take the PhoneMemory.
    LANGMEM_MODEL names the model of the small agent; without it the offline one answers, which only picks tools.
    """
    from langmem_plugin.cli.demo_agent import demo_agent  # noqa: PLC0415 - loads models

    with memory_of(database, config, create=create) as memory:
        agent = demo_agent(memory) if graph is None else graph_named(graph, memory)
        say(f"You text as {phone}.", *_WELCOME)
        while text := _heard():
            say(memory.reply(agent, phone, text))


def demo(as_json: Json = False) -> None:
    """Play a short conversation: a fact, a list, "number 2", a restart, half an hour of silence. Nothing is kept."""
    from langmem_plugin.cli.demo_agent import demo_agent  # noqa: PLC0415 - loads models
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415

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


def _heard() -> str:
    """The next message; "" at the end."""
    sys.stdout.flush()
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except (EOFError, KeyboardInterrupt):
        return ""
