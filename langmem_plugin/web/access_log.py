"""Logs a line for each request with the name of its route, but without the person or any key in its path."""

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from langmem_plugin.logs import event_log

log = event_log(__name__)

_SERVER_ERROR = 500


class AccessLog:
    """ASGI middleware around the whole application. Logs INFO for an answer, WARNING for a failure of this service."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, started = _SERVER_ERROR, time.perf_counter()

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        finally:
            # The path itself may hold a link that opens somebody's page, or an id.
            route = getattr(scope.get("route"), "path", "/…")
            fields = {
                "method": scope["method"],
                "route": f"{scope.get('root_path', '')}{route}",
                "status": status,
                "ms": round((time.perf_counter() - started) * 1000),
            }
            log.log(logging.WARNING if status >= _SERVER_ERROR else logging.INFO, "http.request", extra=fields)
