"""What memory does around one model call: recall before, the view the model is given, what is noted after."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import copy_context
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from langmem_plugin.agent import outage
from langmem_plugin.agent.citations import Citation, citations_in, cites, with_sources
from langmem_plugin.agent.documents import Documents
from langmem_plugin.agent.identity import owner_of_run, run_config, session_of_run, thread_of_run
from langmem_plugin.agent.past_sessions import PastSessions
from langmem_plugin.agent.pictures import with_pictures, words_in
from langmem_plugin.agent.prompt import context_line, system_text
from langmem_plugin.agent.readable import readable
from langmem_plugin.agent.summary import Summaries
from langmem_plugin.conversation.media.media_store import MediaReference
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.window import window
from langmem_plugin.errors import EmbeddingUnavailable, SessionExpired, StoreUnavailable
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.conditions import Situation
from langmem_plugin.memory.instructions import Instruction, applying
from langmem_plugin.memory.models import storable
from langmem_plugin.memory.reminders import NOTHING_TOLD, Reminders, Told
from langmem_plugin.memory.retention import Access
from langmem_plugin.memory.scopes import scopes_of
from langmem_plugin.memory.search.tokenizer import asked
from langmem_plugin.phones import masked, normalised
from langmem_plugin.references import Resolution, resolve
from langmem_plugin.settings import Role, Settings

log = logging.getLogger(__name__)

_Result = TypeVar("_Result")
Recalled = list[tuple[str, float]]
_TOPIC_MESSAGES = 2
_GREETING_WORDS = 2  # a first message as short as "good morning" that reminds of nothing has no topic


class WorkingMemory:
    """Shared by the nodes, the middleware and `prompt`, so that all of them do the same."""

    def __init__(
        self,
        *,
        service: MemoryService,
        saver: ConversationSaver,
        settings: Settings,
        count_tokens: Callable[[BaseMessage], int],
        documents: Documents | None,
        past_sessions: PastSessions | None,
        summaries: Summaries | None,
        executor: Executor,
        now: Callable[[], datetime],
    ) -> None:
        self.service = service
        self._reminders = Reminders(service)
        self._saver = saver
        self._now = now
        self.settings = settings
        self._count_tokens = count_tokens
        self._documents = documents
        self._past_sessions = past_sessions
        self._summaries = summaries
        self._executor = executor
        godfather = settings.godfather_phone
        self._godfather = godfather and normalised(godfather, settings.default_region)

    def recall(self, messages: Sequence[BaseMessage], phone: str | None = None) -> Recalled:
        """(memory id, score) of what bears on the talk, best first, as many as `recall_tokens` holds whole.

        Nothing, and a warning, if memory is down. Raises SessionExpired if there is no message: the run resumed a
        conversation that is over.
        """
        if not messages:
            raise SessionExpired("this conversation has ended and its question with it: send a new message")
        owner = self.owner(phone)
        if not self.settings.remembers:
            return []
        said = _said(messages)
        if self._past_sessions is not None and len(said) <= 1:  # a session begins, so another may just have ended
            self._past_sessions.look(self._thread(owner, phone))
        if self._documents is not None:
            self._documents.ask(owner, _topic(said))
        try:
            found = self._recalled(owner, said)
        except EmbeddingUnavailable:
            log.warning("recall.skipped", exc_info=True, extra={"owner": masked(owner)})
            return []
        except StoreUnavailable as error:
            self._without("recall", owner, error)
            return []
        cost_of = [self._cost(Citation(place, each)) for place, (each, _) in enumerate(found, 1)]
        fitting = _fitting(cost_of, self.settings.recall_tokens)
        return [(found[place][0].id, found[place][1]) for place in fitting]

    def view(
        self, messages: Sequence[BaseMessage], recalled: Recalled, system: str, phone: str | None = None
    ) -> tuple[str, list[BaseMessage]]:
        """The system text and the messages for the next model call. The state is not changed."""
        owner = self.owner(phone)
        messages = [readable(message) for message in messages]
        thread = self._thread(owner, phone)
        shown = window(
            messages,
            max_turns=self.settings.window_turns,
            max_tokens=self.settings.max_tokens[self.role(owner)],
            count_tokens=self._count_tokens,
        )
        told = self._told(owner, recalled)
        text = system_text(
            system,
            self._earlier(messages, shown, thread, session_of_run() if phone is None else None),
            self._applying(owner, messages, told),
            self._shown(owner, messages, recalled, told),
            self.resolution(messages),
        )
        return storable(text), with_pictures(shown, lambda reference: self._picture(owner, thread, reference))

    def citations(self, messages: Sequence[BaseMessage], recalled: Recalled, phone: str | None) -> list[Citation]:
        """What the newest reply cites."""
        return citations_in(_reply_of(messages), self._shown_now(self.owner(phone), messages, recalled))

    def with_sources(self, text: str, messages: Sequence[BaseMessage], recalled: Recalled, phone: str | None) -> str:
        return with_sources(text, self._shown_now(self.owner(phone), messages, recalled)) if cites(text) else text

    def resolution(self, messages: Sequence[BaseMessage]) -> Resolution:
        """What the person's last message refers to in all that came before it."""
        last = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage)), None)
        if last is None:
            return Resolution()
        return resolve(messages[last].text, messages[:last], closeness=self._closeness)

    def note_reply(self, messages: Sequence[BaseMessage], recalled: Recalled) -> None:
        """Logs which instructions and memories this turn was given and which memories its reply cites.

        Used memories rank higher later. When the database does not take it the reply goes out all the same.
        """
        if not self.settings.remembers:
            return
        owner = self.owner()
        try:
            if self._past_sessions is not None:
                self._past_sessions.claim(thread_of_run(), owner)
            # What the prompt was given is what was used: nothing is read again.
            told = self._reminders.last_told(owner, self.role(owner), [each for each, _ in recalled])
            told = told or self._told(owner, recalled)
            note = partial(
                self.service.note_used,
                scopes=[scope.owner for scope in scopes_of(owner, self.role(owner))],
                uses=self._uses(owner, messages, recalled, told),
                followed=[each.id for each in self._applying(owner, messages, told)],
                session_id=session_of_run(),
            )
            if note.keywords["uses"] or note.keywords["followed"]:
                self._saver.run_writes.write_along(run_config(), note)
        except StoreUnavailable:
            log.warning("use.not_noted", exc_info=True, extra={"owner": masked(owner)})

    def _uses(
        self, owner: str, messages: Sequence[BaseMessage], recalled: Recalled, told: Told
    ) -> dict[str, tuple[Access, float | None]]:
        """How each recalled memory was used: cited, or only shown."""
        reply = _reply_of(messages)
        shown = self._shown(owner, messages, recalled, told) if cites(reply) else []
        cited = {each.memory.id for each in citations_in(reply, shown) if each.memory is not None}
        return {each: ("cited" if each in cited else "injected", score) for each, score in recalled}

    def owner(self, phone: str | None = None) -> str:
        region = self.settings.default_region
        return normalised(phone, region) if phone is not None else owner_of_run(region, self.settings.trusted_callers)

    def _thread(self, owner: str, phone: str | None) -> str:
        """The conversation that is being answered."""
        return (phone is None and thread_of_run()) or owner

    def role(self, owner: str) -> Role:
        """`godfather` is the account's owner; everybody else is a client."""
        return "godfather" if owner == self._godfather else "client"

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """For what a tool writes: a run that lost its turn writes nothing. Raises TurnLost there."""
        with self._saver.sessions.fenced(run_config()):
            yield

    def _recalled(self, owner: str, said: Sequence[str]) -> list[tuple[Memory, float]]:
        words = asked(_topic(said))
        return self._reminders.recall(
            owner,
            self.role(owner),
            said if words else [],
            limit=self.settings.recall_limit,
            min_similarity=self.settings.min_similarity,
            or_foremost=not words or (len(said) == 1 and len(words) <= _GREETING_WORDS),
        )

    def _told(self, owner: str, recalled: Recalled) -> Told:
        """What the prompt says of the memory, as it is now; nothing, and a warning, if memory is down."""
        if not self.settings.remembers:
            return NOTHING_TOLD
        try:
            return self._reminders.told(owner, self.role(owner), [each for each, _ in recalled])
        except StoreUnavailable as error:
            self._without("recall", owner, error)
            return NOTHING_TOLD

    def _shown_now(self, owner: str, messages: Sequence[BaseMessage], recalled: Recalled) -> list[Citation]:
        return self._shown(owner, messages, recalled, self._told(owner, recalled))

    def _shown(self, owner: str, messages: Sequence[BaseMessage], recalled: Recalled, told: Told) -> list[Citation]:
        """What the block holds. A number is the place in what was recalled, whatever has been forgotten since.

        Documents are numbered on, and fill what the memories leave of the budget.
        """
        if not self.settings.remembers:
            return []
        places = {memory_id: place for place, (memory_id, _) in enumerate(recalled, 1)}
        shown = [Citation(places[each.id], memory=each) for each in told.memories]
        if self._documents is not None:
            found = self._documents.of(owner, _topic(_said(messages)))
            offered = [Citation(place, document=each) for place, each in enumerate(found, len(recalled) + 1)]
            left = self.settings.recall_tokens - sum(map(self._cost, shown))
            shown += [offered[place] for place in _fitting([self._cost(each) for each in offered], left)]
        return shown

    def _cost(self, shown: Citation) -> int:
        return self._count_tokens(SystemMessage(context_line(shown)))

    def _without(self, what: str, owner: str, error: StoreUnavailable) -> None:
        """The database did not answer, and the reply goes out without this."""
        log.warning("%s.skipped", what, exc_info=error, extra={"owner": masked(owner)})
        outage.note(what)

    async def in_thread(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """For asynchronous callers: the same, in a thread that knows the current run."""
        run = partial(copy_context().run, function, *arguments)
        return await asyncio.get_running_loop().run_in_executor(self._executor, run)

    def _closeness(self, text: str, texts: Sequence[str]) -> Sequence[float]:
        """For answers such as "the quieter one" to "this or that?"; without the embedding model words decide."""
        try:
            return self.service.embedder.closeness(text, texts)
        except EmbeddingUnavailable:
            log.warning("closeness.skipped", exc_info=True)
            return [0.0] * len(texts)

    def _earlier(
        self, messages: Sequence[BaseMessage], shown: Sequence[BaseMessage], thread: str, session_id: str | None
    ) -> str:
        if self._summaries is None:
            return ""
        kept = {id(message) for message in shown}
        dropped = [message for message in messages if id(message) not in kept]
        return self._summaries.of(dropped, thread=thread, session_id=session_id) if dropped else ""

    def _applying(self, owner: str, messages: Sequence[BaseMessage], told: Told) -> list[Instruction]:
        said = next((each.text for each in reversed(messages) if isinstance(each, HumanMessage)), "")
        situation = Situation(self._now(), message=said, topic=said, role=self.role(owner))
        return applying(told.instructions, situation)

    def _picture(self, owner: str, thread: str, reference: MediaReference) -> bytes | None:
        try:
            return self._saver.load_media(thread, reference)
        except StoreUnavailable as error:
            self._without("pictures", owner, error)
            return None


def messages_of(state: Mapping[str, Any] | Any) -> Sequence[BaseMessage]:
    """The messages of a state that is a dict or an object."""
    found: Sequence[BaseMessage] = state["messages"] if isinstance(state, Mapping) else state.messages
    return found


def recalled_of(state: Mapping[str, Any] | Any) -> Recalled:
    found = state.get("recalled") if isinstance(state, Mapping) else getattr(state, "recalled", None)
    return list(found or [])


def _said(messages: Sequence[BaseMessage]) -> list[str]:
    """The person's last messages, oldest first, without the lines that stand for pictures."""
    said = [message for message in messages if isinstance(message, HumanMessage)]
    return [words_in(str(message.text)) for message in said[-_TOPIC_MESSAGES:]]


def _topic(said: Sequence[str]) -> str:
    """What the talk is about now: the last message, with the one before it that it may follow up."""
    return "\n".join(filter(None, said))


def _reply_of(messages: Sequence[BaseMessage]) -> str:
    """All the assistant said since the person's last message."""
    newest = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage)), -1)
    said = (message.text for message in messages[newest + 1 :] if isinstance(message, AIMessage))
    return "\n".join(text for text in said if text)


def _fitting(costs: Sequence[int], budget: int) -> list[int]:
    """The places of those that fit together, in order: one that is too long does not keep out the next."""
    places = []
    for place, cost in enumerate(costs):
        if cost <= budget:
            places.append(place)
            budget -= cost
    return places
