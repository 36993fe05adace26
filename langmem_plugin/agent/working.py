"""What memory does around one model call: recall before, the view the model is given, what is noted after."""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextvars import copy_context
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langmem_plugin.agent.identity import owner_of_run
from langmem_plugin.agent.prompt import system_text
from langmem_plugin.agent.summary import Summaries
from langmem_plugin.conversation.media import references_in
from langmem_plugin.conversation.window import window
from langmem_plugin.errors import EmbeddingUnavailable, SessionExpired, StoreUnavailable
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.conditions import Situation
from langmem_plugin.memory.instructions import Instruction
from langmem_plugin.memory.scopes import get_for, recall_for
from langmem_plugin.phones import masked, normalised
from langmem_plugin.references import Resolution, resolve
from langmem_plugin.settings import Role, Settings

log = logging.getLogger(__name__)

_Result = TypeVar("_Result")
Recalled = list[tuple[str, float]]
_TOPIC_MESSAGES = 2
_CITATION = re.compile(r"\[Memory:\s*([\d,\s]+)\]")


class WorkingMemory:
    """Shared by the nodes, the middleware and `prompt`, so that all of them do the same."""

    def __init__(
        self,
        *,
        service: MemoryService,
        settings: Settings,
        count_tokens: Callable[[BaseMessage], int],
        summaries: Summaries | None,
        executor: Executor,
        now: Callable[[], datetime],
    ) -> None:
        self.service = service
        self._now = now
        self.settings = settings
        self._count_tokens = count_tokens
        self._summaries = summaries
        self._executor = executor
        godfather = settings.godfather_phone
        self._godfather = godfather and normalised(godfather, settings.default_region)

    def recall(self, messages: Sequence[BaseMessage], phone: str | None = None) -> Recalled:
        """(memory id, score) of what bears on the talk, best first. Nothing, and a warning, if memory is down.

        Raises SessionExpired if there is no message: the run resumed a conversation that is over.
        """
        if not messages:
            raise SessionExpired("this conversation has ended and its question with it: send a new message")
        owner, limit = self.owner(phone), self.settings.recall_limit
        said = [_worded(message) for message in messages if isinstance(message, HumanMessage)]
        try:
            if not any(said[-_TOPIC_MESSAGES:]):
                return [(each.id, 0.0) for each in self.service.foremost(owner, limit=limit)]
            found = recall_for(
                self.service,
                owner,
                self.role(owner),
                said[-_TOPIC_MESSAGES:],
                limit=limit,
                min_similarity=self.settings.min_similarity,
            )
        except (EmbeddingUnavailable, StoreUnavailable):
            log.warning("recall.skipped", exc_info=True, extra={"owner": masked(owner)})
            return []
        return [(each.memory.id, each.similarity) for each in found]

    def view(
        self, messages: Sequence[BaseMessage], recalled: Recalled, system: str, phone: str | None = None
    ) -> tuple[str, list[BaseMessage]]:
        """The system text and the messages for the next model call. The state is not changed."""
        owner = self.owner(phone)
        shown = window(
            messages,
            max_turns=self.settings.window_turns,
            max_tokens=self.settings.max_tokens[self.role(owner)],
            count_tokens=self._count_tokens,
        )
        text = system_text(
            system,
            self._earlier(messages, shown),
            self._instructions_for(owner, messages),
            self._memories(owner, recalled),
            self.resolution(messages),
        )
        return text, shown

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
        owner = self.owner()
        try:
            self._note_use(owner, messages, recalled)
        except StoreUnavailable:
            log.warning("use.not_noted", exc_info=True, extra={"owner": masked(owner)})

    def _note_use(self, owner: str, messages: Sequence[BaseMessage], recalled: Recalled) -> None:
        if followed := self._instructions_for(owner, messages):
            self.service.instructions.note_use(owner, [each.id for each in followed])
        if not recalled:
            return
        said = messages[-1].text if messages and isinstance(messages[-1], AIMessage) else ""
        numbers = {int(number) for cited in _CITATION.findall(said) for number in re.findall(r"\d+", cited)}
        cited = {each for number, (each, _) in enumerate(recalled, 1) if number in numbers}
        self.service.note_access(owner, {each: score for each, score in recalled if each in cited}, "cited")
        self.service.note_access(owner, {each: score for each, score in recalled if each not in cited}, "injected")

    def owner(self, phone: str | None = None) -> str:
        region = self.settings.default_region
        return normalised(phone, region) if phone is not None else owner_of_run(region)

    def role(self, owner: str) -> Role:
        """`godfather` is the account's owner; everybody else is a client."""
        return "godfather" if owner == self._godfather else "client"

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

    def _earlier(self, messages: Sequence[BaseMessage], shown: Sequence[BaseMessage]) -> str:
        if self._summaries is None:
            return ""
        kept = {id(message) for message in shown}
        dropped = [message for message in messages if id(message) not in kept]
        return self._summaries.of(dropped) if dropped else ""

    def _instructions_for(self, owner: str, messages: Sequence[BaseMessage]) -> list[Instruction]:
        said = next((each.text for each in reversed(messages) if isinstance(each, HumanMessage)), "")
        situation = Situation(self._now(), message=said, topic=said, role=self.role(owner))
        try:
            return self.service.instructions.applicable(owner, situation)
        except StoreUnavailable:
            log.warning("instructions.skipped", exc_info=True, extra={"owner": masked(owner)})
            return []

    def _memories(self, owner: str, recalled: Recalled) -> list[Memory]:
        if not recalled:
            return []
        try:
            return get_for(self.service, owner, self.role(owner), [memory_id for memory_id, _ in recalled])
        except StoreUnavailable:
            log.warning("recall.skipped", exc_info=True, extra={"owner": masked(owner)})
            return []


def messages_of(state: Mapping[str, Any] | Any) -> Sequence[BaseMessage]:
    """The messages of a state that is a dict or an object."""
    found: Sequence[BaseMessage] = state["messages"] if isinstance(state, Mapping) else state.messages
    return found


def recalled_of(state: Mapping[str, Any] | Any) -> Recalled:
    found = state.get("recalled") if isinstance(state, Mapping) else getattr(state, "recalled", None)
    return list(found or [])


def _worded(message: BaseMessage) -> str:
    """What a message says, without the lines that stand for its pictures."""
    text = str(message.text)
    for reference in references_in(text):
        text = text.replace(str(reference), "")
    return text.strip()
