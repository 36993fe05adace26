"""What happens by itself, and what was done: extraction's jobs, and the audit log with its proof."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from langmem_plugin.web.console.shell import Shell
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
        )

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
