"""Lists in parts: how many there are in all, and the addresses of the parts beside this one (RFC 8288)."""

from urllib.parse import parse_qsl, urlencode

from langmem_plugin.web.api.calls import Call
from langmem_plugin.web.served import root_of

PAGED = ("Link", "X-Total-Count")


def links(call: Call, *, total: int, limit: int, offset: int) -> dict[str, str]:
    """The headers of one part. The addresses name no host: whatever stands before this service knows its own."""
    places = {
        "first": 0 if offset else None,
        "prev": max(0, offset - limit) if offset else None,
        "next": offset + limit if offset + limit < total else None,
    }
    path = root_of(call.request) + call.request.scope["path"].removeprefix(root_of(call.request))
    asked = [
        each for each in parse_qsl(call.request.url.query, keep_blank_values=True) if each[0] not in {"limit", "offset"}
    ]
    told = [
        f'<{path}?{urlencode([*asked, ("limit", limit), ("offset", place)])}>; rel="{name}"'
        for name, place in places.items()
        if place is not None
    ]
    return {"x-total-count": str(total), **({"link": ", ".join(told)} if told else {})}
