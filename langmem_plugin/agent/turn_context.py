"""Puts together, once for a PhoneMemory, the parts around a model call: recall, the model's input, notes of use."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextvars import copy_context
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage

from langmem_plugin.agent.asking_back import asked_back
from langmem_plugin.agent.identity import run_config
from langmem_plugin.agent.languages import Languages
from langmem_plugin.agent.memory_in_prompt import MemoryInPrompt
from langmem_plugin.agent.model_input import ModelInput
from langmem_plugin.agent.past_session_indexer import PastSessionIndexer
from langmem_plugin.agent.recall import Recall
from langmem_plugin.agent.reference_choices import ReferenceChoices
from langmem_plugin.agent.replies import Replies
from langmem_plugin.agent.retriever_documents import RetrieverDocuments
from langmem_plugin.agent.served_person import ServedPerson
from langmem_plugin.agent.summary import Summaries
from langmem_plugin.agent.use_notes import MarksSessions, UseNotes
from langmem_plugin.conversation.config_keys import is_automated
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.reply_memory import ReplyMemory
from langmem_plugin.people import People
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.settings import Settings

_Result = TypeVar("_Result")


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
        choices: ReferenceChoices | None,
        extraction: MarksSessions | None,
        people: People,
        person_settings: PersonSettings,
        languages: Languages,
        executor: Executor,
        now: Callable[[], datetime],
    ) -> None:
        reminders = ReplyMemory(service)
        self._executor = executor
        self._asks = settings.ask_when_unclear
        self._languages = languages
        self.person = ServedPerson(settings, people)
        self.shown = MemoryInPrompt(
            reminders, self.person, person_settings, settings, documents=documents, count_tokens=count_tokens, now=now
        )
        self.recall = Recall(
            reminders, self.person, self.shown, settings, documents=documents, past_sessions=past_sessions
        )
        self.model_input = ModelInput(
            saver,
            self.person,
            self.shown,
            settings,
            embedder=service.embedder,
            count_tokens=count_tokens,
            summaries=summaries,
            choices=choices,
        )
        self.use_notes = UseNotes(
            service, saver, self.person, self.shown, settings, past_sessions=claims, extraction=extraction
        )

    def asked_back(self, messages: Sequence[BaseMessage], replies: Replies | None = None) -> AIMessage | None:
        """The question for the person, with `ask_when_unclear`, where it is unclear what their newest words point at.

        `replies` are the texts in their language; without them the current run says who they are, and an automated one
        is nobody's.
        """
        if not self._asks or (replies is None and is_automated(run_config())):
            return None

        def worded() -> Replies:
            return replies or self._languages.language_for(self.person.owner(), messages[-1].text)

        return asked_back(messages, self.model_input.resolution, worded)

    async def in_thread(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """For asynchronous callers: the same, in a thread that knows the current run."""
        run = partial(copy_context().run, function, *arguments)
        return await asyncio.get_running_loop().run_in_executor(self._executor, run)
