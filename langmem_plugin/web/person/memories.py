"""The memories of the person: by kind, searched, one by one; corrected, forgotten, confirmed."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, get_args

from fastapi import APIRouter, Form
from starlette.responses import Response

from langmem_plugin.errors import EmbeddingUnavailable, InvalidInput, MemoryNotFound, StaleMemory
from langmem_plugin.facts import FactType
from langmem_plugin.memory import Filter, Memory
from langmem_plugin.memory.memory_types import bare, storable
from langmem_plugin.people.consent_records import Given
from langmem_plugin.web.bulk_forget_and_recent import forget_each, recent
from langmem_plugin.web.person.person_request import Here, Visit

router = APIRouter()

_KINDS: tuple[FactType, ...] = (
    *("personal", "preference", "relationship", "project", "company", "decision", "strategic", "fact", "note"),
)
_OF_EACH, _ON_A_PAGE, _FOUND, _ASKED = 8, 40, 40, 5
_LONGEST = 2_000  # letters
_UNDO_WITHIN = timedelta(minutes=10)

_Text = Annotated[str, Form()]
_Revision = Annotated[int, Form()]


@dataclass(frozen=True)
class Question:
    """A memory that waits for the person's word, and the memories it would replace."""

    memory: Memory
    instead_of: list[Memory]


@dataclass(frozen=True)
class Group:
    kind: FactType
    count: int
    memories: list[Memory]


@router.get("/")
def listed(visit: Here, q: str = "", kind: str = "", page: int = 1, done: str = "", of: str = "") -> Response:  # noqa: PLR0917
    """Show the memories; `done` and `of` are the last action and its memory."""
    if not visit.memory.settings.remembers:
        return visit.go("conversations")
    return _list(visit, q=q.strip(), kind=kind, page=page, done=done, of=of)


@router.post("/memories")
def add(visit: Here, text: _Text = "") -> Response:
    """Remember a text as if they had asked for it in the chat; it replaces what it contradicts."""
    refused = _refusal(text)
    if refused is not None:
        return _list(visit, done=refused, typed=text, status=422)
    try:
        made = visit.memory.service.remember(visit.owner, text, source_type="command")
    except EmbeddingUnavailable:
        return _list(visit, done="no_embedding", typed=text, status=503)
    return visit.go(f"?done={'same' if made.outcome == 'duplicate' else 'yes'}&of={made.id}")


@router.post("/memories/forget")
def forget_several(visit: Here, ids: Annotated[list[str] | None, Form()] = None) -> Response:
    """Forget those of the ticked memories that still exist; each can be taken back."""
    forget_each(visit.memory.service, visit.owner, ids or ())
    return visit.go("recent" if ids else "")


@router.get("/recent")
def show_recent(visit: Here) -> Response:
    """Show the latest changes, each of which can be undone."""
    changes = recent(visit.memory.service, visit.owner, forgotten_within=_UNDO_WITHIN)
    return visit.page("recent.html", at="memories", changes=changes)


@router.get("/memories/{memory_id}")
def one(visit: Here, memory_id: str) -> Response:
    return _detail(visit, memory_id)


@router.post("/memories/{memory_id}/correct")
def correct(visit: Here, memory_id: str, revision: _Revision, text: _Text = "") -> Response:
    """Replace a memory by the person's own words, whatever the rules say; the former text is kept as history."""
    refused = _refusal(text)
    if refused is not None:
        return _detail(visit, memory_id, status=422, typed=text, refused=refused)
    held = _look(visit, memory_id)
    if held is None:
        raise MemoryNotFound(f"there is no memory {memory_id}")
    if bare(text) == bare(held.text):
        return visit.go(f"?done=same&of={memory_id}")
    try:
        made = visit.memory.service.update(visit.owner, memory_id, revision=revision, text=text)
    except (StaleMemory, MemoryNotFound):
        return _detail(visit, memory_id, status=409, typed=text, refused="changed")
    except EmbeddingUnavailable:
        return _detail(visit, memory_id, status=503, typed=text, refused="no_embedding")
    except InvalidInput:
        return _detail(visit, memory_id, status=422, typed=text, refused="unusable")
    return visit.go(f"?done=corrected&of={made.id}")


@router.post("/memories/{memory_id}/forget")
def forget(visit: Here, memory_id: str, revision: _Revision) -> Response:
    try:
        visit.memory.service.forget(visit.owner, memory_id, revision=revision)
    except (StaleMemory, MemoryNotFound):
        return _detail(visit, memory_id, status=409, refused="changed")
    return visit.go(f"?done=forgotten&of={memory_id}")


@router.post("/memories/{memory_id}/back")
def take_back(visit: Here, memory_id: str) -> Response:
    """Restore a memory: a forgotten one for a short time, a replaced one in the place of its replacement."""
    held = _look(visit, memory_id)
    if held is not None and held.status == "superseded":
        visit.memory.service.restore(visit.owner, memory_id)
        return visit.go(f"?done=back&of={memory_id}")
    if held is None or not _can_come_back(visit, held):
        return _list(visit, done="too_late", status=409)
    try:
        visit.memory.service.restore(visit.owner, memory_id, unless_replaced=True)
    except MemoryNotFound:  # a newer memory has its place
        return _list(visit, done="too_late", status=409)
    return visit.go(f"?done=back&of={memory_id}")


@router.post("/memories/{memory_id}/private")
def make_private(visit: Here, memory_id: str, revision: _Revision, private: _Text) -> Response:
    try:
        visit.memory.service.update(visit.owner, memory_id, revision=revision, private=private == "yes")
    except (StaleMemory, MemoryNotFound):
        return _detail(visit, memory_id, status=409, refused="changed")
    return visit.go(f"memories/{memory_id}")


@router.post("/memories/{memory_id}/decide")
def decide(visit: Here, memory_id: str, revision: _Revision, word: _Text) -> Response:
    """Take the person's answer: yes or no to a waiting memory, or whether a doubtful one is still true."""
    asked = visit.memory.confirmations
    verdicts = {
        "yes": asked.confirm,
        "no": asked.decline,
        "still": asked.still_so,
        "over": asked.no_longer_so,
    }
    if word not in verdicts:
        raise InvalidInput(f"{word!r} is no answer")
    try:
        made = verdicts[word](visit.owner, memory_id, revision=revision)
    except (StaleMemory, MemoryNotFound):
        return _list(visit, done="changed", of=memory_id, status=409)
    return visit.go(f"?done={word}&of={made.id}")


def _list(  # noqa: PLR0917
    visit: Visit,
    q: str = "",
    kind: str = "",
    page: int = 1,
    done: str = "",
    of: str = "",
    typed: str = "",
    status: int = 200,
) -> Response:
    service, owner = visit.memory.service, visit.owner
    many = {each: service.count(owner, where=Filter(fact_types=[each])) for each in _KINDS}
    chosen = kind if kind in get_args(FactType) else ""
    pages = max(1, -(-many[chosen] // _ON_A_PAGE)) if chosen else 1  # type: ignore[index] # it is a FactType
    page = min(max(page, 1), pages)
    found = _found(visit, q) if q else None
    asked = _questions(visit) if not q and not chosen else []
    held = _look(visit, of) if of else None
    return visit.page(
        "memories.html",
        status=status,
        at="memories",
        q=q,
        found=found,
        kind=chosen,
        many=many,
        total=sum(many.values()),
        groups=[] if q else _groups(visit, many, chosen, page),
        page=page,
        pages=pages,
        asked=asked[:_ASKED],
        asked_more=max(len(asked) - _ASKED, 0),
        done=done,
        typed=typed,
        longest=_LONGEST,
        held=held,
        can_undo=done == "forgotten" and held is not None and _can_come_back(visit, held),
        erased=None if sum(many.values()) else visit.memory.erasure.can_restore(visit.identifier),
        learns=visit.memory.settings.extracts and _learns(visit),
    )


def _groups(visit: Visit, many: dict[FactType, int], chosen: str, page: int) -> list[Group]:
    service = visit.memory.service
    limit, offset = (_ON_A_PAGE, (page - 1) * _ON_A_PAGE) if chosen else (_OF_EACH, 0)
    groups = []
    for kind in _KINDS:
        if many[kind] and chosen in {"", kind}:
            where = Filter(fact_types=[kind])
            groups.append(
                Group(kind, many[kind], service.list_memories(visit.owner, limit=limit, offset=offset, where=where))
            )
    return groups


def _found(visit: Visit, q: str) -> list[Memory]:
    """The memories found by words and meaning; by words alone while there is no model."""
    service, words = visit.memory.service, storable(q)[:_LONGEST]
    try:
        return [each.memory for each in service.search(visit.owner, words, limit=_FOUND)]
    except EmbeddingUnavailable:
        return [each.memory for each in service.search(visit.owner, words, mode="text", limit=_FOUND)]


def _questions(visit: Visit) -> list[Question]:
    service = visit.memory.service
    waiting = visit.memory.confirmations.waiting(visit.owner)
    with service.database.read() as connection:
        return [Question(each, service.reconciler.would_replace(connection, each)) for each in waiting]


def _detail(visit: Visit, memory_id: str, *, status: int = 200, typed: str = "", refused: str = "") -> Response:
    """Show the memory's page as it is now; if it was replaced, its replacement beside what was typed."""
    held = _look(visit, memory_id)
    now = None if held is None or refused != "changed" else visit.memory.service.instead_of(held)
    if held is None or (held.status == "forgotten" and not typed):
        if status == 409:  # noqa: PLR2004 - it was there when the page was made
            return _list(visit, done="gone", status=status)
        raise MemoryNotFound(f"there is no memory {memory_id}")
    shown_now = now or held
    why = None
    if shown_now.status != "forgotten":
        why = visit.memory.provenance.by_id(visit.owner, shown_now.id)
    return visit.page(
        "memory.html",
        status=status,
        at="memories",
        held=shown_now,
        why=why,
        typed=typed,
        refused=refused,
        longest=_LONGEST,
    )


def _look(visit: Visit, memory_id: str) -> Memory | None:
    with visit.memory.database.read() as connection:
        return visit.memory.service.repository.by_id(connection, visit.owner, memory_id)


def _can_come_back(visit: Visit, held: Memory) -> bool:
    return held.status == "forgotten" and visit.memory.service.now() - held.updated_at < _UNDO_WITHIN


def _learns(visit: Visit) -> bool:
    given: Given = visit.memory.consent.of_owner(visit.owner).extraction
    return given.allowed is True


def _refusal(text: str) -> str | None:
    if not text.strip():
        return "empty"
    if len(text) > _LONGEST:
        return "too_long"
    return None if storable(text) == text else "unusable"
