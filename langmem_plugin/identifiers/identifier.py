"""The result of a parser for an identifier: its kind, and the key that all its spellings share."""

import uuid
from dataclasses import dataclass
from typing import Literal

Kind = Literal["phone", "whatsapp", "telegram", "user", "group", "opaque"]


@dataclass(frozen=True, slots=True)
class Identifier:
    """The kinds of identifiers: `whatsapp` is an id of WhatsApp that is no phone, `user` one of an application or a
    server, and `opaque` one that no parser knows, whose key is the text byte for byte.
    """

    kind: Kind
    key: str


def is_uuid(text: str) -> bool:
    """Tell whether a text is a UUID, as the threads of a LangGraph server are."""
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False
