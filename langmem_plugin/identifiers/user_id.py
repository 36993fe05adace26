"""Ids that an application, a server or LangGraph Studio gives its users; they stay as they are to the last byte."""

import re

from langmem_plugin.identifiers.identifier import Identifier

_UUID = re.compile(r"(?:signal:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NAMED = re.compile(r"user:\S.*")
_STUDIO = "langgraph-studio-user"


def user_id(text: str) -> Identifier | None:
    known = _UUID.fullmatch(text) or _NAMED.fullmatch(text) or text == _STUDIO
    return Identifier("user", text) if known else None
