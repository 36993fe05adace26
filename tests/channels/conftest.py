"""A graph that repeats what its model is shown, and a provider that keeps what it is given to send."""

import pytest
from langchain_core.messages import AIMessage

from langmem_plugin import PhoneMemory
from langmem_plugin.channels import TryLater, whatsapp
from langmem_plugin.channels.webhook import Webhook
from tests.chat_graph import chat_graph

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 64


class Kept:
    """`sent` are (address, text); `refusals` are what the next texts are refused with, None for one that is taken."""

    name = "kept"
    typing_seconds = 3600.0

    def __init__(self):
        self.sent, self.typed, self.refusals = [], [], []

    def parts(self, message, text):
        return whatsapp.parts(text)

    async def send(self, message, text):
        if self.refusals and (refusal := self.refusals.pop(0)):
            raise refusal
        self.sent.append((message, text))
        return f"out.{len(self.sent)}"

    async def typing(self, message):
        self.typed.append(message)

    async def picture(self, message, name):
        if name.startswith("later"):
            raise TryLater
        return None if name.startswith("gone") else PNG

    def texts(self, who=None):
        return [text for message, text in self.sent if who is None or message.who == who]


def shown(message):
    content = message.content
    texts = [content] if isinstance(content, str) else [each["text"] for each in content if each["type"] == "text"]
    many = 0 if isinstance(content, str) else sum(each["type"] != "text" for each in content)
    told = "".join(texts).split("\n\n<context>")[0]
    return f"{told.replace(chr(10), ' ', 1) if told.startswith('[') else told}{f' ({many} pictures)' if many else ''}"


@pytest.fixture
def memory(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as opened:
        yield opened


@pytest.fixture
def webhook(memory):
    async def agent(state):
        return {"messages": AIMessage(f"re: {shown(memory.prompt(state, 'You help.')[-1])}")}

    return Webhook(memory=memory, graph=chat_graph(memory, agent), provider=Kept())
