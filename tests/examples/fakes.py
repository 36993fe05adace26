"""The other ends of the examples' HTTP, on loopback: a model that speaks as OpenAI does, and the channels' own APIs."""

import asyncio
import re
import threading
from collections import Counter

import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response

from tests.waiting import until

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 64
_NAMED = re.compile(r"<[^>]+>")


_TELEGRAM_BESIDE = APIRouter()


@_TELEGRAM_BESIDE.post("/telegram/bot{token}/sendChatAction")
async def typing(token: str):
    return {"ok": True}


@_TELEGRAM_BESIDE.get("/telegram/bot{token}/getFile")
async def telegram_file(token: str, file_id: str):
    return {"ok": True, "result": {} if file_id == "nameless" else {"file_path": file_id}}


@_TELEGRAM_BESIDE.get("/telegram/file/bot{token}/{file_id}")
async def telegram_content(token: str, file_id: str):
    return Response(PNG, media_type="image/png")


class Outside:
    """Records what it is sent. The model repeats the last `<…>` that the person wrote, so that every answer can be told.

    Workers in `held` wait for their model. `failing` are status codes that the next sends are refused with.
    """

    def __init__(self):
        self.forget()
        # A connection that is closed because it was quiet is closed on who writes into it just then.
        config = uvicorn.Config(self._app(), port=0, log_level="error", ws="none", timeout_keep_alive=3600)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run)

    def forget(self):
        self.sent = []  # (to, text), in order
        self.asked = Counter()  # model calls by the message they are about
        self.thought = []  # (worker, message) of those that were answered at once
        self.prompts = []
        self.requests = []  # (path, Authorization)
        self.held = set()
        self.waiting = Counter()
        self.failing = []
        self.pause = 0.0

    def __enter__(self):
        self._thread.start()
        until(lambda: self._server.started)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    def __exit__(self, *_):
        self.held.clear()
        self._server.should_exit = True
        self._thread.join(60)

    def texts(self, to):
        return [text for person, text in self.sent if person == to]

    def _app(self):
        app = FastAPI()

        @app.post("/{worker}/v1/chat/completions")
        async def complete(worker: str, request: Request):
            given = (await request.json())["messages"]
            about = next((found[-1] for each in reversed(given) if (found := _named(each))), "nothing")
            self.asked[about] += 1
            self.prompts.append(given)
            self.waiting[worker] += 1
            await asyncio.sleep(self.pause)
            if worker in self.held:
                while worker in self.held:  # noqa: ASYNC110 - set by another thread
                    await asyncio.sleep(0.01)
            else:
                self.thought.append((worker, about))
            self.waiting[worker] -= 1
            message = {"role": "assistant", "content": f"You said {about}"}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            answer = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "fake"}
            return {**answer, "choices": [choice], "usage": usage}

        @app.post("/graph/{number}/messages")
        async def whatsapp(number: str, request: Request):
            said = await request.json()
            if "text" not in said:  # that a message was read, and an answer is being written
                return {"success": True}
            to = said["to"] if "to" in said else said["recipient"]
            return self._take(request, to, said["text"]["body"], {"messages": [{"id": "wamid.out"}]})

        @app.post("/telegram/bot{token}/sendMessage")
        async def telegram(token: str, request: Request):
            said = await request.json()
            return self._take(request, said["chat_id"], said["text"], {"ok": True})

        @app.get("/graph/{media_id}")
        async def media(media_id: str, request: Request):
            self.requests.append((request.url.path, request.headers.get("authorization")))
            return {} if media_id == "nameless" else {"url": f"{self.url}/file/{media_id}"}

        @app.get("/file/{media_id}")
        async def file(media_id: str, request: Request):
            self.requests.append((request.url.path, request.headers.get("authorization")))
            return Response(PNG, media_type="image/png")

        app.include_router(_TELEGRAM_BESIDE)
        return app

    def _take(self, request, to, text, taken):
        self.requests.append((request.url.path, request.headers.get("authorization")))
        if self.failing:
            return Response("not now", self.failing.pop(0))
        self.sent.append((to, text))
        return taken


def _named(message):
    """What a person's message names; content is a text or a list of blocks."""
    content = message["content"]
    texts = [content] if isinstance(content, str) else [each.get("text", "") for each in content or ()]
    said = " ".join(texts).split("\n\n<context>\n")[0]  # and not what is known beside it
    return _NAMED.findall(said) if message["role"] == "user" else []
