"""/link joins two channels of one person by a code, once whoever gives anything agrees; /timezone and /reset."""

from collections.abc import Mapping
from typing import Any

from langmem_plugin.agent.commands.command_call_and_paging import CommandCall
from langmem_plugin.agent.commands.remember_and_confirm import verdict
from langmem_plugin.agent.replying.reply_texts import words_for
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey, identified, is_group
from langmem_plugin.people import People
from langmem_plugin.text_sanitizing import one_line

_PART = frozenset(words_for("part"))
_SHOWN = 4  # letters of an identifier


def link(call: CommandCall) -> str:
    """Link or part channels. Without a code, list the channels and give a code; if the code was already sent from
    another channel, ask whether that channel is theirs. With a code, ask whether the channel that gave it is theirs.
    With "off", part a channel, by its number or the newest.
    """
    people, owner, replies = call.parts.people, call.owner, call.replies
    if is_group(owner):
        return replies.link_not_here
    first, _, number = call.rest.partition(" ")
    if first.casefold() in _PART:
        return _parted(call, number.strip())
    if call.rest:
        giver = people.giver(owner, call.rest)
        return replies.link_wrong if giver is None else _asked(call, giver, waited=False)
    waiting = people.waits_to_link(owner)
    if waiting is not None:
        return _asked(call, waiting, waited=True)
    return "\n".join([*_listed(call), replies.link_code.format(code=people.link_code(owner))])


def link_answered(call: CommandCall, details: Mapping[str, Any]) -> str:
    """Reply to the person's answer whether the other channel is theirs."""
    people, owner, replies = call.parts.people, call.owner, call.replies
    other, waited = OwnerKey(details["with"]), bool(details["waited"])
    if not verdict(call.rest):
        if waited:
            people.not_linked(owner)
        return replies.not_linked
    held = call.parts.exporter.holdings(other)
    if not waited and any((held.memories, held.pending, held.sessions, held.instructions)):
        if not people.wait_to_link(other, owner):
            return replies.link_wrong
        return replies.link_there.format(link=call.typed("/link"), channel=_channel(people, other))
    sides = (owner, other) if waited else (other, owner)
    if not people.link_agreed(*sides, waited=waited):
        return replies.link_wrong
    return replies.linked.format(off=call.typed("/link", replies.off_word.format(number="")))


def _asked(call: CommandCall, other: str, *, waited: bool) -> str:
    held = call.parts.exporter.holdings(call.owner)
    call.parts.questions.ask(call.owner, "link", {"with": other, "waited": waited})
    return call.replies.link_this.format(
        channel=_channel(call.parts.people, other),
        memories=held.memories + held.pending,
        sessions=held.sessions,
        instructions=held.instructions,
    )


def _listed(call: CommandCall) -> list[str]:
    channels = call.parts.people.identifiers(call.owner)
    if len(channels) == 1:
        return []
    lines = [f"{number}. {_named(each)}" for number, each in enumerate(channels, 1)]
    off = call.typed("/link", call.replies.off_word.format(number=len(channels)))
    return [call.replies.links, *lines, call.replies.link_off.format(off=off), ""]


def _parted(call: CommandCall, number: str) -> str:
    channels = call.parts.people.identifiers(call.owner)
    at = int(number) if number.isdecimal() and len(number) < _SHOWN else 0 if number else len(channels)
    if at == 1 and len(channels) == 2:  # noqa: PLR2004 - parting either parts both
        at = 2
    if not 1 < at <= len(channels):  # the others are linked to the first
        return call.replies.link_unknown
    call.parts.people.unlink(channels[at - 1])
    return call.replies.link_parted.format(channel=_named(channels[at - 1]))


def _channel(people: People, person: str) -> str:
    return ", ".join(map(_named, people.identifiers(person)))


def _named(identifier: str) -> str:
    """Return enough of an identifier for its owner to know it."""
    kind = {"telegram": "Telegram ", "whatsapp": "WhatsApp "}.get(identified(identifier).kind, "")
    return f"{kind}…{one_line(identifier.partition('@')[0].rpartition(':')[2][-_SHOWN:])}"


def time_zone(call: CommandCall) -> str:
    told = call.replies.time_zone
    if call.rest:
        try:
            call.parts.person_settings.set_time_zone(call.owner, call.rest)
        except InvalidInput:
            return call.replies.time_zone_unknown.format(name=call.rest[:100])
        told = call.replies.time_zone_set
    zone = call.zone
    return told.format(zone=zone.key, time=f"{call.service.now().astimezone(zone):%H:%M}")


def reset(call: CommandCall) -> str:
    call.parts.saver.end_session(call.owner)
    if call.parts.searches:
        call.parts.database.when_over(call.parts.past_sessions.worker.wake)
    return call.replies.conversation_cleared
