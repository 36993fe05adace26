"""Serves routes: the token is checked first, then FastAPI goes on, and all answers have one envelope."""

import inspect
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.params import Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, create_model, model_validator
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive

from langmem_plugin.database.audit_recording import acting
from langmem_plugin.errors import LangMemError
from langmem_plugin.logs import event_log
from langmem_plugin.people.rate_limits import LARGEST_BODY, LARGEST_IMPORT
from langmem_plugin.web.api.error_responses import MEDIA_TYPE, Refused
from langmem_plugin.web.api.request_context import Call, admitted
from langmem_plugin.web.app_context import root_of

log = event_log(__name__)

IMPORTS = "/api/memory/import"
_HUNG_UP = 499
_LONGEST_SHOWN, _MOST_SHOWN = 40, 5  # letters of an unknown parameter, and the number of them
_PROBLEMS = {
    400: "the request cannot be read",
    401: "no valid token",
    403: "for operators alone",
    404: "there is no such thing, or it is somebody else's",
    409: "it has changed meanwhile, or is not possible as the service is set up",
    412: "it is not what If-Match names",
    413: "the body is too large",
    422: "the request cannot be used as it is",
    429: "asked too often",
    503: "the memory cannot be reached",
}
_HEADERS = {
    "ETag": "which state it is in: to be sent as If-Match with a change, or as If-None-Match to be told 304",
    "Link": "the parts of the list beside this one, as RFC 8288 has it",
    "Location": "the path of what was made",
    "Retry-After": "seconds to wait",
    "X-Total-Count": "how many there are on all pages",
}

Data = TypeVar("Data")


class Answer(BaseModel, Generic[Data]):
    """The envelope of every answer that is no problem: a route gives its data alone."""

    success: bool = Field(default=True, description="true: what could not be done is a problem document")
    data: Data

    @model_validator(mode="before")
    @classmethod
    def _enveloped(cls, data: Any) -> Any:
        return {"data": data}


def answer(name: str = "", /, **fields: Any) -> type[Answer[Any]]:
    """Make the envelope of these fields, each with its type; without a `name` the fields name it."""
    return _answer(name or "".join(each.title().replace("_", "") for each in fields), tuple(fields.items()))


@cache
def _answer(name: str, fields: tuple[tuple[str, Any], ...]) -> type[Answer[Any]]:
    """The same model for the same fields: programs made from the description then have it once."""
    made: Any = create_model(f"{name}Data", **dict(fields))
    of: type[Answer[Any]] = Answer[made]
    return of


def gives(*headers: str) -> dict[str, Any]:
    """The description of an answer's headers."""
    return {"headers": {each: {"description": _HEADERS[each], "schema": {"type": "string"}} for each in headers}}


Described = dict[int | str, dict[str, Any]]
PAGED: Described = {200: gives("Link", "X-Total-Count")}
TAGGED: Described = {200: gives("ETag")}


def _problems() -> Described:
    document = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": told, "content": document, **(gives("Retry-After") if status in (429, 503) else {})}
        for status, told in _PROBLEMS.items()
    }


class ApiRoute(APIRoute):
    """A route that reads nothing of a request before its token was checked."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **how: Any) -> None:
        first, _, rest = inspect.cleandoc(endpoint.__doc__ or "").partition("\n\n")
        how["summary"], how["responses"] = " ".join(first.split()).rstrip("."), _problems() | (how["responses"] or {})
        super().__init__(path, endpoint, **how | {"operation_id": endpoint.__name__})
        self.description = " ".join(rest.split())  # given none, FastAPI would take all of the docstring

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle, largest = super().get_route_handler(), LARGEST_IMPORT if self.path == IMPORTS else LARGEST_BODY

        async def handled(request: Request) -> Response:
            try:
                request.state.caller = caller = await run_in_threadpool(admitted, request)
                self._refuse_unknown(request)
                with acting(caller.actor, within=True):
                    response = await handle(Request(request.scope, _bounded(request, largest)))
            except ClientDisconnect:  # the client is gone, and nothing is wrong here
                return Response(status_code=_HUNG_UP)
            except (HTTPException, LangMemError, RequestValidationError):
                raise
            except Exception as error:
                log.exception("api.failed", extra={"what": self.path})
                raise HTTPException(500, "this is a mistake of ours: the log has it") from error
            known = request.headers.get("if-none-match", "")
            if request.method == "GET" and response.headers.get("etag", "-") in known:
                return Response(None, 304, {"etag": response.headers["etag"]})
            return response

        return handled

    def _refuse_unknown(self, request: Request) -> None:
        """Refuse unknown query parameters: a filter with a typing error would otherwise filter nothing."""
        known = {each.alias for each in get_flat_params(self.dependant) if isinstance(each.field_info, Query)}
        if unknown := sorted(request.query_params.keys() - known):
            told = f"it knows {', '.join(sorted(known))}" if known else "it knows none"
            names = ", ".join(ascii(each[:_LONGEST_SHOWN]) for each in unknown[:_MOST_SHOWN])
            raise Refused(422, "unknown-parameter", "A query parameter is not known here", f"{names}: {told}")


def routes_of(tag: str) -> APIRouter:
    """A router for the routes of one thing."""
    return APIRouter(tags=[tag], route_class=ApiRoute)


def _bounded(request: Request, largest: int) -> Receive:
    """A body that raises HTTPException if it is larger than `largest` bytes, announced or not."""
    receive, read = request.receive, 0
    too_large = HTTPException(413, f"the body may have {largest:,} bytes: send less at once")
    said = request.headers.get("content-length", "")
    is_said_too_large = said.isdecimal() and int(said[:20]) > largest

    async def bounded() -> Message:
        nonlocal read
        if is_said_too_large:
            raise too_large
        message = await receive()
        read += len(message.get("body", b""))
        if read > largest:
            raise too_large
        return message

    return bounded


def tell_place(call: Call, *, total: int | None, limit: int, offset: int, after: str | None = None) -> None:
    """Tell in the headers the total, if it is known, and the addresses of the neighbouring parts (RFC 8288).

    `after` is the cursor of the last item here, None if nothing comes after it. The addresses name no host: a proxy
    before this service knows its own.
    """
    request, headers = call.request, call.response.headers
    path = root_of(request) + request.scope["path"].removeprefix(root_of(request))
    asked = [
        each
        for each in parse_qsl(request.url.query, keep_blank_values=True)
        if each[0] not in {"limit", "offset", "cursor"}
    ]
    by_cursor = "cursor" in request.query_params
    places: dict[str, tuple[str, str | int]] = {}
    if offset or by_cursor:
        places["first"] = ("offset", 0)
    if offset:
        places["prev"] = ("offset", max(0, offset - limit))
    if after is not None:
        places["next"] = ("cursor", after)
    elif total is not None and offset + limit < total and not by_cursor:
        places["next"] = ("offset", offset + limit)
    if total is not None and total > limit:
        places["last"] = ("offset", (total - 1) // limit * limit)
    told = [f'<{path}?{urlencode([*asked, ("limit", limit), place])}>; rel="{name}"' for name, place in places.items()]
    if total is not None:
        headers["x-total-count"] = str(total)
    if told:
        headers["link"] = ", ".join(told)
