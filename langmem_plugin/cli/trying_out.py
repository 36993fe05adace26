"""`langmem chat` and `langmem demo`: text with an agent that remembers, without a program of one's own."""

import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from langmem_plugin.cli.existing import refuse_missing_if_named
from langmem_plugin.cli.named_graph import graph_named
from langmem_plugin.cli.opening import Config, Create, Url, chosen, memory_of, quiet
from langmem_plugin.cli.printing import Json, print_json, say
from langmem_plugin.cli.serve import listening_on
from langmem_plugin.settings import Settings

_NAME, _PHONE = "Erin", "+12025550123"
_SECOND = ("Jason", "+12025550145")
PORT = 8421
Port = Annotated[int, typer.Option("--port", min=0, max=65_535, help="of --web; 0: any that is free")]
_ERIN_SAYS = (
    "you may remember what I tell you",
    "my daughter Mia is seven",
    "find me a chicken dinner",
    "save number 2",
    "how old is Mia?",
    "what about pasta?",
    "save the second one",
)
_JASON_SAYS = ("what's on our calendar?", "find me a soup", "save the first one", "how old is Mia?")
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
    graph: Annotated[
        str | None, typer.Argument(help="a graph of your own: package.module:name, or ./file.py:name")
    ] = None,
    *,
    phone: Annotated[str, typer.Option("--phone", help="who you are")] = _PHONE,
    web: Annotated[bool, typer.Option("--web", help="on two phones in a browser, beside what happens")] = False,
    port: Port = PORT,
    create: Create = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Text with a small agent, or with a graph of your own; what you tell it is in the database, also the next time.

    A graph is named as in langgraph.json: a compiled one, or a function that gives one and may take the PhoneMemory.
    LANGMEM_MODEL names the model of the small agent; without it the offline one answers, which only picks tools.
    """
    from langmem_plugin.cli.demo_agent import demo_agent  # noqa: PLC0415 - loads models

    if web:
        settings = chosen(config)
        refuse_missing_if_named(settings, database, create=create)
        _in_browser([database or "", str(config or ""), graph or "", ""], [(_NAME, phone, ()), (*_SECOND, ())], port)
        return
    with memory_of(database, config, create=create) as memory:
        agent = demo_agent(memory) if graph is None else graph_named(graph, memory)
        say(f"You text as {phone}.", *_WELCOME)
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
    """Until it is interrupted. Raises ConfigurationError where the agent does not start."""
    import uvicorn  # noqa: PLC0415 - of the same extra

    from langmem_plugin.web.phones.phones import Phone, phones_app  # noqa: PLC0415 - of the extra `web`
    from langmem_plugin.web.phones.process import AgentProcess  # noqa: PLC0415

    agent = AgentProcess([sys.executable, "-m", "langmem_plugin.cli.texted_agent", *arguments])
    try:
        agent.start()
        with listening_on("127.0.0.1", port) as socket:
            say(f"open http://127.0.0.1:{socket.getsockname()[1]}/ in a browser on this machine; Ctrl-C ends it")
            sys.stdout.flush()
            app = phones_app(agent, [Phone(name, number, [*says]) for name, number, says in people])
            uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run([socket])
    except KeyboardInterrupt:
        return
    finally:
        agent.close()


def _heard() -> str:
    """The next message; "" at the end."""
    sys.stdout.flush()
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except (EOFError, KeyboardInterrupt):
        return ""
