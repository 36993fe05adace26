"""Around every request to the page: whose it is, how large a form may be, and a link that no server logs."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from langmem_plugin.database.audit_trail import PERSON, acting

_MOST_BYTES = 64_000


class SmallForms:
    """ASGI middleware: a larger body is refused with 413 before it is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = b""
        more = scope["method"] not in {"GET", "HEAD"}
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > _MOST_BYTES:
                await PlainTextResponse("This is more than a form can hold.", 413)(scope, receive, send)
                return
        given = False

        async def receive_read() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        with acting(PERSON):
            await self._app(scope, receive_read, send)


_OF_LINKS = "/in/"


class UnloggedLinks:
    """ASGI middleware: whatever is asked of a link, its token is gone from the request's path when it is answered,
    which is when servers log it.
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

        await self._app(scope, receive, send_unlogged)
