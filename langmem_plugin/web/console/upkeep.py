"""The background work and its records: extraction's jobs, and the audit log with its proof."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from sqlalchemy import select
from starlette.responses import Response

from langmem_plugin.database.conversation_tables import thread_owner
from langmem_plugin.errors import InvalidInput
from langmem_plugin.web.console.shell import Shell, as_operator
from langmem_plugin.writing import job_records
from langmem_plugin.writing.jobs import ExtractionJobs

_ENTRIES = 200


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(), shell.memory
    jobs = ExtractionJobs(memory.database, quiet=memory.settings.extract_after, now=memory.service.now)

    @router.get("/jobs")
    def show_jobs(request: Request) -> Response:
        shell.operator(request)
        return shell.page(
            request,
            "jobs.html",
            states=jobs.states(),
            running=memory.extraction is not None,
            rate=memory.confirmations.approval_rate(),
            failed=_failed(),
            alerts=memory.insight.alerts.raised(),
        )

    def _failed() -> list[tuple[str, job_records.FailedJob]]:
        """The failed jobs, each with its owner."""
        with memory.database.read() as connection:
            found = job_records.failed(connection)
            noted = select(thread_owner.c.thread, thread_owner.c.owner).where(
                thread_owner.c.thread.in_([each.thread for each in found])
            )
            owners = {row.thread: row.owner for row in connection.execute(noted)}
        return [(owners.get(each.thread) or each.thread, each) for each in found]

    @router.post("/jobs/retry")
    def retry(request: Request, session_id: Annotated[str, Form(max_length=200)] = "") -> Response:
        caller = shell.operator(request)
        with as_operator(caller), memory.database.write() as connection:
            if not job_records.try_again(connection, session_id):
                raise InvalidInput("this job has not failed, or not any more: load the page again")
        return shell.go(request, "jobs")

    @router.get("/audit")
    def show_audit(request: Request) -> Response:
        shell.operator(request)
        return shell.page(request, "audit.html", entries=memory.audit.newest(_ENTRIES)[::-1], proof=None)

    @router.post("/audit/verify")
    def verify(request: Request) -> Response:
        shell.operator(request)
        proof = memory.audit.verify()
        return shell.page(request, "audit.html", entries=memory.audit.newest(_ENTRIES)[::-1], proof=proof)

    return router
