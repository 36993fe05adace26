"""WhatsApp by Meta's Cloud API: `uvicorn examples.whatsapp:app`. What to set is in README.md."""

import os

from fastapi import FastAPI, HTTPException, Request, Response

from examples.assistant import answered, file_of, posted, serving, setting
from langmem_plugin.channels import is_same, whatsapp

TOKEN, SECRET, VERIFY = map(setting, ("WHATSAPP_TOKEN", "WHATSAPP_APP_SECRET", "WHATSAPP_VERIFY_TOKEN"))
API = os.environ.get("WHATSAPP_API_URL", "https://graph.facebook.com/v23.0")


class CloudApi:
    name = "whatsapp"
    typing_seconds = 20.0

    def __init__(self, http):
        self.http = http

    def parts(self, message, text):
        return whatsapp.parts(text)

    async def send(self, message, text):
        return whatsapp.sent(*await posted(self.http, self._url(message), whatsapp.text_to(message, text)))

    async def typing(self, message):
        await posted(self.http, self._url(message), whatsapp.seen(message))

    async def picture(self, message, name):
        url = await file_of(self.http, f"{API}/{name}", lambda told: told.json()["url"])
        return url and await file_of(self.http, url)

    def _url(self, message):
        return f"{API}/{message.to['number']}/messages"


app = FastAPI(lifespan=lambda _: serving(CloudApi, headers={"Authorization": f"Bearer {TOKEN}"}))


@app.get("/webhook")  # asked once, when the webhook is entered at Meta
async def verify(asked: Request):
    if not is_same(asked.query_params.get("hub.verify_token", ""), VERIFY):
        raise HTTPException(403)
    return Response(asked.query_params.get("hub.challenge"), media_type="text/plain")


@app.post("/webhook")  # 200 means that all is answered, or kept; after anything else Meta delivers it again
async def receive(asked: Request):
    body = await asked.body()
    if not whatsapp.is_signed(body, asked.headers.get("x-hub-signature-256", ""), SECRET):
        raise HTTPException(403)
    return await answered(asked, whatsapp.incoming, body)
