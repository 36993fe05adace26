"""Posts a few numbers as JSON to an address of the operator's, over https or to this machine."""

import json
import threading
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from langmem_plugin.logs import event_log

log = event_log(__name__)

_SECONDS = 5.0
_PAUSES = (1.0, 4.0)  # before each further try


class Webhook:
    """`url` is one that Settings allows."""

    def __init__(self, url: str, *, seconds: float = _SECONDS, pauses: tuple[float, ...] = _PAUSES) -> None:
        self._url = url
        self._seconds = seconds
        self._pauses = pauses
        self._closed = threading.Event()
        self._opener = _opener(proxied=url.startswith("https:"))

    def post(self, document: Mapping[str, Any]) -> bool:
        """Whether it was taken, at the third try at the latest; if not, an ERROR that names no address."""
        body = json.dumps(document).encode()
        for pause in (0.0, *self._pauses):
            if self._closed.wait(pause):
                return False
            if (status := self._tried(body)) in range(200, 300):
                return True
        log.error("alert.not_delivered", extra={"tries": len(self._pauses) + 1, "last": status})
        return False

    def close(self) -> None:
        """Tries nothing more."""
        self._closed.set()

    def _tried(self, body: bytes) -> int | str:
        """The status, or the name of what was raised instead: the text of an error may hold the address."""
        asked = Request(  # noqa: S310 - https or this machine: Settings refuses any other
            self._url, body, {"Content-Type": "application/json"}, method="POST"
        )
        try:
            with self._opener.open(asked, timeout=self._seconds) as answer:
                return int(answer.status)
        except HTTPError as error:
            with error:
                return error.code
        except (OSError, HTTPException, ValueError) as error:
            return type(error).__name__


def _opener(*, proxied: bool) -> OpenerDirector:
    """Without redirects: where they lead was not checked. What is not encrypted goes through no proxy."""
    opener = OpenerDirector()
    for handler in (HTTPHandler, HTTPSHandler, HTTPErrorProcessor, HTTPDefaultErrorHandler):
        opener.add_handler(handler())
    opener.add_handler(ProxyHandler() if proxied else ProxyHandler({}))
    return opener
