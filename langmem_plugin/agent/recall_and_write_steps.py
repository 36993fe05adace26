"""The steps around a model call, put together once for a PhoneMemory: recall, the model's input, notes of use."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.graph import END
from langgraph.types import Command
from sqlalchemy import Connection

from langmem_plugin.agent.citations import Citation, citations_in, cites
from langmem_plugin.agent.commands.command_dispatch import Commands
from langmem_plugin.agent.commands.remember_and_confirm import question_below, with_question
from langmem_plugin.agent.graph_state import Recalled, messages_of, named_node, recalled_of, reply_of
from langmem_plugin.agent.memory_in_prompt import MemoryInPrompt, RetrieverDocuments
from langmem_plugin.agent.model_input import ModelInput
from langmem_plugin.agent.parts_protocol import AgentParts
from langmem_plugin.agent.person_of_run import names_its_owner, run_config, thread_of_run
from langmem_plugin.agent.replying.language_detection import replies_for
from langmem_plugin.agent.replying.reply_notices import InstructionNotices
from langmem_plugin.agent.summary_of_left_out import Summaries
from langmem_plugin.agent.tool_node_and_id_check import StrictTools
from langmem_plugin.conversation.config_keys import is_automated, session_id_of
from langmem_plugin.conversation.quoted_and_own_words import own_words
from langmem_plugin.conversation.saver import run_in
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, is_group, masked, normalised
from langmem_plugin.logs import event_log
from langmem_plugin.memory.find.recall_and_visibility import Told, scopes_of
from langmem_plugin.memory.keep.usage_and_verdicts import Access

log = event_log(__name__)

_Result = TypeVar("_Result")


class RoutingNode(Protocol):
    """A node that also says where to go on."""

    def __call__(self, state: Any) -> Command[str]: ...


class TurnContext:
    """The work around a model call, shared by the nodes, the middleware, the tools and `prompt`."""

    def __init__(
        self, parts: AgentParts, commands: Commands, documents: RetrieverDocuments | None, summaries: Summaries | None
    ) -> None:
        self._parts, self._commands = parts, commands
        self.shown = MemoryInPrompt(parts, documents)
        self.model_input = ModelInput(parts, self.shown, summaries)
        self.strict = StrictTools(self._recalled_texts)
        self._notices = InstructionNotices(parts)

    def recall(self, messages: Sequence[BaseMessage], phone: str | None = None) -> Recalled:
        """Recall the memories about the talk, after its orders are kept: this very reply is to follow them."""
        self._notices.look(messages, phone)
        return self.shown.recall(messages, phone)

    def begin_step(self) -> None:
        """Note that the current step only recalls, or notes uses, if it is a node of the memory and no more: done again
        it does no harm.
        """
        self._parts.saver.note_repeatable(run_config())

    def note_use(self, messages: Sequence[BaseMessage], recalled: Recalled) -> None:
        """Note which memories and instructions were used, so that they rank higher later, and that something was said
        that may be kept. If the database does not take the note, the reply goes out all the same.
        """
        parts, config = self._parts, run_config()
        if not parts.settings.remembers or is_automated(config):
            return
        owner, thread = parts.person.owner(), thread_of_run()
        try:
            # The extraction needs this too: it must know whose words they are.
            if (parts.searches or parts.extraction) and thread != owner and not names_its_owner(thread):
                parts.past_sessions.claim(thread, owner)
            # The memories of the prompt are those that were used: nothing is read again.
            told = self.shown.told(owner, recalled, messages, as_last=True)
            uses = self._uses(owner, messages, recalled, told)
            followed = [each.id for each in self.shown.instructions(owner, messages, told)]
            note = None
            if uses or followed:
                beside = parts.person.beside(owner, messages)
                scopes = [scope.owner for scope in scopes_of(owner, parts.person.role(owner), beside)]
                used = partial(parts.service.note_used, scopes=scopes, uses=uses, followed=followed)
                note = partial(used, session_id=session_id_of(config))
            if note is not None or parts.extraction is not None:
                parts.saver.write_along(config, partial(self._write, note))
        except StoreUnavailable:
            log.warning("use.not_noted", exc_info=True, extra={"owner": masked(owner)})

    def _write(
        self, note: Callable[[Connection], None] | None, connection: Connection, session: Session | None
    ) -> None:
        # The job is locked first, as a process that works on one does, and the memories after it.
        if self._parts.extraction is not None and session is not None:
            self._parts.extraction.mark(connection, session.thread, session.number)
        if note is not None:
            note(connection)

    def _uses(
        self, owner: OwnerKey, messages: Sequence[BaseMessage], recalled: Recalled, told: Told
    ) -> dict[str, tuple[Access, float | None]]:
        """Return how each memory was used: cited, or shown for what was said; one that filled the block was not."""
        reply = reply_of(messages)
        shown = self.shown.numbered(owner, messages, recalled, told) if cites(reply) else []
        cited = {each.memory.id for each in citations_in(reply, shown) if each.memory is not None}
        return {
            each: ("cited" if each in cited else "injected", score)
            for each, score in recalled
            if score or each in cited
        }

    def _recalled_texts(self, recalled: Recalled, messages: Sequence[BaseMessage]) -> list[str]:
        told = self.shown.told(self._parts.person.owner(), recalled, messages, as_last=True)
        return [*(each.text for each in told.memories), *(each.text for each in told.instructions)]

    def asking_to_confirm(self, messages: Sequence[BaseMessage]) -> AIMessage | None:
        """Return the newest message of the current run with a question at its end; None where nothing is to be asked.

        The run's next write opens the question for the person's answer.
        """
        config, reply = run_config(), messages[-1] if messages else None
        if is_automated(config) or not isinstance(reply, AIMessage) or reply.id is None or reply.tool_calls:
            return None
        owner = self._parts.person.owner()
        said = next((own_words(each) for each in reversed(messages) if isinstance(each, HumanMessage)), "")
        replies = partial(replies_for, self._parts.person_settings, owner, said)
        question = question_below(self._parts, owner, said, reply.text, replies)
        if question is None:
            return None
        try:
            self._parts.saver.write_along(config, lambda connection, _session: question.open(connection))
        except StoreUnavailable:
            log.warning("confirmation.not_asked", exc_info=True, extra={"owner": masked(owner)})
            return None
        return with_question(reply, question)

    def command_answered(self, messages: Sequence[BaseMessage]) -> AIMessage | None:
        """Return the reply to the person's newest message if that is a command, or answers the question of the last
        reply: no model is called for it.
        """
        config = run_config()
        if is_automated(config) or not messages or not isinstance(messages[-1], HumanMessage):
            return None
        owner, said = self._parts.person.owner(), own_words(messages[-1])
        with self._parts.saver.sessions.fenced(config):
            reply = self._commands.typed_in_run(owner, said)
            if reply is None and self._parts.settings.remembers and not is_group(owner):
                reply = self._commands.answers(owner, said)
        return None if reply is None else AIMessage(reply, id=uuid.uuid4().hex)

    def commands_node(self, then: str) -> RoutingNode:
        """Return a node that answers /remember, /memories, /search, /forget, /undo, /instructions, /privacy and
        /help without the agent, and goes on to the node `then` for everything else: put it first, with no edge out of
        it.

        It is for runs outside of `reply`, as in LangGraph Studio; the middleware does it by itself. /reset, /link and
        erasing are for `reply` alone: inside of a run no session ends.
        """

        def commands(state: Any) -> Command[str]:
            answer = self.command_answered(messages_of(state))
            if answer is None:
                return Command(goto=then)
            return Command(update={"messages": [answer], "recalled": []}, goto=END)

        return named_node(commands, "commands")

    def citations(self, state: Mapping[str, Any] | Any, *, phone: str | int | None = None) -> list[Citation]:
        """Return the memories and documents, with sources, that the newest reply in a state cites as `[Memory: 2]`."""
        whose = None if phone is None else normalised(phone, self._parts.settings.default_region)
        messages, owner = messages_of(state), self._parts.person.owner(whose)
        return citations_in(reply_of(messages), self.shown.numbered(owner, messages, recalled_of(state)))

    async def in_thread(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """Call the function, for asynchronous callers, in a thread that knows the current run."""
        return await run_in(self._parts.executor, partial(function, *arguments))
