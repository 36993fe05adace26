"""Takes what a person said into their memory, and says how far that is for each of their conversations."""

from typing import Any, Literal

from pydantic import BaseModel, Field
from starlette.background import BackgroundTask
from starlette.responses import Response

from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.database.audit_trail import acting
from langmem_plugin.errors import ConfigurationError, LangMemError, UnknownSession
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.logs import event_log
from langmem_plugin.portability.exporter import threads_of
from langmem_plugin.web.api.calls import Call, Called
from langmem_plugin.web.api.fields import Body, IdInBody
from langmem_plugin.web.api.routing import Routes, enveloped
from langmem_plugin.writing import job_records

log = event_log(__name__)

routes = Routes("extraction")
PATH = "/api/memory/extract"
_MOST_SESSIONS = 100


class Job(BaseModel):
    session_id: str
    state: Literal["pending", "processing", "completed", "failed"]
    waiting_facts: int = Field(description="facts that were read and are not stored yet")
    error: str | None = Field(description="why it failed, where it did")


class Jobs(BaseModel):
    jobs: list[Job] = Field(description="of the last 100 conversations, the last active first")


class NewExtraction(Body):
    session_id: IdInBody | None = Field(
        default=None, description="also this conversation, if anything was said in it since it was read"
    )


@routes.get(PATH)
def list_extraction_jobs(call: Called) -> Jobs:
    """How far the extraction is."""
    return _jobs(call, call.reads("extraction"))


@routes.post(PATH, statuses=(202,))
def start_extraction(call: Called, wanted: NewExtraction) -> Jobs:
    """Take what the person said into their memory now, also of conversations that are not quiet yet.

    It goes on after the answer; the jobs say when it is done. By itself it happens when a conversation falls silent.
    """
    extraction, owner = call.memory.extraction, call.person()
    if extraction is None:
        raise ConfigurationError("nothing is extracted here: the setting `extraction` is off")
    if wanted.session_id is not None:
        with call.memory.database.write() as connection:
            session = session_rows.anywhere(connection, wanted.session_id)
            if session.thread not in threads_of(connection, owner):
                raise UnknownSession(f"there is no session {wanted.session_id!r}: list them for their ids")
            extraction.jobs.mark(connection, session.thread, session.number)
    begun: Any = Response(enveloped(_jobs(call, owner)), 202, media_type="application/json")
    begun.background = BackgroundTask(_extract, call, owner)
    return begun  # type: ignore[no-any-return]


def _extract(call: Call, owner: OwnerKey) -> None:
    with acting(call.actor, within=True):
        try:
            call.memory.extract(owner)
        except LangMemError:
            log.warning("api.extraction_unfinished", exc_info=True)
        except Exception:  # a provider's own: the job says so too
            log.exception("api.extraction_unfinished")


def _jobs(call: Call, owner: OwnerKey) -> Jobs:
    with call.memory.database.read() as connection:
        threads = threads_of(connection, owner)
        sessions = [each for thread in threads for each in session_rows.listed(connection, thread, _MOST_SESSIONS)]
        sessions.sort(key=lambda each: each.last_active, reverse=True)
        found = [(each, job_records.of_session(connection, each)) for each in sessions[:_MOST_SESSIONS]]
    return Jobs(
        jobs=[
            Job(session_id=each.session_id, state=job.state, waiting_facts=len(job.facts), error=job.error)
            for each, job in found
            if job is not None
        ]
    )
