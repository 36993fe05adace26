"""/why, and "how do you know that?" after a reply: who said when what is remembered, and how it came to be used."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from langmem_plugin.agent.commands.lines import one_line, with_id
from langmem_plugin.agent.commands.memory_list import MemoryList
from langmem_plugin.agent.replying.replies import Replies
from langmem_plugin.errors import DamagedMemory, EmbeddingUnavailable, MemoryNotFound
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.recall import search_for
from langmem_plugin.memory.models import Found, Mode
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.settings import Role
from langmem_plugin.writing.provenance import Provenance, Why

log = event_log(__name__)

_MOST_EXPLAINED = 3
_MOST_DIGITS = 4
_SHORTEST_ID = 8


@dataclass(eq=False)
class Explaining:
    service: MemoryService
    provenance: Provenance
    memories: MemoryList
    person_settings: PersonSettings

    def why(self, owner: OwnerKey, rest: str, role: Role, replies: Replies) -> str:
        """`rest` is the number of the last reply's citation or of /memories, an id, or words; "" the last reply."""
        if not rest:
            return self.of_last_reply(owner, role, replies) or replies.why_what
        found = self._meant(owner, rest, role)
        if not found:
            return replies.forget_unknown.format(words=one_line(rest))
        self.service.note_viewed(owner, [each.memory.id for each in found])
        return self._worded(owner, found, replies)

    def of_last_reply(self, owner: OwnerKey, role: Role, replies: Replies) -> str | None:
        """Explains the newest reply; None if it used nothing that is remembered."""
        found = self.provenance.of_last_reply(owner, role)
        return self._worded(owner, found, replies) if found else None

    def can_explain(self, owner: OwnerKey, role: Role) -> bool:
        return bool(self.provenance.of_last_reply(owner, role))

    def _meant(self, owner: OwnerKey, rest: str, role: Role) -> list[Why]:
        if rest.lstrip("#").isdecimal() and len(rest.lstrip("#")) <= _MOST_DIGITS:
            return self._by_number(owner, int(rest.lstrip("#")), role)
        if len(rest.strip("[]")) >= _SHORTEST_ID:
            with self.service.database.read() as connection:
                prefix = rest.strip("[]").lower()
                by_id = self.service.repository.by_prefix(connection, owner, prefix, now=self.service.now())
            if by_id:
                return [self.provenance.explained(each, owner) for each in by_id[:_MOST_EXPLAINED]]
        found = self._found(owner, rest, role)
        return [self.provenance.explained(each.memory, owner, each.signals) for each in found[:1]]

    def _by_number(self, owner: OwnerKey, number: int, role: Role) -> list[Why]:
        if (cited := self.provenance.cited_as(owner, role, number)) is not None:
            return [cited]
        listed = self.memories.numbered(owner, number)
        try:
            return [] if listed is None else [self.provenance.by_id(owner, listed.id)]
        except (MemoryNotFound, DamagedMemory):  # changed meanwhile
            return []

    def _found(self, owner: OwnerKey, words: str, role: Role) -> list[Found]:
        mode: Mode = "hybrid"
        try:
            return search_for(self.service, owner, role, words, mode=mode, limit=1)
        except EmbeddingUnavailable:
            log.warning("search.by_words", exc_info=True, extra={"owner": masked(owner)})
            return search_for(self.service, owner, role, words, mode="text", limit=1)

    def _worded(self, owner: OwnerKey, found: list[Why], replies: Replies) -> str:
        zone = self.person_settings.time_zone(owner)
        return "\n\n".join("\n".join(_lines(each, owner, zone, replies)) for each in found)


def _lines(why: Why, owner: OwnerKey, zone: ZoneInfo, replies: Replies) -> list[str]:
    held = why.memory
    if held.owner != owner:
        return [one_line(held.text), f"- {replies.why_shared}"]
    lines = [_origin(why, zone, replies)]
    lines += [
        replies.why_instead_of.format(old=one_line(each.text), date=_date(each.over_at or each.updated_at, zone))
        for each in why.instead_of
    ]
    if why.replaced_by is not None:
        lines.append(replies.why_replaced.format(new=one_line(why.replaced_by.text)))
    if held.status == "pending":
        lines.append(replies.why_pending)
    if held.doubted_at is not None:
        lines.append(replies.why_in_doubt.format(date=_date(held.doubted_at, zone)))
    return [with_id(held, held.text), *(f"- {each}" for each in [*lines, *_uses(why, zone, replies)])]


def _origin(why: Why, zone: ZoneInfo, replies: Replies) -> str:
    date = _date(why.told_at, zone)
    if why.quote is not None:
        return replies.why_said.format(date=date, quote=one_line(why.quote))
    return replies.why_sources[why.memory.source_type].format(date=date)


def _uses(why: Why, zone: ZoneInfo, replies: Replies) -> list[str]:
    lines = []
    if (used := why.last_use) is not None and used.relevance:
        percent = round(100 * min(used.relevance, 1.0))
        lines.append(replies.why_recalled.format(date=_date(used.at, zone), percent=percent))
    elif used is not None:
        lines.append(replies.why_used.format(date=_date(used.at, zone)))
    if by := [replies.why_signals[name] for name in ("text", "semantic") if why.signals.get(name, 0.0) > 0]:
        lines.append(replies.why_found_by.format(signals=", ".join(by)))
    return lines


def _date(instant: datetime, zone: ZoneInfo) -> str:
    return f"{instant.astimezone(zone):%Y-%m-%d %H:%M}"
