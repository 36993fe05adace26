"""The SMS and WhatsApp messages of Twilio: forms are read, signatures checked, answers worded and cut."""

import hmac
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape

from langmem_plugin.channels.payloads import REFUSED, Incoming, is_same, log, mapping, note_refusal, place, text_in
from langmem_plugin.channels.text_splitting import split
from langmem_plugin.conversation.quoted_and_own_words import Quoted

_SMS_SEPTETS, _SMS_UNITS, _WHATSAPP = 1530, 670, 1600  # ten segments, in letters of GSM or in UTF-16; one message
_GSM = re.compile("[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,\\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà^{}\\\\\\[~\\]|€]*")
_TWO_SEPTETS = frozenset("^{}\\[~]|€")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PASSES = frozenset(("14107", "20429", "21611", "30001", "63017", "63018"))
"""Error codes of limits, which come with status 400 too."""
_FORWARDED = ("Forwarded", "FrequentlyForwarded")


def is_signed(url: str, form: Iterable[tuple[str, str]], signature: str, token: str) -> bool:
    """Tell whether Twilio signed this form, by the header X-Twilio-Signature; `url` is the one entered at Twilio."""
    # Each value of a field that comes twice counts once.
    fields = "".join(f"{name}{value}" for name, value in sorted({(name, str(value)) for name, value in form}))
    expected = b64encode(hmac.digest(token.encode(), f"{url}{fields}".encode(), "sha1"))
    return is_same(signature, expected.decode())


def incoming(form: Mapping[str, Any]) -> list[Incoming]:
    """Return the message of a form. Return none for a status, which is logged if it says that an answer was not
    delivered, and for STOP, START and HELP if Twilio has answered them. Raises ValueError for a form that is none of
    Twilio's.
    """
    given = {name: value for name, value in form.items() if isinstance(value, str)}
    if not (message_id := given.get("MessageSid")) or not (sender := given.get("From")):
        raise ValueError("the form has no From or no MessageSid: it is no message of Twilio's")
    if (status := given.get("MessageStatus") or given.get("SmsStatus") or "received") not in {"received", "receiving"}:
        if status in {"failed", "undelivered"}:
            log.error("reply.not_delivered", extra={"message_id": message_id, "code": given.get("ErrorCode")})
        return []
    if given.get("OptOutType"):
        return []
    # Of one message there are ten at most.
    kinds = {url: given.get(f"MediaContentType{n}", "") for n in range(10) if (url := given.get(f"MediaUrl{n}"))}
    pictures = [url for url, kind in kinds.items() if kind.startswith("image/")]
    text = given.get("Body") or given.get("ButtonText") or given.get("ListTitle") or ""
    if "Latitude" in given and "Longitude" in given:
        where = {"name": given.get("Label"), "address": given.get("Address")}
        where |= {"latitude": given["Latitude"], "longitude": given["Longitude"]}
        text = "\n".join(filter(None, (text, place(where))))
    return [
        Incoming(
            who=sender.removeprefix("whatsapp:"),
            to={"To": sender, "From": given.get("To", ""), "AccountSid": given.get("AccountSid", "")},
            text=_NOT_XML.sub("", text),
            message_id=message_id,
            pictures=pictures,
            unopened=next((kind for kind in kinds.values() if not kind.startswith("image/")), None),
            forwarded=not {given.get(each, "").casefold() for each in _FORWARDED} <= {"", "false"},
            quoted=Quoted(replied, None) if (replied := given.get("OriginalRepliedMessageSid")) else None,
            reaction=given.get("MessageType") == "reaction",
        )
    ]


def parts(message: Incoming, text: str) -> list[str]:
    """Return the text in pieces that Twilio takes: ten segments of an SMS."""
    text = _NOT_XML.sub("", text)
    if str(message.to["To"]).startswith("whatsapp:"):
        return split(text, _WHATSAPP)
    if _GSM.fullmatch(text):
        return split(text, _SMS_SEPTETS, lambda each: len(each) + sum(letter in _TWO_SEPTETS for letter in each))
    return split(text, _SMS_UNITS, lambda each: len(each.encode("utf-16-le", "surrogatepass")) // 2)


def twiml(texts: Iterable[str]) -> str:
    """Return the answer to a webhook that sends these texts, without the characters that XML cannot hold."""
    said = "".join(f"<Message>{escape(_NOT_XML.sub('', text))}</Message>" for text in texts)
    return f'<?xml version="1.0" encoding="UTF-8"?><Response>{said}</Response>'


def text_to(message: Incoming, text: str) -> dict[str, str]:
    """Return the form of a call that sends a text by the API, if it took too long for the webhook's answer."""
    return {"To": message.to["To"], "From": message.to["From"], "Body": text}


def sent(status: int, body: Any) -> str | None:
    """Return the id of the sent text, by the API's answer. None, and an ERROR in the log, if it will never be taken.

    Raises TryLater where it may be taken later.
    """
    body = mapping(body)
    if status >= REFUSED:
        code = body.get("code")
        note_refusal("twilio", status, code, body.get("message"), passes=str(code) in _PASSES)
    return text_in(body.get("sid")) or None
