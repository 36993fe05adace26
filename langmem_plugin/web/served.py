"""What every part of the web application serves: one memory, the tokens that open it, the graph that answers."""

from dataclasses import dataclass

from starlette.requests import Request

from langmem_plugin.agent.steps import Graph
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.plugin import PhoneMemory


@dataclass(frozen=True)
class Served:
    """`graph` answers chats; without one there is no chat."""

    memory: PhoneMemory
    tokens: AccessTokens
    graph: Graph | None = None


def root_of(request: Request) -> str:
    """The path that the whole application is mounted under in another one: "" where it runs by itself."""
    return str(request.scope.get("app_root_path", request.scope.get("root_path", "")))
