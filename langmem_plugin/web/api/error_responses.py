"""The problem documents (RFC 9457) told to programs when something cannot be done: each says what to do next."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from langmem_plugin.errors import LangMemError, StaleMemory, TooManyRequests
from langmem_plugin.logs import event_log

log = event_log(__name__)

MEDIA_TYPE = "application/problem+json"
_URN = "urn:langmem:problem:"

_KINDS: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "problems.json").read_text(encoding="utf-8"))
"""The problems by the name of an error's class. A `detail` replaces an error's own text if that is for operators."""
_UNKNOWN: dict[str, Any] = {"status": 500, "title": "It could not be done"}
_TITLES = {400: "The request cannot be read", 404: "There is nothing here", 405: "Not in this way", 413: "Too much"}
_BAD_REQUEST, _UNAUTHORIZED, _SERVER_ERROR = 400, 401, 500
_UNREADABLE = "the body cannot be read: send JSON in UTF-8, not nested deeply, with its Content-Type"


class WrongField(BaseModel):
    """A fault of one part of the request; never the value that it held."""

    where: str = Field(description="such as body.fact or query.limit", examples=["body.fact"])
    message: str


class Problem(BaseModel):
    """A problem document of RFC 9457."""

    type: str = Field(description="a name that stays the same", examples=["urn:langmem:problem:memory-not-found"])
    title: str
    status: int
    detail: str = Field(description="what to do about it")
    success: bool = Field(default=False, description="false")
    errors: list[WrongField] = []


class Refused(HTTPException):
    """A request that is not served; `detail` says what to do instead."""

    def __init__(self, status: int, name: str, title: str, detail: str) -> None:
        super().__init__(status, detail)
        self.name, self.title = name, title


async def told(request: Request, error: Exception) -> Response:
    """Answer an error with its problem document; a mistake of this program is not caught here."""
    if isinstance(error, LangMemError):
        return _of_ours(error, request)
    if isinstance(error, RequestValidationError):
        wrong = [(".".join(map(str, each["loc"])), str(each["msg"])) for each in error.errors()]
        named = "; ".join(f"{where}: {message}" for where, message in wrong[:5])
        return _problem(422, "invalid-request", "The request cannot be used as it is", named, errors=wrong)
    if not isinstance(error, HTTPException):
        raise error
    status = error.status_code
    title = error.title if isinstance(error, Refused) else _TITLES.get(status, "The request cannot be served")
    name = error.name if isinstance(error, Refused) else f"http-{status}"
    unread = status == _BAD_REQUEST and not isinstance(error, Refused)
    return _problem(status, name, title, _UNREADABLE if unread else str(error.detail), error.headers)


def _of_ours(error: LangMemError, request: Request) -> Response:
    kind = next((_KINDS[each.__name__] for each in type(error).__mro__ if each.__name__ in _KINDS), _UNKNOWN)
    status, title, detail = kind["status"], kind["title"], f"{error}"
    headers: dict[str, str] = {}
    if isinstance(error, StaleMemory) and request.headers.get("if-match"):
        status, title = 412, "It is not what If-Match names any more"
    if "detail" in kind:
        detail = f"{title}: {kind['detail']}"
    if status == _UNAUTHORIZED:  # as RFC 6750 demands
        headers = {"www-authenticate": "Bearer"}
    if isinstance(error, TooManyRequests):
        headers = {"retry-after": str(error.retry_after)}
    if status >= _SERVER_ERROR:
        headers = {"retry-after": "5"}
        extra = {"what": getattr(request.scope.get("route"), "path", ""), "status": status}
        log.warning("api.unavailable", exc_info=error, extra=extra)
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(error).__name__).lower()
    return _problem(status, name, title, detail, headers)


def _problem(
    status: int,
    name: str,
    title: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    *,
    errors: Sequence[tuple[str, str]] = (),
) -> Response:
    document = {
        "type": f"{_URN}{name}",
        "title": title,
        "status": status,
        "detail": detail,
        "success": False,
        "errors": [{"where": where, "message": message} for where, message in errors],
    }
    # As ASCII: the name of a field may hold half a character.
    return Response(json.dumps(document), status, dict(headers or {}), MEDIA_TYPE)
