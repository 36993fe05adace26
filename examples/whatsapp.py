"""WhatsApp by Meta's Cloud API: `uvicorn examples.whatsapp:app`. What to set is in README.md."""

import hmac
import os
from functools import partial

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool

from examples.assistant import check_secret, check_sent, instant, json_of, parts, serving, setting
from examples.whatsapp_messages import NOT_ANSWERED, as_it_came, opened

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
        said, about = as_it_came(message)
        if (phone or user_id) and said.get("type") not in NOT_ANSWERED:
            text, image = await opened(said, webhook.state.api, API)
            who, to = (f"+{phone}", {"to": phone}) if phone else (user_id, {"recipient": user_id})
            send = partial(send_text, webhook.state.api, number, to)
            about = {"message_id": message_id, "sent_at": sent_at, **about}
            await webhook.state.memory.areply(webhook.state.graph, who, text, image, send=send, **about)


async def send_text(api, number, to, text):
    for part in parts(text, 4096):
        said = {"messaging_product": "whatsapp", **to, "type": "text", "text": {"body": part}}
        check_sent(await api.post(f"{API}/{number}/messages", json=said))
