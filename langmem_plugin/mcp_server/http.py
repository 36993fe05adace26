"""The server over HTTP: whose memory a request reaches is what its token says, and without one it reaches nothing."""

import json

from anyio import to_thread
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from langmem_plugin.errors import NotAuthorized, StoreUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.mcp_server.server import memory_server
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.people.open_door import is_loopback
from langmem_plugin.plugin import PhoneMemory

log = event_log(__name__)

PATH = "/mcp"
_UNAVAILABLE = {"error": "temporarily_unavailable", "error_description": "the memory cannot be reached: try again"}


def http_app(memory: PhoneMemory, *, host: str = "127.0.0.1", port: int = 80) -> Starlette:
    """An ASGI application with the server at /mcp; `host` and `port` are where it will be reached.

    Every request is looked at by itself and nothing is held between two: a token that is taken back opens nothing
    from then on, and no request can continue another's. Bound to loopback, it answers no other host's name.
    Raises ConfigurationError where the memory is switched off.
    """
    tokens = AccessTokens(memory.database, region=memory.settings.default_region, now=memory.service.now)
    named = f"[{host}]" if ":" in host else host
    server = memory_server(
        memory,
        _identifier_of_request,
        # Who issues tokens is the operator at a shell; the address is asked for by the SDK and published nowhere.
        auth=AuthSettings(issuer_url=AnyHttpUrl(f"http://{named}:{port}"), resource_server_url=None),
        token_verifier=_Verifier(tokens),
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        host="127.0.0.1" if is_loopback(host) else host,
        stateless_http=True,
        json_response=True,
    )
    app.add_middleware(_Unavailable)
    return app


class _Verifier:
    """The SDK asks it once for every request."""

    def __init__(self, tokens: AccessTokens) -> None:
        self._tokens = tokens

    async def verify_token(self, token: str) -> AccessToken | None:
        access = await to_thread.run_sync(self._tokens.access_by, token, "person")
        if access is None:
            log.warning("mcp.token_refused")
            return None
        return AccessToken(token=token, client_id=access.token_id, scopes=[], subject=access.identifier)


class _Unavailable:
    """Where even the token cannot be looked up, the answer is 503 instead of a broken connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except StoreUnavailable:  # while the token is verified: nothing has been sent
            log.warning("mcp.unavailable", exc_info=True, extra={"what": "token"})
            answer = Response(json.dumps(_UNAVAILABLE), 503, {"retry-after": "5"}, "application/json")
            await answer(scope, receive, send)


def _identifier_of_request() -> str:
    token = get_access_token()
    if token is None or token.subject is None:
        raise NotAuthorized("the request has no token: send it as Authorization: Bearer …")
    return token.subject
