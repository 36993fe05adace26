"""Payloads of providers read as messages, in the terms of `PhoneMemory.reply`."""

import hmac
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from langmem_plugin.conversation.quoted_and_own_words import Quoted
from langmem_plugin.identifiers import masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.memory_types import storable

log = event_log(__name__)
REFUSED = 400  # the lowest status code of an error
_NEVER = frozenset((REFUSED, 403, 404))
_PHONE = re.compile(r"\+?\d[\d ().-]{5,}\d")


class TryLater(Exception):
    """The provider refuses for a while: answer its webhook with an error, and it delivers the message again."""


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """One message, edit, reaction or change of a number. Fields with the name of an argument of `PhoneMemory.reply` are
    given to it.

    `to` says where the answer goes, in the words of the provider's API. `pictures` are the names by which its files are
    fetched. `moved_from` is the identifier that `who` had until now: there is nothing to answer then.
    """

    who: str
    to: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    message_id: str | Sequence[str] = ""
    sent_at: datetime | None = None
    pictures: Sequence[str] = ()
    unopened: str | None = None
    sender: str | None = None
    sender_name: str | None = None
    forwarded: bool = False
    quoted: Quoted | None = None
    edited: bool = False
    reaction: bool = False
    album: str | None = None
    moved_from: str | None = None

    @property
    def ids(self) -> list[str]:
        return [self.message_id] if isinstance(self.message_id, str) else [*self.message_id]


def instant(seconds: Any) -> datetime | None:
    """Return the time of seconds since 1970, given as a number or its digits; None for another value."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC) if int(seconds) > 0 else None
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def text_in(value: Any) -> str:
    """Return the value, without halves of characters, if it is a text, else ""."""
    return storable(value) if isinstance(value, str) else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is an object of JSON, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Give the objects of a JSON array; none of another value."""
    return (each for each in value if isinstance(each, Mapping)) if isinstance(value, list) else iter(())


def place(found: Mapping[str, Any]) -> str:
    """Return a location in words."""
    named = ", ".join(filter(None, (text_in(found.get("name") or found.get("title")), text_in(found.get("address")))))
    return f"Location: {f'{named} ' if named else ''}({found.get('latitude')}, {found.get('longitude')})"


def card(name: str, phones: Sequence[Any]) -> str:
    """Return a contact in words."""
    return f"Contact: {', '.join(filter(None, (name, *map(text_in, phones))))}"


def note_refusal(provider: str, status: int, code: Any, why: Any, *, passes: object) -> None:
    """Log that a provider will never take a text. Raises TryLater where it may: for outages, and where it `passes`."""
    if passes or status not in _NEVER:
        raise TryLater(f"{provider} refused with status {status}, code {code}")
    log.error("reply.refused", extra={"provider": provider, "code": code or status, "reason": without_phones(why)})


def without_phones(told: Any) -> str:
    """Return a provider's words about an error with its numbers masked: they name whom it could not reach."""
    return _PHONE.sub(lambda found: masked(found[0]), text_in(told))


def is_same(given: str, expected: str) -> bool:
    """Compare a secret with the right one; the time it takes tells nothing of the right one."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


def payload_of(body: bytes | str) -> Mapping[str, Any]:
    """Return the JSON object of a webhook. Raises ValueError for anything else."""
    try:
        payload = json.loads(body)
    except RecursionError as error:
        raise ValueError("the payload is nested too deeply to be a provider's") from error
    if not isinstance(payload, dict):
        raise ValueError("the payload is no JSON object")  # noqa: TRY004 - a caller answers 400 to either
    return payload
