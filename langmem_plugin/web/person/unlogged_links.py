"""The link of a person opens their memory until it is used: no server writes it into its log of requests."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
