"""SMS, and WhatsApp, by Twilio: `uvicorn examples.twilio:app`. What to set is in README.md."""

import os
from datetime import timedelta

from fastapi import FastAPI, HTTPException, Request, Response

from examples.assistant import file_of, posted, serving, setting
from langmem_plugin.channels import TryLater, twilio

TOKEN, URL = map(setting, ("TWILIO_AUTH_TOKEN", "TWILIO_WEBHOOK_URL"))  # as entered at Twilio: a proxy may change it
API = os.environ.get("TWILIO_API_URL", "https://api.twilio.com")
WITHIN = timedelta(seconds=12)  # Twilio waits for 15


class RestApi:
    name = "twilio"
    typing_seconds = 3600.0

    def __init__(self, http):
        self.http = http

    def parts(self, message, text):
        return twilio.parts(message, text)

    async def send(self, message, text):  # what took too long to be the answer to the webhook
        account = message.to["AccountSid"]
        url = f"{API}/2010-04-01/Accounts/{account}/Messages.json"
        said = {"data": twilio.text_to(message, text), "auth": (account, TOKEN)}
        return twilio.sent(*await posted(self.http, url, None, **said))

    async def typing(self, message):
        """There is none in an SMS."""

    async def picture(self, message, name):
        auth = (message.to["AccountSid"], TOKEN)
        return await file_of(self.http, name, auth=auth, follow_redirects=True)


app = FastAPI(lifespan=lambda _: serving(RestApi))


@app.post("/webhook")
async def receive(asked: Request):
    form = await asked.form()
    if not twilio.is_signed(URL, form.multi_items(), asked.headers.get("x-twilio-signature", ""), TOKEN):
        raise HTTPException(403)
    try:
        told = [text for each in twilio.incoming(form) for text in await asked.state.webhook.respond(each, WITHIN)]
    except ValueError:
        raise HTTPException(400) from None
    except TryLater:
        raise HTTPException(503) from None
    return Response(twilio.twiml(told), media_type="application/xml")
