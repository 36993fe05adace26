"""A Model Context Protocol server of one person's memory: over stdio, or over HTTP by a token."""

try:
    import mcp  # noqa: F401
except ImportError as error:
    raise ImportError("the MCP server needs more: pip install 'phone-memory[mcp]'") from error

from langmem_plugin.mcp_server.server import http_app, memory_server, serve_stdio

__all__ = ["http_app", "memory_server", "serve_stdio"]
