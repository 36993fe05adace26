"""Notices standing orders in what a person has just said, keeps them before the model answers, and says so."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config

from langmem_plugin.agent.commands.lines import instruction_told, typed_in
from langmem_plugin.agent.replying import outage_note
from langmem_plugin.agent.replying.replies import Replies
from langmem_plugin.agent.served_person import ServedPerson, answered_now
from langmem_plugin.conversation.config_keys import is_automated
from langmem_plugin.conversation.media.media_reference import words_in
from langmem_plugin.conversation.own_words import own_words
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.errors import InvalidInput, StoreUnavailable, TooManyInstructions
from langmem_plugin.facts.standing_orders import Spoken, instructions_in, released_in
from langmem_plugin.foreign_text import without_steering
from langmem_plugin.identifiers import OwnerKey, is_group, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.instructions.instructions import StandingInstructions, Taken
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.settings import Settings

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
        return without_steering(told.format(text=text, command=typed_in(replies, "/instructions", "").strip()))


_noticed: ContextVar[list[Notice] | None] = ContextVar("langmem_instructions_noticed", default=None)


@contextmanager
def watched() -> Iterator[list[Notice]]:
    """The list fills with what is noticed inside the block, also in the threads that a graph's nodes run in."""
    notices: list[Notice] = []
    token = _noticed.set(notices)
    try:
        yield notices
    finally:
        _noticed.reset(token)


def with_notices(text: str, notices: Sequence[Notice], replies: Replies) -> str:
    """A reply, and one line for each notice below it."""
    lines = list(dict.fromkeys(each.words(replies) for each in notices))
    return "\n\n".join([text, "\n".join(lines)]) if lines else text


class InstructionNotices:
    """A group's orders are the group's: who says there what to call them has given no order to all."""

    def __init__(
        self,
        instructions: StandingInstructions,
        saver: ConversationSaver,
        person: ServedPerson,
        person_settings: PersonSettings,
        settings: Settings,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._instructions = instructions
        self._saver = saver
        self._person = person
        self._person_settings = person_settings
        self._enabled = settings.remembers
        self._now = now

    def look(self, messages: Sequence[BaseMessage], phone: str | None = None) -> None:
        """Keeps what is ordered in the messages that wait for an answer, once; nothing where nobody wrote them."""
        if not self._enabled or not messages or not isinstance(messages[-1], HumanMessage):
            return
        config = _config()
        if config is not None and is_automated(config):
            return
        said = [(message, words_in(own_words(message))) for message in answered_now(messages)]
        orders = [(message, order) for message, text in said for order in instructions_in(text)]
        released = [topic for _, text in said for topic in released_in(text)]
        if not (orders or released):
            return
        owner = self._person.owner(phone)
        zone = self._person_settings.time_zone(owner)
        try:
            with nullcontext() if config is None else self._saver.sessions.fenced(config):
                for topic in released:
                    for each in self._instructions.release(owner, topic):
                        self._tell(Taken(each, "withdrawn"), zone)
                for message, order in orders:
                    if not (order.names and is_group(owner)):
                        self._take(owner, order, message, zone)
        except StoreUnavailable as error:
            log.warning("instruction.not_stored", exc_info=error, extra={"owner": masked(owner)})
            outage_note.note("instructions")

    def _take(self, owner: OwnerKey, order: Spoken, message: BaseMessage, zone: ZoneInfo) -> None:
        taken: Taken | None = None
        try:
            taken = self._instructions.take(
                owner,
                order.text,
                condition=order.condition,
                priority=order.priority,
                expires_at=order.ends(self._now().astimezone(zone)),
                said_in=message.id,
            )
        except TooManyInstructions:
            log.warning("instruction.no_room", extra={"owner": masked(owner)})
        except InvalidInput as error:
            log.warning("instruction.not_understood", exc_info=error, extra={"owner": masked(owner)})
            return
        if taken is not None and taken.outcome == "duplicate":
            return
        self._tell(taken, zone)

    def _tell(self, taken: Taken | None, zone: ZoneInfo) -> None:
        if (notices := _noticed.get()) is not None:
            notices.append(Notice(taken, zone))


def _config() -> RunnableConfig | None:
    try:
        return get_config()
    except RuntimeError:  # outside of a run
        return None
