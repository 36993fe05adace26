"""An operator at work: who they are, the person a page is about, its frame, and the note of who looked."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import Depends
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from langmem_plugin.cached_property import cached_property
from langmem_plugin.database.audit_recording import acting, record
from langmem_plugin.errors import NotAuthorized
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.web.app_context import root_of
from langmem_plugin.web.authentication import CONSOLE, Caller, caller_by_cookie
from langmem_plugin.web.look.page_templates import Pages
from langmem_plugin.web.sealed_person_addresses import PersonRefs

_pages = Pages(Path(__file__).parent / "templates")


def shown(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """The template as a whole page, or as a part of one if the browser asked for a part (htmx)."""
    return _pages.page(
        request,
        template,
        status=status,
        part=request.headers.get("hx-request") == "true" and request.headers.get("hx-boosted") != "true",
        here=request.url.path,
        masked=masked,
        ref=request.app.state.refs.ref,
        **values,
    )


def gone(request: Request, place: str) -> RedirectResponse:
    """Redirect to a page of the console by GET, after something was done."""
    return RedirectResponse(f"{root_of(request)}{CONSOLE}/{place}", 303)


@dataclass(frozen=True)
class Desk:
    """The arguments of a page of the console; the operator is known, and each of their actions is noted."""

    request: Request
    memory: PhoneMemory
    tokens: AccessTokens
    refs: PersonRefs
    caller: Caller

    def note(self, subject: str, action: str = "operator.read", person: str | None = None) -> None:
        """Note in the audit log what the operator is about to be shown, or does."""
        with self.memory.database.write() as connection:
            record(connection, action, owner=person or None, subject=subject)

    def go(self, place: str) -> RedirectResponse:
        return gone(self.request, place)

    def page(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        return shown(self.request, template, status=status, **values)


@dataclass(frozen=True)
class PersonDesk(Desk):
    """A desk for a page about one person; its places are below theirs."""

    person: OwnerKey

    @cached_property
    def zone(self) -> ZoneInfo:
        return self.memory.people.time_zone(self.person)

    def note(self, subject: str, action: str = "operator.read", person: str | None = None) -> None:
        super().note(subject, action, person or self.person)

    def go(self, place: str) -> RedirectResponse:
        """Redirect to a page of the person, whose key may be another one by now."""
        ref = self.refs.ref(self.memory.people.resolve(self.person))
        return gone(self.request, f"people/{ref}/{place}".rstrip("/"))

    def page(self, template: str, *, status: int = 200, noted: str = "", **values: Any) -> HTMLResponse:
        """The page; `noted` is the part of the person's data that the operator is shown."""
        if noted:
            self.note(noted)
        values |= {"person": self.person, "given_name": self.memory.people.name(self.person), "zone": self.zone}
        return super().page(template, status=status, **values)


async def _signed_in(request: Request) -> AsyncIterator[Desk]:
    state = request.app.state
    caller = await run_in_threadpool(caller_by_cookie, request, state.served.tokens, CONSOLE)
    if caller is None:
        raise NotAuthorized("sign in with an operator's token")
    with acting(f"operator {caller.token_id}", within=True):
        yield Desk(request, state.served.memory, state.served.tokens, state.refs, caller)


AtDesk = Annotated[Desk, Depends(_signed_in)]


def _about(desk: AtDesk, ref: str) -> PersonDesk:
    return PersonDesk(**vars(desk), person=desk.memory.people.resolve(unsealed(desk, ref)))


def unsealed(desk: Desk, ref: str) -> str:
    """The key that a page of ours sealed in an address or a form. Raises 404 if it was not made here."""
    person = desk.refs.person(ref)
    if person is None:
        raise HTTPException(404)
    return person


AboutPerson = Annotated[PersonDesk, Depends(_about)]
