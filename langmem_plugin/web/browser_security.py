"""The headers and checks that keep a browser safe: only our scripts, no other site's forms, no frames or copies."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_READS = {"GET", "HEAD", "OPTIONS"}


class BrowserSafety:
    """ASGI middleware around the whole application. A response may set one of the headers itself, such as caching."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safe(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope["scheme"] == "https":
                    headers.setdefault("strict-transport-security", "max-age=31536000")
            await send(message)

        if scope["method"] not in _READS and _is_of_another_site(Headers(scope=scope)):
            refusal = PlainTextResponse("This form was sent by another site.", 403)
            await refusal(scope, receive, send_safe)
            return
        await self._app(scope, receive, send_safe)


def _is_of_another_site(headers: Headers) -> bool:
    """Tell whether a browser sends the request from another site's page.

    Older browsers, and those on plain HTTP, send only the origin, or hide it and send the page. A program that sends no
    such header carries no cookie by itself.
    """
    if site := headers.get("sec-fetch-site"):
        return site not in {"same-origin", "none"}
    origin = headers.get("origin")
    if origin == "null":
        origin = headers.get("referer", origin)
    return (
        origin is not None and origin.partition("://")[2].partition("/")[0].lower() != headers.get("host", "").lower()
    )
