"""`langmem serve` and `mcp`: the HTTP API and the pages, or one person's memory over MCP, as a service of its own."""

import importlib
import importlib.util
import inspect
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from langgraph.pregel import Pregel

from langmem_plugin.cli.command_context import Create, Where, on, refuse_missing
from langmem_plugin.database.encryption.encryption import in_the_open
from langmem_plugin.errors import ConfigurationError, InvalidInput
from langmem_plugin.people.access_tokens import AccessTokens, is_loopback

if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory

PORT = 8420
FIRST_TOKEN_FOR = timedelta(hours=8)
_MADE_BY = {"person": "`langmem token new PHONE`", "operator": "`langmem token new --operator`"}
_STOPS_WITHIN = 10  # seconds, for answers in progress
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@on(nullcontext)
def mcp(
    where: Where,
    *,
    phone: Annotated[
        str | None, typer.Option("--phone", help="over standard input and output: whose memory, fixed by this")
    ] = None,
    http: Annotated[
        int | None, typer.Option("--http", min=0, max=65_535, help="over HTTP, on this port: whose, the token says")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="where HTTP listens; beyond this machine put TLS before it")] = (
        "127.0.0.1"
    ),
) -> None:
    """Serve one person's memory over MCP: --phone for the program that starts this, --http for those with a token."""
    if (phone is None) == (http is None):
        raise InvalidInput("say how: --phone PHONE for a program that starts this, or --http PORT")
    from langmem_plugin import mcp_server  # noqa: PLC0415 - an extra
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415 - loads the embedding model

    # Extracting facts and sweeping are the service's work.
    settings = where.settings().model_copy(update={"sweep_every": None, "extraction": "off"})
    if settings.enable_memory_system:
        refuse_missing(settings, where.database)
    with PhoneMemory(where.database, settings=settings) as memory:
        if phone is not None:
            # Python's own handler would wait for the thread that reads; what was written is safe in the database.
            with handled(signal.SIG_DFL, signal.SIGINT):
                mcp_server.serve_stdio(memory, phone)
            return
        refuse_open_door(AccessTokens(memory.database, now=memory.service.now), host, "person")
        with listening_on(host, http or 0) as listening:
            address = address_of(listening)
            app = mcp_server.http_app(memory, host=host, port=int(listening.getsockname()[1]))
            typer.echo(f"listening on {address}/mcp")
            run_server(app, listening)


@on(nullcontext)
def serve(
    where: Where,
    *,
    host: Annotated[str, typer.Option("--host", help="where it listens; beyond this machine put TLS before it")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="0: any that is free")] = PORT,
    graph: Annotated[
        str | None,
        typer.Option("--graph", help="a graph of your own for POST /api/chat: package.module:name, or ./file.py:name"),
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
) -> None:
    """Serve the API at /api, people's pages at /me and the console at /console, to those with a token.

    Where there is no operator's token it makes one for eight hours. SIGTERM lets what was asked be answered.
    """
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415 - loads the embedding model

    # Other loggers stay quiet: HTTP clients log addresses that hold keys of providers.
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("langmem_plugin").setLevel(log_level.upper())
    settings = where.settings()
    if settings.enable_memory_system:
        refuse_missing(settings, where.database, create=create)
    # Uvicorn raises the signal again at its end, which would leave the memory open.
    with handled(lambda *_: None), PhoneMemory(where.database, settings=settings) as memory:
        _serve(memory, host, port, graph=graph, behind_proxy=behind_proxy)


def refuse_open_door(tokens: AccessTokens, host: str, *kinds: Literal["person", "operator"]) -> None:
    """Raise ConfigurationError where `host` is beyond loopback and nobody has a token of these kinds yet."""
    if is_loopback(host) or any(each.kind in kinds for each in tokens.listed()):
        return
    how = " or ".join(_MADE_BY[each] for each in kinds)
    raise ConfigurationError(
        f"{host} is reached from other machines, and nobody has a token: make one with {how} first, or leave out --host"
    )


def _serve(memory: "PhoneMemory", host: str, port: int, *, graph: str | None, behind_proxy: bool) -> None:
    compiled = None if graph is None else graph_named(graph, memory)
    if compiled is not None:
        memory.check(compiled)
    app = memory.app(graph=compiled)
    tokens = AccessTokens(memory.database, now=memory.service.now)
    refuse_open_door(tokens, host, "operator", "person")
    with listening_on(host, port) as listening:
        at = address_of(listening)
        typer.echo(f"listening on {at} (API: {at}/api/docs, console: {at}/console)")
        if not any(each.kind == "operator" for each in tokens.listed()):
            token, access = tokens.new_operator(FIRST_TOKEN_FOR)
            typer.echo(f"operator's token, told this once, until {access.expires_at:%Y-%m-%d %H:%M} UTC: {token}")
        if (warning := in_the_open(memory.database.encryption)) is not None:
            typer.echo(warning)
        run_server(
            app,
            listening,
            proxy_headers=behind_proxy,
            server_header=False,
            timeout_graceful_shutdown=_STOPS_WITHIN,
        )


@contextmanager
def handled(handler: Callable[..., object] | signal.Handlers, *signals: signal.Signals) -> Iterator[None]:
    """Handle these signals, by default those that end a service, by `handler` inside the block."""
    before = {each: signal.signal(each, handler) for each in signals or _SIGNALS}
    try:
        yield
    finally:
        for each, old in before.items():
            signal.signal(each, old)


def listening_on(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises ConfigurationError where another program listens there."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ConfigurationError(f"{host}:{port} cannot be listened on: {error.strerror}: name another port") from error


def address_of(listening: socket.socket) -> str:
    host, port, *_ = listening.getsockname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def run_server(app: Any, listening: socket.socket, **options: Any) -> None:
    """Run the server until it is told to end."""
    import uvicorn  # noqa: PLC0415 - of the extra that the app is of

    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, **options)).run([listening])


def graph_named(name: str, memory: "PhoneMemory") -> Any:
    """Return the compiled graph, named as in `langgraph.json`, with this memory's checkpointer where it has none. A
    function is called first, with the memory if it takes an argument. Raises ConfigurationError.
    """
    module, _, attribute = name.rpartition(":")
    if not module or not attribute:
        raise ConfigurationError(f"{name!r} names no graph: say package.module:name, or ./file.py:name")
    found = getattr(_module(module), attribute, None)
    if found is None:
        raise ConfigurationError(f"there is no {attribute} in {module}: say package.module:name, or ./file.py:name")
    if not isinstance(found, Pregel) and callable(found):
        found = found(memory) if inspect.signature(found).parameters else found()
    if not isinstance(found, Pregel):
        raise ConfigurationError(f"{name} is no compiled graph, and no function that gives one")
    return found if found.checkpointer else found.copy({"checkpointer": memory.saver})


def _module(name: str) -> ModuleType:
    if name.endswith(".py"):
        file = Path(name)
        spec = importlib.util.spec_from_file_location(file.stem, file)
        if spec is None or spec.loader is None or not file.is_file():
            raise ConfigurationError(f"there is no file {name}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module  # the classes of a state are looked up by it
        spec.loader.exec_module(module)
        return module
    sys.path.insert(0, str(Path.cwd()))  # as `python -m` and `langgraph dev` do
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise ConfigurationError(
            f"there is no module {error.name} here: run it where {name} can be imported"
        ) from error
    finally:
        sys.path.pop(0)
