"""The whole service: its figures, everybody in it, the background work, and the audit log."""

import json
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query
from sqlalchemy import Connection, select
from starlette.responses import Response

from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.database.conversation_tables import thread_owner
from langmem_plugin.errors import InvalidInput
from langmem_plugin.insight.memory_analytics import Analytics
from langmem_plugin.people import links, person_settings
from langmem_plugin.people.people_listing import MOST_COUNTED, how_many, listed, looked_for
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.web.bulk_forget_and_recent import recent
from langmem_plugin.web.console.operator_request import AtDesk, Desk
from langmem_plugin.writing import extraction_jobs as job_records
from langmem_plugin.writing.extraction_jobs import ExtractionJobs

router = APIRouter()

_PAGE, _ENTRIES = 50, 200
Days = Annotated[int, Query(ge=1, le=366)]
TableForm = Literal["csv", "json"]


@router.get("/")
def overview(at: AtDesk, days: Annotated[int, Query(ge=7, le=366)] = 30) -> Response:
    return at.page("overview.html", figures=at.memory.insight.analytics(days=days), days=days)


@router.get("/performance")
def performance(at: AtDesk, hours: Annotated[int, Query(ge=1, le=168)] = 24) -> Response:
    return at.page("performance.html", rows=at.memory.insight.performance(hours=hours), hours=hours)


@router.get("/analytics.{form}")
def download(at: AtDesk, form: TableForm, days: Days = 30) -> Response:
    return analytics_file(at.memory.insight.analytics(days=days), form)


def analytics_file(figures: Analytics, form: TableForm) -> Response:
    text = figures.to_csv() if form == "csv" else json.dumps(figures.to_dict(), ensure_ascii=False, indent=2)
    headers = {"content-disposition": f'attachment; filename="analytics.{form}"'}
    return Response(text, media_type="text/csv" if form == "csv" else "application/json", headers=headers)


@router.get("/people")
def list_people(at: AtDesk, page: Annotated[int, Query(ge=0, le=MOST_COUNTED // _PAGE)] = 0) -> Response:
    return _people(at, "", page)


@router.post("/people/find")
def find(at: AtDesk, identifier: Annotated[str, Form(max_length=500)] = "") -> Response:
    """Find a person; by POST, so that no address holds a phone. A whole identifier, however spelt, opens its person."""
    words = identifier.strip()
    if not words:
        raise InvalidInput("type a name, a phone, its last digits, or another identifier")
    person = _whole(at.memory, words)
    return _people(at, words, 0) if person is None else at.go(f"people/{at.refs.ref(person)}")


@router.post("/people/erasures/{erasure_id}/restore")
def undo_erasure(at: AtDesk, erasure_id: str) -> Response:
    at.memory.restore_erased(at.memory.erasure.receipt(erasure_id).id)
    return at.go("people")


def _people(at: Desk, words: str, page: int) -> Response:
    """Show the people of whom something is stored, masked; with `words`, those whose identifier or name has them.

    Raises InvalidInput if nobody's has.
    """
    with at.memory.database.read() as connection:
        found, total = (
            looked_for(connection, words, limit=_PAGE)
            if words
            else (listed(connection, limit=_PAGE, offset=page * _PAGE), how_many(connection))
        )
        if words and not found:
            raise InvalidInput("nothing is stored of anybody whose identifier or name has this in it")
        also = {each.key: links.identifiers_of(connection, each.key)[1:] for each in found}
        names = {each.key: _name(connection, each.key) for each in found}
    return at.page(
        "people.html",
        found=found,
        also=also,
        names=names,
        total=total,
        most=MOST_COUNTED,
        words=words,
        page=page,
        last=max(0, ((MOST_COUNTED if total is None else total) - 1) // _PAGE),
        step=_PAGE,
        erasures=at.memory.erasure.under_way(),
        channel=_channel,
    )


def _whole(memory: PhoneMemory, words: str) -> str | None:
    """The key of the person whose whole identifier the words are; None if they are nobody's."""
    try:
        person = memory.people.resolve(words)
    except InvalidInput:
        return None
    return person if memory.exporter.holdings(person).is_something else None


def _name(connection: Connection, key: str) -> str | None:
    """The name that an operator gave to the person, else the one their channel gave with their newest session."""
    if (given := person_settings.name_of(connection, key)) is not None:
        return given
    newest = session_rows.listed(connection, key, 1)
    return session_rows.client_of(connection, newest[0]).name if newest else None


def _channel(key: str) -> str:
    """The channel that a person's key names."""
    name, _, service = key.rpartition("@")
    if name:
        return "group" if service == "g.us" else service
    kind, colon, _ = key.partition(":")
    return kind if colon else "phone"


@router.get("/recent")
def show_recent(at: AtDesk) -> Response:
    """Show the latest changes of everybody, each of which can be undone."""
    at.note("recent")
    changes = recent(at.memory.service)
    names = {person: at.memory.people.name(person) for person, *_ in changes}
    return at.page("recent_of_all.html", changes=changes, names=names)


@router.get("/jobs")
def show_jobs(at: AtDesk) -> Response:
    memory = at.memory
    return at.page(
        "jobs.html",
        states=ExtractionJobs(memory.database, quiet=memory.settings.extract_after, now=memory.service.now).states(),
        running=memory.extraction is not None,
        rate=memory.confirmations.approval_rate(),
        failed=_failed(memory),
        alerts=memory.insight.alerts.raised(),
        over=memory.insight.alerts.over(),
    )


def _failed(memory: PhoneMemory) -> list[tuple[str, job_records.FailedJob]]:
    """The failed jobs, each with its owner."""
    with memory.database.read() as connection:
        found = job_records.failed(connection)
        noted = select(thread_owner.c.thread, thread_owner.c.owner).where(
            thread_owner.c.thread.in_([each.thread for each in found])
        )
        owners = {row.thread: row.owner for row in connection.execute(noted)}
    return [(owners.get(each.thread) or each.thread, each) for each in found]


@router.post("/jobs/retry")
def retry(at: AtDesk, session_id: Annotated[str, Form(max_length=200)] = "") -> Response:
    with at.memory.database.write() as connection:
        if not job_records.try_again(connection, session_id):
            raise InvalidInput("this job has not failed, or not any more: load the page again")
    return at.go("jobs")


@router.get("/audit")
def show_audit(at: AtDesk) -> Response:
    return at.page("audit.html", entries=at.memory.audit.newest(_ENTRIES)[::-1])
