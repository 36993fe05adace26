"""/memories and /search: what is remembered, on pages and by kind, and what answers some words."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from langmem_plugin.agent.commands.lines import PAGE, one_line, page_number, pages_of, short_id, typed_in, with_id
from langmem_plugin.agent.replying.replies import Replies
from langmem_plugin.errors import EmbeddingUnavailable, StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, is_group, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import Filter, Memory, MemoryService
from langmem_plugin.memory.find.past_messages import FoundMessage, PastMessage, Shown, nearest_words
from langmem_plugin.memory.find.question import Span, matched_spans
from langmem_plugin.memory.find.recall import search_for
from langmem_plugin.memory.models import FACT_TYPES, Mode
from langmem_plugin.people.access_tokens import LINK_FOR, AccessTokens
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.settings import Role

_OF_FORMATS = frozenset("*`")
_OF_LINKS = ("://", "www.", "@")


def marked(line: str, query: str) -> str:
    """Whole words, so that no letter is parted from its marks or its prefix; those side by side together.

    A line with stars or code of its own stays as it is: they would pair with ours. So does a link, which would be
    broken.
    """
    if not _OF_FORMATS.isdisjoint(line):
        return line
    made, at = "", 0
    for start, end in _together(line, [each for each in matched_spans(query, line) if _can_be_marked(line, each)]):
        made += f"{line[at:start]}*{line[start:end]}*"
        at = end
    return made + line[at:]


def _together(line: str, spans: list[Span]) -> Iterator[Span]:
    while spans:
        (start, end), *spans = spans
        while spans and line[end : spans[0][0]].isspace():
            end = spans.pop(0)[1]
        yield start, end


def _can_be_marked(line: str, span: Span) -> bool:
    """Tells whether the words stand apart from other letters, and in no link."""
    start, end = span
    beside = line[start - 1 : start] + line[end : end + 1]
    word = line[:start].rpartition(" ")[2] + line[start:end] + line[end:].partition(" ")[0]
    return not any(each.isalnum() or each == "_" for each in beside) and not any(each in word for each in _OF_LINKS)


PATH = "/me/in/"
"""Below the address of the web application; the link's token follows."""


class PageLinks:
    """Without an `address` there are none."""

    def __init__(self, tokens: AccessTokens, address: str | None) -> None:
        self._tokens = tokens
        self._address = address

    def below(self, owner: OwnerKey, reply: str, replies: Replies) -> str:
        """The reply with a link, which lets one browser in once; without it where others read along."""
        if self._address is None or is_group(owner):
            return reply
        try:
            token, _ = self._tokens.new_link(owner)
        except StoreUnavailable:  # what could be read is worth more than the link
            log.warning("page_link.not_made", exc_info=True, extra={"owner": masked(owner)})
            return reply
        minutes = int(LINK_FOR.total_seconds() // 60)
        return f"{reply}\n{replies.page_link.format(link=f'{self._address}{PATH}{token}', minutes=minutes)}"


log = event_log(__name__)

_FOUND = 5  # of each kind
_SURE = 0.5
_NEIGHBOURS = 2  # of each message
_LONGEST_BESIDE = 80  # letters of them


@dataclass(eq=False)
class MemoryList:
    service: MemoryService
    person_settings: PersonSettings
    role_of: Callable[[OwnerKey], Role]

    def listed(self, owner: OwnerKey, rest: str, replies: Replies) -> str:
        """A page of what is remembered: kind by kind, the newest of each first."""
        many = {kind: self.service.count(owner, where=Filter(fact_types=[kind])) for kind in FACT_TYPES}
        total = sum(many.values())
        told = replies.instructions_too if self.service.instructions.list_instructions(owner) else None
        if not total:
            return "\n".join(filter(None, [replies.no_memories, told]))
        page, pages = page_number(rest), pages_of(total)
        if page is None or not 1 <= page <= pages:
            return replies.no_such_page.format(pages=pages)
        lines, numbered = [replies.memories.format(count=total)], dict[int, str]()
        skip, room = (page - 1) * PAGE, PAGE
        for kind in FACT_TYPES:
            shown = self.service.list_memories(owner, limit=room, offset=skip, where=Filter(fact_types=[kind]))
            if shown and len([each for each in many.values() if each]) > 1:
                lines.append(replies.kinds[kind])
            number = (page - 1) * PAGE + PAGE - room
            lines += [f"{place}. {with_id(each, each.text)}" for place, each in enumerate(shown, number + 1)]
            numbered |= {place: each.id for place, each in enumerate(shown, number + 1)}
            skip, room = max(skip - many[kind], 0), room - len(shown)
            if not room:
                break
        if pages == 1 and len(lines) == 1:  # what is damaged is counted, and not shown
            return "\n".join(filter(None, [replies.no_memories, told]))
        self.person_settings.note_shown(owner, "memories", numbered)
        if page < pages:
            lines.append(
                replies.next_page.format(page=page, pages=pages, next=typed_in(replies, "/memories", page + 1))
            )
        elif told:
            lines.append(told)
        return "\n".join(lines)

    def numbered(self, owner: OwnerKey, number: int) -> Memory | None:
        """The memory under a number of the list that the person was shown last, if it is still remembered.

        Who never saw it means what would stand there now.
        """
        shown = self.person_settings.shown(owner, "memories")
        if shown:
            with self.service.database.read() as connection:
                found = self.service.repository.by_id(connection, owner, shown.get(number, ""))
            return found if found is not None and found.status == "active" else None
        skip = number - 1
        for kind in FACT_TYPES if skip >= 0 else ():
            where = Filter(fact_types=[kind])
            found_here = self.service.list_memories(owner, limit=1, offset=skip, where=where)
            if found_here:
                return found_here[0]
            skip -= self.service.count(owner, where=where)
        return None

    def searched(self, owner: OwnerKey, query: str, replies: Replies) -> str:
        if not query:
            return replies.search_what
        try:
            found = self._found(owner, query, "hybrid", replies)
        except EmbeddingUnavailable:
            log.warning("search.by_words", exc_info=True, extra={"owner": masked(owner)})
            found = [replies.searched_words_only, *self._found(owner, query, "text", replies)]
        return "\n".join(found) if found else replies.found_nothing.format(words=one_line(query))

    def _found(self, owner: OwnerKey, query: str, mode: Mode, replies: Replies) -> list[str]:
        zone = self.person_settings.time_zone(owner)
        memories = search_for(self.service, owner, self.role_of(owner), query, mode=mode, limit=_FOUND, operators=True)
        messages = self.service.history.search(
            owner,
            query,
            mode=mode,
            limit=_FOUND,
            min_relevance=_SURE,
            time_zone=zone,
            operators=True,
            neighbours=_NEIGHBOURS,
        )
        remembered = [_remembered(found.memory, owner, zone, query) for found in memories]
        spoken = [
            line
            for each in sorted(messages, key=lambda each: each.message.said_at)
            for line in _in_its_talk(each, query, zone, replies)
        ]
        return [
            *([replies.found_memories, *remembered] if remembered else []),
            *([replies.found_messages, *spoken] if spoken else []),
        ]


def _in_its_talk(found: FoundMessage, query: str, zone: ZoneInfo, replies: Replies) -> list[str]:
    """The message as an item of a list, and what was said around it without a mark."""
    said = found.message
    words = marked(one_line(said.text), query)
    line = f"- {said.said_at.astimezone(zone):%Y-%m-%d}, {_speaker(said, replies)}: {words}"
    return [
        *(_beside(each, replies, before=True) for each in found.before),
        f"{line}{_corrected(found.corrected_by, replies)}",
        *(_beside(each, replies, before=False) for each in found.after),
    ]


def _beside(shown: Shown, replies: Replies, *, before: bool) -> str:
    words = nearest_words(shown.message.text, _LONGEST_BESIDE, before=before)
    return f"  {_speaker(shown.message, replies)}: {words}{_corrected(shown.corrected_by, replies)}"


def _speaker(message: PastMessage, replies: Replies) -> str:
    return replies.speakers.get(message.speaker, message.speaker)


def _corrected(by: str | None, replies: Replies) -> str:
    if by is None:
        return ""
    if not by:
        return f" {replies.not_so_any_more}"
    return f" {replies.corrected_since.format(fact=one_line(by))}"


def _remembered(memory: Memory, owner: OwnerKey, zone: ZoneInfo, query: str) -> str:
    """The memory's line, with its id if the person may forget it: a shared memory is not theirs alone."""
    told = f"- {marked(one_line(memory.text), query)} ({memory.created_at.astimezone(zone):%Y-%m-%d})"
    return f"{told} {short_id(memory)}" if memory.owner == owner else told
