"""A Telegram bot, for one person or in a group: `uvicorn examples.telegram:app`. What to set is in README.md."""

import os

from fastapi import FastAPI, HTTPException, Request

from examples.assistant import answered, file_of, posted, serving, setting
from langmem_plugin.channels import is_same, telegram

TOKEN, SECRET, NAME = map(setting, ("TELEGRAM_TOKEN", "TELEGRAM_SECRET", "TELEGRAM_BOT_NAME"))
API = os.environ.get("TELEGRAM_API_URL", "https://api.telegram.org")


class BotApi:
    name = f"telegram:{NAME}"
    typing_seconds = 4.0

    def __init__(self, http):
        self.http = http

    def parts(self, message, text):
        return telegram.parts(text)

    async def send(self, message, text):
        return telegram.sent(*await posted(self.http, self._url("sendMessage"), telegram.text_to(message, text)))

    async def typing(self, message):
        await posted(self.http, self._url("sendChatAction"), telegram.typing(message))

    async def picture(self, message, name):
        asked = {"params": {"file_id": name}}
        path = await file_of(self.http, self._url("getFile"), lambda told: told.json()["result"]["file_path"], **asked)
        return path and await file_of(self.http, f"{API}/file/bot{TOKEN}/{path}")

    def _url(self, method):
        return f"{API}/bot{TOKEN}/{method}"


app = FastAPI(lifespan=lambda _: serving(BotApi))


@app.post("/webhook")  # 200 means that it is answered, or kept; after anything else Telegram delivers it again
async def receive(asked: Request):
    if not is_same(asked.headers.get("x-telegram-bot-api-secret-token", ""), SECRET):
        raise HTTPException(403)
    return await answered(asked, lambda update: telegram.incoming(update, NAME), await asked.body())
