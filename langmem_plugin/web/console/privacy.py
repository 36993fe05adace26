"""The person's consent, their data to hand over, and their erasure."""

from io import StringIO
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from langmem_plugin.errors import InvalidInput
from langmem_plugin.people.consents import PERMISSIONS
from langmem_plugin.web.console.shell import Shell, as_operator

_WORDS = {"yes": True, "no": False, "not asked": None}


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(prefix="/people/{ref}/privacy"), shell.memory

    @router.get("")
    def show(request: Request, ref: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        shell.note(caller, person, "consent")
        consent = memory.consent.of(person)
        return shell.page(
            request,
            "privacy.html",
            person=person,
            given={name: getattr(consent, name) for name in PERMISSIONS},
            word=memory.consent.word_of(person),
            due=memory.erasure.would_be_due(),
            stored=memory.exporter.holdings(person),
            undoable=memory.erasure.can_restore(person),
        )

    @router.post("/consent")
    def consent(
        request: Request,
        ref: str,
        name: Annotated[str, Form(max_length=50)],
        allowed: Annotated[str, Form(max_length=50)],
    ) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        if name not in PERMISSIONS or allowed not in _WORDS:
            raise InvalidInput("choose one of the permissions, and yes, no or not asked")
        changes = {name: _WORDS[allowed]}
        with as_operator(caller):
            memory.consent.set(person, **changes)  # type: ignore[arg-type] # looked at above
        return shell.go(request, f"people/{ref}/privacy")

    @router.post("/export")
    def export(request: Request, ref: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        text = StringIO()
        with as_operator(caller):
            memory.export(person, text)
        headers = {"content-disposition": 'attachment; filename="person.json"'}
        return Response(text.getvalue(), media_type="application/json", headers=headers)

    @router.post("/erase")
    def erase(
        request: Request,
        ref: str,
        word: Annotated[str, Form(max_length=50)] = "",
        now: Annotated[bool, Form()] = False,
    ) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        if word.strip().casefold() != "erase":
            raise InvalidInput("type the word erase: nothing was erased")
        with as_operator(caller):
            receipt = memory.erase(person, now=now)
        return shell.page(request, "erased.html", receipt=receipt)

    @router.post("/restore")
    def restore(request: Request, ref: str, erasure_id: Annotated[str, Form(max_length=100)] = "") -> Response:
        caller, _ = shell.operator(request), shell.person(ref)
        with as_operator(caller):
            memory.restore_erased(erasure_id)
        return shell.go(request, f"people/{ref}/privacy")

    return router
