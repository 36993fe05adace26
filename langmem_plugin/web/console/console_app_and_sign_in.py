"""The console as an application of its own, mounted at /console: its sign-in, its pages, and its refusals."""

from typing import Annotated

from fastapi import FastAPI, Form
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from langmem_plugin.errors import (
    InvalidInput,
    LangMemError,
    NotAuthorized,
    StaleMemory,
    StoreUnavailable,
    TooManyRequests,
)
from langmem_plugin.logs import event_log
from langmem_plugin.people.rate_limits import Rates
from langmem_plugin.web.app_context import Served, root_of
from langmem_plugin.web.authentication import CONSOLE, caller_by_cookie, count_failure, let_in, let_out
from langmem_plugin.web.console import advice, instructions_and_categories, memories, overview_people_jobs_audit, person
from langmem_plugin.web.console.operator_request import gone, shown
from langmem_plugin.web.sealed_person_addresses import PersonRefs

log = event_log(__name__)

_DOWN, _MISSING, _CHANGED, _WRONG = 503, 404, 409, 422


def console_app(served: Served) -> FastAPI:
    """Make the console: every page asks for an operator by itself, and the sign-in page needs none."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.state.served, app.state.refs = served, PersonRefs(served.memory.database)
    app.state.attempts = Rates()
    for each in (overview_people_jobs_audit, person, memories, instructions_and_categories, advice):
        app.include_router(each.router)
    app.add_api_route("/sign-in", _door, methods=["GET"])
    app.add_api_route("/sign-in", _sign_in, methods=["POST"])
    app.add_api_route("/sign-out", _sign_out, methods=["POST"])
    for kind, told in (
        (NotAuthorized, _to_the_door),
        (TooManyRequests, _slowed_down),
        (LangMemError, _refused),
        (RequestValidationError, _unreadable),
        (HTTPException, _not_there),
    ):
        app.add_exception_handler(kind, told)  # type: ignore[arg-type] # each takes its own kind
    return app


def _door(request: Request) -> Response:
    return shown(request, "sign_in.html", wrong=False, busy=False)


def _sign_in(request: Request, token: Annotated[str, Form(max_length=200)] = "") -> Response:
    """Exchange an operator's token for a cookie."""
    entered = request.app.state.served.tokens.let_in(token.strip(), "operator")
    if entered is None:
        count_failure(request, request.app.state.attempts)
        return shown(request, "sign_in.html", status=403, wrong=True, busy=False)
    response = gone(request, "")
    let_in(request, response, entered[0], CONSOLE)
    return response


def _sign_out(request: Request) -> Response:
    tokens = request.app.state.served.tokens
    caller = caller_by_cookie(request, tokens, CONSOLE)
    if caller is not None:
        tokens.revoke(caller.token_id)
    response = gone(request, "sign-in")
    let_out(request, response, CONSOLE)
    return response


def _slowed_down(request: Request, _: TooManyRequests) -> Response:
    return shown(request, "sign_in.html", status=429, wrong=False, busy=True)


def _to_the_door(request: Request, _: NotAuthorized) -> Response:
    address = f"{root_of(request)}{CONSOLE}/sign-in"
    if request.headers.get("hx-request") == "true":  # a part of a page cannot be a sign-in page
        return Response(status_code=401, headers={"hx-redirect": address})
    return RedirectResponse(address, 303)


def _refused(request: Request, error: LangMemError) -> Response:
    down = isinstance(error, StoreUnavailable)
    if down:
        log.warning("console.unavailable", exc_info=error)
    is_missing = isinstance(error, LookupError) and not isinstance(error, InvalidInput)
    other = _CHANGED if isinstance(error, StaleMemory) else _MISSING if is_missing else _WRONG
    return shown(request, "refused.html", status=_DOWN if down else other, said=str(error), down=down)


def _unreadable(request: Request, error: RequestValidationError) -> Response:
    fields = ", ".join(sorted({str(each["loc"][-1]) for each in error.errors()}))
    return shown(request, "refused.html", status=_WRONG, said=f"Look at: {fields}.", down=False)


def _not_there(request: Request, error: HTTPException) -> Response:
    said = "There is no such page." if error.status_code == _MISSING else error.detail
    return shown(request, "refused.html", status=error.status_code, said=said, down=False)
