"""The messages, conversation by conversation, as a chat; searched by words and meaning."""

from dataclasses import dataclass
from itertools import groupby

from fastapi import APIRouter
from starlette.responses import Response

from langmem_plugin.conversation.media.media_reference import MediaReference, references_in, words_in
from langmem_plugin.conversation.session_manager import MessageRecord
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.errors import DamagedSession, EmbeddingUnavailable, UnknownSession
from langmem_plugin.memory.find.past_messages import FoundMessage
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.web.conversation_transcripts import picture, session_of, sessions_of
from langmem_plugin.web.person.person_request import Here, Visit

router = APIRouter(prefix="/conversations")

_ON_A_PAGE, _OF_A_CHAT, _FOUND, _LOOKED_AT = 20, 200, 30, 6
_SURE = 0.5
_LONGEST = 2_000  # the most letters of a search
_SPEAKERS = frozenset({"user", "assistant"})
_BEGINNING = 140  # the letters of a conversation shown in the list


@dataclass(frozen=True)
class Line:
    """A conversation in the list; `begins` is its first words, None if they cannot be read."""

    session: Session
    begins: str | None
    messages: int


@dataclass(frozen=True)
class Bubble:
    """One message: its text, and the files that were sent with it."""

    message: MessageRecord
    text: str
    files: list[MediaReference]

    @property
    def is_something(self) -> bool:
        return bool(self.text or self.files or self.message.image_path)


@router.get("")
def listed(visit: Here, q: str = "", page: int = 1) -> Response:
    sessions = sessions_of(visit.memory, visit.owner)
    pages = max(1, -(-len(sessions) // _ON_A_PAGE))
    page = min(max(page, 1), pages)
    here = sessions[(page - 1) * _ON_A_PAGE : page * _ON_A_PAGE]
    q = q.strip()
    return visit.page(
        "conversations.html",
        at="conversations",
        q=q,
        found=_found(visit, q) if q else None,
        known={each.session_id for each in sessions},
        lines=[] if q else [_line(visit, each) for each in here],
        total=len(sessions),
        page=page,
        pages=pages,
    )


@router.get("/{session_id}")
def one(visit: Here, session_id: str, page: int = 0, of: str = "") -> Response:
    """Show a conversation in pages; without `page`, the page of the message `of`, or the first."""
    session = session_of(visit.memory, visit.owner, session_id)
    try:
        records = [each for each in visit.memory.sessions.messages(session_id) if each.role in _SPEAKERS]
    except DamagedSession:
        records = []
    bubbles = (Bubble(each, words_in(each.content), references_in(each.content)) for each in records)
    said = [each for each in bubbles if each.is_something]
    pages = max(1, -(-len(said) // _OF_A_CHAT))
    asked = next((at for at, each in enumerate(said) if each.message.message_id == of), 0) // _OF_A_CHAT + 1
    page = min(max(page or asked, 1), pages)
    here = said[(page - 1) * _OF_A_CHAT : page * _OF_A_CHAT]
    days = [(day, list(those)) for day, those in groupby(here, key=lambda each: visit.day(each.message.timestamp))]
    return visit.page("conversation.html", at="conversations", session=session, days=days, page=page, pages=pages)


@router.get("/{session_id}/pictures/{sha256}")
def show_picture(visit: Here, session_id: str, sha256: str) -> Response:
    content, kind = picture(visit.memory, visit.owner, session_id, sha256)
    return Response(content, media_type=kind)


def _line(visit: Visit, session: Session) -> Line:
    try:
        with visit.memory.saver.checkpoints.reading(session.session_id) as checkpoints:
            rows = checkpoints.listed()
            first = checkpoints.messages_of(rows[:_LOOKED_AT])
    except (DamagedSession, UnknownSession):
        return Line(session, None, 0)
    texts = (words_in(each.text) for each in first if each.type in {"human", "ai"})
    begins = next(filter(None, texts), "")
    return Line(session, begins if len(begins) <= _BEGINNING else f"{begins[:_BEGINNING].rstrip()}…", len(rows))


def _found(visit: Visit, q: str) -> list[FoundMessage]:
    history, words = visit.memory.service.history, storable(q)[:_LONGEST]
    for mode in ("hybrid", "text"):
        try:
            return history.search(
                visit.owner, words, mode=mode, limit=_FOUND, min_relevance=_SURE, time_zone=visit.zone
            )
        except EmbeddingUnavailable:  # a search by words needs no model
            continue
    return []
