"""A question as a person would text it: every candidate, its signals, and why it was kept or not."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from langmem_plugin.web.console.shell import Shell


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(), shell.memory

    @router.get("/people/{ref}/playground")
    def show(request: Request, ref: str, q: Annotated[str, Query(max_length=1_000)] = "") -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        if q.strip():
            shell.note(caller, person, "recall")
        found = memory.service.explain(person, q) if q.strip() else []
        return shell.page(request, "playground.html", person=person, q=q, found=found)

    return router
