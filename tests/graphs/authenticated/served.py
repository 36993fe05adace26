"""What a server with end-user authentication serves in the tests: a graph that replies with all it was shown.

Whoever calls is who the Authorization header says; of all else only the store is guarded, so any user may address any thread.
"""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage
from langgraph_sdk import Auth
from typing_extensions import TypedDict

from langmem_plugin import ConversationSaver, MemoryState, PhoneMemory, Settings
from langmem_plugin.memory.find.recall_and_visibility import share
from langmem_plugin.store import MemoryStore
from tests.chat_graph import chat_graph
from tests.stated import stated

ANNA = "+972501234567"


class Hashed(Embeddings):
    """Vectors that mean nothing, made at once."""

    def embed_query(self, text: str) -> list[float]:
        return [byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None) -> Auth.types.MinimalUserDict:
    if not authorization:
        raise Auth.exceptions.HTTPException(status_code=401, detail="who are you?")
    return {"identity": authorization.removeprefix("Bearer ")}


@auth.on.store
async def own_store_alone(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> None:
    """Without this, whoever is signed in reads everybody's store."""
    own = MemoryStore.namespace("memories", ctx.user.identity)
    if tuple(value["namespace"] or ())[: len(own)] != own:
        raise Auth.exceptions.HTTPException(status_code=403, detail="name your own memories")


memory = PhoneMemory(
    settings=Settings(godfather_phone=ANNA, trusted_callers=frozenset({"backend"})), embeddings=Hashed()
)
store = memory.store
OWN, SHARED = "Anna is allergic to penicillin", "The margin on lamps is 40 percent"
memory.service.remember(ANNA, OWN)
share(memory.service, SHARED)
tools = {each.name: each for each in memory.tools()}


class Person(TypedDict, total=False):
    phone: str


def agent(state: MemoryState) -> dict[str, object]:
    told = [stated(memory.prompt(state, "You are Mom Bot."))]
    for query in (OWN, SHARED):
        told += [tools[name].invoke({"query": query}) for name in ("recall_facts", "search_conversations")]
    return {"messages": AIMessage(str(told))}


graph = chat_graph(memory, agent, context_schema=Person, own_checkpointer=False)


@asynccontextmanager
async def checkpointer() -> AsyncIterator[ConversationSaver]:
    yield memory.saver
