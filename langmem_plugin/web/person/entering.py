"""The way in and out: a link from the chat shows one button, which uses it up; programs that fetch links do not."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from langmem_plugin.errors import InvalidInput
from langmem_plugin.web.access import PAGE, RETRY_AFTER, Attempts, caller_by_cookie, let_in, let_out
from langmem_plugin.web.person.visit import Here, browser_language, served_of, shown
from langmem_plugin.web.served import root_of

router = APIRouter()


@router.get("/in/{token}")
def link(request: Request, token: str) -> HTMLResponse:
    """Asks before it lets in, and changes nothing: messengers fetch links to preview them."""
    served = served_of(request)
    access = served.tokens.access_by(token, "link")
    if access is None:
        return _over(request)
    language = served.memory.people.language(access.identifier, browser_language(request))
    return shown(request, "enter.html", language, token=token)


@router.post("/in")
def enter(request: Request, token: Annotated[str, Form()] = "") -> Response:
    tokens = served_of(request).tokens
    made = tokens.let_in(token, "link")
    if made is None:
        return _over(request)
    before = caller_by_cookie(request, tokens, PAGE)
    if before is not None:
        _end(request, before.token_id)
    response = RedirectResponse(f"{root_of(request)}{PAGE}/", 303)
    let_in(request, response, made[0], PAGE)
    return response


@router.get("/in")
def entered(request: Request) -> Response:
    """What the way in is called once it was gone."""
    if caller_by_cookie(request, served_of(request).tokens, PAGE) is None:
        return shown(request, "closed.html", browser_language(request), why="no_link")
    return RedirectResponse(f"{root_of(request)}{PAGE}/", 303)


@router.post("/leave")
def leave(visit: Here) -> RedirectResponse:
    _end(visit.request, visit.token_id)
    response = visit.go("left")
    let_out(visit.request, response, PAGE)
    return response


@router.get("/left")
def left(request: Request) -> HTMLResponse:
    return shown(request, "closed.html", browser_language(request), why="left")


def _end(request: Request, token_id: str) -> None:
    try:
        served_of(request).tokens.revoke(token_id)
    except InvalidInput:  # by another click, meanwhile
        return


def _over(request: Request) -> HTMLResponse:
    """The page for a link that lets nobody in. A link that does is never counted, whoever else guesses from that
    address.
    """
    wrong: Attempts = request.app.state.wrong_links
    if wrong.too_many(request):
        refused = shown(request, "closed.html", browser_language(request), status=429, why="too_many")
        refused.headers.update(RETRY_AFTER)
        return refused
    wrong.failed(request)
    return shown(request, "closed.html", browser_language(request), status=410, why="over")
