"""`langmem serve`: the HTTP API and the pages, as a service of its own."""

import importlib
import logging
import signal
import socket
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from langmem_plugin.cli.opening import Config, Create, Url, chosen, refuse_missing, refuse_missing_if_named
from langmem_plugin.database.opening import in_the_open
from langmem_plugin.errors import ConfigurationError, InvalidInput
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


if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory

PORT = 8420
FIRST_TOKEN_FOR = timedelta(hours=8)
_STOPS_WITHIN = 10  # seconds, for answers that are on their way
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def serve(
    host: Annotated[str, typer.Option("--host", help="where it listens; beyond this machine put TLS before it")] = (
        "127.0.0.1"
    ),
    *,
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="0: any that is free")] = PORT,
    graph: Annotated[
        str | None,
        typer.Option("--graph", help="module:name of a function that makes a graph of the memory, for POST /api/chat"),
    ] = None,
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy",
            help="believe X-Forwarded-For and -Proto of a proxy on this machine, or of $FORWARDED_ALLOW_IPS",
        ),
    ] = False,
    log_level: Annotated[
        Literal["info", "warning"], typer.Option("--log-level", help="info: a line for each request too")
    ] = "warning",
    create: Create = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Serve the API at /api, people's pages at /me and the console at /console, to those with a token.

    Where there is no operator's token it makes one for eight hours. SIGTERM lets what was asked be answered.
    """
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415 - loads the embedding model

    # Not other loggers: HTTP clients write addresses that hold keys of providers.
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("langmem_plugin").setLevel(log_level.upper())
    settings = chosen(config)
    if settings.enable_memory_system:
        refuse_missing_if_named(settings, database, create=create)
    # Uvicorn ends by giving the signal on, which would leave the memory open.
    before = {each: signal.signal(each, lambda *_: None) for each in _SIGNALS}
    try:
        with PhoneMemory(database, settings=settings) as memory:
            _serve(memory, host, port, graph=graph, behind_proxy=behind_proxy)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _serve(memory: "PhoneMemory", host: str, port: int, *, graph: str | None, behind_proxy: bool) -> None:
    app = memory.app(graph=None if graph is None else made(graph, memory))
    import uvicorn  # noqa: PLC0415 - of the extra, whose lack was told of by now

    tokens = AccessTokens(memory.database, now=memory.service.now)
    refuse_open_door(tokens, host, "operator", "person")
    with listening_on(host, port) as listening:
        at = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        typer.echo(f"listening on {at} (API: {at}/api/docs, console: {at}/console)")
        if not any(each.kind == "operator" for each in tokens.listed()):
            token, access = tokens.new_operator(FIRST_TOKEN_FOR)
            typer.echo(f"operator's token, told this once, until {access.expires_at:%Y-%m-%d %H:%M} UTC: {token}")
        if (warning := in_the_open(memory.database)) is not None:
            typer.echo(warning)
        uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                proxy_headers=behind_proxy,
                server_header=False,
                timeout_graceful_shutdown=_STOPS_WITHIN,
            )
        ).run([listening])


def listening_on(host: str, port: int) -> socket.socket:
    """Raises ConfigurationError where something else listens there."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ConfigurationError(f"{host}:{port} cannot be listened on: {error.strerror}: name another port") from error


def made(graph: str, memory: "PhoneMemory") -> Any:
    """The graph that `module:name` makes of the memory. Raises InvalidInput, or ConfigurationError as `check`."""
    module, _, name = graph.partition(":")
    sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(f"there is no {graph}: name a function as module:name, seen from this folder") from error
    finally:
        sys.path.remove("")
    if not callable(found):
        raise InvalidInput(f"{graph} is no function: name one that takes the memory and gives a graph")
    compiled = found(memory)
    memory.check(compiled)
    return compiled
