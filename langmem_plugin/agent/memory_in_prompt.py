"""What of the memory a model is shown: memories and documents under their numbers, and instructions in force."""

from collections.abc import Callable, Sequence
from datetime import datetime

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from langmem_plugin.agent import outage_note
from langmem_plugin.agent.citations import Citation, citations_in, cites, with_sources
from langmem_plugin.agent.instruction_choice import InstructionChoice
from langmem_plugin.agent.memory_state import Recalled
from langmem_plugin.agent.prompt import context_line
from langmem_plugin.agent.retriever_documents import RetrieverDocuments
from langmem_plugin.agent.served_person import ServedPerson
from langmem_plugin.agent.topic import last_said, reply_of, topic
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.lru import LruCache
from langmem_plugin.memory.conditions import Situation
from langmem_plugin.memory.instructions import Instruction, applying
from langmem_plugin.memory.reply_memory import NOTHING_TOLD, ReplyMemory, Told
from langmem_plugin.memory.topics import Topics, asks
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.settings import Settings

log = event_log(__name__)

_LEFT_OUT_BYTES, _BYTES_EACH = 2**20, 200


class MemoryInPrompt:
    """Texts are read again at each call, so what was forgotten meanwhile is not shown."""

    def __init__(
        self,
        reminders: ReplyMemory,
        person: ServedPerson,
        person_settings: PersonSettings,
        settings: Settings,
        *,
        documents: RetrieverDocuments | None,
        topics: Topics,
        choice: InstructionChoice,
        count_tokens: Callable[[BaseMessage], int],
        now: Callable[[], datetime],
    ) -> None:
        self._reminders = reminders
        self._person = person
        self._person_settings = person_settings
        self._settings = settings
        self._documents = documents
        self._topics = topics
        self._choice = choice
        self._count_tokens = count_tokens
        self._now = now
        self._left_out: LruCache[str, frozenset[str]] = LruCache(_LEFT_OUT_BYTES)

    def told(self, owner: OwnerKey, recalled: Recalled, messages: Sequence[BaseMessage] = ()) -> Told:
        """What the prompt says of the memory, as it is now; nothing, and a warning, if memory is down."""
        if not self._settings.remembers:
            return NOTHING_TOLD
        try:
            memory_ids, beside = [each for each, _ in recalled], self._person.beside(owner, messages)
            return self._reminders.told(owner, self._person.role(owner), memory_ids, beside=beside)
        except StoreUnavailable as error:
            log.warning("recall.skipped", exc_info=error, extra={"owner": masked(owner)})
            outage_note.note("recall")
            return NOTHING_TOLD

    def told_last(self, owner: OwnerKey, recalled: Recalled, messages: Sequence[BaseMessage]) -> Told:
        """What the prompt was given, read again only where that is not known any more."""
        role, beside = self._person.role(owner), self._person.beside(owner, messages)
        known = self._reminders.last_told(owner, role, [each for each, _ in recalled], beside=beside)
        return known or self.told(owner, recalled, messages)

    def numbered(
        self, owner: OwnerKey, messages: Sequence[BaseMessage], recalled: Recalled, told: Told | None = None
    ) -> list[Citation]:
        """What the block holds. A number is the place in what was recalled, whatever has been forgotten since.

        Documents are numbered on, and fill what the memories leave of the budget.
        """
        if not self._settings.remembers:
            return []
        told = told if told is not None else self.told(owner, recalled, messages)
        places = {memory_id: place for place, (memory_id, _) in enumerate(recalled, 1)}
        shown = [Citation(places[each.id], memory=each) for each in told.memories]
        if self._documents is not None:
            found = self._documents.of(owner, topic(last_said(messages)))
            offered = [Citation(place, document=each) for place, each in enumerate(found, len(recalled) + 1)]
            left = self._settings.recall_tokens - sum(map(self.cost, shown))
            shown += [offered[place] for place in fitting([self.cost(each) for each in offered], left)]
        return shown

    def instructions(self, owner: OwnerKey, messages: Sequence[BaseMessage], told: Told) -> list[Instruction]:
        """Those of the chosen that apply to the person's newest message, now, in their own time zone."""
        chosen = self.chosen(owner, told)
        if all(each.condition is None for each in chosen):
            return chosen
        said = next((each.text for each in reversed(messages) if isinstance(each, HumanMessage)), "")
        at = self._now().astimezone(self._person_settings.time_zone(owner))
        lately = last_said(messages)
        situation = Situation(
            at, message=said, topic=asks(lately), role=self._person.role(owner), is_about=self._topics.of(lately)
        )
        return applying(chosen, situation)

    def chosen(self, owner: OwnerKey, told: Told) -> list[Instruction]:
        """The instructions in force, whatever their condition, without those that are overruled or have no room."""
        chosen = self._choice.of(told.instructions)
        left_out = frozenset(each.id for each in chosen.left_out)
        if left_out and self._left_out.get(owner) != left_out:  # said once, not at each call
            log.warning("instructions.left_out", extra={"owner": masked(owner), "instructions": len(left_out)})
            self._left_out.put(owner, left_out, (len(left_out) + 1) * _BYTES_EACH)
        return chosen.given

    def cited(self, messages: Sequence[BaseMessage], recalled: Recalled, phone: str | None) -> list[Citation]:
        """What the newest reply cites."""
        return citations_in(reply_of(messages), self.numbered(self._person.owner(phone), messages, recalled))

    def with_sources(self, text: str, messages: Sequence[BaseMessage], recalled: Recalled, phone: str | None) -> str:
        """A reply for people, with the sources it cites below it."""
        if not cites(text):
            return text
        return with_sources(text, self.numbered(self._person.owner(phone), messages, recalled))

    def cost(self, shown: Citation) -> int:
        """Its tokens in the prompt."""
        return self._count_tokens(SystemMessage(context_line(shown)))


def fitting(costs: Sequence[int], budget: int) -> list[int]:
    """The places of those that fit together, in order: one that is too long does not keep out the next."""
    places = []
    for place, cost in enumerate(costs):
        if cost <= budget:
            places.append(place)
            budget -= cost
    return places
