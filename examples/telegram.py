"""A Telegram bot, for one person or in a group: `uvicorn examples.telegram:app`. What to set is in README.md."""

import os
import re

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool

from examples.assistant import NOT_OPENED, check_secret, check_sent, instant, json_of, parts, serving, setting

TOKEN, SECRET = setting("TELEGRAM_TOKEN"), setting("TELEGRAM_SECRET")
API = os.environ.get("TELEGRAM_API_URL", "https://api.telegram.org")
NOT_TEXT = {"animation", "audio", "contact", "document", "location", "photo", "poll", "sticker", "video", "voice"}

app = FastAPI(lifespan=lambda _: serving())


@app.post("/webhook")  # 200 means that it is answered; after anything else, or nothing, Telegram delivers it again
async def receive(webhook: Request):
    check_secret(webhook.headers.get("x-telegram-bot-api-secret-token", ""), SECRET)
    match await json_of(webhook):
        case {"message": {"chat": {"id": int(group)}, "migrate_to_chat_id": int(supergroup)}}:
            await run_in_threadpool(webhook.state.memory.people.moved, group, supergroup)
        case {"message": {"message_id": int(), "date": int(), "chat": {"id": int(chat)}} as message}:
            if text := text_of(message, chat):
                await answer(webhook.state, chat, text, message)


def text_of(message, chat):
    """None for what nobody awaits an answer to, such as a pinned message, or a sticker in a group."""
    if isinstance(text := message.get("text") or message.get("caption"), str):
        text = re.sub(r"^(/\w+)@\w+", r"\1", text)  # in a group a command may name its bot
        return "/help" if text == "/start" else text  # what the button of a new chat sends
    return NOT_OPENED if chat > 0 and NOT_TEXT & message.keys() else None


async def answer(state, chat, text, message):
    async def send(reply):
        for part in parts(reply, 2048):  # Telegram takes 4096, and counts an emoji as two
            said = {"chat_id": chat, "text": part}
            check_sent(await state.api.post(f"{API}/bot{TOKEN}/sendMessage", json=said))

    sender, answered = message.get("from") or {}, message.get("reply_to_message") or {}
    quoted = (message.get("quote") or {}).get("text") or answered.get("text") or answered.get("caption")
    await state.memory.areply(
        state.graph,
        f"telegram:{chat}",
        text,
        message_id=message["message_id"],
        sent_at=instant(message["date"]),
        sender=f"telegram:{sender['id']}" if "id" in sender else None,
        sender_name=f"{sender.get('first_name', '')} {sender.get('last_name', '')}".strip() or None,
        forwarded="forward_origin" in message,
        quoted=quoted,
        send=send,
    )
