"""The application at /me: its way in, its pages, and the page for a failure.

A link from the chat shows one button, which uses it up; programs that fetch links do not.
"""

from typing import Annotated

from fastapi import APIRouter, FastAPI, Form
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from langmem_plugin.database.audit_recording import PERSON, acting
from langmem_plugin.errors import (
    DamagedMemory,
    InstructionNotFound,
    InvalidInput,
    LinkedLately,
    MemoryNotFound,
    NotAuthorized,
    StoreUnavailable,
    TooManyRequests,
    TurnTimeout,
    UnknownSession,
)
from langmem_plugin.logs import event_log
from langmem_plugin.people.rate_limits import Rates
from langmem_plugin.web.app_context import Served, root_of
from langmem_plugin.web.authentication import PAGE, caller_by_cookie, count_failure, let_in, let_out
from langmem_plugin.web.person import conversations, instructions, memories, privacy_and_export
from langmem_plugin.web.person.person_request import Here, browser_language, served_of, shown

log = event_log(__name__)

_doors = APIRouter()
_LARGEST_FORM = 64_000  # bytes
_OF_LINKS = "/in/"
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
    """Make the person's page, to be mounted at /me."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, max_body_size=_LARGEST_FORM)
    app.state.served, app.state.wrong_links = served, Rates()
    for each in (_doors, memories.router, instructions.router, conversations.router, privacy_and_export.router):
        app.include_router(each)
    for kind in _TOLD:
        app.add_exception_handler(kind, _told)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_middleware(AsThemselves)
    return app


async def _told(request: Request, error: Exception) -> HTMLResponse:
    status, what = next(_TOLD[each] for each in type(error).__mro__ if each in _TOLD)
    if status == _TOLD[StoreUnavailable][0]:
        log.warning("page.unavailable", exc_info=error)
    return await _trouble(request, status, what)


async def _of_http(request: Request, error: Exception) -> HTMLResponse:
    """Answer a wrong address, or a form's address that was opened as a page."""
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


class AsThemselves:
    """ASGI middleware: each action is noted as the person's, and a link's token is hidden from the server's log.

    The token is gone from the request's path when the request is answered, which is when servers log it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_unlogged(message: Message) -> None:
            if message["type"] == "http.response.start" and scope["type"] == "http":
                before, found, _ = scope["path"].partition(scope.get("root_path", "") + _OF_LINKS)
                if found:
                    scope["path"] = f"{before}{found}…"
                    scope["raw_path"] = scope["path"].encode()
                    scope["query_string"] = b""
            await send(message)

        with acting(PERSON):
            await self._app(scope, receive, send_unlogged)


@_doors.get("/in/{token}")
def link(request: Request, token: str) -> HTMLResponse:
    """Show a button that lets the person in; opening the link changes nothing: messengers fetch it for previews."""
    served = served_of(request)
    access = served.tokens.access_by(token, "link")
    if access is None:
        return _over(request)
    language = served.memory.people.language(access.identifier, browser_language(request))
    return shown(request, "enter.html", language, token=token)


@_doors.post("/in")
def enter(request: Request, token: Annotated[str, Form()] = "") -> Response:
    tokens = served_of(request).tokens
    made = tokens.let_in(token, "link")
    if made is None:
        return _over(request)
    before = caller_by_cookie(request, tokens, PAGE)
    if before is not None:
        _end(request, before.token_id)
    response = RedirectResponse(f"{root_of(request)}{PAGE}/", 303)
    let_in(request, response, made[0], PAGE)
    return response


@_doors.get("/in")
def entered(request: Request) -> Response:
    """Answer the address that stands for a used link: go to the page, or tell that there is none."""
    if caller_by_cookie(request, served_of(request).tokens, PAGE) is None:
        return shown(request, "closed.html", browser_language(request), why="no_link")
    return RedirectResponse(f"{root_of(request)}{PAGE}/", 303)


@_doors.post("/leave")
def leave(visit: Here) -> RedirectResponse:
    _end(visit.request, visit.token_id)
    response = visit.go("left")
    let_out(visit.request, response, PAGE)
    return response


@_doors.get("/left")
def left(request: Request) -> HTMLResponse:
    return shown(request, "closed.html", browser_language(request), why="left")


def _end(request: Request, token_id: str) -> None:
    try:
        served_of(request).tokens.revoke(token_id)
    except InvalidInput:  # revoked by another click meanwhile
        return


def _over(request: Request) -> HTMLResponse:
    """The page for a link that lets nobody in. It counts only failures, so a valid link works from any address."""
    try:
        count_failure(request, request.app.state.wrong_links)
    except TooManyRequests as error:
        refused = shown(request, "closed.html", browser_language(request), status=429, why="too_many")
        refused.headers["retry-after"] = str(error.retry_after)
        return refused
    return shown(request, "closed.html", browser_language(request), status=410, why="over")
