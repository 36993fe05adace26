"""Read an identifier: each kind has a parser of its own, and a text that none of them knows is a key byte for byte."""

import re
from functools import lru_cache

from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers.identifier import Identifier
from langmem_plugin.identifiers.keys_and_masking import IdentifierKey, masked, usable
from langmem_plugin.identifiers.phone_number import as_typed, is_national, phone_number
from langmem_plugin.logs import event_log

log = event_log(__name__)

_PREFIX = re.compile(r"whatsapp:", re.IGNORECASE)
_DEVICE = r"(?:_[0-9]{1,3})?(?::[0-9]{1,3})?"  # the number of a device: an account may have several
_OF_PHONE = re.compile(rf"\+?([0-9]{{5,15}}){_DEVICE}@(?:c\.us|s\.whatsapp\.net)", re.IGNORECASE)
_LINKED_ID = re.compile(rf"([0-9]{{1,30}}){_DEVICE}@lid", re.IGNORECASE)
_BUSINESS_SCOPED = re.compile(r"[A-Z]{2}\.(?:ENT\.)?(?=[A-Za-z]*[0-9])[0-9A-Za-z]{1,128}")
_WHATSAPP_GROUP = re.compile(r"[0-9A-Za-z_-]+@(?:g\.us|broadcast|newsletter)")
_UUID = re.compile(r"(?:signal:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NAMED = re.compile(r"user:\S.*")
_STUDIO = "langgraph-studio-user"
_ID = re.compile(r"(?:telegram|tg):(-?[1-9][0-9]{0,18})", re.IGNORECASE)
_GROUP = re.compile(r"telegram:-[1-9][0-9]{0,18}")
_MOST = 10**19
_KINDS = re.compile(r"^(?:(?:whatsapp|tel|sms|rcs|signal|messenger|telegram|tg|user):)*", re.IGNORECASE)
_SERVICE = re.compile(r"@(?:c\.us|s\.whatsapp\.net|lid|g\.us|broadcast|newsletter)", re.IGNORECASE)
_MARKS = re.compile(r"[\s+().:/@-]")
_NO_NAMES = re.compile("none|null|undefined|nan|anonymous|unknown|restricted|unavailable|withheld", re.IGNORECASE)
"""The words that programs and networks write for a missing value."""
_NOBODY = "this names nobody, and all who send it would share one memory: pass +972501234567 or a chat id"


def whatsapp_id(text: str, region: str | None) -> Identifier | None:
    """Read a WhatsApp identifier, with or without `whatsapp:` before it; None for any other text.

    A group's id, and an id that is valid for one business only, stay as they are to the last byte.
    """
    prefix = _PREFIX.match(text)
    rest = text[prefix.end() :] if prefix else text
    if is_whatsapp_group(rest):
        return Identifier("group", rest)
    if _BUSINESS_SCOPED.fullmatch(rest):
        return Identifier("whatsapp", rest)
    typed = as_typed(text)
    prefix = _PREFIX.match(typed)
    rest = typed[prefix.end() :].strip(" ") if prefix else typed
    if of_phone := _OF_PHONE.fullmatch(rest):
        key = phone_number(f"+{of_phone[1]}", None, bare=False)
        return Identifier("phone", key) if key else None
    if linked := _LINKED_ID.fullmatch(rest):
        return Identifier("whatsapp", f"{linked[1]}@lid")
    key = phone_number(rest, region, bare=True) if prefix and ":" not in rest else None
    return Identifier("phone", key) if key else None


def is_whatsapp_group(text: str) -> bool:
    return _WHATSAPP_GROUP.fullmatch(_PREFIX.sub("", text, count=1)) is not None


def user_id(text: str) -> Identifier | None:
    return Identifier("user", text) if _UUID.fullmatch(text) or _NAMED.fullmatch(text) or text == _STUDIO else None


def telegram_id(written: str | int) -> Identifier | None:
    """Read a Telegram id: the number itself, or one behind `telegram:` or `tg:`; None for any other text."""
    if isinstance(written, int):
        if isinstance(written, bool) or not 0 < abs(written) < _MOST:
            raise InvalidInput("this number is no id of a Telegram user or chat: pass the one a message came with")
        written = f"telegram:{written}"
    found = _ID.fullmatch(written)
    if found is None:
        return None
    key = f"telegram:{found[1]}"
    return Identifier("group" if _GROUP.fullmatch(key) else "telegram", key)


def normalised(who: str | int, region: str | None = None) -> IdentifierKey:
    """Return the key of an identifier: E.164 for a number, an id of a known kind, else the text byte for byte.

    `region` (two letters, such as "IL") reads national forms like 050-123-4567; an `int` is an id of Telegram. An
    identifier of no known kind is accepted as an opaque key, with a WARNING the first time. Raises InvalidInput for one
    that names nobody, such as "", "+" or "whatsapp:", and as `usable` does.
    """
    if isinstance(who, IdentifierKey):
        return who
    if not isinstance(who, str | int):
        raise TypeError(f"a phone or a chat id is a text or a number, not {who!r}: pass +972501234567")
    found = identified(who, region)
    if found.kind == "opaque":
        warn_of_opaque(found.key)
    return IdentifierKey(found.key)


@lru_cache(maxsize=10_000)  # once for each key: one message asks for it up to ten times
def warn_of_opaque(key: str) -> None:
    event = "phone.without_country" if is_national(key) else "phone.opaque"
    log.warning(event, extra={"phone": masked(key)})


@lru_cache(maxsize=10_000, typed=True)  # asked at every call that names somebody
def identified(who: str | int, region: str | None = None) -> Identifier:
    """Return the key as `normalised` does, with its kind, and without a WARNING. Raises InvalidInput as `normalised`
    does.
    """
    if isinstance(who, int):
        found = telegram_id(who)
    else:
        name = _name_in(who)
        if _NO_NAMES.fullmatch(name) or not (name if who.startswith("user:") else name.replace("0", "")):
            raise InvalidInput(_NOBODY)
        found = _read(who, region, bare=True)
    return found or Identifier("opaque", usable(str(who)))


def refuse_unknown(found: Identifier) -> None:
    """Refuse an identifier that may be mistyped: raise InvalidInput for one of no known kind."""
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


@lru_cache(maxsize=10_000, typed=True)  # asked at every step of every run
def thread_key(thread_id: str, region: str | None = None) -> IdentifierKey:
    """Return the key of an id that may be anything: a clear identifier has its own key, any other text stays as it is.

    A row of digits is a clear identifier only where `region` says how to read it. Raises InvalidInput for one that
    names nothing, such as "whatsapp:", and as `usable` does.
    """
    if isinstance(thread_id, IdentifierKey):
        return thread_id
    if not _name_in(thread_id):
        raise InvalidInput(_NOBODY)
    found = _read(thread_id, region, bare=region is not None)
    return IdentifierKey(found.key) if found else usable(thread_id)


def _name_in(written: str) -> str:
    """Return the text without the marks of an identifier's kind and the punctuation of a number."""
    return _MARKS.sub("", _SERVICE.sub("", _KINDS.sub("", as_typed(written), count=1)))


def is_group(key: str) -> bool:
    """Tell whether it is a chat of several people, of WhatsApp or Telegram."""
    return is_whatsapp_group(key) or _GROUP.fullmatch(key) is not None


def _read(written: str, region: str | None, *, bare: bool) -> Identifier | None:
    """Read an identifier by the first parser that knows it; `bare` says that a row of digits may be a number."""
    if (key := phone_number(as_typed(written), region, bare=bare)) is not None:
        return Identifier("phone", key)
    found = whatsapp_id(written, region) or telegram_id(written) or user_id(written)
    return found and Identifier(found.kind, usable(found.key))
