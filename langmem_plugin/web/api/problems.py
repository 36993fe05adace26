"""The problem documents (RFC 9457) told to programs when something cannot be done: each says what to do next."""

import json
import re
from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from langmem_plugin.errors import (
    AliasNotFound,
    CategoryNotFound,
    ConfigurationError,
    DamagedMemory,
    DamagedSession,
    DecryptionRefused,
    EmbeddingUnavailable,
    ErasureIncomplete,
    InstructionNotFound,
    InvalidInput,
    LangMemError,
    LinkedLately,
    MemoryNotFound,
    ModelUnavailable,
    NotAuthorized,
    NotSerializable,
    SessionExpired,
    StaleMemory,
    StorageFull,
    StoreUnavailable,
    TooManyInstructions,
    TooManyRequests,
    TurnLost,
    TurnTimeout,
    UnknownErasure,
    UnknownSession,
    UnreadableImport,
    WriteConflict,
)
from langmem_plugin.logs import event_log

log = event_log(__name__)

MEDIA_TYPE = "application/problem+json"
_AGAIN_AFTER = {"retry-after": "5"}
_URN = "urn:langmem:problem:"

# The first that an error is one of.
_STATUS: dict[type[LangMemError], tuple[int, str]] = {
    NotAuthorized: (401, "No valid token"),
    MemoryNotFound: (404, "No such memory"),
    InstructionNotFound: (404, "No such instruction"),
    CategoryNotFound: (404, "No such category"),
    AliasNotFound: (404, "No such alias"),
    UnknownSession: (404, "No such conversation"),
    UnknownErasure: (404, "No such erasure"),
    LinkedLately: (403, "A channel was linked less than a day ago"),
    StaleMemory: (409, "It has changed meanwhile"),
    TooManyInstructions: (409, "Too many instructions"),
    WriteConflict: (409, "It has changed meanwhile"),
    ConfigurationError: (409, "Not possible as this service is set up"),
    SessionExpired: (409, "The conversation has ended"),
    InvalidInput: (422, "The request cannot be used as it is"),
    UnreadableImport: (422, "Not a document that can be imported"),
    NotSerializable: (422, "The request cannot be used as it is"),
    DamagedMemory: (500, "What is stored is damaged"),
    DamagedSession: (500, "What is stored is damaged"),
    DecryptionRefused: (500, "What is stored cannot be read"),
    TooManyRequests: (429, "Too many requests"),
    TurnTimeout: (503, "The person's conversation is busy"),
    TurnLost: (503, "The person's conversation is busy"),
    EmbeddingUnavailable: (503, "The embedding model does not answer"),
    ModelUnavailable: (503, "The chat model does not answer"),
    StorageFull: (507, "There is no space left"),
    ErasureIncomplete: (503, "Not all is deleted yet"),
    StoreUnavailable: (503, "The memory cannot be reached"),
}
_TOLD_BY_TITLE = (StoreUnavailable, EmbeddingUnavailable, ModelUnavailable)  # their texts are for whoever runs this
_TITLES = {400: "The request cannot be read", 404: "There is nothing here", 405: "Not in this way", 413: "Too much"}
_BAD_REQUEST, _SERVER_ERROR = 400, 500
_UNREADABLE = "the body cannot be read: send JSON in UTF-8, not nested deeply, with its Content-Type"


class WrongField(BaseModel):
    """What is wrong with one part of the request; never what it held."""

    where: str = Field(description="such as body.fact or query.limit", examples=["body.fact"])
    message: str


class Problem(BaseModel):
    """A problem document of RFC 9457."""

    type: str = Field(description="a name that stays the same", examples=["urn:langmem:problem:memory-not-found"])
    title: str
    status: int
    detail: str = Field(description="what to do about it")
    success: bool = Field(default=False, description="false")
    errors: list[WrongField] = Field(default_factory=list)


class Refused(Exception):
    """A request that is not served; `detail` says what to do instead."""

    def __init__(
        self, status: int, name: str, title: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.name, self.title, self.detail, self.headers = status, name, title, detail, headers


def problem_of(error: Exception, request: Request) -> Response | None:
    """The problem document of an error; None for a mistake of ours."""
    if isinstance(error, Refused):
        return _response(error.status, error.name, error.title, error.detail, error.headers)
    if isinstance(error, RequestValidationError):
        wrong = [
            WrongField(where=".".join(str(part) for part in each["loc"]), message=str(each["msg"]))
            for each in error.errors()
        ]
        told = "; ".join(f"{each.where}: {each.message}" for each in wrong[:5])
        return _response(422, "invalid-request", "The request cannot be used as it is", told, errors=wrong)
    if isinstance(error, HTTPException):
        title = _TITLES.get(error.status_code, "The request cannot be served")
        told = _UNREADABLE if error.status_code == _BAD_REQUEST else str(error.detail)
        return _response(error.status_code, f"http-{error.status_code}", title, told, error.headers)
    if isinstance(error, LangMemError):
        return _of_ours(error, request)
    return None


def _of_ours(error: LangMemError, request: Request) -> Response:
    kind = next((each for each in _STATUS if isinstance(error, each)), None)
    status, title = (_SERVER_ERROR, "It could not be done") if kind is None else _STATUS[kind]
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(error).__name__).lower()
    headers: Mapping[str, str] | None = None
    if isinstance(error, StaleMemory) and request.headers.get("if-match"):
        status, title = 412, "It is not what If-Match names any more"
    detail = f"{error}"
    if isinstance(error, _TOLD_BY_TITLE) and not isinstance(error, (WriteConflict, ErasureIncomplete)):
        detail = f"{title}: nothing was changed, try again in some seconds"
    if status == 401:  # noqa: PLR2004 - as RFC 6750 has it
        headers = {"www-authenticate": "Bearer"}
    if isinstance(error, TooManyRequests):
        headers = {"retry-after": str(error.retry_after)}
    if status >= _SERVER_ERROR:
        headers = _AGAIN_AFTER
        extra = {"what": getattr(request.scope.get("route"), "path", ""), "status": status}
        log.warning("api.unavailable", exc_info=error, extra=extra)
    return _response(status, name, title, detail, headers)


def _response(
    status: int,
    name: str,
    title: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    *,
    errors: list[WrongField] | None = None,
) -> Response:
    document: dict[str, Any] = Problem(
        type=f"{_URN}{name}", title=title, status=status, detail="", errors=[]
    ).model_dump()
    document["detail"] = detail  # as ASCII below: the name of a field may hold half a character
    document["errors"] = [{"where": each.where, "message": each.message} for each in errors or []]
    return Response(json.dumps(document), status, dict(headers or {}), MEDIA_TYPE)
