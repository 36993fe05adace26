"""Style sheets and scripts under addresses that name their content: a browser keeps each until it is another one."""

from functools import cache
from hashlib import sha256

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from langmem_plugin.web.look import FOLDER

_STATIC = FOLDER / "static"


@cache
def address_of(name: str) -> str:
    """The address of a file, below the address of all of them."""
    return f"{sha256((_STATIC / name).read_bytes()).hexdigest()[:12]}/{name}"


class StaticLook(StaticFiles):
    """The static files: the address of another content gives the file as it is now, and is not cached."""

    def __init__(self) -> None:
        super().__init__(directory=_STATIC)

    async def get_response(self, path: str, scope: Scope) -> Response:
        name = path.rpartition("/")[2]
        response = await super().get_response(name, scope)
        if path == address_of(name):
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response
