"""One message to the graph that is served, answered with what it was given of the memory."""

import uuid
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from anyio import CapacityLimiter, to_thread
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, Field
from starlette.responses import Response

from langmem_plugin.database.audit_trail import acting
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.find.recall import scopes_of, seen_by
from langmem_plugin.web.api.calls import Call, Called
from langmem_plugin.web.api.fields import Body, IdInBody, Text
from langmem_plugin.web.api.problems import Refused
from langmem_plugin.web.api.routing import Routes

routes = Routes("chat")


class NewMessage(Body):
    message: Text = Field(examples=["What is Leo allergic to?"])
    message_id: IdInBody | None = Field(
        default=None, description="your own: the same message sent again is answered as before, and once"
    )
    conversation_id: IdInBody | None = Field(
        default=None,
        description="your own name of it: a person has one conversation at a time, and the answer says which it is in",
    )
    inject_memory: Literal[True] = Field(default=True, description="the answer is always given what is remembered")


class Context(BaseModel):
    """What the answer was given of the memory, as texts; empty where no model was asked."""

    memories: list[str]
    instructions: list[str]


class Cited(BaseModel):
    number: int
    text: str
    source: str
    memory_id: str | None


class ChatAnswer(BaseModel):
    """Not in the envelope of the other answers: chat programs read these fields where they are."""

    success: bool = True
    message_id: str
    conversation_id: str | None = Field(description="of the session it is in")
    response: str
    repeated: bool = Field(description="this message was answered before")
    context: Context
    citations: list[Cited]


@routes.post("/api/chat", in_loop=True)
async def chat(call: Called, said: NewMessage) -> ChatAnswer:
    """Say something to the assistant, as the person; messages of one person are answered one after another."""
    graph, memory = call.served.graph, call.memory
    if graph is None:
        raise Refused(
            404, "no-graph", "There is no chat here", "this service has no graph: start it with `langmem serve --graph`"
        )
    limiter: CapacityLimiter = call.request.app.state.api_threads
    owner = await to_thread.run_sync(_whose, call, limiter=limiter)
    before = await to_thread.run_sync(_newest, call, owner, limiter=limiter)
    began = memory.service.now()
    message_id = said.message_id or str(uuid.uuid4())
    reply = await memory.areply(graph, call.identifier, said.message, message_id=message_id)
    used = partial(_used, call, owner, before, began)
    context, citations = await to_thread.run_sync(used, limiter=limiter)
    here: RunnableConfig = {"configurable": {"thread_id": owner}}
    conversation_id = await to_thread.run_sync(memory.saver.session_of, here, limiter=limiter)
    answer = ChatAnswer(
        message_id=message_id,
        conversation_id=conversation_id,
        response=str(reply),
        repeated=reply.repeated,
        context=context,
        citations=citations,
    )
    return Response(answer.model_dump_json(), media_type="application/json")  # type: ignore[return-value]


def _whose(call: Call) -> OwnerKey:
    """The owner who is answered; an operator who speaks as they do sees what they would."""
    with acting(call.actor, within=True):
        return call.reads("chat", also_of_strangers=True)


def _newest(call: Call, owner: OwnerKey) -> tuple[str | None, Mapping[str, Any]]:
    """The id and the state of the person's newest checkpoint."""
    found = call.memory.saver.get_tuple({"configurable": {"thread_id": owner}})
    if found is None:
        return None, {}
    return found.checkpoint["id"], found.checkpoint["channel_values"]


def _used(call: Call, owner: OwnerKey, before: tuple[str | None, Any], began: Any) -> tuple[Context, list[Cited]]:
    """The context and citations of a run; both are empty for a command, which needs no run."""
    memory = call.memory
    newest, state = _newest(call, owner)
    if newest == before[0] or not memory.settings.remembers:
        return Context(memories=[], instructions=[]), []
    service = memory.service
    ids = [each[0] for each in state.get("recalled") or ()]
    with service.database.read() as connection:
        found = seen_by(service, connection, scopes_of(owner, memory.person.role(owner)), ids)
    followed = [
        each.text
        for each in memory.instructions.list_instructions(owner)
        if each.last_used is not None and each.last_used >= began
    ]
    citations = [
        Cited(
            number=each.number,
            text=each.text,
            source=each.source,
            memory_id=None if each.memory is None else each.memory.id,
        )
        for each in memory.context.citations(state, phone=owner)
    ]
    return Context(memories=[each.text for each in found], instructions=followed), citations
