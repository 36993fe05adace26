"""Reads an identifier: each kind has a parser of its own, and what none of them knows is a key byte for byte."""

import re
from functools import lru_cache

from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers.identifier import Identifier
from langmem_plugin.identifiers.keys import IdentifierKey, masked, usable
from langmem_plugin.identifiers.phone_number import as_typed, is_national, phone_number
from langmem_plugin.identifiers.telegram import is_telegram_group, telegram_id
from langmem_plugin.identifiers.user_id import user_id
from langmem_plugin.identifiers.whatsapp import is_whatsapp_group, whatsapp_id
from langmem_plugin.logs import event_log

log = event_log(__name__)

_KINDS = re.compile(r"^(?:(?:whatsapp|tel|sms|signal|telegram|tg|user):)*", re.IGNORECASE)
_SERVICE = re.compile(r"@(?:c\.us|s\.whatsapp\.net|lid|g\.us|broadcast|newsletter)", re.IGNORECASE)
_MARKS = re.compile(r"[\s+().:/@-]")
_NO_NAMES = frozenset({"none", "null", "undefined"})  # what programs write for nothing
_NOBODY = "this names nobody, and all who send it would share one memory: pass +972501234567 or a chat id"


def normalised(who: str | int, region: str | None = None) -> IdentifierKey:
    """The key of an identifier: E.164 for a number, an id of a known kind, else the text byte for byte.

    `region` (two letters, such as "IL") reads national forms like 050-123-4567; an `int` is an id of Telegram. What
    is of no known kind is accepted as an opaque key with a WARNING. Raises InvalidInput for one that names nobody,
    such as "", "+" or "whatsapp:", and as `usable` does.
    """
    if isinstance(who, IdentifierKey):
        return who
    found = identified(who, region)
    if found.kind == "opaque":
        event = "phone.without_country" if is_national(found.key) else "phone.opaque"
        log.warning(event, extra={"phone": masked(found.key)})
    return IdentifierKey(found.key)


def identified(who: str | int, region: str | None = None) -> Identifier:
    """The same with its kind, and without a word. Raises InvalidInput as `normalised` does."""
    if isinstance(who, int):
        found = telegram_id(who)
    else:
        if not isinstance(who, str):
            raise TypeError(f"a phone or a chat id is a text or a number, not {who!r}: pass +972501234567")
        name = _name_in(who)
        if name.lower() in _NO_NAMES or not (name if who.startswith("user:") else name.replace("0", "")):
            raise InvalidInput(_NOBODY)
        found = _read(who, region, bare=True)
    return found or Identifier("opaque", usable(str(who)))


def refuse_unknown(found: Identifier) -> None:
    """For doors whose callers mistype: raises InvalidInput for an identifier of no known kind."""
    if found.kind != "opaque":
        return
    if is_national(found.key):
        raise InvalidInput(
            f"{masked(found.key)} is a number without its country: write +972501234567, or set LANGMEM_DEFAULT_REGION "
            "to the country whose numbers are written so, such as IL"
        )
    raise InvalidInput(
        f"{masked(found.key)} is no phone and no chat id: write +972501234567, or user: before an id of your own"
    )


def thread_key(thread_id: str, region: str | None = None) -> IdentifierKey:
    """The key of an id that may be anything: what is evidently an identifier has its key, all else stays as it is.

    A row of digits is evidently one only where `region` says how to read it. Raises InvalidInput for one in which
    nothing is named, such as "whatsapp:", and as `usable` does.
    """
    if isinstance(thread_id, IdentifierKey):
        return thread_id
    if not _name_in(thread_id):
        raise InvalidInput(_NOBODY)
    found = _read(thread_id, region, bare=region is not None)
    return IdentifierKey(found.key) if found else usable(thread_id)


def _name_in(written: str) -> str:
    """What stands there besides the marks of an identifier's kind and the punctuation of a number."""
    return _MARKS.sub("", _SERVICE.sub("", _KINDS.sub("", as_typed(written), count=1)))


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
