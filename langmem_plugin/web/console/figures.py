"""Figures of everybody and of one person, how fast the verbs are, and what is worth a look."""

import json
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from langmem_plugin.errors import InvalidInput
from langmem_plugin.insight.analytics import Analytics
from langmem_plugin.insight.recommendations import Recommendation
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.web.console.shell import Shell, as_operator

_Form = Literal["csv", "json"]


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(), shell.memory

    @router.get("/")
    def overview(request: Request, days: Annotated[int, Query(ge=7, le=366)] = 30) -> Response:
        shell.operator(request)
        return shell.page(request, "overview.html", figures=memory.insight.analytics(days=days), days=days)

    @router.get("/performance")
    def performance(request: Request, hours: Annotated[int, Query(ge=1, le=168)] = 24) -> Response:
        shell.operator(request)
        return shell.page(request, "performance.html", rows=memory.insight.performance(hours=hours), hours=hours)

    @router.get("/people/{ref}/advice")
    def advice(request: Request, ref: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        shell.note(caller, person, "recommendations")
        found = memory.insight.recommendations(person)
        ids = [each for one in found for each in one.memory_ids]
        texts = {each.id: each.text for each in memory.service.get(person, ids)}
        figures = memory.insight.analytics(person)
        return shell.page(request, "advice.html", person=person, found=found, texts=texts, figures=figures)

    @router.get("/people/{ref}/playground")
    def playground(request: Request, ref: str, q: Annotated[str, Query(max_length=1_000)] = "") -> Response:
        """A question as a person would text it: every candidate, its signals, and why it was kept or not."""
        caller, person = shell.operator(request), shell.person(ref)
        if q.strip():
            shell.note(caller, person, "recall")
        found = memory.service.explain(person, q) if q.strip() else []
        return shell.page(request, "playground.html", person=person, q=q, found=found)

    @router.post("/people/{ref}/advice")
    def follow(
        request: Request,
        ref: str,
        kind: Annotated[str, Form(max_length=50)] = "",
        memory_id: Annotated[str, Form(max_length=100)] = "",
    ) -> Response:
        """What the advice proposes, if it still does."""
        caller, person = shell.operator(request), shell.person(ref)
        advice = memory.insight.recommendations(person)
        found = next((each for each in advice if (each.kind, each.memory_ids[-1]) == (kind, memory_id)), None)
        if found is None:
            raise InvalidInput("this is not proposed any more: load the page again")
        with as_operator(caller):
            _followed(memory, person, found)
        return shell.go(request, f"people/{ref}/advice")

    @router.get("/analytics.{form}")
    def download(request: Request, form: _Form, days: Annotated[int, Query(ge=1, le=366)] = 30) -> Response:
        shell.operator(request)
        return _file(memory.insight.analytics(days=days), form)

    @router.get("/people/{ref}/analytics.{form}")
    def download_one(
        request: Request, ref: str, form: _Form, days: Annotated[int, Query(ge=1, le=366)] = 30
    ) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        shell.note(caller, person, "analytics")
        return _file(memory.insight.analytics(person, days=days), form)

    return router


def _followed(memory: PhoneMemory, person: str, advice: Recommendation) -> None:
    service, memory_id = memory.service, advice.memory_ids[-1]
    if advice.kind in {"duplicate", "unused"}:
        service.forget(person, memory_id)
    elif advice.is_over:
        service.update(person, memory_id, expires_at=service.now())
    else:
        service.update(person, memory_id, status="pending")


def _file(figures: Analytics, form: _Form) -> Response:
    text = figures.to_csv() if form == "csv" else json.dumps(figures.to_dict(), ensure_ascii=False, indent=2)
    headers = {"content-disposition": f'attachment; filename="analytics.{form}"'}
    return Response(text, media_type="text/csv" if form == "csv" else "application/json", headers=headers)
