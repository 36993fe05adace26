"""Identifiers of WhatsApp, as its Cloud API, Twilio, whatsapp-web.js and Baileys send them."""

import re

from langmem_plugin.identifiers.identifier import Identifier
from langmem_plugin.identifiers.phone_number import as_typed, phone_number

_PREFIX = re.compile(r"whatsapp:", re.IGNORECASE)
_DEVICE = r"(?:_[0-9]{1,3})?(?::[0-9]{1,3})?"  # of one account several devices write
_OF_PHONE = re.compile(rf"\+?([0-9]{{5,15}}){_DEVICE}@(?:c\.us|s\.whatsapp\.net)", re.IGNORECASE)
_LINKED_ID = re.compile(rf"([0-9]{{1,30}}){_DEVICE}@lid", re.IGNORECASE)
_BUSINESS_SCOPED = re.compile(r"[A-Z]{2}\.(?:ENT\.)?(?=[A-Za-z]*[0-9])[0-9A-Za-z]{1,128}")
_GROUP = re.compile(r"[0-9A-Za-z_-]+@(?:g\.us|broadcast|newsletter)")


def whatsapp_id(text: str, region: str | None) -> Identifier | None:
    """With or without `whatsapp:` before it; None for what is none of WhatsApp's identifiers.

    A group's id, and one that is scoped to a business, stay as they are to the last byte.
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
    return _GROUP.fullmatch(_PREFIX.sub("", text, count=1)) is not None
