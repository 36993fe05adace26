"""Puts together, once for a PhoneMemory, the parts around a model call: recall, the model's input, notes of use."""

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextvars import copy_context
from datetime import datetime
from functools import partial
from typing import Any, Protocol, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.graph import END
from langgraph.types import Command

from langmem_plugin.agent.identity import run_config
from langmem_plugin.agent.memory_retriever import MemoryRetriever
from langmem_plugin.agent.memory_state import Recalled, messages_of, named_node, recalled_of
from langmem_plugin.agent.past_session_indexer import PastSessionIndexer
from langmem_plugin.agent.prompt.citations import Citation
from langmem_plugin.agent.prompt.instruction_choice import InstructionChoice
from langmem_plugin.agent.prompt.memory_in_prompt import MemoryInPrompt, RetrieverDocuments
from langmem_plugin.agent.prompt.model_input import ModelInput
from langmem_plugin.agent.prompt.recall import Recall
from langmem_plugin.agent.prompt.references_in_prompt import ReferencesInPrompt
from langmem_plugin.agent.prompt.summary import Summaries
from langmem_plugin.agent.replying.confirmation_question import AddedQuestion, ConfirmationQuestions, with_question
from langmem_plugin.agent.replying.instruction_notices import InstructionNotices
from langmem_plugin.agent.replying.languages import Languages
from langmem_plugin.agent.replying.replies import Replies
from langmem_plugin.agent.served_person import ServedPerson
from langmem_plugin.agent.tools.strict_tools import StrictTools
from langmem_plugin.agent.use_notes import MarksSessions, UseNotes
from langmem_plugin.conversation.config_keys import is_automated
from langmem_plugin.conversation.own_words import own_words
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.errors import ConfigurationError, StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, is_group, masked, normalised
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.reply_memory import ReplyMemory
from langmem_plugin.memory.instructions.conditions import Topics
from langmem_plugin.people import People
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.settings import Settings
from langmem_plugin.store.memory_edits import lines_of
from langmem_plugin.store.memory_lines import files_of, is_of_memory

_HELD = "memory_contents"  # deepagents' own: what `memory=[…]` names, read once


class FilesInPrompt:
    """Brings the memory's files in a prompt up to date, without what was forgotten or corrected; the state is not
    changed.
    """

    def __init__(self, service: MemoryService, person: ServedPerson) -> None:
        self._service = service
        self._person = person

    def current(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        held = state.get(_HELD) or {}
        ours = [path for path, text in held.items() if is_of_memory(text)]
        if not ours:
            return state
        try:
            files = files_of(*lines_of(self._service, self._person.owner()))
        except StoreUnavailable:
            log.warning("files.skipped", exc_info=True)
            files = {}
        now = {path: next((file.text for name, file in files.items() if path.endswith(name)), "") for path in ours}
        return {**state, _HELD: {**held, **now}}


log = event_log(__name__)

_Result = TypeVar("_Result")


class RoutingNode(Protocol):
    """A node that also says where to go on."""

    def __call__(self, state: Any) -> Command[str]: ...


class TurnContext:
    """Shared by the nodes, the middleware, the tools and `prompt`, so that all of them do the same."""

    def __init__(
        self,
        *,
        service: MemoryService,
        saver: ConversationSaver,
        settings: Settings,
        count_tokens: Callable[[BaseMessage], int],
        documents: RetrieverDocuments | None,
        past_sessions: PastSessionIndexer | None,
        claims: PastSessionIndexer | None,
        summaries: Summaries | None,
        choice: InstructionChoice,
        extraction: MarksSessions | None,
        people: People,
        person_settings: PersonSettings,
        languages: Languages,
        questions: ConfirmationQuestions | None,
        answers: Callable[[OwnerKey, str], str | None],
        commands: Callable[[OwnerKey, str], str | None],
        executor: Executor,
        now: Callable[[], datetime],
    ) -> None:
        reminders = ReplyMemory(service)
        self._settings, self._service, self._people = settings, service, people
        self._executor = executor
        self._languages = languages
        self._saver = saver
        self._questions = questions
        self._answers = answers
        self._commands = commands
        self.person = ServedPerson(settings, people, saver.database)
        self.shown = MemoryInPrompt(
            reminders,
            self.person,
            person_settings,
            settings,
            documents=documents,
            topics=Topics(service.embedder),
            choice=choice,
            count_tokens=count_tokens,
            now=now,
        )
        self._notices = InstructionNotices(service.instructions, saver, self.person, person_settings, settings, now=now)
        self._recall = Recall(
            reminders, self.person, self.shown, settings, documents=documents, past_sessions=past_sessions
        )
        self.references = ReferencesInPrompt(count_tokens)
        self.model_input = ModelInput(
            saver,
            self.person,
            self.shown,
            settings,
            service=service,
            count_tokens=count_tokens,
            summaries=summaries,
            references=self.references,
        )
        self.strict = StrictTools(self._recalled_texts)
        self.files = FilesInPrompt(service, self.person)
        self.use_notes = UseNotes(
            service, saver, self.person, self.shown, settings, past_sessions=claims, extraction=extraction
        )

    def _recalled_texts(self, recalled: Recalled, messages: Sequence[BaseMessage]) -> list[str]:
        owner = self.person.owner()
        told = self.shown.told_last(owner, recalled, messages)
        return [*(each.text for each in told.memories), *(each.text for each in told.instructions)]

    def recall(self, messages: Sequence[BaseMessage], phone: str | None = None) -> Recalled:
        """Recalls the memories that bear on the talk, after its orders are kept: this very reply is to follow them."""
        self._notices.look(messages, phone)
        return self._recall.of(messages, phone)

    def to_confirm(self, owner: OwnerKey, said: str, reply: str, replies: Replies) -> AddedQuestion | None:
        """The question, if any, to ask at the end of a reply to a person's message."""
        return None if self._questions is None else self._questions.for_reply(owner, said, reply, lambda: replies)

    def asking_to_confirm(self, messages: Sequence[BaseMessage]) -> AIMessage | None:
        """The newest message of the current run with a question at its end; None where nothing is to be asked.

        The question becomes the person's to answer with the run's next write.
        """
        config, reply = run_config(), messages[-1] if messages else None
        if self._questions is None or is_automated(config) or not isinstance(reply, AIMessage):
            return None
        if reply.id is None or reply.tool_calls:
            return None
        owner = self.person.owner()

        said = next((own_words(each) for each in reversed(messages) if isinstance(each, HumanMessage)), "")

        def replies() -> Replies:
            return self._languages.language_for(owner, said)

        question = self._questions.for_reply(owner, said, reply.text, replies)
        if question is None:
            return None
        try:
            self._saver.run_writes.write_along(config, lambda connection, _session: question.open(connection))
        except StoreUnavailable:
            log.warning("confirmation.not_asked", exc_info=True, extra={"owner": masked(owner)})
            return None
        return with_question(reply, question)

    def command_answered(self, messages: Sequence[BaseMessage]) -> AIMessage | None:
        """The reply to the person's newest message where that is a command, or answers what the last reply asked at its
        end: no model is called for it.
        """
        config = run_config()
        if is_automated(config) or not messages or not isinstance(messages[-1], HumanMessage):
            return None
        owner, said = self.person.owner(), own_words(messages[-1])
        with self._saver.sessions.fenced(config):
            reply = self._commands(owner, said)
            if reply is None and self._questions is not None and not is_group(owner):
                reply = self._answers(owner, said)
        return None if reply is None else AIMessage(reply, id=uuid.uuid4().hex)

    def commands_node(self, then: str) -> RoutingNode:
        """A node that answers /remember, /memories, /search, /why, /forget, /undo, /instructions, /privacy and /help
        without the agent, and goes on to the node `then` for everything else: put it first, with no edge out of it.

        For runs outside of `reply`, as in LangGraph Studio; the middleware does it by itself. /reset, /link and erasing
        are for `reply` alone: inside of a run no session ends.
        """

        def commands(state: Any) -> Command[str]:
            answer = self.command_answered(messages_of(state))
            if answer is None:
                return Command(goto=then)
            return Command(update={"messages": [answer], "recalled": []}, goto=END)

        return named_node(commands, "commands")

    def citations(self, state: Mapping[str, Any] | Any, *, phone: str | int | None = None) -> list[Citation]:
        """The memories and documents, with their sources, that the newest reply in a state cites as `[Memory: 2]`."""
        whose = None if phone is None else normalised(phone, self._settings.default_region)
        return self.shown.cited(messages_of(state), recalled_of(state), whose)

    def retriever(self, who: str | int, **fields: Any) -> MemoryRetriever:
        """One person's memory for a LangChain chain; `fields` are limit, min_relevance, where and past.

        Raises ConfigurationError where the memory is switched off.
        """
        if not self._settings.remembers:
            raise ConfigurationError("the memory is switched off: there is nothing to retrieve from it")
        key = normalised(who, self._settings.default_region)
        return MemoryRetriever.of(key, self._service, self._people, self.person.role, self._executor, **fields)

    async def in_thread(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """For asynchronous callers: the same, in a thread that knows the current run."""
        run = partial(copy_context().run, function, *arguments)
        return await asyncio.get_running_loop().run_in_executor(self._executor, run)
