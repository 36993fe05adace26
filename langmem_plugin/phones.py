"""One key per person: every form of a phone number becomes the same key, and no log shows it whole."""

import logging
import re
from functools import lru_cache

import phonenumbers

from langmem_plugin.errors import InvalidInput

log = logging.getLogger(__name__)

_PERSON = re.compile(r"^\+?(\d{5,15})@(?:c\.us|s\.whatsapp\.net)$")
_GROUP = re.compile(r"^[\w-]+@g\.us$")
_DIGITS = re.compile(r"^\+?[\d\s().\-/]{5,24}$")


def normalised(phone: str, region: str | None = None) -> str:
    """The key of a person or group: E.164 for a number, the chat id for a group, else the text as it is.

    `region` (two letters, such as "IL") reads national forms like 050-123-4567. What is no number at all is
    accepted as an opaque key with a WARNING. Raises InvalidInput if nothing is left after trimming.
    """
    text = phone.strip()
    if not text:
        raise InvalidInput("a phone is needed to know whose conversation this is: pass +972501234567 or a chat id")
    if (key := _number(text, region)) is not None:
        return key
    if not _GROUP.match(text):
        log.warning("phone.opaque", extra={"phone": masked(text)})
    return text


def thread_key(thread_id: str, region: str | None = None) -> str:
    """The conversation's key of a LangGraph thread id: a phone in any form is one key, all else stays as it is."""
    return _number(thread_id.strip(), region) or thread_id


def is_group(key: str) -> bool:
    return _GROUP.match(key) is not None


def masked(phone: str) -> str:
    """Enough to tell two people apart in a log, too little to call one."""
    name, at, kind = phone.partition("@")
    return f"…{name[-3:]}{at}{kind}" if len(name) > 6 else "…"  # noqa: PLR2004 - a short key would be shown whole


@lru_cache(maxsize=10_000)  # asked at every step of every run
def _number(text: str, region: str | None) -> str | None:
    if person := _PERSON.match(text):
        text = f"+{person[1]}"
    elif not _DIGITS.match(text):
        return None
    elif text.startswith("00"):
        text = f"+{text[2:]}"
    if not text.startswith("+") and region is None:
        return None
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        number = None
    # Possible, not valid: ranges open faster than tables learn of them, and a test number is a key as well.
    if number is not None and phonenumbers.is_possible_number(number):
        return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    # Whatever country it claims to be from, with or without punctuation it is the same number.
    return "+" + re.sub(r"\D", "", text) if text.startswith("+") else None
