"""Everybody of whom something is stored, masked, and how one of them is found."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from langmem_plugin.errors import InvalidInput
from langmem_plugin.people import links
from langmem_plugin.people.everybody import everybody
from langmem_plugin.web.console.shell import Shell

_PAGE = 50


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(), shell.memory

    @router.get("/people")
    def list_people(request: Request, after: Annotated[str, Query(max_length=2000)] = "") -> Response:
        shell.operator(request)
        with memory.database.read() as connection:
            keys = everybody(connection, after=shell.person(after) if after else "", limit=_PAGE + 1)
            linked = {each: links.identifiers_of(connection, each)[1:] for each in keys[:_PAGE]}
        rows = [(each, linked[each], memory.exporter.holdings(each)) for each in keys[:_PAGE]]
        return shell.page(
            request, "people.html", rows=rows, next=shell.refs.ref(keys[_PAGE - 1]) if len(keys) > _PAGE else None
        )

    @router.post("/people/find")
    def find(request: Request, identifier: Annotated[str, Form(max_length=500)] = "") -> Response:
        """Posted, so that a phone stands in no address."""
        shell.operator(request)
        person = memory.people.resolve(identifier) if identifier.strip() else ""
        if not person or not memory.exporter.holdings(person).is_something:
            raise InvalidInput("nothing is stored of anybody with this identifier")
        return shell.go(request, f"people/{shell.refs.ref(person)}")

    return router
