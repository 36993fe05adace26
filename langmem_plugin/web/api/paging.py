"""Lists in parts: how many there are in all, and the addresses of the parts beside this one (RFC 8288)."""

from typing import Annotated
from urllib.parse import parse_qsl, urlencode

from fastapi import Query

from langmem_plugin.web.api.calls import Call
from langmem_plugin.web.served import root_of

PAGED = ("Link", "X-Total-Count")
Cursor = Annotated[
    str | None,
    Query(
        max_length=2_000,
        description="as `Link` gave it for the next part, instead of offset: what comes and goes moves nothing",
    ),
]


def links(call: Call, *, total: int, limit: int, offset: int, after: str | None = None) -> dict[str, str]:
    """The headers of one part; `after` is the cursor of its last, None where nothing comes after it.

    The addresses name no host: whatever stands before this service knows its own.
    """
    path = root_of(call.request) + call.request.scope["path"].removeprefix(root_of(call.request))
    asked = [
        each
        for each in parse_qsl(call.request.url.query, keep_blank_values=True)
        if each[0] not in {"limit", "offset", "cursor"}
    ]
    places: dict[str, tuple[str, str | int]] = {}
    if offset or "cursor" in call.request.query_params:
        places["first"] = ("offset", 0)
    if offset:
        places["prev"] = ("offset", max(0, offset - limit))
    if after is not None:
        places["next"] = ("cursor", after)
    elif offset + limit < total and "cursor" not in call.request.query_params:
        places["next"] = ("offset", offset + limit)
    told = [f'<{path}?{urlencode([*asked, ("limit", limit), place])}>; rel="{name}"' for name, place in places.items()]
    return {"x-total-count": str(total), **({"link": ", ".join(told)} if told else {})}
