"""/why: tell of a memory who said it when, in which words, and what it took the place of."""

from datetime import datetime
from zoneinfo import ZoneInfo

from langmem_plugin.agent.commands.command_call_and_paging import CommandCall, one_line, with_id
from langmem_plugin.agent.commands.forget_and_undo import meant
from langmem_plugin.writing.provenance import Why

_MOST_EXPLAINED = 3


def why(call: CommandCall) -> str:
    """Explain the memories meant by an id, a number of /memories, or words."""
    if not call.rest:
        return call.replies.why_what
    found = [same[0] for same in meant(call)[:_MOST_EXPLAINED]]
    if not found:
        return call.replies.forget_unknown.format(words=one_line(call.rest))
    explained = [call.parts.provenance.explained(each) for each in found]
    call.service.note_viewed(call.owner, [each.id for each in found])
    return "\n\n".join("\n- ".join(_lines(each, call)) for each in explained)


def _lines(found: Why, call: CommandCall) -> list[str]:
    held, zone, replies = found.memory, call.zone, call.replies
    told = _date(found.told_at, zone)
    if found.quote is not None:
        origin = replies.why_said.format(date=told, quote=one_line(found.quote))
    else:
        origin = replies.why_sources[held.source_type].format(date=told)
    before = [
        replies.why_instead_of.format(old=one_line(each.text), date=_date(each.over_at or each.updated_at, zone))
        for each in found.instead_of
    ]
    waits = [replies.why_pending] if held.status == "pending" else []
    return [with_id(held, one_line(held.text)), origin, *before, *waits]


def _date(instant: datetime, zone: ZoneInfo) -> str:
    return f"{instant.astimezone(zone):%Y-%m-%d %H:%M}"
