"""PhoneMemory: the one object that wires the checkpointer, the resolver and the long-term memory together."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, Self

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.pregel import Pregel
from langgraph.types import Command

from langmem_plugin.agent.commands import Commands
from langmem_plugin.agent.middleware import MemoryMiddleware
from langmem_plugin.agent.models import no_model
from langmem_plugin.agent.summary import Summaries
from langmem_plugin.agent.tools import memory_tools
from langmem_plugin.agent.working import Recalled, WorkingMemory, messages_of, recalled_of
from langmem_plugin.conversation.keeper import quarter_of_length
from langmem_plugin.conversation.manager import SessionManager
from langmem_plugin.conversation.media import image_block
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.turns import Turn
from langmem_plugin.database import Database
from langmem_plugin.errors import StorageFull
from langmem_plugin.memory import MemoryService
from langmem_plugin.phones import masked, normalised
from langmem_plugin.references import Resolution
from langmem_plugin.settings import Settings

log = logging.getLogger(__name__)


class Node(Protocol):
    """A node of a graph: called with the state, returns what it changes of it."""

    def __call__(self, state: Any) -> dict[str, Any]: ...


EMPTY = "I got an empty message. Write me what you need, or /help."
NO_MODEL = "I cannot think right now: the model does not answer. Your message is kept; please try again in a moment."
"""What a person is answered when the model cannot be reached."""


class PhoneMemory:
    """Memory for agents that people text: one database, keyed by phone.

    `url` overrides `settings.database`; `embeddings` is any LangChain Embeddings (default: the offline model);
    `summarise` is a chat model that puts what falls out of the window in a few sentences (default: nothing does);
    `now` is the clock, returning aware datetimes. Everything heavy is loaded here, so inside a running event
    loop construct it in a thread. Raises DataDirectoryError, ConfigurationError or StoreUnavailable.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        embeddings: Embeddings | None = None,
        serde: SerializerProtocol | None = None,
        count_tokens: Callable[[BaseMessage], int] = quarter_of_length,
        summarise: BaseChatModel | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.settings = settings or Settings()
        self.database = Database(url or self.settings.database)
        self._executor = ThreadPoolExecutor(max_workers=32, thread_name_prefix="langmem")
        self.saver = ConversationSaver.from_settings(
            self.settings,
            self.database,
            serde=serde,
            count_tokens=count_tokens,
            now=now,
            executor=self._executor,
        )
        self.media = self.saver.media
        self.service = MemoryService(self.database, embeddings=embeddings, now=now)
        self.sessions = SessionManager(self.saver, self.settings)
        self.instructions = self.service.instructions
        self._working = WorkingMemory(
            service=self.service,
            settings=self.settings,
            count_tokens=count_tokens,
            summaries=Summaries(summarise) if summarise else None,
            executor=self._executor,
            now=now,
        )
        self._commands = Commands(self.service, self.saver.end_session)

    def close(self) -> None:
        """Waits for what is running and closes the database."""
        self.saver.close()
        self.service.close()
        self._executor.shutdown()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def turn(self, phone: str) -> Turn:
        """`with` or `async with`: one turn of this phone at a time, its session pinned in the config it gives.

        Raises TurnTimeout if the turns before it do not end within `settings.turn_timeout`.
        """
        return self.saver.turn(normalised(phone, self.settings.default_region))

    def recall_node(self) -> Node:
        """A node that writes to `recalled` what the model should know. Put it before the agent."""

        def recall(state: Any) -> dict[str, Any]:
            return {"recalled": self.recall(state)}

        return recall

    def recall(self, state: Mapping[str, Any] | Any, *, phone: str | None = None) -> Recalled:
        """(memory id, similarity) of what bears on the talk, best first, for `recalled`; what the node does.

        Nothing, and a warning in the log, if the memory is down. Raises SessionExpired if there is no message.
        """
        return self._working.recall(messages_of(state), phone)

    def write_node(self) -> Node:
        """A node that notes which memories the reply used. Put it after the agent."""

        def write(state: Any) -> dict[str, Any]:
            self._working.note_reply(messages_of(state), recalled_of(state))
            return {}

        return write

    def middleware(self) -> MemoryMiddleware:
        """The same for `create_agent(…, middleware=[memory.middleware()])`."""
        return MemoryMiddleware(self._working)

    def prompt(self, state: Mapping[str, Any] | Any, system: str, *, phone: str | None = None) -> list[BaseMessage]:
        """What to give the model: system text, memories, what the last message refers to, and the window.

        A view: nothing in the state changes. Inside a graph the phone is found by itself.
        """
        text, shown = self._working.view(messages_of(state), recalled_of(state), system, phone)
        return [SystemMessage(text), *shown] if text else shown

    def resolved(self, state: Mapping[str, Any] | Sequence[BaseMessage] | Any) -> Resolution:
        """What the person's last message refers to; `.item("recipe")` is the one item meant, or None."""
        return self._working.resolution(state if isinstance(state, Sequence) else messages_of(state))

    def tools(self) -> list[BaseTool]:
        """Tools by which the agent itself remembers, recalls and forgets for the person of the run."""
        return memory_tools(self._working)

    def command(self, phone: str, text: str) -> str | None:
        """The answer to a chat command such as /remember; None if the text is none. `reply` asks this first."""
        return self._commands.answer(normalised(phone, self.settings.default_region), text)

    def reply(
        self,
        graph: Pregel[Any, Any, Any, Any],
        phone: str,
        text: str,
        image: str | Path | bytes | None = None,
        *,
        automated: bool = False,
    ) -> str:
        """The whole channel adapter: the text to send back for a text that came in.

        Chat commands are answered here. A message to a graph that waits for an answer is that answer. When the
        model does not answer or the disk is full, the person is told so and the log has the details.
        `automated` is for what no person wrote (a briefing, a nudge): it sees no history and leaves no trace in it.
        `image` is a file's path, its bytes or an http(s) URL; InvalidInput is raised if it cannot be read.
        """
        shown = [] if image is None else [image_block(image)]
        if not text.strip() and not shown:
            return EMPTY
        owner = normalised(phone, self.settings.default_region)
        said = {"messages": [_human(text, shown)]}
        try:
            if automated:
                return _reply_in(graph.invoke(said, {"configurable": {"thread_id": owner, "automated": True}}))
            if (answer := self.command(phone, text)) is not None:
                return answer
            with self.turn(phone) as config:
                waits = self.saver.awaits_answer(config)
                return _reply_in(graph.invoke(Command(resume=self._answer(text, shown)) if waits else said, config))
        except no_model():
            log.exception("reply.no_model", extra={"phone": masked(owner)})
            return NO_MODEL
        except StorageFull as error:
            log.critical("reply.storage_full", exc_info=True, extra={"phone": masked(owner)})
            return error.user_text

    def _answer(self, text: str, shown: Sequence[dict[str, str]]) -> str:
        """What answers a graph's question: always a text, because that is what a graph that asks expects."""
        blocks = self.media.reduced_value(list(shown))
        return "\n".join(part for part in (text, *(block.get("text") or block["url"] for block in blocks)) if part)


def _human(text: str, shown: Sequence[dict[str, str]]) -> HumanMessage:
    if not shown:
        return HumanMessage(text)
    return HumanMessage(content=[*([{"type": "text", "text": text}] if text.strip() else []), *shown])


def _reply_in(result: Mapping[str, Any]) -> str:
    """The text of a graph's answer: a question it stopped for, else the last thing the assistant said."""
    if waiting := result.get("__interrupt__"):
        asked = waiting[0].value
        return asked if isinstance(asked, str) else json.dumps(asked, ensure_ascii=False, default=str)
    said = (message.text for message in reversed(result["messages"]) if isinstance(message, AIMessage))
    return next((text for text in said if text), "")


def memory_recall_node(memory: PhoneMemory) -> Node:
    """`memory.recall_node()`, for those who look for it by this name."""
    return memory.recall_node()


def memory_write_node(memory: PhoneMemory) -> Node:
    """`memory.write_node()`, for those who look for it by this name."""
    return memory.write_node()
