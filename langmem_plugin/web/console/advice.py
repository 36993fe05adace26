"""A person's memories that ask for a look: those that wait for a word, and advice; and the figures of all."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import Response

from langmem_plugin.errors import InvalidInput
from langmem_plugin.web.console.operator_request import AboutPerson
from langmem_plugin.web.console.overview_people_jobs_audit import Days, TableForm, analytics_file

router = APIRouter(prefix="/people/{ref}")


@router.get("/waiting")
def list_waiting(at: AboutPerson) -> Response:
    """Show the memories that wait for a word, which an operator may give for the person."""
    asked = at.memory.confirmations
    return at.page("waiting.html", noted="pending", found=asked.waiting(at.person), rate=asked.approval_rate(at.person))


@router.post("/waiting/{memory_id}/confirm")
def confirm(at: AboutPerson, memory_id: str) -> Response:
    at.memory.confirmations.confirm(at.person, memory_id)
    return at.go("waiting")


@router.post("/waiting/{memory_id}/decline")
def decline(at: AboutPerson, memory_id: str) -> Response:
    at.memory.confirmations.decline(at.person, memory_id)
    return at.go("waiting")


@router.get("/advice")
def advice(at: AboutPerson) -> Response:
    """Show memories that are worth a look, and figures."""
    found = at.memory.insight.recommendations(at.person)
    ids = [each for one in found for each in one.memory_ids]
    texts = {each.id: each.text for each in at.memory.service.get(at.person, ids)}
    figures = at.memory.insight.analytics(at.person)
    return at.page("advice.html", noted="recommendations", found=found, texts=texts, figures=figures)


@router.get("/analytics.{form}")
def download(at: AboutPerson, form: TableForm, days: Days = 30) -> Response:
    at.note("analytics")
    return analytics_file(at.memory.insight.analytics(at.person, days=days), form)


@router.post("/advice")
def follow(
    at: AboutPerson,
    kind: Annotated[str, Form(max_length=50)] = "",
    memory_id: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Do what the advice proposes, if it still proposes it. Raises InvalidInput if not."""
    service, advices = at.memory.service, at.memory.insight.recommendations(at.person)
    found = next((each for each in advices if (each.kind, each.memory_ids[-1]) == (kind, memory_id)), None)
    if found is None:
        raise InvalidInput("this is not proposed any more: load the page again")
    if kind in {"duplicate", "unused"}:
        service.forget(at.person, memory_id)
    elif found.is_over:
        service.update(at.person, memory_id, expires_at=service.now())
    else:
        service.update(at.person, memory_id, status="pending")
    return at.go("advice")
