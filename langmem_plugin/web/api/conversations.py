"""Conversations: their list, their messages, the chat that goes on, and the extraction of facts from them."""

import contextlib
import uuid
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import BackgroundTasks, Query
from fastapi.concurrency import run_in_threadpool
from langchain_core.runnables import RunnableConfig
from pydantic import Field

from langmem_plugin.agent.replying.sync_async_steps import Reply
from langmem_plugin.database.audit_recording import acting
from langmem_plugin.errors import ConfigurationError, LangMemError, UnknownSession
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.logs import event_log
from langmem_plugin.memory.find.recall_and_visibility import scopes_of, seen_by
from langmem_plugin.web.api.error_responses import Refused
from langmem_plugin.web.api.fields import Body, Id, IdInBody, Limit, Offset, Text, Told
from langmem_plugin.web.api.request_context import Call, Called
from langmem_plugin.web.api.routing_and_envelope import PAGED, answer, routes_of, tell_place
from langmem_plugin.web.conversation_transcripts import PointedAt, ToolCall, session_of, sessions_of, transcript
from langmem_plugin.writing import extraction_jobs as job_records

log = event_log(__name__)

routes, chat_routes, extraction_routes = routes_of("sessions"), routes_of("chat"), routes_of("extraction")
PATH, EXTRACTION = "/api/sessions", "/api/memory/extract"
_MOST_JOBS = 100


class Session(Told):
    session_id: str
    created_at: datetime
    last_active: datetime
    ended_at: datetime | None = Field(description="null while it goes on")
    messages: int = Field(validation_alias="message_counter")
    tokens: int = Field(validation_alias="total_tokens")


class Trace(Told):
    """The events around a message. References are claimed only where they are sure; else `to_ask` is asked."""

    calls: list[ToolCall] = Field(description="tools that the assistant called")
    references: list[PointedAt] = Field(validation_alias="meant")
    shown: list[str] = Field(description="the names of what the references could mean, in the order shown")
    to_ask: str | None
    is_error: bool = Field(description="it is the result of a tool, which failed")


class Message(Told):
    """Somebody's words: data, and never an order to whoever reads it."""

    message_id: str
    order_num: int
    role: str
    content: str
    timestamp: datetime
    tokens: int
    trace: Trace | None = Field(default=None, description="where it is asked for")


@routes.get(
    PATH,
    response_model=answer(sessions=Annotated[list[Session], Field(description="the last active first")], total=int),
    responses=PAGED,
)
def list_sessions(call: Called, limit: Limit = 50, offset: Offset = 0) -> Any:
    """List the person's conversations, current and ended."""
    held = sessions_of(call.memory, call.reads("sessions"))
    page = []
    for each in held[offset : offset + limit]:
        with contextlib.suppress(UnknownSession):  # deleted meanwhile
            page.append(call.memory.sessions.session(each.session_id))
    tell_place(call, total=len(held), limit=limit, offset=offset)
    return {"sessions": page, "total": len(held)}


@routes.get(
    PATH + "/{session_id}",
    response_model=answer(session=Session, messages=list[Message], total=int),
    responses=PAGED,
)
def read_session(
    call: Called,
    session_id: Id,
    limit: Limit = 500,
    offset: Offset = 0,
    trace: Annotated[bool, Query(description="also which tools were called, and what words pointed at")] = False,
) -> Any:
    """Read a conversation, the first message first."""
    memory, owner = call.memory, call.reads(session_id)
    session_of(memory, owner, session_id)
    session, said = memory.sessions.session(session_id), memory.sessions.messages(session_id)
    page = [Message.model_validate(each) for each in said[offset : offset + limit]]
    if trace:
        _, lines = transcript(memory, owner, session_id, first=offset, limit=limit)
        traces = {each.message_id: Trace.model_validate(each) for each in lines}
        for message in page:
            message.trace = traces.get(message.message_id)
    tell_place(call, total=len(said), limit=limit, offset=offset)
    return {"session": session, "messages": page, "total": len(said)}


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


class Context(Told):
    """The part of the memory that the answer was given, as texts; empty where no model was asked."""

    memories: list[str] = Field(default_factory=list)
    instructions: list[str] = Field(default_factory=list)


class Cited(Told):
    number: int
    text: str
    source: str
    memory_id: str | None


class ChatAnswer(Told):
    """Not in the envelope of the other answers: chat programs read these fields where they are."""

    success: bool = True
    message_id: str
    conversation_id: str | None = Field(description="of the session it is in")
    response: str
    repeated: bool = Field(description="this message was answered before")
    context: Context = Field(default_factory=Context)
    citations: list[Cited] = Field(default_factory=list)


@chat_routes.post("/api/chat", response_model=ChatAnswer)
async def chat(call: Called, said: NewMessage) -> Any:
    """Say something to the assistant, as the person; messages of one person are answered one after another."""
    graph, memory = call.served.graph, call.memory
    if graph is None:
        told = "this service has no graph: start it with `langmem serve --graph`"
        raise Refused(404, "no-graph", "There is no chat here", told)
    owner = await run_in_threadpool(call.reads, "chat", also_of_strangers=True)
    before, _ = await run_in_threadpool(_newest, call, owner)
    began = memory.service.now()
    message_id = said.message_id or str(uuid.uuid4())
    reply = await memory.areply(graph, call.identifier, said.message, message_id=message_id)
    return await run_in_threadpool(_answered, call, owner, message_id, reply, before, began)


def _newest(call: Call, owner: OwnerKey) -> tuple[str | None, dict[str, Any]]:
    """The id and the state of the person's newest checkpoint."""
    found = call.memory.saver.get_tuple(_thread(owner))
    return (None, {}) if found is None else (found.checkpoint["id"], found.checkpoint["channel_values"])


def _thread(owner: OwnerKey) -> RunnableConfig:
    return {"configurable": {"thread_id": owner}}


def _answered(  # noqa: PLR0917 - of one reply
    call: Call, owner: OwnerKey, message_id: str, reply: Reply, before: str | None, began: datetime
) -> ChatAnswer:
    """The answer, with what its run was given; a command needs no run, and is given nothing."""
    memory = call.memory
    newest, state = _newest(call, owner)
    answered = ChatAnswer(
        message_id=message_id,
        conversation_id=memory.saver.session_of(_thread(owner)),
        response=str(reply),
        repeated=reply.repeated,
    )
    if newest == before or not memory.settings.remembers:
        return answered
    ids = [each[0] for each in state.get("recalled") or ()]
    with memory.database.read() as connection:
        seen = seen_by(memory.service, connection, scopes_of(owner, memory.person.role(owner)), ids)
    standing = memory.instructions.list_instructions(owner)
    followed = [each.text for each in standing if each.last_used is not None and each.last_used >= began]
    answered.context = Context(memories=[each.text for each in seen], instructions=followed)
    for each in memory.context.citations(state, phone=owner):
        memory_id = None if each.memory is None else each.memory.id
        answered.citations.append(Cited(number=each.number, text=each.text, source=each.source, memory_id=memory_id))
    return answered


class Job(Told):
    session_id: str
    state: Literal["pending", "processing", "completed", "failed"]
    waiting_facts: int = Field(description="facts that were read and are not stored yet")
    error: str | None = Field(description="why it failed, where it did")


_Jobs = answer(jobs=Annotated[list[Job], Field(description="of the last 100 conversations, the last active first")])


class NewExtraction(Body):
    session_id: IdInBody | None = Field(
        default=None, description="also this conversation, if anything was said in it since it was read"
    )


@extraction_routes.get(EXTRACTION, response_model=_Jobs)
def list_extraction_jobs(call: Called) -> Any:
    """How far the extraction is."""
    return _jobs(call, call.reads("extraction"))


@extraction_routes.post(EXTRACTION, response_model=_Jobs, status_code=202)
def start_extraction(call: Called, wanted: NewExtraction, later: BackgroundTasks) -> Any:
    """Take what the person said into their memory now, also of conversations that are not quiet yet.

    It goes on after the answer; the jobs say when it is done. By itself it happens when a conversation falls silent.
    """
    extraction, owner = call.memory.extraction, call.person()
    if extraction is None:
        raise ConfigurationError("nothing is extracted here: the setting `extraction` is off")
    if wanted.session_id is not None:
        session = session_of(call.memory, owner, wanted.session_id)
        with call.memory.database.write() as connection:
            extraction.jobs.mark(connection, session.thread, session.number)
    later.add_task(_extract, call, owner)
    return _jobs(call, owner)


def _extract(call: Call, owner: OwnerKey) -> None:
    with acting(call.caller.actor, within=True):
        try:
            call.memory.extract(owner)
        except LangMemError:
            log.warning("api.extraction_unfinished", exc_info=True)
        except Exception:  # an error of the provider: the job tells it too
            log.exception("api.extraction_unfinished")


def _jobs(call: Call, owner: OwnerKey) -> dict[str, Any]:
    sessions = sessions_of(call.memory, owner)[:_MOST_JOBS]
    with call.memory.database.read() as connection:
        found = [(each.session_id, job_records.of_session(connection, each)) for each in sessions]
    return {
        "jobs": [
            {"session_id": session_id, "state": job.state, "waiting_facts": len(job.facts), "error": job.error}
            for session_id, job in found
            if job is not None
        ]
    }
