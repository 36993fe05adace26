"""Authentication of a request: a program by the token in its header, a browser by its cookie. No other way in."""

from dataclasses import dataclass
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from langmem_plugin.database.audit_recording import PERSON
from langmem_plugin.errors import NotAuthorized
from langmem_plugin.memory.memory_types import OPERATOR
from langmem_plugin.people.access_tokens import CONSOLE_FOR, PAGE_FOR, AccessTokens, Kind
from langmem_plugin.people.rate_limits import Rates
from langmem_plugin.web.app_context import root_of

# A cookie goes to its own door only, so that a person's browser never carries an operator's to the person's page.
PAGE, CONSOLE = "/me", "/console"
_COOKIES: dict[str, tuple[str, Kind, timedelta]] = {
    PAGE: ("langmem_page", "page", PAGE_FOR),
    CONSOLE: ("langmem_console", "console", CONSOLE_FOR),
}


@dataclass(frozen=True)
class Caller:
    """The holder of a token.

    `identifier` names the person whose memory it opens; "" for an operator's token, which opens everybody's.
    """

    token_id: str
    identifier: str

    @property
    def is_operator(self) -> bool:
        return not self.identifier

    @property
    def actor(self) -> str:
        """The name of the caller for the audit log."""
        return self.writer or PERSON

    @property
    def writer(self) -> str | None:
        """The `source_id` of what an operator writes; None for the person's own token."""
        return f"{OPERATOR}{self.token_id}" if self.is_operator else None


def count_failure(request: Request, rates: Rates) -> None:
    """Count an attempt that failed. Raises TooManyRequests where too many came from this address.

    One that succeeds is never refused: a proxy or a mobile network is one address of many people.
    """
    rates.count_failure(request.client.host if request.client else "")


def caller_by_header(request: Request, tokens: AccessTokens) -> Caller:
    """The caller named by `Authorization: Bearer …`. Raises NotAuthorized."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    access = tokens.access_by(token.strip(), "person", "operator") if kind.lower() == "bearer" else None
    if access is None:
        raise NotAuthorized("the request has no valid token: send one as Authorization: Bearer …")
    return Caller(access.token_id, access.identifier)


def caller_by_cookie(request: Request, tokens: AccessTokens, door: str) -> Caller | None:
    """The caller whose browser it is; None without a valid cookie."""
    name, kind, _ = _COOKIES[door]
    access = tokens.access_by(request.cookies.get(name, ""), kind)
    return None if access is None else Caller(access.token_id, access.identifier)


def let_in(request: Request, response: Response, token: str, door: str) -> None:
    """Set the cookie by which the browser is known; no script sees it, and no other site can send it."""
    name, _, valid_for = _COOKIES[door]
    is_secure = request.url.scheme == "https"
    if door == PAGE and not is_secure:  # a proxy may not tell that it was reached by https; the page's own address does
        shown = " ".join(request.headers.get(each, "") for each in ("origin", "referer"))
        served_at = str(request.app.state.served.memory.settings.page_address)
        is_secure = served_at.startswith("https:") and "http:" not in shown
    response.set_cookie(
        name,
        token,
        max_age=int(valid_for.total_seconds()),
        path=root_of(request) + door,
        httponly=True,
        samesite="strict",
        secure=is_secure,
    )


def let_out(request: Request, response: Response, door: str) -> None:
    response.delete_cookie(_COOKIES[door][0], path=root_of(request) + door)
