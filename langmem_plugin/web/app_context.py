"""The objects that every part of the web application serves: one memory, its tokens, and the graph that answers."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from langmem_plugin.agent.replying.sync_async_steps import Graph
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.portability import document_files

_ROOT = "langmem_root"
_LOGGED = ("path", "raw_path", "query_string")  # by servers; a link's token is taken out of them
_CHUNK = 2**16


@dataclass(frozen=True)
class Served:
    """The memory, its tokens, and the `graph` that answers chats; without a graph there is no chat."""

    memory: PhoneMemory
    tokens: AccessTokens
    graph: Graph | None = None


class RootNoted:
    """ASGI middleware around the whole application: notes its root path, which mounted applications do not see."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[_ROOT] = scope.get("root_path", "")
        await self._app(scope, receive, send)


class HeadAsGet:
    """ASGI middleware that answers HEAD as GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        asked: Scope = {**scope, "method": "GET"}

        async def send_head(message: Message) -> None:
            scope.update({name: asked[name] for name in _LOGGED if name in asked})
            await send(message if message["type"] != "http.response.body" else {**message, "body": b""})

        await self._app(asked, receive, send_head)


def root_of(request: Request) -> str:
    """The path that the whole application is mounted under in another one; "" if it runs by itself."""
    return str(request.scope[_ROOT])


def exported(
    memory: PhoneMemory, person: OwnerKey, form: Literal["json", "csv"], *, name: str = "langmem-export"
) -> Response:
    """Send all that is stored of a person as a file that is kept nowhere.

    The file is complete before anything is sent: an answer that breaks off would look like a shorter one.
    """
    with tempfile.TemporaryDirectory(prefix="langmem-export-") as folder:
        path = Path(folder) / f"{name}.{'json' if form == 'json' else 'zip'}"
        write = document_files.write_json if form == "json" else document_files.write_csv
        write(memory.exporter, person, path)
        file = path.open("rb")  # it stays readable, though its name is gone
    kind = "application/json" if form == "json" else "application/zip"
    headers = {"content-disposition": f'attachment; filename="{path.name}"'}
    return StreamingResponse(_read(file), media_type=kind, headers=headers)


def _read(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
