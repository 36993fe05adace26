"""Everybody of whom something is stored, masked: found by the end of an identifier, sorted; and who is being erased."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy import Connection
from starlette.responses import Response

from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.errors import InvalidInput
from langmem_plugin.people import links
from langmem_plugin.people.everybody import Order, looked_for
from langmem_plugin.web.console.shell import Shell, as_operator

_PAGE = 50


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(), shell.memory

    def listed(request: Request, words: str, order: Order, page: int) -> Response:
        with memory.database.read() as connection:
            found, total = looked_for(connection, words, order=order, limit=_PAGE, offset=page * _PAGE)
            if words and not found:
                raise InvalidInput("nothing is stored of anybody whose identifier has this in it")
            also = {each.key: links.identifiers_of(connection, each.key)[1:] for each in found}
            names = {each.key: _name(connection, each.key) for each in found}
        return shell.page(
            request,
            "people.html",
            found=found,
            also=also,
            names=names,
            total=total,
            words=words,
            order=order,
            page=page,
            last=max(0, (total - 1) // _PAGE),
            step=_PAGE,
            erasures=memory.erasure.under_way(),
            channel=_channel,
        )

    @router.get("/people")
    def list_people(
        request: Request, order: Order = "active", page: Annotated[int, Query(ge=0, le=100_000)] = 0
    ) -> Response:
        shell.operator(request)
        return listed(request, "", order, page)

    @router.post("/people/find")
    def find(request: Request, identifier: Annotated[str, Form(max_length=500)] = "") -> Response:
        """Posted, so that a phone stands in no address. A whole identifier, in any spelling, opens its person."""
        shell.operator(request)
        words = identifier.strip()
        if not words:
            raise InvalidInput("type a phone, its last digits, or another identifier")
        person = _person(shell, words)
        return listed(request, words, "active", 0) if person is None else shell.go(request, f"people/{person}")

    @router.post("/people/erasures/{erasure_id}/restore")
    def restore(request: Request, erasure_id: str) -> Response:
        caller = shell.operator(request)
        with as_operator(caller):
            memory.restore_erased(memory.erasure.receipt(erasure_id).id)
        return shell.go(request, "people")

    return router


def _person(shell: Shell, words: str) -> str | None:
    """The place of whom these words name as a whole."""
    if words.isascii() and words.isdigit() and len(words) < _FEWEST_DIGITS:
        return None
    try:
        person = shell.memory.people.resolve(words)
    except InvalidInput:
        return None
    return shell.refs.ref(person) if shell.memory.exporter.holdings(person).is_something else None


def _name(connection: Connection, key: str) -> str | None:
    """The name that their channel gave with their newest session."""
    newest = session_rows.listed(connection, key, 1)
    return session_rows.client_of(connection, newest[0]).name if newest else None


_FEWEST_DIGITS = 7  # of a phone that is typed whole


def _channel(key: str) -> str:
    """The channel that a person's key names."""
    name, _, service = key.rpartition("@")
    if name:
        return "group" if service == "g.us" else service
    kind, colon, _ = key.partition(":")
    return kind if colon else "phone"
