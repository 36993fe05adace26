"""One person: who they are, what they allow, their conversations, their data to hand over, and their erasure."""

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query
from starlette.responses import Response

from langmem_plugin.errors import InvalidInput
from langmem_plugin.people.consent_records import PERMISSIONS, Permission
from langmem_plugin.web.app_context import exported, root_of
from langmem_plugin.web.authentication import PAGE
from langmem_plugin.web.console.operator_request import AboutPerson, PersonDesk, unsealed
from langmem_plugin.web.conversation_transcripts import picture, sessions_of, transcript

router = APIRouter(prefix="/people/{ref}")

_PAGE, _LINES = 30, 200
_WORDS = {"yes": True, "no": False, "not asked": None}
_Ref = Annotated[str, Form(max_length=2_000)]


@router.get("")
def show(at: AboutPerson) -> Response:
    return _who(at)


@router.post("/reveal")
def reveal(at: AboutPerson) -> Response:
    return _who(at, noted="phone", reveal=True)


@router.post("/page-link")
def page_link(at: AboutPerson) -> Response:
    """Make a link to the person's page and show it this once: its stored form opens nothing."""
    token, access = at.tokens.new_link(at.person)
    at.note(access.token_id, "token.made")
    served_at = at.memory.settings.page_address or str(at.request.base_url.replace(path=root_of(at.request)))
    return _who(at, noted="", page_link=f"{served_at}{PAGE}/in/{token}")


@router.post("/name")
def name(at: AboutPerson, name: Annotated[str, Form(max_length=500)] = "") -> Response:
    at.memory.people.set_name(at.person, name)
    return at.go("")


def _who(at: PersonDesk, *, noted: str = "person", reveal: bool = False, page_link: str | None = None) -> Response:
    people = at.memory.people
    return at.page(
        "person.html",
        noted=noted,
        reveal=reveal,
        identifiers=people.identifiers(at.person),
        person_language=people.language(at.person),
        stored=asdict(at.memory.exporter.holdings(at.person)),
        page_link=page_link,
    )


@router.post("/link")
def link(at: AboutPerson, identifier: Annotated[str, Form(max_length=500)] = "") -> Response:
    """Link an identifier, at once if nothing is stored under it, else after a look at both."""
    if not identifier.strip():
        raise InvalidInput("type the identifier that is to be linked")
    other = at.memory.people.typed(identifier)
    if other == at.person:
        raise InvalidInput("this identifier is this person's already")
    stored = at.memory.exporter.holdings(other)
    if stored.is_something or len(at.memory.people.identifiers(other)) > 1:
        at.note("person", person=other)
        mine, theirs = asdict(at.memory.exporter.holdings(at.person)), asdict(stored)
        return at.page("merge.html", noted="person", other=other, stored=mine, others=theirs)
    at.memory.people.link(at.person, identifier)
    return at.go("")


@router.post("/merge")
def merge(at: AboutPerson, other: _Ref = "") -> Response:
    at.memory.people.merge(at.person, unsealed(at, other))
    return at.go("")


@router.post("/unlink")
def unlink(at: AboutPerson, identifier: _Ref = "") -> Response:
    key = unsealed(at, identifier)
    if at.memory.people.resolve(key) != at.person:
        raise InvalidInput("this identifier is not this person's any more: load the page again")
    at.memory.people.unlink(key)
    return at.go("")


@router.get("/conversations")
def list_conversations(at: AboutPerson, page: Annotated[int, Query(ge=0, le=10_000)] = 0) -> Response:
    found = sessions_of(at.memory, at.person)
    here = found[page * _PAGE : (page + 1) * _PAGE]
    sessions = [at.memory.sessions.session(each.session_id) for each in here]
    return at.page("conversations.html", noted="sessions", found=sessions, page=page, total=len(found), step=_PAGE)


@router.get("/conversations/{session_id}")
def show_conversation(
    at: AboutPerson,
    session_id: str,
    first: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    message: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Show a conversation from the `first` message on, or the part with `message`.

    It shows the tools that were called, and what a "number 2" meant.
    """
    first, lines = transcript(at.memory, at.person, session_id, first=first, around=message, limit=_LINES)
    session = at.memory.sessions.session(session_id)
    return at.page("conversation.html", noted=session_id, session=session, lines=lines, first=first, step=_LINES)


@router.get("/conversations/{session_id}/pictures/{sha256}")
def show_picture(at: AboutPerson, session_id: str, sha256: str) -> Response:
    content, kind = picture(at.memory, at.person, session_id, sha256)
    at.note(session_id)
    return Response(content, media_type=kind)


@router.get("/privacy")
def show_privacy(at: AboutPerson) -> Response:
    memory = at.memory
    consent = memory.consent.of(at.person)
    return at.page(
        "privacy.html",
        noted="consent",
        given={name: getattr(consent, name) for name in PERMISSIONS},
        word=memory.consent.word_of(at.person),
        due=memory.erasure.would_be_due(),
        stored=memory.exporter.holdings(at.person),
        undoable=memory.erasure.can_restore(at.person),
    )


@router.post("/privacy/consent")
def decide(
    at: AboutPerson,
    name: Annotated[Permission, Form()],
    allowed: Annotated[Literal["yes", "no", "not asked"], Form()],
) -> Response:
    at.memory.consent.set(at.person, **{name: _WORDS[allowed]})  # type: ignore[arg-type] # by its name
    return at.go("privacy")


@router.post("/privacy/export")
def export(at: AboutPerson) -> Response:
    return exported(at.memory, at.person, "json")


@router.post("/privacy/erase")
def erase(
    at: AboutPerson, word: Annotated[str, Form(max_length=50)] = "", now: Annotated[bool, Form()] = False
) -> Response:
    if word.strip().casefold() != "erase":
        raise InvalidInput("type the word erase: nothing was erased")
    return at.page("erased.html", receipt=at.memory.erase(at.person, now=now))
