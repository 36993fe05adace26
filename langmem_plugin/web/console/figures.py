"""Figures of everybody and of one person, how fast the verbs are, and what is worth a look."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from langmem_plugin.web.console.shell import Shell


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(), shell.memory

    @router.get("/")
    def overview(request: Request, days: Annotated[int, Query(ge=7, le=366)] = 30) -> Response:
        shell.operator(request)
        return shell.page(request, "overview.html", figures=memory.analytics(days=days), days=days)

    @router.get("/performance")
    def performance(request: Request, hours: Annotated[int, Query(ge=1, le=168)] = 24) -> Response:
        shell.operator(request)
        return shell.page(request, "performance.html", rows=memory.performance(hours=hours), hours=hours)

    @router.get("/people/{ref}/advice")
    def advice(request: Request, ref: str) -> Response:
        shell.operator(request)
        person = shell.person(ref)
        shell.note(person, "recommendations")
        found = memory.recommendations(person)
        ids = [each for one in found for each in one.memory_ids]
        texts = {each.id: each.text for each in memory.service.get(person, ids)}
        figures = memory.analytics(person)
        return shell.page(request, "advice.html", person=person, found=found, texts=texts, figures=figures)

    return router
