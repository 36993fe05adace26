"""/memories and /search: list what is remembered, and find what answers some words."""

from zoneinfo import ZoneInfo

from langmem_plugin.agent.commands.command_call_and_paging import (
    PAGE,
    CommandCall,
    one_line,
    page_number,
    pages_of,
    with_day,
    with_id,
)
from langmem_plugin.agent.replying.reply_texts import Replies
from langmem_plugin.errors import EmbeddingUnavailable, StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, is_group, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import Filter, Memory
from langmem_plugin.memory.find.past_messages import FoundMessage
from langmem_plugin.memory.find.recall_and_visibility import search_for
from langmem_plugin.memory.memory_types import FACT_TYPES, Mode
from langmem_plugin.people.access_tokens import LINK_FOR, AccessTokens

log = event_log(__name__)

PATH = "/me/in/"
"""The path below the address of the web application; the link's token follows."""

_FOUND = 5  # of each kind
_SURE = 0.5


def memories(call: CommandCall) -> str:
    """Return a page of what is remembered: kind by kind, the newest of each kind first."""
    service, owner, replies, zone = call.service, call.owner, call.replies, call.zone
    many = {kind: service.count(owner, where=Filter(fact_types=[kind])) for kind in FACT_TYPES}
    total = sum(many.values())
    told = [replies.instructions_too] if service.instructions.list_instructions(owner) else []
    if not total:
        return "\n".join([replies.no_memories, *told])
    page, pages = page_number(call.rest), pages_of(total)
    if page is None or not 1 <= page <= pages:
        return replies.no_such_page.format(pages=pages)
    lines, numbered = [replies.memories.format(count=total)], dict[int, str]()
    skip, room = (page - 1) * PAGE, PAGE
    for kind in FACT_TYPES:
        shown = service.list_memories(owner, limit=room, offset=skip, where=Filter(fact_types=[kind]))
        if shown and len([each for each in many.values() if each]) > 1:
            lines.append(replies.kinds[kind])
        number = (page - 1) * PAGE + PAGE - room
        lines += [f"{place}. {with_id(each, with_day(each, zone))}" for place, each in enumerate(shown, number + 1)]
        numbered |= {place: each.id for place, each in enumerate(shown, number + 1)}
        skip, room = max(skip - many[kind], 0), room - len(shown)
        if not room:
            break
    if pages == 1 and len(lines) == 1:  # damaged memories are counted, and not shown
        return "\n".join([replies.no_memories, *told])
    call.parts.person_settings.note_shown(owner, "memories", numbered)
    return "\n".join([*lines, *(call.page(page, pages, "/memories") or told)])


def listed_as(call: CommandCall, number: int) -> Memory | None:
    """Return the memory under a number of the list that the person was shown last, if it is still remembered."""
    memory_id = call.parts.person_settings.shown(call.owner, "memories").get(number, "")
    with call.service.database.read() as connection:
        found = call.service.repository.by_id(connection, call.owner, memory_id)
    return found if found is not None and found.status == "active" else None


def search(call: CommandCall) -> str:
    query, replies, zone = call.rest, call.replies, call.zone
    if not query:
        return replies.search_what
    mode: Mode = "hybrid"
    try:
        found = search_for(call.service, call.owner, call.role, query, limit=_FOUND)
    except EmbeddingUnavailable:
        log.warning("search.by_words", exc_info=True, extra={"owner": masked(call.owner)})
        mode = "text"
        found = search_for(call.service, call.owner, call.role, query, mode=mode, limit=_FOUND)
    messages = call.service.history.search(
        call.owner,
        query,
        mode=mode,
        limit=_FOUND,
        min_relevance=_SURE,
        time_zone=zone,
    )
    spoken = [_said(each, zone, replies) for each in sorted(messages, key=lambda each: each.message.said_at)]
    lines = [
        *([replies.searched_words_only] if mode == "text" else []),
        *([replies.found_memories] if found else []),
        *(_remembered(each.memory, call.owner, zone) for each in found),
        *([replies.found_messages, *spoken] if spoken else []),
    ]
    return "\n".join(lines) if lines else replies.found_nothing.format(words=one_line(query))


def with_page_link(call: CommandCall, reply: str) -> str:
    """Return the reply with a link to the person's page, for one browser, once; where others read along, without it."""
    settings = call.parts.settings
    if settings.page_address is None or is_group(call.owner):
        return reply
    tokens = AccessTokens(call.parts.database, now=call.parts.now)
    try:
        token, _ = tokens.new_link(call.owner)
    except StoreUnavailable:  # the list that was read is worth more than the link
        log.warning("page_link.not_made", exc_info=True, extra={"owner": masked(call.owner)})
        return reply
    minutes = int(LINK_FOR.total_seconds() // 60)
    return f"{reply}\n{call.replies.page_link.format(link=f'{settings.page_address}{PATH}{token}', minutes=minutes)}"


def _said(found: FoundMessage, zone: ZoneInfo, replies: Replies) -> str:
    said = found.message
    speaker = replies.speakers.get(said.speaker, said.speaker)
    line = f"- {said.said_at.astimezone(zone):%Y-%m-%d}, {speaker}: {one_line(said.text)}"
    return f"{line}{_corrected(found.corrected_by, replies)}"


def _corrected(by: str | None, replies: Replies) -> str:
    if by is None:
        return ""
    if not by:
        return f" {replies.not_so_any_more}"
    return f" {replies.corrected_since.format(fact=one_line(by))}"


def _remembered(memory: Memory, owner: OwnerKey, zone: ZoneInfo) -> str:
    """Return the memory's line, with its id if the person may forget it: a shared memory is not theirs alone."""
    told = f"- {with_day(memory, zone)}"
    return with_id(memory, told) if memory.owner == owner else told
