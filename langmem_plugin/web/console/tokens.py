"""Tokens that open a door: those that are, new ones, told once, and taking one back."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from langmem_plugin.errors import InvalidInput
from langmem_plugin.people.access_tokens import LONGEST, VALID_FOR, Access
from langmem_plugin.web.access import Caller
from langmem_plugin.web.console.shell import Shell


def routes(shell: Shell) -> APIRouter:
    router, tokens = APIRouter(prefix="/tokens"), shell.tokens

    def page(request: Request, caller: Caller, made: tuple[str, Access] | None = None) -> Response:
        return shell.page(
            request,
            "tokens.html",
            found=tokens.listed(),
            made=made,
            mine=caller.token_id,
            days=VALID_FOR.days,
            most=LONGEST.days,
        )

    @router.get("")
    def show(request: Request) -> Response:
        return page(request, shell.operator(request))

    @router.post("")
    def make(
        request: Request,
        identifier: Annotated[str, Form(max_length=500)] = "",
        operator: Annotated[bool, Form()] = False,
        days: Annotated[int, Form(ge=1, le=LONGEST.days)] = VALID_FOR.days,
    ) -> Response:
        caller, who = shell.operator(request), identifier.strip()
        if bool(who) == operator:
            raise InvalidInput(
                "a token is for one person or for an operator: type who it is for, or tick the operator's"
            )
        made = tokens.new_operator(timedelta(days=days)) if operator else tokens.new(who, timedelta(days=days))
        shell.note(caller, made[1].identifier, made[1].token_id, "token.made")
        return page(request, caller, made)

    @router.post("/{token_id}/revoke")
    def revoke(request: Request, token_id: str) -> Response:
        caller = shell.operator(request)
        tokens.revoke(token_id)
        shell.note(caller, "", token_id, "token.revoked")
        return shell.go(request, "tokens")

    return router
