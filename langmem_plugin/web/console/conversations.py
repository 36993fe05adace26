"""A person's conversations as chats: with the tools that were called, and what a "number 2" meant and why."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from langmem_plugin.web.console.shell import Shell
from langmem_plugin.web.conversations import picture, sessions_of, transcript

_PAGE, _LINES = 30, 200


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(prefix="/people/{ref}/conversations"), shell.memory

    @router.get("")
    def list_conversations(request: Request, ref: str, page: Annotated[int, Query(ge=0, le=10_000)] = 0) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        shell.note(caller, person, "sessions")
        found = sessions_of(memory, person)
        here = found[page * _PAGE : (page + 1) * _PAGE]
        return shell.page(
            request,
            "conversations.html",
            person=person,
            found=[memory.sessions.session(each.session_id) for each in here],
            page=page,
            more=len(found) > (page + 1) * _PAGE,
            zone=memory.people.time_zone(person),
        )

    @router.get("/{session_id}")
    def show(
        request: Request,
        ref: str,
        session_id: str,
        first: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
        message: Annotated[str, Query(max_length=200)] = "",
    ) -> Response:
        """From the `first` message on, or the part that `message` is in."""
        caller, person = shell.operator(request), shell.person(ref)
        first, lines = transcript(memory, person, session_id, first=first, around=message, limit=_LINES)
        shell.note(caller, person, session_id)
        return shell.page(
            request,
            "conversation.html",
            person=person,
            session=memory.sessions.session(session_id),
            lines=lines,
            first=first,
            step=_LINES,
            zone=memory.people.time_zone(person),
        )

    @router.get("/{session_id}/pictures/{sha256}")
    def show_picture(request: Request, ref: str, session_id: str, sha256: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        content, kind = picture(memory, person, session_id, sha256)
        shell.note(caller, person, session_id)
        return Response(content, media_type=kind)

    return router
