"""A text comes in, a text goes out: what lies between a channel such as SMS or WhatsApp and a graph."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from langgraph.types import Command

from langmem_plugin.agent import outage_note
from langmem_plugin.agent.commands import Commands
from langmem_plugin.agent.memory_in_prompt import MemoryInPrompt
from langmem_plugin.agent.memory_state import messages_of, recalled_of
from langmem_plugin.agent.models import no_model
from langmem_plugin.agent.replies import ENGLISH
from langmem_plugin.conversation.config_keys import without_trace
from langmem_plugin.conversation.media.content_blocks import image_block
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.turns.turns import Turn
from langmem_plugin.database import waiting_once
from langmem_plugin.errors import (
    NotSerializable,
    StorageFull,
    StoreUnavailable,
    TurnLost,
    TurnTimeout,
    UnknownSession,
)
from langmem_plugin.identifiers import masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.models import storable
from langmem_plugin.references.shown.plain_data import plain

log = event_log(__name__)

Graph = Pregel[Any, Any, Any, Any]


@dataclass(frozen=True)
class Incoming:
    """One message of a person or a group, by its key; `automated` is one that nobody wrote."""

    owner: str
    text: str
    image: str | Path | bytes | None = None
    automated: bool = False

    @property
    def said(self) -> HumanMessage:
        """For the graph. Raises InvalidInput if the image cannot be read."""
        if self.image is None:
            return HumanMessage(self.text)
        words = [{"type": "text", "text": self.text}] if self.text.strip() else []
        return HumanMessage(content=[*words, image_block(self.image)])


class Channel:
    """Answers messages with a graph, in turns, or with what a person can be told instead."""

    def __init__(
        self,
        saver: ConversationSaver,
        shown: MemoryInPrompt,
        commands: Commands,
        turn: Callable[[str], Turn],
    ) -> None:
        self._saver = saver
        self._shown = shown
        self._commands = commands
        self._turn = turn

    def reply(self, graph: Graph, message: Incoming, *, sources: bool) -> str:
        """See PhoneMemory.reply."""
        if not message.text.strip() and message.image is None:
            return ENGLISH.empty_message
        said = message.said
        try:
            with waiting_once(), outage_note.watched() as missing:
                if not message.automated and (answer := self._commands.answer(message.owner, message.text)) is not None:
                    return answer
                reply = self._answered(graph, message, said, sources=sources)
        except no_model():
            log.exception("reply.no_model", extra={"phone": masked(message.owner)})
            return ENGLISH.no_model
        except (TurnTimeout, TurnLost, UnknownSession, NotSerializable, StoreUnavailable) as error:
            return _told_instead(error, masked(message.owner))
        return f"{reply}\n\n{ENGLISH.without_memory}" if missing else reply

    def _answered(self, graph: Graph, message: Incoming, said: HumanMessage, *, sources: bool) -> str:
        if message.automated:
            result = graph.invoke({"messages": [said]}, without_trace(message.owner))
        else:
            result = self._in_turn(graph, message.owner, said)
        reply = _reply_in(result)
        if sources:
            reply = self._shown.with_sources(reply, messages_of(result), recalled_of(result), message.owner)
        return storable(reply)

    def _in_turn(self, graph: Graph, owner: str, said: HumanMessage) -> dict[str, Any]:
        """What the graph answers in the person's turn; without any memory if the database cannot be reached.

        Only a run that has not begun is run without: what its tools did must not be done twice.
        """
        result: dict[str, Any] | None = None
        begun = False
        try:
            turn = self._turn(owner)
            with turn as config:
                asked = turn.awaits_answer
                given: Any = Command(resume=self._as_answer(said, config)) if asked else {"messages": [said]}
                begun = True
                result = graph.invoke(given, config)
        except StorageFull:
            raise
        except StoreUnavailable:
            if begun and result is None:
                raise
            # With a result all is kept; only the turn's place could not be given back, and its lease ends by itself.
            log.warning("turn.store_unavailable", exc_info=True, extra={"phone": masked(owner)})
        if result is None:
            outage_note.note("conversation")
            result = graph.invoke({"messages": [said]}, without_trace(owner))
        return result

    def _as_answer(self, said: HumanMessage, config: RunnableConfig) -> str:
        """What answers a graph's question: always a text, because that is what a graph that asks expects."""
        if isinstance(said.content, str):
            return said.content
        blocks: list[Mapping[str, Any]] = self._saver.run_writes.keep_media(config, list(said.content))
        return "\n".join(block.get("text") or block["url"] for block in blocks)


def _told_instead(
    error: TurnTimeout | TurnLost | UnknownSession | NotSerializable | StoreUnavailable, phone: str
) -> str:
    match error:
        case NotSerializable():
            log.error("reply.not_serializable", exc_info=error, extra={"phone": phone})
            return ENGLISH.not_storable
        case TurnLost() | UnknownSession():  # the session was taken over, or deleted while it was answered
            log.error("reply.turn_lost", exc_info=error, extra={"phone": phone})
            return ENGLISH.turn_lost
        case TurnTimeout():
            log.warning("reply.turn_timeout", exc_info=error, extra={"phone": phone})
            return ENGLISH.busy
        case StorageFull():
            log.critical("reply.storage_full", exc_info=error, extra={"phone": phone})
            return ENGLISH.storage_full
    log.error("reply.not_kept", exc_info=error, extra={"phone": phone})
    return ENGLISH.not_kept


def _reply_in(result: Mapping[str, Any]) -> str:
    """The text of a graph's answer: a question it stopped for, else the last thing the assistant said."""
    if waiting := result.get("__interrupt__"):
        asked = waiting[0].value
        return asked if isinstance(asked, str) else json.dumps(plain(asked), ensure_ascii=False, default=str)
    said = (message.text for message in reversed(result["messages"]) if isinstance(message, AIMessage))
    return next((text for text in said if text), "")
