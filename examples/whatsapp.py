"""WhatsApp by Meta's Cloud API: `uvicorn examples.whatsapp:app`. What to set is in README.md."""

import hmac
import os
from functools import partial

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool

from examples.assistant import NOT_OPENED, check_secret, check_sent, instant, json_of, parts, serving, setting

TOKEN, SECRET, VERIFY = map(setting, ("WHATSAPP_TOKEN", "WHATSAPP_APP_SECRET", "WHATSAPP_VERIFY_TOKEN"))
API = os.environ.get("WHATSAPP_API_URL", "https://graph.facebook.com/v23.0")

app = FastAPI(lifespan=lambda _: serving(headers={"Authorization": f"Bearer {TOKEN}"}))


@app.get("/webhook")  # asked once, when the webhook is entered at Meta
async def verify(asked: Request):
    check_secret(asked.query_params.get("hub.verify_token", ""), VERIFY)
    return Response(asked.query_params.get("hub.challenge"), media_type="text/plain")


@app.post("/webhook")  # 200 means that all is answered; after anything else, or nothing, Meta delivers it again
async def receive(webhook: Request):
    signature = hmac.digest(SECRET.encode(), await webhook.body(), "sha256").hex()
    check_secret(webhook.headers.get("x-hub-signature-256", ""), f"sha256={signature}")
    try:
        values = [change["value"] for entry in (await json_of(webhook))["entry"] for change in entry["changes"]]
        found = [(value["metadata"]["phone_number_id"], each) for value in values for each in value.get("messages", ())]
        messages = [(number, each["id"], instant(each["timestamp"]), each) for number, each in found]
    except (AttributeError, KeyError, TypeError):
        raise HTTPException(400) from None
    for number, message_id, sent_at, message in messages:
        phone, user_id = message.get("from"), message.get("from_user_id")  # who has a username may show no phone
        match message:
            case {"system": {"type": "user_changed_number", "wa_id": str(new)}} if phone:
                await run_in_threadpool(webhook.state.memory.people.moved, f"+{phone}", f"+{new}")
        if not phone and not user_id:
            continue
        context, about = message.get("context") or {}, {"message_id": message_id, "sent_at": sent_at}
        about["forwarded"] = bool(context.get("forwarded") or context.get("frequently_forwarded"))
        match message:
            case {"edit": {"original_message_id": original, "message": dict(message)}}:
                about |= {"message_id": original, "edited": True}
        if message.get("type") not in ("reaction", "revoke", "system", "unsupported"):  # nobody awaits an answer
            text, image = await opened(message, webhook.state.api)
            who, to = (f"+{phone}", {"to": phone}) if phone else (user_id, {"recipient": user_id})
            send = partial(send_text, webhook.state.api, number, to)
            about["quoted"] = context.get("id")
            await webhook.state.memory.areply(webhook.state.graph, who, text, image, send=send, **about)


async def opened(message, api):
    """The text of a message, and the bytes of its picture."""
    match message:
        case {"text": {"body": text}} | {"button": {"text": text}}:
            return text, None
        case {"interactive": {"button_reply": {"title": text}} | {"list_reply": {"title": text}}}:
            return text, None
        case {"image": {"id": media_id} as image}:
            media = (await api.get(f"{API}/{media_id}")).raise_for_status().json()
            return image.get("caption", ""), (await api.get(media["url"])).raise_for_status().content
    return NOT_OPENED, None


async def send_text(api, number, to, text):
    for part in parts(text, 4096):
        said = {"messaging_product": "whatsapp", **to, "type": "text", "text": {"body": part}}
        check_sent(await api.post(f"{API}/{number}/messages", json=said))
