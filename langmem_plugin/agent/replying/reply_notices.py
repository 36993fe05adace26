"""The notices below a reply: how orders, kept before the model answers, were taken, and what could not be reached."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from langchain_core.messages import BaseMessage, HumanMessage

from langmem_plugin.agent.commands.command_call_and_paging import instruction_told, keep_order
from langmem_plugin.agent.parts_protocol import AgentParts
from langmem_plugin.agent.person_of_run import answered_now, current_run
from langmem_plugin.agent.replying.reply_texts import Replies, typed_in
from langmem_plugin.conversation.config_keys import is_automated
from langmem_plugin.conversation.media.media_reference import words_in
from langmem_plugin.conversation.quoted_and_own_words import own_words
from langmem_plugin.errors import InvalidInput, StoreUnavailable, TooManyInstructions
from langmem_plugin.facts.instruction_recognition import Spoken, instructions_in, released_in
from langmem_plugin.identifiers import OwnerKey, is_group, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.instructions.standing_instructions import Taken
from langmem_plugin.text_sanitizing import without_steering

log = event_log(__name__)


@dataclass(frozen=True)
class Notice:
    """The notice of how one order was taken; `taken` is None if there was no room for it."""

    taken: Taken | None
    zone: ZoneInfo

    def words(self, replies: Replies) -> str:
        if self.taken is None:
            return replies.instructions_full
        told = replies.instruction_withdrawn if self.taken.outcome == "withdrawn" else replies.instruction_noticed
        text = instruction_told(self.taken.instruction, self.zone, replies)
        return without_steering(told.format(text=text, command=typed_in(replies, "/instructions", "")))


@dataclass
class Notices:
    """The notices of one reply; `missing` names what of the memory could not be reached."""

    missing: list[str] = field(default_factory=list)
    orders: list[Notice] = field(default_factory=list)

    def below(self, text: str, replies: Replies) -> str:
        """Return the text, and one line below it for each order that was taken since the last text."""
        lines = list(dict.fromkeys(each.words(replies) for each in self.orders))
        self.orders.clear()
        return "\n\n".join([text, "\n".join(lines)]) if lines else text


_of_reply: ContextVar[Notices | None] = ContextVar("langmem_notices", default=None)


@contextmanager
def watched() -> Iterator[Notices]:
    """Collect what is noticed inside the block, also in the threads in which a graph's nodes run."""
    notices = Notices()
    token = _of_reply.set(notices)
    try:
        yield notices
    finally:
        _of_reply.reset(token)


def note_missing(what: str) -> None:
    """Note that the memory could not be reached and the reply goes out without it."""
    if (notices := _of_reply.get()) is not None:
        notices.missing.append(what)


@dataclass(eq=False)
class InstructionNotices:
    """The keeping of orders, with a notice of each. A group member's wish how to be called is no order to all."""

    parts: AgentParts

    def look(self, messages: Sequence[BaseMessage], phone: str | None = None) -> None:
        """Keep the orders of the messages that wait for an answer, once; none of a message that nobody wrote."""
        if not self.parts.settings.remembers or not messages or not isinstance(messages[-1], HumanMessage):
            return
        config = current_run()
        if config is not None and is_automated(config):
            return
        said = [(message, words_in(own_words(message))) for message in answered_now(messages)]
        orders = [(message, order) for message, text in said for order in instructions_in(text)]
        released = [topic for _, text in said for topic in released_in(text)]
        if not (orders or released):
            return
        owner = self.parts.person.owner(phone)
        zone = self.parts.person_settings.time_zone(owner)
        try:
            with nullcontext() if config is None else self.parts.saver.sessions.fenced(config):
                for topic in released:
                    for each in self.parts.service.instructions.release(owner, topic):
                        self._tell(Taken(each, "withdrawn"), zone)
                for message, order in orders:
                    if not (order.names and is_group(owner)):
                        self._take(owner, order, message, zone)
        except StoreUnavailable as error:
            log.warning("instruction.not_stored", exc_info=error, extra={"owner": masked(owner)})
            note_missing("instructions")

    def _take(self, owner: OwnerKey, order: Spoken, message: BaseMessage, zone: ZoneInfo) -> None:
        taken: Taken | None = None
        try:
            taken = keep_order(self.parts, owner, order, zone, message.id)
        except TooManyInstructions:
            log.warning("instruction.no_room", extra={"owner": masked(owner)})
        except InvalidInput as error:
            log.warning("instruction.not_understood", exc_info=error, extra={"owner": masked(owner)})
            return
        if taken is None or taken.outcome != "duplicate":
            self._tell(taken, zone)

    def _tell(self, taken: Taken | None, zone: ZoneInfo) -> None:
        if (notices := _of_reply.get()) is not None:
            notices.orders.append(Notice(taken, zone))
