"""Plays one evening of texting through a crash and a silence: `python -m graphs.demo`.

Two processes share one database: the first is killed between two messages, the second goes on from there. Each
message is shown with what its references mean, the tools called, and the reply.
"""

import argparse
import json
import logging
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from graphs.chat import ASSISTANTS
from graphs.household import Household
from langmem_plugin import PhoneMemory
from langmem_plugin.agent.models import chat_model

ERIN, JASON = "+12025550123", "+12025550145"
NAMES = {ERIN: "Erin", JASON: "Jason"}
BEFORE_THE_CRASH = (
    (ERIN, "/remember Leo is allergic to peanuts"),
    (ERIN, "find me a chicken dinner"),
    (JASON, "what's on our calendar this week?"),
    (ERIN, "number 3 looks good, tell me more"),
)
AFTER_THE_CRASH = (
    (JASON, "what about next week?"),
    (ERIN, "save that one"),
    (ERIN, "add the ingredients to the grocery list"),
    (JASON, "show my grocery list"),
    (ERIN, "order it"),
    (JASON, "what does our budget look like?"),
    (JASON, "what about groceries specifically?"),
)
AFTER_THE_SILENCE = ((ERIN, "save number 2"), (ERIN, "what is Leo allergic to?"))
SILENCE = timedelta(minutes=31)
ANSWERED = "[the first process has answered; it is killed now]"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", choices=ASSISTANTS, default="assistant", help="how the assistant is built")
    parser.add_argument("--first-process", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    if options.first_process:
        Stage(Path(options.first_process), options.graph).play(BEFORE_THE_CRASH)
        say(ANSWERED)
        sys.stdin.read()  # waits for a next message, as a bot does, until it is killed
        return 0
    with tempfile.TemporaryDirectory(prefix="langmem-demo-") as folder:
        say(f"— The first process, database in {folder}\n")
        play_and_kill(folder, options.graph)
        say("\n— The second process, on the same database\n")
        stage = Stage(Path(folder), options.graph)
        stage.play(AFTER_THE_CRASH)
        say(f"\n— {SILENCE.seconds // 60} minutes of silence (the clock is moved)\n")
        stage.passed += SILENCE
        stage.play(AFTER_THE_SILENCE)
        stage.memory.close()
    say("— On two phones in a browser, played by you: .venv/bin/langmem demo --web")
    return 0


def play_and_kill(folder: str, graph: str) -> None:
    """The first part in a process of its own, which gets no chance to put anything in order."""
    command = [sys.executable, "-m", "graphs.demo", "--graph", graph, "--first-process", folder]
    answered = False
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:  # noqa: S603 - our own module
        for line in process.stdout or ():
            say(line.rstrip("\n"))
            if line.strip() == ANSWERED:
                answered = True
                process.kill()
    if not answered:
        sys.exit("the first process ended before it had answered")
    say(f"[ended with exit code {process.returncode}]")


class Stage:
    """The assistant in one process; `passed` moves its clock forward."""

    def __init__(self, folder: Path, graph: str) -> None:
        self.passed = timedelta()
        self.memory = PhoneMemory(f"sqlite:///{folder / 'langmem.db'}", now=lambda: datetime.now(UTC) + self.passed)
        self.graph = ASSISTANTS[graph](self.memory, chat_model(), Household(folder / "household.db"))

    def play(self, script: Sequence[tuple[str, str]]) -> None:
        for phone, text in script:
            reply = self.memory.reply(self.graph, phone, text)
            say(f"{NAMES[phone]}: {text}")
            if not text.startswith("/"):
                self.explain(phone)
            say("\n".join(f"    {line}" for line in reply.splitlines()) + "\n")

    def explain(self, phone: str) -> None:
        """What the phone's last message refers to, and the tools that were called for it."""
        messages = self.graph.get_state({"configurable": {"thread_id": phone}}).values["messages"]
        asked = max(place for place, message in enumerate(messages) if isinstance(message, HumanMessage))
        meant = self.memory.resolved(messages[: asked + 1])
        for reference in meant.references:
            things = ", ".join(_name(item) for item in reference.items)
            say(f"  · “{reference.words}” means {things}: {reference.reason}")
        calls = _calls(messages[asked:])
        repeated = meant.previous_call
        if repeated and repeated.tool in [call["name"] for call in calls]:
            say(f"  · follows on from {_spelled(repeated.tool, repeated.arguments)}")
        elif not meant.references:
            say("  · refers to no earlier result")
        for call in calls:
            say(f"  · calls {_spelled(call['name'], call['args'])}")


def _calls(messages: Sequence[BaseMessage]) -> list[Any]:
    return [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]


def _spelled(tool: str, arguments: Mapping[str, Any]) -> str:
    return f"{tool}({json.dumps(dict(arguments), ensure_ascii=False)})"


def _name(item: dict[str, Any]) -> str:
    return str(item.get("title") or item.get("category") or item.get("day") or item.get("item") or item)


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - what a demo is for


if __name__ == "__main__":
    sys.exit(main())
