"""The parts that every page of the console shares: who may see it, whom it is about, its frame, and the note of who
looked.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from langmem_plugin.database.audit_trail import Action, acting, record
from langmem_plugin.errors import NotAuthorized
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.web.access import CONSOLE, Caller, caller_by_cookie
from langmem_plugin.web.look.pages import Pages
from langmem_plugin.web.person_refs import PersonRefs
from langmem_plugin.web.served import Served, root_of

TEMPLATES = Path(__file__).parent / "templates"


class Shell:
    """Handed to every page. A page is a plain function: it asks `operator` first, then `person`, then a verb."""

    def __init__(self, served: Served) -> None:
        self.memory, self.tokens, self.graph = served.memory, served.tokens, served.graph
        self.refs = PersonRefs(served.memory.database)
        self._pages = Pages(TEMPLATES)

    def operator(self, request: Request) -> Caller:
        """Raises NotAuthorized, which leads to the sign-in page."""
        caller = caller_by_cookie(request, self.tokens, CONSOLE)
        if caller is None:
            raise NotAuthorized("sign in with an operator's token")
        return caller

    def person(self, ref: str) -> OwnerKey:
        """The key of the person whose page it is; 404 for an address that was not made here."""
        person = self.refs.person(ref)
        if person is None:
            raise HTTPException(404)
        return self.memory.people.resolve(person)

    def note(self, caller: Caller, person: str, subject: str, action: Action = "operator.read") -> None:
        """Notes it in the audit log, before an operator is shown what people said or what is known of them; "" is
        nobody.
        """
        with as_operator(caller), self.memory.database.write() as connection:
            record(connection, action, owner=person or None, subject=subject)

    def go(self, request: Request, place: str) -> RedirectResponse:
        """Goes to a page of the console by GET, after something was done."""
        return RedirectResponse(f"{root_of(request)}{CONSOLE}/{place}", 303)

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """A whole page, or where the browser asked for a part of one (htmx), what the template gives for that."""
        return self._pages.page(
            request,
            template,
            status=status,
            part=request.headers.get("hx-request") == "true" and request.headers.get("hx-boosted") != "true",
            here=request.url.path,
            masked=masked,
            ref=self.refs.ref,
            **values,
        )


def as_operator(caller: Caller) -> AbstractContextManager[None]:
    """Notes the operator, by the id of their token, as the one who does all that is done in the block."""
    return acting(f"operator {caller.token_id}", within=True)
