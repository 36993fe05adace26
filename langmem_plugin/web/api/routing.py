"""How routes are served: the token first, then the work in threads of the API's own, then one envelope for all."""

import functools
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive

from langmem_plugin.database.audit_trail import acting
from langmem_plugin.logs import event_log
from langmem_plugin.people.request_rates import LARGEST_BODY
from langmem_plugin.web.api.calls import Call, admitted
from langmem_plugin.web.api.problems import MEDIA_TYPE, Refused, problem_of

log = event_log(__name__)

THREADS = 100
LARGEST_IMPORT = 64 * 2**20
_HUNG_UP = 499
_LONGEST_SHOWN, _MOST_SHOWN = 40, 5  # of parameters that are not known
_JSON = "application/json"
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

Data = TypeVar("Data")


class Answer(BaseModel, Generic[Data]):
    """The envelope of every answer that is no problem."""

    success: bool = Field(default=True, description="true: what could not be done is a problem document")
    data: Data


@dataclass
class Answered(Generic[Data]):
    """The answer of a route that gives more than its data. `tag` is the ETag."""

    data: Data
    status: int = 200
    tag: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


class Routes:
    """Those of one file. A route is a plain function of a Call and what the request says; it runs in a thread."""

    def __init__(self, tag: str) -> None:
        self.router = APIRouter(tags=[tag])

    def get(self, path: str, **how: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return self._serving("GET", path, **how)

    def post(self, path: str, **how: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return self._serving("POST", path, **how)

    def put(self, path: str, **how: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return self._serving("PUT", path, **how)

    def patch(self, path: str, **how: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return self._serving("PATCH", path, **how)

    def delete(self, path: str, **how: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return self._serving("DELETE", path, **how)

    def _serving(
        self,
        method: str,
        path: str,
        *,
        statuses: Sequence[int] = (200,),
        largest: int = LARGEST_BODY,
        in_loop: bool = False,
        content: Mapping[str, Any] | None = None,
        also: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        gives: Sequence[str] = (),
        if_match: bool = False,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """`content` describes an answer that is no JSON in the envelope, `also` another form of it beside that, and
        `body` one that is read by the route itself. `gives` are headers of the answer; with `if_match` that header of
        the request is heeded.
        A route that is `in_loop` is asynchronous, and gives a response.
        """

        def added(work: Callable[..., Any]) -> Callable[..., Any]:
            given = get_type_hints(work)["return"]
            data = get_args(given)[0] if get_origin(given) is Answered else given
            responses: dict[int | str, dict[str, Any]] = {
                status: {"description": told, "content": {MEDIA_TYPE: {"schema": _PROBLEM}}, "headers": _headers(after)}
                for status, told in _PROBLEMS.items()
                for after in [("Retry-After",) if status in _AGAIN_LATER else ()]
            }
            done: dict[str, Any] = {"headers": _headers(gives)}
            if content is not None:
                responses[200] = {"description": "the file", "content": dict(content), **done}
            elif also is not None:
                responses[200] = {"description": "the same in another form too", "content": dict(also), **done}
            else:
                responses[statuses[0]] = {"description": "it is done", **done}
            for status in statuses[1:]:
                responses[status] = {"description": "the same", "model": Answer[data], **done}  # type: ignore[valid-type]
            extra: dict[str, Any] = {} if body is None else {"requestBody": dict(body)}
            if if_match:
                extra["parameters"] = [_IF_MATCH]
            first, _, rest = (work.__doc__ or "").strip().partition("\n\n")
            route = _Route(
                path,
                work if in_loop else _in_thread(work, statuses[0]),
                methods=[method],
                status_code=statuses[0],
                response_model=None if content is not None else (data if in_loop else Answer[data]),  # type: ignore[valid-type]
                responses=responses,
                summary=" ".join(first.split()).rstrip("."),
                description=" ".join(rest.split()),
                operation_id=work.__name__,
                tags=self.router.tags,
                openapi_extra=extra,
                response_class=Response if content is not None else JSONResponse,
            )
            route.largest = largest
            self.router.routes.append(route)
            return work

        return added


_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_AGAIN_LATER = {429, 503}
_HEADERS = {
    "ETag": "which state it is in: to be sent as If-Match with a change, or as If-None-Match to be told 304",
    "Link": "the parts of the list beside this one, as RFC 8288 has it",
    "Location": "the path of what was made",
    "Retry-After": "seconds to wait",
    "X-Total-Count": "how many there are on all pages",
}
_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "an ETag: only if it has not changed since, else 412",
}


def _headers(names: Sequence[str]) -> dict[str, Any]:
    return {each: {"description": _HEADERS[each], "schema": {"type": "string"}} for each in names}


class _Route(APIRoute):
    """A route that reads nothing of a request before its token was checked; every error is a problem document."""

    largest = LARGEST_BODY

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                limiter: CapacityLimiter = request.app.state.api_threads
                request.state.call = await to_thread.run_sync(admitted, request, limiter=limiter)
                self._refuse_unknown(request)
                bounded = Request(request.scope, _bounded(request, self.largest))
                return await handle(bounded)
            except ClientDisconnect:  # nobody is there to be told, and nothing is wrong here
                return Response(status_code=_HUNG_UP)
            except Exception as error:
                response = problem_of(error, request)
                if response is None:
                    log.exception("api.failed", extra={"what": self.path})
                    response = problem_of(HTTPException(500, "this is a mistake of ours: the log has it"), request)
                if response is None:
                    raise
                return response

        return handled

    def _refuse_unknown(self, request: Request) -> None:
        """A filter with a slip in its name would otherwise be no filter."""
        known = {each.alias for each in get_flat_params(self.dependant) if isinstance(each.field_info, Query)}
        if unknown := sorted(request.query_params.keys() - known):
            told = f"it knows {', '.join(sorted(known))}" if known else "it knows none"
            names = ", ".join(ascii(each[:_LONGEST_SHOWN]) for each in unknown[:_MOST_SHOWN])
            raise Refused(422, "unknown-parameter", "A query parameter is not known here", f"{names}: {told}")


def _bounded(request: Request, largest: int) -> Receive:
    """Gives the body, and raises where it is larger, said or not."""
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


def _in_thread(work: Callable[..., Any], status: int) -> Callable[..., Coroutine[Any, Any, Response]]:
    @functools.wraps(work)
    async def served(**given: Any) -> Response:
        call: Call = given["call"]
        limiter: CapacityLimiter = call.request.app.state.api_threads
        return await to_thread.run_sync(_done, work, given, call, status, limiter=limiter)

    return served


def _done(work: Callable[..., Any], given: Mapping[str, Any], call: Call, status: int) -> Response:
    with acting(call.actor, within=True):
        result = work(**given)
    if isinstance(result, Response):
        return result
    answered = result if isinstance(result, Answered) else Answered(result, status)
    headers = dict(answered.headers)
    if answered.tag is not None:
        headers["etag"] = tag = f'"{answered.tag}"'
        if call.request.method == "GET" and tag in call.request.headers.get("if-none-match", ""):
            return Response(None, 304, headers)
    return Response(enveloped(answered.data), answered.status, headers, _JSON)


def enveloped(data: Any) -> bytes:
    dumped = data.model_dump_json() if isinstance(data, BaseModel) else json.dumps(data)
    return b'{"success":true,"data":' + dumped.encode() + b"}"
