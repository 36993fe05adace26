"""A small agent for trying out: it finds dinners and saves them, and remembers by this package's middleware."""

import json
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import BaseTool, tool
from langgraph.graph.state import CompiledStateGraph

from langmem_plugin.agent.models import chat_model
from langmem_plugin.plugin import PhoneMemory

_SYSTEM = "You help a family with its dinners. Use the tools; show a list of dinners with numbers."
_DINNERS = (
    {"name": "Lemon chicken", "minutes": 40, "needs": "chicken, lemons, thyme"},
    {"name": "Chicken soup", "minutes": 90, "needs": "chicken, carrots, noodles"},
    {"name": "Chicken curry", "minutes": 35, "needs": "chicken, coconut milk, curry paste"},
    {"name": "Mushroom pasta", "minutes": 25, "needs": "pasta, mushrooms, cream"},
    {"name": "Pasta with tomatoes", "minutes": 20, "needs": "pasta, tomatoes, basil"},
    {"name": "Lentil soup", "minutes": 45, "needs": "lentils, carrots, cumin"},
)


def demo_agent(memory: PhoneMemory) -> CompiledStateGraph[Any, Any, Any, Any]:
    """By the model that LANGMEM_MODEL names, else the offline one."""
    return create_agent(
        chat_model(),
        [*_tools(), *memory.tools()],
        system_prompt=_SYSTEM,
        middleware=[memory.middleware()],
        checkpointer=memory.saver,
        name="demo_agent",
    )


def _tools() -> list[BaseTool]:
    saved: list[str] = []

    @tool
    def find_dinners(query: str) -> str:
        """Find dinners by an ingredient, such as chicken or pasta."""
        wanted = {word.casefold().rstrip("s") for word in query.split()}
        found = [each for each in _DINNERS if wanted & {word.rstrip("s,") for word in _words(each)}]
        return json.dumps(found or _DINNERS)

    @tool
    def save_dinner(name: str) -> str:
        """Save a dinner to the plan of the week, by its name."""
        saved.append(name)
        return json.dumps({"saved": name, "plan": saved})

    return [find_dinners, save_dinner]


def _words(dinner: dict[str, Any]) -> list[str]:
    return f"{dinner['name']} {dinner['needs']}".casefold().split()
