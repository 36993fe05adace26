"""The class PhoneMemory, which connects the checkpointer, the resolver and the long-term memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, Unpack

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import run_in_executor
from langchain_core.tools import BaseTool
from langgraph.config import get_stream_writer

from langmem_plugin.agent.graph_check import check
from langmem_plugin.agent.graph_state import Recalled, messages_of, named_node, recalled_of
from langmem_plugin.agent.memory_tools import key_value_tools, memory_tools
from langmem_plugin.agent.middleware import MemoryMiddleware
from langmem_plugin.agent.model_input import references_of
from langmem_plugin.agent.prompt_texts import joined
from langmem_plugin.agent.replying.incoming_message import Delivery, Image, clean, incoming_message
from langmem_plugin.agent.replying.sync_async_steps import Graph, Reply, Steps, aperform, perform
from langmem_plugin.agent.tool_node_and_id_check import tool_node
from langmem_plugin.config_file import settings_of
from langmem_plugin.conversation.turns.turn_queue import Turn
from langmem_plugin.database import waiting_once
from langmem_plugin.database.audit_recording import PERSON, acting
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey, is_group, normalised
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.parts import Parts
from langmem_plugin.portability.document_format import PersonExport
from langmem_plugin.portability.imported_records import ImportReport
from langmem_plugin.privacy.erasure_receipts import ErasureReceipt
from langmem_plugin.references import Resolution
from langmem_plugin.telemetry import timing
from langmem_plugin.writing.extraction import Extracted

if TYPE_CHECKING:
    from fastapi import FastAPI


class Node(Protocol):
    """A node of a graph: it is called with the state, and returns what it changes of it."""

    def __call__(self, state: Any) -> dict[str, Any]: ...


class PhoneMemory(Parts):
    """Memory for agents that people text: one database, keyed by phone.

    Everything else is reached by its part (see Parts): `memory.people`, `memory.service`, `memory.consent`,
    `memory.insight`.

    `url` overrides `settings.database`; `tenant`, a business that shares nothing with any other, overrides
    `settings.tenant`; `embeddings`, any LangChain Embeddings, overrides `settings.embedding_model`.
    `retriever` is any LangChain retriever, whose documents are shown beside the memories and cited like them.
    `summarise` is a chat model that sums up in a few sentences what falls out of the window (default: nothing does);
    how long it may take is set on the model.
    `extraction_model` is a chat model that reads in the background what people say of themselves, instead of
    `settings.extraction`.
    `now` is the clock; it returns aware datetimes.
    Everything heavy is loaded here, so inside a running event loop construct it in a thread.
    Raises DataDirectoryError, ConfigurationError or StoreUnavailable.
    """

    @classmethod
    def from_config(cls, path: str | Path, **arguments: Any) -> Self:
        """Return a memory with the settings of a JSON file (see docs/settings.md); `arguments` are the constructor's
        other ones.

        Environment variables win over the file. A file that cannot be read is an ERROR in the log, and the memory is
        switched off. Raises ConfigurationError as the constructor does, for instance for an embedding model without its
        key.
        """
        return cls(settings=settings_of(path), **arguments)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await run_in_executor(None, self.close)

    def turn(self, phone: str) -> Turn:
        """Hold one turn of this phone, for `with` or `async with`: one at a time, its session pinned in the config it
        gives.

        Raises TurnTimeout if the turns before it do not end within `settings.turn_timeout`.
        """
        return self.turns.turn(normalised(phone, self.settings.default_region))

    def recall_node(self) -> Node:
        """Return a node that writes to `recalled` what the model should know. Put it before the agent."""

        # A node of one's own that calls this one may hand its config on.
        def recall(state: Any, config: RunnableConfig | None = None) -> dict[str, Any]:  # noqa: ARG001
            self.context.begin_step()
            return {"recalled": self.context.recall(messages_of(state))}

        return named_node(recall, "recall")

    def recall(self, state: Mapping[str, Any] | Any, *, phone: str | int | None = None) -> Recalled:
        """Return (memory id, similarity) of the memories that bear on the talk, best first, for the channel `recalled`.

        The recall node does this. Where the talk has no topic, as in a greeting, the most recent and most used are
        returned. If the memory is down the list is empty, with a warning in the log. Raises SessionExpired if there is
        no message.
        """
        return self.context.recall(messages_of(state), self._written(phone))

    def write_node(self) -> Node:
        """Return a node that notes which memories the reply used. Put it after the agent."""

        def write(state: Any, config: RunnableConfig | None = None) -> dict[str, Any]:  # noqa: ARG001
            self.context.begin_step()
            self.context.note_use(messages_of(state), recalled_of(state))
            return {}

        return named_node(write, "write")

    def tool_node(self, tools: Sequence[BaseTool | Callable[..., Any]], **options: Any) -> Runnable[Any, Any]:
        """Return LangGraph's ToolNode, with its `options` and two differences. A call that is done is not done again
        when another tool of the same step stops to ask the person, or when the process ends in one. A tool that changes
        something gets only ids that were shown or written: see `middleware`.
        """
        strict = self.context.strict
        return tool_node(tools, **{"wrap_tool_call": strict.wrap, "awrap_tool_call": strict.awrap, **options})

    def debug_node(self) -> Node:
        """Return a node that says why the turn went as it did, in ids, scores and reasons: see TurnReport. Put it last.

        It streams the report as a custom event, `{"langmem": report}`, and writes it to the channel `memory_report` of
        a state that has one, such as ReportedState.
        """

        def debug(state: Any) -> dict[str, Any]:
            report = self.reports.of(messages_of(state), recalled_of(state))
            get_stream_writer()({"langmem": report})
            return {"memory_report": report}

        return named_node(debug, "debug")

    def middleware(self, *, changing: Iterable[str] | None = None) -> MemoryMiddleware:
        """Return the middleware for `create_agent(…, middleware=[memory.middleware()])`, which does what the nodes do.

        A call of a tool that changes something is checked before it is done first: an id that no tool has shown in this
        session, and that the person did not write, is answered with an error that names what was shown. `changing`
        names the tools that change something; without it each tool's annotation `readOnlyHint` decides, or else the
        verb in its name.
        """
        return MemoryMiddleware(self.context, changing=changing)

    def prompt(
        self, state: Mapping[str, Any] | Any, system: str, *, phone: str | int | None = None
    ) -> list[BaseMessage]:
        """Return the model's input: system text, standing instructions and the window of the conversation.

        The memories, the documents and what the last message refers to stand at the end of the person's newest message,
        in `<context>`, so that a provider's cache of all before it stays valid. What an older message refers to stays
        at its end if tools were called for it. Nothing in the state changes. Inside a graph the phone need not be
        given.
        """
        standing, shown = self.context.model_input.of(messages_of(state), recalled_of(state), self._written(phone))
        text = storable(joined(system, standing))
        return [SystemMessage(text), *shown] if text else shown

    def resolved(self, state: Mapping[str, Any] | Sequence[BaseMessage] | Any) -> Resolution:
        """Resolve what the person's newest message, in a state or a list of messages, refers to; usable in a node or a
        tool.

        `.item("recipe")` is the one item meant, or None; `.question` is what to ask where it is unclear.
        """
        return references_of(messages_of(state))

    def tools(self) -> list[BaseTool]:
        """Return tools by which the agent remembers, recalls, searches what was said and forgets, for the person of the
        run.
        """
        if not self.settings.remembers:
            return []
        return memory_tools(self, self.writing)

    def key_value_tools(self) -> list[BaseTool]:
        """Return the tools `save_memory`, `load_memory`, `delete_memory`, `list_memory`, `search_memory` and
        `classify_memory`, for the person of the run. `KEY_VALUE_RULES` tells a model, in its system prompt, when to use
        them.
        """
        return key_value_tools(self.service, self.writing) if self.settings.remembers else []

    def app(self, *, graph: Graph | None = None) -> "FastAPI":
        """Return an ASGI application to run or to mount: the HTTP API, people's pages and the operator's console.

        `graph` answers `POST /api/chat`. Raises ImportError without the extra `web`, ConfigurationError where the
        memory is switched off.
        """
        # Imported by its name: web/ is a layer above this file, and needs an extra.
        application: FastAPI = import_module("langmem_plugin.web.app").web_app(self, graph=graph)
        return application

    def index_past_sessions(self) -> int:
        """Make searchable now what sessions that ended or fell silent said; return how many messages were new.

        It also happens in the background. Raises EmbeddingUnavailable or StoreUnavailable; what was done before stays
        done.
        """
        return self.past_sessions.catch_up() if self.settings.remembers else 0

    def extract(self, who: str | int) -> Extracted:
        """Take what a person said into their memory now; return what was stored, and what waits for their consent.

        It reads all their conversations that wait for it, also those that are not quiet yet and those that failed
        before. Where nothing is found, the `why` of the empty list says the reason.

        It also happens in the background. Raises what the model raises, EmbeddingUnavailable or StoreUnavailable; what
        was done before stays done.
        """
        if self.extraction is None:
            return Extracted(why='the settings switch it off: set extraction to "rules" or a model\'s name')
        person = self._key(who)
        made = self.extraction.work.of_person(person)
        if made:
            return Extracted(made)
        if not is_group(person) and not self.consent.allowed(person):
            return Extracted(
                why="the person has not allowed it: memory.consent.set(who, extraction=True), or /privacy on"
            )
        return Extracted(why="nothing was said since that states a fact, and is allowed to be remembered")

    def export(self, who: str | int) -> PersonExport:
        """Return all that is stored of one person, and nothing of anybody else: `to_json` makes it text.

        For a person with very much data `memory.exporter.write(who, file)` writes the same into an open file.
        """
        return self.exporter.export(who)

    def import_person(
        self,
        document: PersonExport | Mapping[str, Any],
        *,
        phone: str | int | None = None,
        by_themselves: bool = False,
    ) -> ImportReport:
        """Store what `export` gave, here or elsewhere: unchanged, with ids, dates and states, and nothing twice.

        Where the person brings it `by_themselves`, no conversation of it goes on: what others said in it cannot be
        proven. With `phone` it becomes this person's. A record that cannot be read is skipped and named in the report
        by its number. A run that was cut short is finished by the next one. Raises UnreadableImport for a document of a
        newer format.
        """
        return self.documents.run(document, phone=phone, by_themselves=by_themselves)

    def erase(self, who: str | int, *, now: bool = False) -> ErasureReceipt:
        """Erase a person or a group: nothing of theirs is found, answered from, listed or exported any more, in any
        process.

        For 30 days it can be undone (`restore_erased`); then a sweep deletes it for good. With `now` it is deleted for
        good at once: rows, archived sessions, pictures, index, keys, and what deleted rows leave in files. Somebody who
        writes again meanwhile begins anew. A turn of theirs that runs is waited for. What they wrote in groups belongs
        to the groups. Raises TurnTimeout, and ErasureIncomplete where traces could not be deleted yet: do it again.
        """
        return self.erasure.erase(who, now=now)

    def restore_erased(self, who_or_receipt_id: str | int) -> ErasureReceipt:
        """Undo the newest `erase` of a person, or the one with this id. Raises UnknownErasure if it is too late."""
        return self.erasure.restore(who_or_receipt_id)

    def command(self, phone: str | int, text: str) -> str | None:
        """Return the answer to a chat command such as /remember; None if the text is no command. `reply` calls this
        first.
        """
        with acting(PERSON):
            return self.commands.answer(self._key(phone), text)

    def reply(
        self,
        graph: Graph,
        who: str | int,
        text: str,
        image: Image | Sequence[Image] | None = None,
        **delivery: Unpack[Delivery],
    ) -> Reply:
        """Reply to a text that came in: the whole adapter of a channel. Returns the text to send back.

        Chat commands are answered here. A message to a graph that waits for an answer is that answer, in words. When
        the model does not answer, a node raises, the disk is full or the turn before does not end, the person is told
        so and the log has the details; `raise_errors` raises instead. When the memory cannot be reached the reply goes
        out without it and says so.

        `who` is any identifier of a person or group (an int is Telegram's); `image` is a file's path, its bytes or a
        URL, or several of them.
        `unopened` names what came with the message and cannot be shown: the person is told so if they wrote nothing,
        and always of a "picture".
        `message_id` is the channel's own id: a message that is delivered again is not answered again, not even by
        another process or after a crash; its first answer is returned, `repeated`. Without an id every call is a
        message; with several the text is put together from them. Messages with the same `album` that come within a
        second are one.
        `send` is called with the text inside the turn, before the person's next message is answered, and is not called
        again once it has returned: it is for channels that send by themselves. With `parts`, which cuts the text, it is
        called with each part. An error of it is raised here; the answer is kept, and when the message is delivered
        again it is sent from the first part on that was not taken. If it returns the id that the text got, a person who
        quotes the text by that id is understood.
        `sent_at` is when the message was written: one older than twelve hours is kept and not answered ("").
        `sender` and `sender_name` say who wrote in a group; the model is shown `Erin: …`.
        `forwarded` says that the words are another's: the model is given them, marked as such, and they are no command,
        order, answer or fact.
        `quoted` is the message that this one answers, by the id that the channel gave it or by its text.
        `edited` is a message that was sent before under the same id: if that was delivered, this one is ignored ("").
        `reaction` is a sign on the message `quoted`: a yes or no to the question of the newest answer, else it is
        ignored ("").
        `automated` is for text that no person wrote (a briefing, a nudge): it sees no history and leaves no trace in
        it.
        `sources` keeps the reply's citations `[2]` and lists below it what they mean; without it they are left out.

        Raises InvalidInput for a blank `who`, and ConfigurationError for a graph that cannot remember (see `check`).
        """
        with acting(PERSON):
            return perform(self._replying(graph, who, text, image, delivery))

    async def areply(
        self,
        graph: Graph,
        who: str | int,
        text: str,
        image: Image | Sequence[Image] | None = None,
        **delivery: Unpack[Delivery],
    ) -> Reply:
        """Reply as `reply` does, in asynchronous code: the graph is run with `ainvoke`, and `send` may be
        asynchronous.
        """
        with acting(PERSON):
            return await aperform(self._replying(graph, who, text, image, delivery), self.executor)

    def say(self, who: str | int, text: str, *, automated: bool = False) -> None:
        """Record a message that the assistant sends unasked, so that "yes please" has its context; the caller sends it.

        `automated` leaves no trace. Raises InvalidInput for an empty text.
        """
        if not text.strip():
            raise InvalidInput("there is nothing to say: give the text that the person gets")
        if not automated and self.settings.enable_memory_system:
            self.sessions.record(who, AIMessage(clean(text)))
            self.commands.close_question(self._key(who))  # from now on a "yes" answers this message

    def check(self, graph: Graph) -> list[str]:
        """List what should be changed in a graph so that its memory works, each in one sentence; [] when all is well.

        The classes that its state declares may be stored from then on. Raises ConfigurationError where it cannot work:
        no checkpointer, another one, or a state without messages. The first `reply` with a graph calls it too, and logs
        the result.
        """
        return check(graph, self.saver)

    def _replying(
        self, graph: Graph, who: str | int, text: str, image: Image | Sequence[Image] | None, delivery: Delivery
    ) -> Steps[Reply]:
        if self.settings.enable_memory_system:
            self.channel.check_once(graph)
        if not isinstance(text, str):
            raise TypeError(f'a reply is to a text, not to {text!r}: give "" where there is only a picture')
        region = self.settings.default_region
        with waiting_once(), timing(self.database.operations, "reply") as call:
            source = normalised(who, region)
            owner = self.people.known_as(source)
            message = incoming_message(owner, source, text=text, image=image, region=region, delivery=delivery)
            return (yield from self.channel.reply(graph, message, call))

    def _key(self, who: str | int) -> OwnerKey:
        """Return the key of the person with this identifier; the last known one if the database cannot be asked."""
        return self.people.known_as(normalised(who, self.settings.default_region))

    def _written(self, who: str | int | None) -> str | None:
        return None if who is None else normalised(who, self.settings.default_region)


def memory_recall_node(memory: PhoneMemory) -> Node:
    """Return `memory.recall_node()`, for callers who look for it by this name."""
    return memory.recall_node()


def memory_write_node(memory: PhoneMemory) -> Node:
    """Return `memory.write_node()`, for callers who look for it by this name."""
    return memory.write_node()
