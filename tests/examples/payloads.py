"""Webhooks in the providers' own shapes, signed as they sign them."""

import hashlib
import hmac
import json
import time
from base64 import b64encode

from tests.examples.conftest import SETTINGS

NUMBER_ID = "106540352242922"


def whatsapp(*messages, statuses=()):
    """Of Meta's Cloud API; each message as `whatsapp_message` makes it."""
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "15550783881", "phone_number_id": NUMBER_ID},
    }
    if messages:
        value["contacts"] = [{"profile": {"name": "Erin"}, "wa_id": messages[0].get("from", "")}]
        value["messages"] = list(messages)
    if statuses:
        value["statuses"] = list(statuses)
    entry = {"id": "102290129340398", "changes": [{"value": value, "field": "messages"}]}
    return signed_by_meta(json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode())


def whatsapp_message(sender, message_id, **content):
    """`content` is `text={"body": …}`, `image={"id": …}` and the like."""
    about = {"from": sender, "id": message_id, "timestamp": str(int(time.time())), "type": next(iter(content))}
    return {**about, **content}


def signed_by_meta(body, secret=SETTINGS["whatsapp"]["WHATSAPP_APP_SECRET"]):
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"content": body, "headers": {"x-hub-signature-256": f"sha256={signature}"}}


def telegram(chat, message_id, *, sender=None, **content):
    """A bot's update with a new message; a negative chat is a group."""
    sender = sender or {"id": abs(chat), "is_bot": False, "first_name": "Erin", "language_code": "en"}
    of_chat = {"id": chat, "type": "private" if chat > 0 else "supergroup"}
    message = {"message_id": message_id, "from": sender, "chat": of_chat, "date": int(time.time()), **content}
    return telegram_update({"update_id": 10_000 + message_id, "message": message})


def telegram_update(update):
    return {"json": update, "headers": {"x-telegram-bot-api-secret-token": SETTINGS["telegram"]["TELEGRAM_SECRET"]}}


def twilio(sender, message_sid, body, **fields):
    """A message's form."""
    form = {
        "ToCountry": "US",
        "SmsMessageSid": message_sid,
        "NumMedia": "0",
        "MessageSid": message_sid,
        "AccountSid": "AC00000000000000000000000000000000",
        "From": sender,
        "To": "+15550783881",
        "Body": body,
        "ApiVersion": "2010-04-01",
        **fields,
    }
    return signed_by_twilio(form)


def signed_by_twilio(form):
    settings = SETTINGS["twilio"]
    text = settings["TWILIO_WEBHOOK_URL"] + "".join(name + form[name] for name in sorted(form))
    digest = hmac.new(settings["TWILIO_AUTH_TOKEN"].encode(), text.encode(), hashlib.sha1).digest()
    return {"data": form, "headers": {"x-twilio-signature": b64encode(digest).decode()}}
