"""The server over the standard streams of its process, for the program that started it."""

from langmem_plugin.mcp_server.server import memory_server
from langmem_plugin.people import links
from langmem_plugin.plugin import PhoneMemory


def serve_stdio(memory: PhoneMemory, who: str | int) -> None:
    """Serves this person over standard input and output until the program closes them. Raises InvalidInput or
    ConfigurationError before it begins.
    """
    identifier = links.typed(memory.database, who)
    memory_server(memory, lambda: identifier).run("stdio")
