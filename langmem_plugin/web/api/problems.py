"""The problem documents (RFC 9457) told to programs when something cannot be done: each says what to do next."""

import json
import re
from collections.abc import Mapping, Sequence

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
_BAD_REQUEST, _UNAUTHORIZED, _SERVER_ERROR = 400, 401, 500
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
    errors: list[WrongField] = []


class Refused(HTTPException):
    """A request that is not served; `detail` says what to do instead."""

    def __init__(self, status: int, name: str, title: str, detail: str) -> None:
        super().__init__(status, detail)
        self.name, self.title = name, title


async def told(request: Request, error: Exception) -> Response:
    """Answers an error with its problem document; one that is a mistake of ours is not caught here."""
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
    status, title = next((_STATUS[each] for each in _STATUS if isinstance(error, each)), (500, "It could not be done"))
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(error).__name__).lower()
    detail, headers = f"{error}", {}
    if isinstance(error, StaleMemory) and request.headers.get("if-match"):
        status, title = 412, "It is not what If-Match names any more"
    if isinstance(error, _TOLD_BY_TITLE) and not isinstance(error, (WriteConflict, ErasureIncomplete)):
        detail = f"{title}: nothing was changed, try again in some seconds"
    if status == _UNAUTHORIZED:  # as RFC 6750 has it
        headers = {"www-authenticate": "Bearer"}
    if isinstance(error, TooManyRequests):
        headers = {"retry-after": str(error.retry_after)}
    if status >= _SERVER_ERROR:
        headers = {"retry-after": "5"}
        extra = {"what": getattr(request.scope.get("route"), "path", ""), "status": status}
        log.warning("api.unavailable", exc_info=error, extra=extra)
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
