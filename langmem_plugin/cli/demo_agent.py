"""The agent of `langmem demo` and `chat`; run as a module it is that of `--web`: it reads and writes one line of JSON
each.
"""

import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from langchain.agents import create_agent
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langgraph.graph.state import CompiledStateGraph

from langmem_plugin.agent.models import chat_model
from langmem_plugin.cli.command_context import Where
from langmem_plugin.cli.serve_and_mcp import graph_named
from langmem_plugin.errors import LangMemError
from langmem_plugin.memory import Memory
from langmem_plugin.plugin import PhoneMemory

if TYPE_CHECKING:
    from langmem_plugin.web.conversation_transcripts import Line

_SYSTEM = "You help a family with its dinners and its calendar. Use the tools; show lists with numbers."
_SURE = 0.0005  # the least value of a signal that is shown
_HOUSEHOLD: dict[str, list[dict[str, Any]]] = json.loads(Path(__file__).with_name("demo_data.json").read_text("utf-8"))


def demo_agent(memory: PhoneMemory, kept: Path | None = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return an agent with the model that LANGMEM_MODEL names, else the offline one. The plan and the lists are in the
    file `kept`, or only in this process.
    """
    return create_agent(
        chat_model(),
        [*_tools(_Lists(kept)), *memory.tools()],
        system_prompt=_SYSTEM,
        middleware=[memory.middleware()],
        checkpointer=memory.saver,
        name="demo_agent",
    )


class _Lists:
    """The lists by name: the family's plan, and each phone's groceries."""

    def __init__(self, kept: Path | None) -> None:
        self._kept = kept
        self._lists: dict[str, list[str]] = json.loads(kept.read_text("utf-8")) if kept and kept.exists() else {}

    def add(self, name: str, entries: list[str]) -> list[str]:
        """Add the entries to the list, each once; return all that is on it then."""
        listed = self._lists[name] = [*dict.fromkeys([*self._lists.get(name, []), *entries])]
        if self._kept is not None:
            new = self._kept.with_suffix(".new")
            new.write_text(json.dumps(self._lists), "utf-8")
            new.replace(self._kept)
        return listed


def _tools(lists: _Lists) -> list[BaseTool]:
    @tool
    def find_dinners(query: str) -> str:
        """Find dinners by an ingredient, such as chicken or pasta."""
        wanted = {word.casefold().rstrip("s") for word in query.split()}
        found = [each for each in _HOUSEHOLD["dinners"] if wanted & {word.rstrip("s,") for word in _words(each)}]
        return json.dumps(found or _HOUSEHOLD["dinners"])

    @tool
    def save_dinner(name: str) -> str:
        """Save a dinner to the plan of the week, by its name."""
        return json.dumps({"saved": name, "plan": lists.add("plan", [name])})

    @tool
    def add_to_grocery_list(name: str, config: RunnableConfig) -> str:
        """Add the ingredients of a dinner, or a thing to buy, to this person's grocery list."""
        needs = next((each["needs"] for each in _HOUSEHOLD["dinners"] if each["name"] == name), name)
        return json.dumps({"added": needs, "groceries": lists.add(_whose(config), needs.split(", "))})

    @tool
    def show_grocery_list(config: RunnableConfig) -> str:
        """Show what is on my grocery list."""
        return json.dumps([{"name": each} for each in lists.add(_whose(config), [])])

    @tool
    def get_calendar() -> str:
        """Tell what is on the family's calendar this week: appointments, lessons, visits."""
        return json.dumps(_HOUSEHOLD["calendar"])

    return [find_dinners, save_dinner, add_to_grocery_list, show_grocery_list, get_calendar]


def _whose(config: RunnableConfig) -> str:
    return f"groceries of {config['configurable']['thread_id']}"


def _words(dinner: dict[str, Any]) -> list[str]:
    return f"{dinner['name']} {dinner['needs']}".casefold().split()


def main() -> None:
    """Run the agent. The arguments are `database config graph kept`, "" for one that is not given; `kept` is as in
    `demo_agent`.
    """
    database, config, graph, kept = sys.argv[1:]
    logging.basicConfig(level=logging.ERROR)
    # Output that a graph prints must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    passed = timedelta()
    settings = Where(None, Path(config) if config else None).settings().model_copy(update={"sweep_every": None})
    try:
        with PhoneMemory(database or None, settings=settings, now=lambda: datetime.now(UTC) + passed) as memory:
            agent = graph_named(graph, memory) if graph else demo_agent(memory, Path(kept) if kept else None)
            _tell(answers, {"ready": True})
            for line in sys.stdin:
                asked = json.loads(line)
                passed = timedelta(seconds=asked["passed"])
                _tell(answers, _texted(memory, agent, asked) if asked["do"] == "text" else _silent(memory, asked))
    except (LangMemError, ImportError, OSError) as error:
        _tell(answers, {"ready": False, "error": str(error)})


def _tell(answers: IO[str], answer: Mapping[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _texted(memory: PhoneMemory, agent: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    phone, text = asked["phone"], asked["text"]
    known, before = _known(memory, phone), _newest(memory, phone)
    reply = memory.reply(agent, phone, text, message_id=asked["id"])
    parts: list[dict[str, Any]] = []
    if (after := _newest(memory, phone)) == before:
        parts.append({"kind": "note", "text": "the memory's own answer: no model was asked"})
    elif after is not None:
        lines = _of_last_turn(memory, phone)
        parts += [
            {"kind": "meant", "meant": [vars(each) for each in line.meant], "shown": line.shown, "to_ask": line.to_ask}
            for line in lines[:1]
            if line.meant or line.to_ask
        ]
        parts += _recalled(memory, phone, text)
        parts += [
            {"kind": "called", "tool": call.tool, "arguments": call.arguments} for line in lines for call in line.calls
        ]
    return {"reply": str(reply), "parts": [*parts, *_learnt(memory, phone, known)]}


def _silent(memory: PhoneMemory, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Extract facts from what was said, as happens by itself when a talk falls silent."""
    parts: list[dict[str, Any]] = []
    for phone in asked["phones"]:
        known = _known(memory, phone)
        if memory.settings.remembers and memory.extraction is not None:
            memory.extract(phone)
        parts += [part | {"who": phone} for part in _learnt(memory, phone, known)]
    return {"parts": parts or [{"kind": "note", "text": "nothing new was learnt; who texts now begins a new session"}]}


def _newest(memory: PhoneMemory, phone: str) -> Any:
    found = memory.saver.get_tuple({"configurable": {"thread_id": memory.people.resolve(phone)}})
    return None if found is None else found.checkpoint["id"]


def _of_last_turn(memory: PhoneMemory, phone: str) -> "list[Line]":
    """Return the lines from the person's last message on."""
    from langmem_plugin.web.conversation_transcripts import transcript  # noqa: PLC0415 - of the extra `web`

    owner = memory.people.resolve(phone)
    session = memory.saver.session_of({"configurable": {"thread_id": owner}})
    if session is None:
        return []
    many = memory.sessions.session(session).message_counter
    _, lines = transcript(memory, owner, session, first=max(0, many - 40))
    last = max((at for at, line in enumerate(lines) if line.role == "user"), default=0)
    return lines[last:]


def _recalled(memory: PhoneMemory, phone: str, text: str) -> Iterator[dict[str, Any]]:
    """Yield the memories that the reply was given, with the signals by which they were found."""
    owner = memory.people.resolve(phone)
    found = memory.saver.get_tuple({"configurable": {"thread_id": owner}})
    recalled = found.checkpoint["channel_values"].get("recalled") if found is not None else None
    if not recalled:
        return
    by = {each.memory.id: each.signals for each in memory.service.search(owner, text, limit=50, min_relevance=0.0)}
    for memory_id, score in recalled:
        for held in memory.service.get(owner, [memory_id]):
            signals = (f"{name} {value:.2f}" for name, value in by.get(memory_id, {}).items() if value > _SURE)
            yield {"kind": "recalled", "text": held.text, "why": ", ".join(signals) or f"relevance {score:.2f}"}


def _known(memory: PhoneMemory, phone: str) -> dict[str, Memory]:
    if not memory.settings.remembers:
        return {}
    listed = memory.service.list_memories(phone, limit=500, statuses=["active", "pending"])
    return {each.id: each for each in listed}


def _learnt(memory: PhoneMemory, phone: str, known: Mapping[str, Memory]) -> Iterator[dict[str, Any]]:
    for each in _known(memory, phone).values():
        if each.id not in known or each.text != known[each.id].text:
            yield {"kind": "learnt", "text": each.text, "quote": each.quote, "waits": each.status == "pending"}


if __name__ == "__main__":
    main()
