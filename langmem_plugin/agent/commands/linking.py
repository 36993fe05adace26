"""/link: a code in one channel, and the code in another, make both one person's, once whoever gives anything agrees."""

from collections.abc import Callable, Mapping
from typing import Any

from langmem_plugin.agent.commands.confirming import verdict
from langmem_plugin.agent.commands.lines import typed_in
from langmem_plugin.agent.commands.open_questions import OpenQuestions
from langmem_plugin.agent.replying.replies import Replies
from langmem_plugin.foreign_text import one_line
from langmem_plugin.identifiers import OwnerKey, identified, is_group
from langmem_plugin.people import People
from langmem_plugin.portability.exporter import Holdings

_OFF = frozenset(
    (
        *("off", "undo", "remove", "unlink"),
        *("כבה", "כבי", "בטל", "בטלי", "נתק", "נתקי"),
        *("desactivar", "quitar", "deshacer", "desvincular", "desvincula"),
    )
)
_SHOWN = 4  # letters of an identifier


class Linking:
    """`holdings` says how much is stored of a person."""

    def __init__(self, people: People, questions: OpenQuestions, holdings: Callable[[OwnerKey], Holdings]) -> None:
        self._people = people
        self._questions = questions
        self._holdings = holdings

    def answer(self, owner: OwnerKey, rest: str, replies: Replies) -> str:
        """Without a code, lists the channels and gives one, or asks whether who texted it is theirs; with a code, asks
        whether who was given it is; behind "off" parts a channel, by its number or the newest.
        """
        if is_group(owner):
            return replies.link_not_here
        first, _, number = rest.partition(" ")
        if first.casefold() in _OFF:
            return self._parted(owner, number.strip(), replies)
        if rest:
            giver = self._people.giver(owner, rest)
            return replies.link_wrong if giver is None else self._asked(owner, giver, replies, waited=False)
        waiting = self._people.waits_to_link(owner)
        if waiting is not None:
            return self._asked(owner, waiting, replies, waited=True)
        return "\n".join([*self._listed(owner, replies), replies.link_code.format(code=self._people.link_code(owner))])

    def answered(self, owner: OwnerKey, text: str, details: Mapping[str, Any], replies: Replies) -> str:
        """Replies to the person's answer if the other channel is theirs."""
        other, waited = OwnerKey(details["with"]), bool(details["waited"])
        if not verdict(text):
            if waited:
                self._people.not_linked(owner)
            return replies.not_linked
        if not waited and self._gives(other):
            if not self._people.wait_to_link(other, owner):
                return replies.link_wrong
            link = typed_in(replies, "/link", "").strip()
            return replies.link_there.format(link=link, channel=self._channel(other))
        sides = (owner, other) if waited else (other, owner)
        if not self._people.link_agreed(*sides, waited=waited):
            return replies.link_wrong
        return replies.linked.format(off=typed_in(replies, "/link", "off"))

    def _gives(self, person: OwnerKey) -> bool:
        held = self._holdings(person)
        return any((held.memories, held.pending, held.sessions, held.instructions))

    def _asked(self, owner: OwnerKey, other: str, replies: Replies, *, waited: bool) -> str:
        held = self._holdings(owner)
        self._questions.ask(owner, "link", {"with": other, "waited": waited})
        return replies.link_this.format(
            channel=self._channel(other),
            memories=held.memories + held.pending,
            sessions=held.sessions,
            instructions=held.instructions,
        )

    def _listed(self, owner: OwnerKey, replies: Replies) -> list[str]:
        channels = self._people.identifiers(owner)
        if len(channels) == 1:
            return []
        lines = [f"{number}. {_named(each)}" for number, each in enumerate(channels, 1)]
        off = typed_in(replies, "/link", f"off {len(channels)}")
        return [replies.links, *lines, replies.link_off.format(off=off), ""]

    def _parted(self, owner: OwnerKey, number: str, replies: Replies) -> str:
        channels = self._people.identifiers(owner)
        at = int(number) if number.isdecimal() and len(number) < _SHOWN else 0 if number else len(channels)
        if at == 1 and len(channels) == 2:  # noqa: PLR2004 - parting either parts both
            at = 2
        if not 1 < at <= len(channels):  # all others hang on the first
            return replies.link_unknown
        self._people.part(channels[at - 1])
        return replies.link_parted.format(channel=_named(channels[at - 1]))

    def _channel(self, person: str) -> str:
        return ", ".join(map(_named, self._people.identifiers(person)))


def _named(identifier: str) -> str:
    """Enough for who owns it to know it."""
    kind = {"telegram": "Telegram ", "whatsapp": "WhatsApp "}.get(identified(identifier).kind, "")
    return f"{kind}…{one_line(identifier.partition('@')[0].rpartition(':')[2][-_SHOWN:])}"
