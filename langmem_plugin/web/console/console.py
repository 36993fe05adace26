"""The console as an application of its own, mounted at /console: its pages, and what is shown when one fails."""

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from langmem_plugin.errors import InvalidInput, LangMemError, NotAuthorized, StaleMemory, StoreUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.web.access import CONSOLE
from langmem_plugin.web.console import (
    categories,
    conversations,
    figures,
    instructions,
    linking,
    memories,
    one_memory,
    people,
    privacy,
    signing_in,
    tokens,
    upkeep,
    waiting,
    who,
)
from langmem_plugin.web.console.shell import Shell
from langmem_plugin.web.served import Served, root_of

log = event_log(__name__)

_ROOMS = (
    signing_in,
    figures,
    people,
    who,
    linking,
    memories,
    one_memory,
    waiting,
    categories,
    instructions,
    conversations,
    privacy,
    upkeep,
    tokens,
)


def console_app(served: Served) -> FastAPI:
    """Every page asks for an operator by itself; this only says what a refusal looks like."""
    shell = Shell(served)
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    for room in _ROOMS:
        app.include_router(room.routes(shell))

    @app.exception_handler(NotAuthorized)
    def to_the_door(request: Request, _: Exception) -> Response:
        address = f"{root_of(request)}{CONSOLE}/sign-in"
        if request.headers.get("hx-request") == "true":  # a part of a page cannot be a sign-in page
            return Response(status_code=401, headers={"hx-redirect": address})
        return RedirectResponse(address, 303)

    @app.exception_handler(LangMemError)
    def refused(request: Request, error: LangMemError) -> Response:
        status = _status(error)
        if status == _DOWN:
            log.warning("console.unavailable", exc_info=error)
        return shell.page(request, "refused.html", status=status, said=str(error), down=status == _DOWN)

    @app.exception_handler(RequestValidationError)
    def unreadable(request: Request, error: RequestValidationError) -> Response:
        fields = ", ".join(sorted({str(each["loc"][-1]) for each in error.errors()}))
        return shell.page(request, "refused.html", status=_WRONG, said=f"Look at: {fields}.", down=False)

    @app.exception_handler(HTTPException)
    def not_there(request: Request, error: HTTPException) -> Response:
        said = "There is no such page." if error.status_code == _MISSING else error.detail
        return shell.page(request, "refused.html", status=error.status_code, said=said, down=False)

    return app


_DOWN, _MISSING, _CHANGED, _WRONG = 503, 404, 409, 422


def _status(error: LangMemError) -> int:
    if isinstance(error, StoreUnavailable):
        return _DOWN
    if isinstance(error, StaleMemory):
        return _CHANGED
    return _WRONG if isinstance(error, InvalidInput) else _MISSING if isinstance(error, LookupError) else _WRONG
