"""One key per person: every form of a phone number becomes the same key, all else is a key byte for byte."""

import re
import unicodedata
from functools import lru_cache

import phonenumbers

from langmem_plugin.errors import InvalidInput
from langmem_plugin.logs import event_log

log = event_log(__name__)

_PERSON = re.compile(r"\+?([0-9]{5,15})@(?:c\.us|s\.whatsapp\.net)", re.IGNORECASE)
_GROUP = re.compile(r"[0-9A-Za-z_-]+@g\.us")
_NUMBER = re.compile(r"\+?[0-9 ().\-/]{5,40}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DIGITS_OF_A_NUMBER = range(5, 16)  # E.164 has at most 15
_ASCII_OF = str.maketrans("＋−（）．／", "+-()./")

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LONGEST = 1_000  # bytes; PostgreSQL indexes a row of keys up to 2,704
_SCOPE = "\x1f"


class ScopeKey(str):
    """The owner of what belongs to no one person. Begins with a character that no input may hold, and the tables
    take it as this type only: whatever text somebody passes as an owner, it is never a scope.
    """

    __slots__ = ()

    @classmethod
    def named(cls, name: str) -> "ScopeKey":
        return cls(_SCOPE + name)


def owner_as_stored(owner: str) -> str:
    """An owner that was read from the database: a scope is one again."""
    return ScopeKey(owner) if owner.startswith(_SCOPE) else owner


def owner_to_store(owner: str) -> str:
    """As text for the database. Raises InvalidInput for a text that looks like a scope or cannot be stored."""
    if isinstance(owner, ScopeKey):
        return str(owner)
    if owner.startswith(_SCOPE) or _UNSTORABLE.search(owner) or len(owner.encode()) > _LONGEST:
        raise InvalidInput(f"this cannot be an owner: use at most {_LONGEST} bytes of text without control characters")
    return owner


def normalised(phone: str, region: str | None = None) -> str:
    """The key of a person or group: E.164 for a number, the chat id for a group, else the text byte for byte.

    `region` (two letters, such as "IL") reads national forms like 050-123-4567. What is no number at all is
    accepted as an opaque key with a WARNING. Raises InvalidInput for a blank one and as `usable` does.
    """
    if not phone.strip():
        raise InvalidInput("a phone is needed to know whose conversation this is: pass +972501234567 or a chat id")
    if (key := _number(phone, region, bare=True)) is not None:
        return key
    if not is_group(usable(phone)):
        log.warning("phone.opaque", extra={"phone": masked(phone)})
    return phone


def thread_key(thread_id: str, region: str | None = None) -> str:
    """The key of an id that may be anything: what is evidently a phone is the phone's key, all else stays as it is.

    A row of digits is evidently one only where `region` says how to read it. Raises InvalidInput as `usable` does.
    """
    return _number(thread_id, region, bare=region is not None) or usable(thread_id)


def usable(key: str) -> str:
    """The key itself. Raises InvalidInput where it cannot be one: control characters, half a character, too long."""
    if _CONTROLS.search(key):
        raise InvalidInput("control characters cannot be part of a person's or conversation's key: leave them out")
    return owner_to_store(key)


def is_group(key: str) -> bool:
    return _GROUP.fullmatch(key) is not None


def masked(phone: str) -> str:
    """Enough to tell two people apart in a log, too little to call one."""
    name, at, kind = phone.partition("@")
    return f"…{name[-3:]}{at}{kind}" if len(name) > 6 else "…"  # noqa: PLR2004 - a short key would be shown whole


@lru_cache(maxsize=10_000)  # asked at every step of every run
def _number(written: str, region: str | None, *, bare: bool) -> str | None:
    """The E.164 form; `bare` says that it may be a number without a plus. None for what is no number."""
    text = _as_typed(written)
    if person := _PERSON.fullmatch(text):
        text = f"+{person[1]}"
    digits = re.sub(r"\D", "", text)
    if not _NUMBER.fullmatch(text) or len(digits.removeprefix("00")) not in _DIGITS_OF_A_NUMBER:
        return None
    if text.startswith("+"):
        # Whatever country it claims to be from, with or without punctuation it is the same number.
        return _e164(text, None) or f"+{digits}"
    if not bare or _DATE.fullmatch(text):
        return None
    return _e164(f"+{digits[2:]}", None) if digits.startswith("00") else _e164(text, region)


def _e164(text: str, region: str | None) -> str | None:
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
    # Possible, not valid: ranges open faster than tables learn of them, and a test number is a key as well.
    if not phonenumbers.is_possible_number(number):
        return None
    key = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return key if key == text else _e164(key, None) or key  # of "+44 (0) 0…" one zero goes at a time


def _as_typed(text: str) -> str:
    """With the digits, dashes and spaces of a telephone keyboard, and without what cannot be seen.

    A number copied from a contact comes between marks for the direction of writing.
    """
    if not text.isascii():
        text = "".join(map(_plain, text.translate(_ASCII_OF)))
    return text.strip(" \t\r\n")


def _plain(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    kind = unicodedata.category(character)
    return {"Cf": "", "Pd": "-", "Zs": " "}.get(kind, character)
