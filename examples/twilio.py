"""SMS, and WhatsApp, by Twilio: `uvicorn examples.twilio:app`. What to set is in README.md."""

import hmac
from base64 import b64encode
from xml.sax.saxutils import escape

from fastapi import FastAPI, HTTPException, Request, Response

from examples.assistant import NOT_OPENED, check_secret, parts, serving, setting

TOKEN = setting("TWILIO_AUTH_TOKEN")
URL = setting("TWILIO_WEBHOOK_URL")  # as it is entered at Twilio: behind a proxy this process sees another

app = FastAPI(lifespan=lambda _: serving(follow_redirects=True))


@app.post("/webhook")
async def receive(webhook: Request):
    form = await webhook.form()
    check_secret(webhook.headers.get("x-twilio-signature", ""), signature(form))
    if not (form.get("From") and form.get("MessageSid")):
        raise HTTPException(400)
    text, image = await opened(form, webhook.state.api)
    person = form["From"].removeprefix("whatsapp:")
    about = {"message_id": form["MessageSid"], "quoted": form.get("OriginalRepliedMessageSid")}
    about["forwarded"] = "true" in (form.get("Forwarded"), form.get("FrequentlyForwarded"))
    answer = await webhook.state.memory.areply(webhook.state.graph, person, text, image, **about)
    said = "".join(f"<Message>{escape(part)}</Message>" for part in parts(answer, 1600))
    return Response(f'<?xml version="1.0" encoding="UTF-8"?><Response>{said}</Response>', media_type="application/xml")


def signature(form):
    """HMAC-SHA1 of the URL and of every field behind it, by name; one that is there twice counts each value once."""
    fields = "".join(f"{name}{value}" for name in sorted(form) for value in sorted(set(map(str, form.getlist(name)))))
    return b64encode(hmac.digest(TOKEN.encode(), f"{URL}{fields}".encode(), "sha1")).decode()


async def opened(form, api):
    """The text of a message, and the bytes of its picture."""
    text, kind = form.get("Body", ""), form.get("MediaContentType0", "")
    if kind.startswith("image/"):
        media = await api.get(form["MediaUrl0"], auth=(form.get("AccountSid", ""), TOKEN))
        return text, media.raise_for_status().content
    return text or NOT_OPENED, None
