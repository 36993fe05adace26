"""The door of the console: an operator's token once, then a cookie."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from langmem_plugin.web.access import CONSOLE, Attempts, caller_by_cookie, let_in, let_out
from langmem_plugin.web.console.shell import Shell


def routes(shell: Shell) -> APIRouter:
    router, attempts = APIRouter(), Attempts()

    @router.get("/sign-in")
    def show(request: Request) -> Response:
        return shell.page(request, "sign_in.html", wrong=False, busy=False)

    @router.post("/sign-in")
    def sign_in(request: Request, token: Annotated[str, Form(max_length=200)] = "") -> Response:
        entered = shell.tokens.let_in(token.strip(), "operator")
        if entered is None:  # only then: others may guess from the address of who holds a token
            if attempts.too_many(request):
                return shell.page(request, "sign_in.html", status=429, wrong=False, busy=True)
            attempts.failed(request)
            return shell.page(request, "sign_in.html", status=403, wrong=True, busy=False)
        response = shell.go(request, "")
        let_in(request, response, entered[0], CONSOLE)
        return response

    @router.post("/sign-out")
    def sign_out(request: Request) -> Response:
        caller = caller_by_cookie(request, shell.tokens, CONSOLE)
        if caller is not None:
            shell.tokens.revoke(caller.token_id)
        response = shell.go(request, "sign-in")
        let_out(request, response, CONSOLE)
        return response

    return router
