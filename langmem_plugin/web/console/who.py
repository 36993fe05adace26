"""One person: their identifiers, what is stored of them, and a link to their own page."""

from dataclasses import asdict

from fastapi import APIRouter, Request
from starlette.responses import Response

from langmem_plugin.web.access import PAGE
from langmem_plugin.web.console.shell import Shell
from langmem_plugin.web.served import root_of


def routes(shell: Shell) -> APIRouter:
    router = APIRouter(prefix="/people/{ref}")

    @router.get("")
    def show(request: Request, ref: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        shell.note(caller, person, "person")
        return person_page(request, shell, person)

    @router.post("/reveal")
    def reveal(request: Request, ref: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        shell.note(caller, person, "phone")
        return person_page(request, shell, person, reveal=True)

    @router.post("/page-link")
    def page_link(request: Request, ref: str) -> Response:
        """Shown this once: what is stored of it opens nothing."""
        caller, person = shell.operator(request), shell.person(ref)
        token, access = shell.tokens.new_link(person)
        shell.note(caller, person, access.token_id, "token.made")
        served_at = shell.memory.settings.page_address or str(request.base_url.replace(path=root_of(request)))
        address = f"{served_at}{PAGE}/in/{token}"
        return person_page(request, shell, person, page_link=address)

    return router


def person_page(
    request: Request,
    shell: Shell,
    person: str,
    *,
    reveal: bool = False,
    page_link: str | None = None,
    parted: str | None = None,
) -> Response:
    people = shell.memory.people
    return shell.page(
        request,
        "person.html",
        person=person,
        reveal=reveal,
        identifiers=people.identifiers(person),
        merges=people.merges(person),
        time_zone=people.time_zone(person).key,
        person_language=people.language(person),
        stored=asdict(shell.memory.exporter.holdings(person)),
        page_link=page_link,
        parted=parted,
    )
