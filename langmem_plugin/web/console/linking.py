"""Who is who: an identifier is linked or unlinked, two people are made one after a look, and parted again."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from langmem_plugin.errors import InvalidInput
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.web.console.shell import Shell, as_operator
from langmem_plugin.web.console.who import person_page

_MISSING = 404


def routes(shell: Shell) -> APIRouter:
    router, memory, people = APIRouter(prefix="/people/{ref}"), shell.memory, shell.memory.people

    @router.post("/link")
    def link(request: Request, ref: str, identifier: Annotated[str, Form(max_length=500)] = "") -> Response:
        """At once where nothing is stored under it, else after a look at what would become one."""
        caller, person = shell.operator(request), shell.person(ref)
        other = _other(memory, person, identifier)
        stored = memory.exporter.holdings(other)
        if stored.is_something or len(people.identifiers(other)) > 1:
            shell.note(caller, person, "person")
            shell.note(caller, other, "person")
            mine, theirs = asdict(memory.exporter.holdings(person)), asdict(stored)
            return shell.page(request, "merge.html", person=person, other=other, stored=mine, others=theirs)
        with as_operator(caller):
            people.link(person, identifier)
        return _back(request, shell, person)

    @router.post("/merge")
    def merge(request: Request, ref: str, other: Annotated[str, Form(max_length=2_000)] = "") -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        with as_operator(caller):
            people.merge(person, _unsealed(shell, other))
        return _back(request, shell, person)

    @router.post("/unlink")
    def unlink(request: Request, ref: str, identifier: Annotated[str, Form(max_length=2_000)] = "") -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        key = _unsealed(shell, identifier)
        if people.resolve(key) != person:
            raise InvalidInput("this identifier is not this person's any more: load the page again")
        with as_operator(caller):
            merge_id = people.unlink(key)
        shell.note(caller, person, "person")
        return person_page(request, shell, person, parted=merge_id)

    @router.post("/undo")
    def undo(request: Request, ref: str, merge_id: Annotated[str, Form(max_length=100)] = "") -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        _refuse_others(memory, person, merge_id)
        with as_operator(caller):
            people.undo(merge_id)
        return _back(request, shell, person)

    return router


def _other(memory: PhoneMemory, person: str, identifier: str) -> str:
    """The key of whom a typed identifier is now. Raises InvalidInput."""
    if not identifier.strip():
        raise InvalidInput("type the identifier that is to be linked")
    other = memory.people.typed(identifier)
    if other == person:
        raise InvalidInput("this identifier is this person's already")
    return other


def _refuse_others(memory: PhoneMemory, person: str, merge_id: str) -> None:
    if merge_id not in {each.merge_id for each in memory.people.merges(person)}:
        raise InvalidInput("there is no such merge of this person: it may be undone already")


def _unsealed(shell: Shell, ref: str) -> str:
    """An identifier that a page of ours sent back as it stood there."""
    identifier = shell.refs.person(ref)
    if identifier is None:
        raise HTTPException(_MISSING)
    return identifier


def _back(request: Request, shell: Shell, person: str) -> Response:
    """The key of a person may be another one now."""
    ref = shell.refs.ref(shell.memory.people.resolve(person))
    return shell.go(request, f"people/{ref}")
