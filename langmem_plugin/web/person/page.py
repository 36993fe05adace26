"""The application at /me: its doors, and what a person is told when one does not open."""

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse

from langmem_plugin.errors import (
    DamagedMemory,
    InstructionNotFound,
    InvalidInput,
    LinkedLately,
    MemoryNotFound,
    NotAuthorized,
    StoreUnavailable,
    TurnTimeout,
    UnknownSession,
)
from langmem_plugin.logs import event_log
from langmem_plugin.web.access import Attempts
from langmem_plugin.web.person import conversations, entering, instructions, memories, privacy
from langmem_plugin.web.person.around_requests import SmallForms, UnloggedLinks
from langmem_plugin.web.person.visit import browser_language, shown
from langmem_plugin.web.served import Served

log = event_log(__name__)

_NOT_FOUND, _SERVER_ERROR = 404, 500
_TOLD: dict[type[Exception], tuple[int, str]] = {
    NotAuthorized: (401, "ended"),
    LinkedLately: (403, "linked"),
    StoreUnavailable: (503, "down"),
    TurnTimeout: (503, "busy"),
    MemoryNotFound: (_NOT_FOUND, "gone"),
    InstructionNotFound: (_NOT_FOUND, "gone"),
    UnknownSession: (_NOT_FOUND, "gone"),
    DamagedMemory: (_NOT_FOUND, "damaged"),
    InvalidInput: (400, "odd"),
    RequestValidationError: (400, "odd"),
}
_SECRETS = frozenset({"token"})


def person_page(served: Served) -> FastAPI:
    """The person's page, to be mounted at /me."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.state.served, app.state.wrong_links = served, Attempts()
    for each in (entering, memories, instructions, conversations, privacy):
        app.include_router(each.router)
    for kind in _TOLD:
        app.add_exception_handler(kind, _told)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_middleware(SmallForms)
    app.add_middleware(UnloggedLinks)
    return app


async def _told(request: Request, error: Exception) -> HTMLResponse:
    status, what = next(_TOLD[each] for each in type(error).__mro__ if each in _TOLD)
    if status == _TOLD[StoreUnavailable][0]:
        log.warning("page.unavailable", exc_info=error)
    return await _trouble(request, status, what)


async def _of_http(request: Request, error: Exception) -> HTMLResponse:
    """An address that is none, or one that takes a form and was opened."""
    status = error.status_code if isinstance(error, HTTPException) else _SERVER_ERROR
    return await _trouble(request, _NOT_FOUND if status == 405 else status, "gone")  # noqa: PLR2004 - of another method


async def _trouble(request: Request, status: int, what: str) -> HTMLResponse:
    """The page for a failure: it keeps what the person typed, ready to be sent again."""
    typed: list[tuple[str, str]] = []
    if request.method == "POST":
        form = await request.form()
        typed = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    language = getattr(request.state, "language", None) or browser_language(request)
    again = "" if _SECRETS & {name for name, _ in typed} and what != "down" else request.scope["path"]
    response = shown(request, "trouble.html", language, status=status, what=what, typed=typed, again=again)
    if status == _TOLD[StoreUnavailable][0]:
        response.headers["retry-after"] = "5"
    return response
