"""Style sheets and scripts under addresses that name their content, so that a browser keeps each while it is valid."""

from functools import cache
from hashlib import sha256

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from langmem_plugin.web.look import FOLDER

_STATIC = FOLDER / "static"


@cache
def address_of(name: str) -> str:
    """The address of a file, relative to that of all static files."""
    return f"{sha256((_STATIC / name).read_bytes()).hexdigest()[:12]}/{name}"


class StaticLook(StaticFiles):
    """The static files; the address of an older content gives the present file, and is not cached."""

    def __init__(self) -> None:
        super().__init__(directory=_STATIC)

    async def get_response(self, path: str, scope: Scope) -> Response:
        name = path.rpartition("/")[2]
        response = await super().get_response(name, scope)
        if path == address_of(name):
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response
