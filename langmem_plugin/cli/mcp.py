"""`langmem mcp`: one person's memory for assistants and editors that speak the Model Context Protocol."""

import signal
import socket
from typing import Annotated

import typer

from langmem_plugin.cli.existing import refuse_missing
from langmem_plugin.cli.opening import Config, Url, chosen
from langmem_plugin.errors import InvalidInput
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.people.open_door import refuse_open_door


def mcp(
    phone: Annotated[
        str | None, typer.Option("--phone", help="over standard input and output: whose memory, fixed by this")
    ] = None,
    http: Annotated[
        int | None, typer.Option("--http", min=0, max=65_535, help="over HTTP, on this port: whose, the token says")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="where HTTP listens; beyond this machine put TLS before it")] = (
        "127.0.0.1"
    ),
    database: Url = None,
    config: Config = None,
) -> None:
    """Serve one person's memory over MCP: --phone for the program that starts this, --http for those with a token."""
    if (phone is None) == (http is None):
        raise InvalidInput("say how: --phone PHONE for a program that starts this, or --http PORT")
    from langmem_plugin import mcp_server  # noqa: PLC0415 - an extra
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415 - loads the embedding model

    # What people say, and what is past its time, is the service's to work on.
    settings = chosen(config).model_copy(update={"sweep_every": None, "extraction": "off"})
    if settings.enable_memory_system:
        refuse_missing(settings, database)
    with PhoneMemory(database, settings=settings) as memory:
        if phone is not None:
            # Python's own handler would wait for the thread that reads; what is written stands in the database.
            before = signal.signal(signal.SIGINT, signal.SIG_DFL)
            try:
                mcp_server.serve_stdio(memory, phone)
            finally:
                signal.signal(signal.SIGINT, before)
            return
        import uvicorn  # noqa: PLC0415 - of the same extra

        refuse_open_door(AccessTokens(memory.database, now=memory.service.now), host, "person")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.create_server((host, http or 0), family=family) as listening:
            port = int(listening.getsockname()[1])
            app = mcp_server.http_app(memory, host=host, port=port)
            typer.echo(f"listening on http://{f'[{host}]' if ':' in host else host}:{port}/mcp")
            uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run([listening])
