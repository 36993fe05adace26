"""A small agent for trying out, of a household's dinners, groceries and calendar; it remembers by this middleware."""

import json
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langgraph.graph.state import CompiledStateGraph

from langmem_plugin.agent.models import chat_model
from langmem_plugin.plugin import PhoneMemory

_SYSTEM = "You help a family with its dinners and its calendar. Use the tools; show lists with numbers."
_HOUSEHOLD: dict[str, list[dict[str, Any]]] = json.loads(Path(__file__).with_name("household.json").read_text("utf-8"))


def demo_agent(memory: PhoneMemory, kept: Path | None = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """By the model that LANGMEM_MODEL names, else the offline one. The plan and the lists are in the file `kept`, or
    only in this process.
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
    """Lists by name: the family's plan, and each phone's groceries."""

    def __init__(self, kept: Path | None) -> None:
        self._kept = kept
        self._lists: dict[str, list[str]] = json.loads(kept.read_text("utf-8")) if kept and kept.exists() else {}

    def add(self, name: str, entries: list[str]) -> list[str]:
        """All that is on it then, each once."""
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
