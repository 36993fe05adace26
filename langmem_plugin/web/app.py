"""The web application of one PhoneMemory: the API, each person's own page and the operator's console, in one."""

from importlib import metadata

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from langmem_plugin.agent.replying.sync_async_steps import Graph
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.web.access_log import AccessLog
from langmem_plugin.web.api.api_and_openapi import add_api
from langmem_plugin.web.app_context import HeadAsGet, RootNoted, Served, root_of
from langmem_plugin.web.authentication import CONSOLE, PAGE
from langmem_plugin.web.browser_security import BrowserSafety
from langmem_plugin.web.console.console_app_and_sign_in import console_app
from langmem_plugin.web.health_and_metrics import add_health
from langmem_plugin.web.look.static_files import StaticLook
from langmem_plugin.web.person.person_app_and_sign_in import person_page


def _to_the_console(request: Request) -> Response:
    return RedirectResponse(f"{root_of(request)}{CONSOLE}/")


def web_app(memory: PhoneMemory, *, graph: Graph | None = None) -> FastAPI:
    """Make an ASGI application: /api, /me, /console and /health, to run by itself or to mount into another.

    `graph` answers `POST /api/chat`. Nothing is served without a token (`langmem token`). The caller closes the memory.
    Raises ConfigurationError if the memory is switched off.
    """
    if not memory.settings.enable_memory_system:
        raise ConfigurationError("the memory is switched off: there is nothing to serve")
    tokens = AccessTokens(memory.database, now=memory.service.now)
    served = Served(memory, tokens, graph)
    app = FastAPI(
        title="phone-memory",
        version=metadata.version("phone-memory"),
        summary="What assistants that people text remember of them.",
        license_info={"name": "MIT", "identifier": "MIT"},
        servers=[{"url": "/"}],
        openapi_url="/api/openapi.json",
        docs_url=None,  # its page loads scripts from another site
        redoc_url=None,
    )
    app.state.served = served
    add_health(app)  # before the API, which answers every other path below /api
    add_api(app)
    app.add_route("/", _to_the_console, include_in_schema=False)
    app.mount("/look", StaticLook(), name="look")
    app.mount(CONSOLE, console_app(served))
    app.mount(PAGE, person_page(served), name="person")
    app.add_middleware(BrowserSafety)
    # Other sites send no cookie here, so they can guess nothing by how long an answer is.
    app.add_middleware(GZipMiddleware, minimum_size=1_000)
    app.add_middleware(HeadAsGet)
    app.add_middleware(RootNoted)
    app.add_middleware(AccessLog)
    return app
