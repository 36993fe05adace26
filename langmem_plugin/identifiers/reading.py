"""Reads an identifier: each kind has a parser of its own, and what none of them knows is a key byte for byte."""

from functools import lru_cache

from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers.identifier import Identifier
from langmem_plugin.identifiers.keys import masked, usable
from langmem_plugin.identifiers.phone_number import as_typed, phone_number
from langmem_plugin.identifiers.telegram import is_telegram_group, telegram_id
from langmem_plugin.identifiers.user_id import user_id
from langmem_plugin.identifiers.whatsapp import is_whatsapp_group, whatsapp_id
from langmem_plugin.logs import event_log

log = event_log(__name__)


def normalised(who: str | int, region: str | None = None) -> str:
    """The key of a person or group: E.164 for a number, an id of a known kind, else the text byte for byte.

    `region` (two letters, such as "IL") reads national forms like 050-123-4567; an `int` is an id of Telegram. What
    is of no known kind is accepted as an opaque key with a WARNING. Raises InvalidInput for a blank one and as
    `usable` does.
    """
    found = identified(who, region)
    if found.kind == "opaque":
        log.warning("phone.opaque", extra={"phone": masked(found.key)})
    return found.key


def identified(who: str | int, region: str | None = None) -> Identifier:
    """The same with its kind, and without a word. Raises InvalidInput as `normalised` does."""
    if isinstance(who, int):
        found = telegram_id(who)
    else:
        if not isinstance(who, str):
            raise TypeError(f"a phone or a chat id is a text or a number, not {who!r}: pass +972501234567")
        if not who.strip():
            raise InvalidInput("a phone is needed to know whose conversation this is: pass +972501234567 or a chat id")
        found = _read(who, region, bare=True)
    return found or Identifier("opaque", usable(str(who)))


def thread_key(thread_id: str, region: str | None = None) -> str:
    """The key of an id that may be anything: what is evidently an identifier has its key, all else stays as it is.

    A row of digits is evidently one only where `region` says how to read it. Raises InvalidInput as `usable` does.
    """
    found = _read(thread_id, region, bare=region is not None)
    return found.key if found else usable(thread_id)


def is_group(key: str) -> bool:
    """Whether it is a chat of several people, of WhatsApp or Telegram."""
    return is_whatsapp_group(key) or is_telegram_group(key)


@lru_cache(maxsize=10_000)  # asked at every step of every run
def _read(written: str, region: str | None, *, bare: bool) -> Identifier | None:
    """`bare` says that a row of digits may be a number."""
    if (key := phone_number(as_typed(written), region, bare=bare)) is not None:
        return Identifier("phone", key)
    found = whatsapp_id(written, region) or telegram_id(written) or user_id(written)
    return found and Identifier(found.kind, usable(found.key))
