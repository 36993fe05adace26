"""One person: their identifiers, linked, unlinked, merged and parted again, and a link to their own page."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from langmem_plugin.errors import InvalidInput
from langmem_plugin.web.access import CONSOLE, PAGE
from langmem_plugin.web.console.shell import Shell, as_operator
from langmem_plugin.web.served import root_of

_MISSING = 404


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(prefix="/people/{ref}"), shell.memory
    people = memory.people

    def back(request: Request, person: str) -> Response:
        return RedirectResponse(f"{root_of(request)}{CONSOLE}/people/{shell.refs.ref(people.resolve(person))}", 303)

    def sealed(ref: str) -> str:
        """An identifier that a page of ours sent back as it stood there."""
        identifier = shell.refs.person(ref)
        if identifier is None:
            raise HTTPException(_MISSING)
        return identifier

    @router.get("")
    def show(request: Request, ref: str) -> Response:
        shell.operator(request)
        person = shell.person(ref)
        shell.note(person, "person")
        return _page(request, shell, person)

    @router.post("/reveal")
    def reveal(request: Request, ref: str) -> Response:
        shell.operator(request)
        person = shell.person(ref)
        shell.note(person, "phone")
        return _page(request, shell, person, reveal=True)

    @router.post("/page-link")
    def page_link(request: Request, ref: str) -> Response:
        """Shown this once: what is stored of it opens nothing."""
        caller, person = shell.operator(request), shell.person(ref)
        token, access = shell.tokens.new_link(person)
        as_operator(caller, lambda: shell.note(person, access.token_id, "token.made"))
        address = str(request.base_url.replace(path=f"{root_of(request)}{PAGE}/in/{token}"))
        return _page(request, shell, person, page_link=address)

    @router.post("/link")
    def link(request: Request, ref: str, identifier: Annotated[str, Form(max_length=500)] = "") -> Response:
        """At once where nothing is stored under it, else after a look at what would become one."""
        caller, person = shell.operator(request), shell.person(ref)
        if not identifier.strip():
            raise InvalidInput("type the identifier that is to be linked")
        other = people.resolve(identifier)
        if other == person:
            raise InvalidInput("this identifier is this person's already")
        stored = memory.holdings(other)
        if stored.is_something or len(people.identifiers(other)) > 1:
            shell.note(other, "person")
            shell.note(person, "person")
            counts = {"stored": asdict(memory.holdings(person)), "others": asdict(stored)}
            return shell.page(request, "merge.html", person=person, other=other, **counts)
        as_operator(caller, lambda: people.link(person, identifier))
        return back(request, person)

    @router.post("/merge")
    def merge(request: Request, ref: str, other: Annotated[str, Form(max_length=2_000)] = "") -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        as_operator(caller, lambda: people.merge(person, sealed(other)))
        return back(request, person)

    @router.post("/unlink")
    def unlink(request: Request, ref: str, identifier: Annotated[str, Form(max_length=2_000)] = "") -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        key = sealed(identifier)
        if people.resolve(key) != person:
            raise InvalidInput("this identifier is not this person's any more: load the page again")
        merge_id = as_operator(caller, lambda: people.unlink(key))
        return _page(request, shell, person, parted=merge_id) if merge_id else back(request, person)

    @router.post("/undo")
    def undo(request: Request, ref: str, merge_id: Annotated[str, Form(max_length=100)] = "") -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        if merge_id not in {each.merge_id for each in people.merges(person)}:
            raise InvalidInput("there is no such merge of this person: it may be undone already")
        as_operator(caller, lambda: people.undo(merge_id))
        return back(request, person)

    return router


def _page(
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
        stored=asdict(shell.memory.holdings(person)),
        page_link=page_link,
        parted=parted,
    )
