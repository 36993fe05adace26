"""WhatsApp by Meta's Cloud API: webhooks are read, texts are worded and cut, refusals are told apart."""

import hmac
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from langmem_plugin.channels.payloads import (
    REFUSED,
    Incoming,
    card,
    instant,
    is_same,
    log,
    mapping,
    mappings,
    note_refusal,
    place,
    text_in,
    without_phones,
)
from langmem_plugin.channels.text_splitting import split
from langmem_plugin.conversation.quoted_and_own_words import Quoted

_LET_BE = re.compile(
    "call|ephemeral|errors|group|pin|poll_update|protocol|request_welcome|revoke|system|un(known|supported)"
)
_PASSES = re.compile("[124]|190|368|80007|130429|1310(00|16|31|42|48|56|57)|1330(04|16)")
"""Error codes of limits, of outages and of what an operator puts right, which come with status 400 too."""
_WINDOW_CLOSED = 131047
_NO_NAME = re.compile(r"[^0-9A-Za-z-]")


def is_signed(body: bytes, signature: str, secret: str) -> bool:
    """Tell whether Meta signed this body: `signature` is the header X-Hub-Signature-256."""
    expected = f"sha256={hmac.digest(secret.encode(), body, 'sha256').hex()}"
    return is_same(signature, expected)


def incoming(payload: Mapping[str, Any]) -> list[Incoming]:
    """Return the messages of a webhook. Deliveries that failed, and messages without a sender, are logged.

    Raises ValueError for a payload that is none of WhatsApp's.
    """
    if not isinstance(payload.get("entry"), list):
        raise ValueError("the payload has no list `entry`: it is no webhook of WhatsApp's")  # noqa: TRY004
    found: list[Incoming] = []
    for value in _values(payload):
        number = text_in(mapping(value.get("metadata")).get("phone_number_id"))
        for status in mappings(value.get("statuses")):
            _log_failure(status)
        names = dict(_names(value))
        read = (_message(message, number, names) for message in mappings(value.get("messages")))
        found += [each for each in read if each is not None]
    return found


def parts(text: str) -> list[str]:
    """Return the text in pieces that WhatsApp takes."""
    return split(text, 4096)


def text_to(message: Incoming, text: str) -> dict[str, Any]:
    """Return the body of a call that answers with a text."""
    return {"messaging_product": "whatsapp", **_recipient(message), "type": "text", "text": {"body": text}}


def seen(message: Incoming) -> dict[str, Any]:
    """Return the body of a call that marks the message as read and shows for 25 seconds that an answer is coming."""
    typing = {"typing_indicator": {"type": "text"}}
    return {"messaging_product": "whatsapp", "status": "read", "message_id": message.ids[-1], **typing}


def sent(status: int, body: Any) -> str | None:
    """Return the id of the sent text, by the API's answer. None, and an ERROR in the log, if it will never be taken.

    Raises TryLater where it may be taken later.
    """
    body = mapping(body)
    if status >= REFUSED:
        code, told = _told_of(mapping(body.get("error")))
        note_refusal("whatsapp", status, code, told, passes=_PASSES.fullmatch(str(code)))
    return next((text_in(each.get("id")) or None for each in mappings(body.get("messages"))), None)


def _recipient(message: Incoming) -> dict[str, Any]:
    return {name: value for name, value in message.to.items() if name != "number"}


def _values(payload: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for entry in mappings(payload.get("entry")):
        for change in mappings(entry.get("changes")):
            if isinstance(value := change.get("value"), Mapping):
                yield value


def _names(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for contact in mappings(value.get("contacts")):
        if name := text_in(mapping(contact.get("profile")).get("name")):
            yield from ((each, name) for key in ("wa_id", "user_id") if (each := text_in(contact.get(key))))


def _log_failure(status: Mapping[str, Any]) -> None:
    if status.get("status") == "failed":
        to = without_phones(status.get("recipient_id"))  # the id of the message holds the phone too
        for code, reason in map(_told_of, [*mappings(status.get("errors"))] or [{}]):
            log.error("reply.not_delivered", extra={"phone": to, "code": code, "reason": reason})


def _told_of(error: Mapping[str, Any]) -> tuple[Any, str]:
    """Return an error's code, and what it says."""
    code = error.get("code")
    too_late = "more than 24 hours have passed since the person wrote: send a template"
    return code, too_late if code == _WINDOW_CLOSED else without_phones(error.get("title") or error.get("message"))


def _message(message: Mapping[str, Any], number: str, names: Mapping[str, str]) -> Incoming | None:
    phone, user, message_id = (text_in(message.get(name)).strip() for name in ("from", "from_user_id", "id"))
    sender = f"+{phone.removeprefix('+')}" if phone else user
    if not sender or not message_id:
        log.warning("webhook.message_skipped", extra={"type": message.get("type")})
        return None
    to: dict[str, Any] = {"number": number, **({"to": phone} if phone else {"recipient": user})}
    one = Incoming(who=sender, to=to, message_id=message_id, sent_at=instant(message.get("timestamp")))
    if group := text_in(message.get("group_id")):
        key = _NO_NAME.sub(lambda found: f"_{ord(found[0]):x}", group)
        to = {"number": number, "recipient_type": "group", "to": group}
        name = names.get(phone) or names.get(user)
        one = replace(one, who=f"{key}@g.us", to=to, sender=sender, sender_name=name)
    one = _in_context(one, message)
    match message:
        case {"system": Mapping() as system}:
            return _moved(one, phone, system)
        case {"edit": {"original_message_id": str(original), "message": Mapping() as edited}}:
            return _said(replace(_in_context(one, edited), message_id=original, edited=True), edited)
        case {"reaction": {"message_id": str(of), "emoji": str(emoji)}} if emoji:
            return replace(one, text=emoji, quoted=_quoted(of), reaction=True)
        case {"reaction": _} | {"edit": _}:  # a reaction that was taken back has no emoji
            return None
    is_let_be = message.get("errors") or _LET_BE.fullmatch(text_in(message.get("type")))
    return None if is_let_be else _said(one, message)


def _in_context(one: Incoming, message: Mapping[str, Any]) -> Incoming:
    context = mapping(message.get("context"))
    forwarded = bool(context.get("forwarded") or context.get("frequently_forwarded"))
    return replace(one, forwarded=forwarded, quoted=_quoted(text_in(context.get("id"))))


def _quoted(message_id: str) -> Quoted | None:
    return Quoted(message_id, None) if message_id else None


def _moved(one: Incoming, phone: str, system: Mapping[str, Any]) -> Incoming | None:
    match system:
        case {"type": "user_changed_number" | "customer_changed_number"} if phone:
            new = text_in(system.get("wa_id")) or text_in(system.get("new_wa_id"))
            who = f"+{new.removeprefix('+')}" if new else text_in(system.get("user_id"))
        case {"type": "user_changed_user_id", "user_id": str(who), "previous_user_id": str(before)}:
            return replace(one, who=who, moved_from=before)
        case _:
            return None
    return replace(one, who=who, moved_from=one.who) if who else None


def _said(one: Incoming, message: Mapping[str, Any]) -> Incoming:
    text, pictures = "", []
    match message:
        case {"text": {"body": str(text)}} | {"button": {"text": str(text)}}:
            pass
        case {"interactive": {"button_reply": {"title": str(text)}} | {"list_reply": {"title": str(text)}}}:
            pass
        case {"interactive": {"nfm_reply": {"response_json": str(text)}}}:
            pass
        case {"document": {"id": str(), "mime_type": str(kind)} as document} if kind.startswith("image/"):
            return _said(one, {"image": document})
        case {"image": {"id": str(picture)} as image}:
            text, pictures = text_in(image.get("caption")), [picture]
        case {"location": Mapping() as where}:
            text = place(where)
        case {"contacts": list(contacts)}:
            text = "\n".join(map(_card, mappings(contacts)))
        case {"order": Mapping() as order}:
            text = "\n".join([text_in(order.get("text")), *map(_ordered, mappings(order.get("product_items")))]).strip()
        case _:
            file = mapping(message.get("document") or message.get("video"))
            kind = text_in(message.get("type")) or "message"
            return replace(one, text=text_in(file.get("caption")), unopened=kind)
    return replace(one, text=text, pictures=pictures)


def _card(contact: Mapping[str, Any]) -> str:
    name = text_in(mapping(contact.get("name")).get("formatted_name"))
    return card(name, [each.get("phone") or each.get("wa_id") for each in mappings(contact.get("phones"))])


def _ordered(item: Mapping[str, Any]) -> str:
    price = f"{item.get('item_price')} {item.get('currency')}"
    return f"Order: {item.get('quantity')} × {item.get('product_retailer_id')} ({price})"
