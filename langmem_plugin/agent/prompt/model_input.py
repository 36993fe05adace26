"""The input of a model at one call: standing text, the window of the conversation, and late in it the facts known now.

The conversation without that late block is the beginning of what the next turn is given, letter for letter.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langmem_plugin.agent.identity import session_of_run
from langmem_plugin.agent.memory_state import Recalled, newest_of_person
from langmem_plugin.agent.prompt.memory_in_prompt import MemoryInPrompt
from langmem_plugin.agent.prompt.prompt_texts import joined, late_text, standing_text
from langmem_plugin.agent.prompt.references_in_prompt import ReferencesInPrompt
from langmem_plugin.agent.prompt.summary import Summaries
from langmem_plugin.agent.replying import outage_note
from langmem_plugin.agent.replying.incoming_message import as_shown
from langmem_plugin.agent.served_person import ServedPerson
from langmem_plugin.conversation.context_block import looks_like_context, with_context
from langmem_plugin.conversation.media.media_reference import MediaReference, references_in
from langmem_plugin.conversation.media.picture_urls import why_refused
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.transcript import role_of, written_at
from langmem_plugin.conversation.window import window
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import PastMessage, as_it_stands
from langmem_plugin.memory.models import storable
from langmem_plugin.settings import Settings

_NAMES = ("url", "uri")
_REFUSED = "[a picture or file by its address, which is not allowed: the address was left out]"


def with_public_pictures(message: BaseMessage) -> BaseMessage:
    """A line of text in place of what a provider would fetch from where it should not: whoever wrote the address."""
    if not isinstance(message.content, list):
        return message
    shown = [{"type": "text", "text": _REFUSED} if _is_refused(block) else block for block in message.content]
    return message.model_copy(update={"content": shown}) if shown != message.content else message


def _is_refused(block: Any) -> bool:
    if not isinstance(block, dict) or block.get("type") == "text":
        return False
    return any(each[:5].lower() != "data:" and why_refused(each) is not None for each in _addresses(block))


def _addresses(block: dict[Any, Any]) -> Iterator[str]:
    """The addresses in a block of any provider's shape: `url`, `image_url`, `file_uri` and such, by themselves or
    inside.
    """
    for key, value in block.items():
        if isinstance(value, str) and isinstance(key, str) and key.lower().endswith(_NAMES):
            yield value
        elif isinstance(value, dict):
            inner = value.items() if key != "extras" else ()
            yield from (each for name, each in inner if isinstance(each, str) and str(name).lower().endswith(_NAMES))


def with_pictures(messages: Sequence[BaseMessage], load: Callable[[MediaReference], bytes | None]) -> list[BaseMessage]:
    """The messages with the pictures and files of the newest turn in place of the lines that stand for them.

    After an interrupt a run goes on from what is stored, and the model is to see what it saw before. What
    `load` gives nothing for stays a line. Messages that are changed are copies.
    """
    newest = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage)), 0)
    return [*messages[:newest], *(_with_pictures(message, load) for message in messages[newest:])]


def _with_pictures(message: BaseMessage, load: Callable[[MediaReference], bytes | None]) -> BaseMessage:
    if not isinstance(message.content, list):  # a text a person typed stays a text, whatever it looks like
        return message
    shown = [_shown(block, load) for block in message.content]
    return message.model_copy(update={"content": shown}) if shown != message.content else message


def _shown(block: Any, load: Callable[[MediaReference], bytes | None]) -> Any:
    if not isinstance(block, dict) or block.get("type") != "text":
        return block
    text = str(block.get("text"))
    match references_in(text):
        case [reference] if str(reference) == text and (data := load(reference)) is not None:
            return {"type": reference.kind, "base64": b64encode(data).decode(), "mime_type": reference.mime_type}
    return block


_HALF = re.compile(r"[\ud800-\udfff]")
_SENT = ("content", "name", "tool_calls", "invalid_tool_calls", "tool_call_id", "additional_kwargs")
_LEVELS = 60
_LARGEST_BITS = 10_000  # Python refuses to write out a number of more than 4,300 digits


def sendable(message: BaseMessage) -> BaseMessage:
    """The message; a copy where something in it could not be sent. It is stored with the same question marks."""
    held = {**message.__dict__, **(message.__pydantic_extra__ or {})}  # pydantic takes long to say that a field is none
    fields = {name: held[name] for name in _SENT if held.get(name)}
    changed = {name: new for name, value in fields.items() if (new := _whole(value, _LEVELS)) is not value}
    return message.model_copy(update=changed) if changed else message


def _whole(value: Any, levels: int) -> Any:
    """The very same object where nothing has to change."""
    if isinstance(value, str):
        return storable(value) if _HALF.search(value) else value
    if isinstance(value, int) and value.bit_length() > _LARGEST_BITS:
        return "…"
    if not isinstance(value, list | dict):
        return value
    if not levels:
        return "…"
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    new = [_whole(part, levels - 1) for part in parts]
    if all(one is other for one, other in zip(new, parts, strict=True)):
        return value
    return dict(zip(new[: len(value)], new[len(value) :], strict=True)) if isinstance(value, dict) else new


_EARLIER = datetime.min.replace(tzinfo=UTC)


def settled(
    service: MemoryService, owner: OwnerKey, session_id: str | None, messages: Sequence[BaseMessage]
) -> list[BaseMessage]:
    """The messages without what was forgotten, and with what holds instead where something was corrected.

    Raises StoreUnavailable.
    """
    spoken = {
        str(at): PastMessage(each.id or str(at), session_id or "", role_of(each), each.text, _said_at(each))
        for at, each in enumerate(messages)
        if isinstance(each, HumanMessage | AIMessage) and each.text.strip()
    }
    with service.database.read() as connection:
        standing = as_it_stands(connection, service.repository, owner, list(spoken.values()))
    left: list[BaseMessage] = []
    for at, each in enumerate(messages):
        said = spoken.get(str(at))
        if said is None:
            left.append(each)
        elif (shown := standing.get(said.message_id)) is not None:
            text = " ".join(filter(None, [shown.message.text, shown.note]))
            left.append(each if text == each.text else each.model_copy(update={"content": text}))
    return left


def _said_at(message: BaseMessage) -> datetime:
    """The time of a message; one whose channel gave no time is as old as any correction."""
    return written_at(message) or _EARLIER


log = event_log(__name__)

_SHARE_OF_REFERENCES = 4  # that part of the window's tokens, beside it, is for what older messages refer to


@dataclass(eq=False)
class ModelInput:
    """A view: the state is not changed."""

    saver: ConversationSaver
    person: ServedPerson
    shown: MemoryInPrompt
    settings: Settings
    _: KW_ONLY
    service: MemoryService
    count_tokens: Callable[[BaseMessage], int]
    summaries: Summaries | None
    references: ReferencesInPrompt

    def of(
        self,
        messages: Sequence[BaseMessage],
        recalled: Recalled,
        phone: str | None = None,
        *,
        conversation: Sequence[BaseMessage] | None = None,
    ) -> tuple[str, list[BaseMessage]]:
        """The text to add to the system text, and the messages, for the next model call.

        `conversation`: all that was said and shown, where `messages` were shortened from it for this call.

        What is known for the person's newest message stands at its end, so that the calls and results which follow it
        only add to what the model was given before, and what an older one refers to at the end of that. Where nobody
        has written yet it belongs to the system text.
        """
        owner = self.person.owner(phone)
        messages = [sendable(message) for message in messages]
        thread = self.person.thread(owner, phone)
        in_window = window(
            messages,
            max_turns=self.settings.window_turns,
            max_tokens=self.settings.max_tokens[self.person.role(owner)],
            count_tokens=self.count_tokens,
        )
        told = self.shown.told(owner, recalled, messages)
        ranked = list(enumerate(self.shown.chosen(owner, told), 1))
        applying = {each.id for each in self.shown.instructions(owner, messages, told) if each.condition is not None}
        said = {message.id: message.text for message in messages}
        shown = [as_shown(message, said) for message in in_window]
        newest = newest_of_person(shown)
        imitated = any(looks_like_context(message.text) for message in shown)
        references = self.references.of(
            messages if conversation is None else [sendable(each) for each in conversation],
            in_window,
            0 if imitated else self.settings.max_tokens[self.person.role(owner)] // _SHARE_OF_REFERENCES,
        )
        late = late_text(
            [(rank, each) for rank, each in ranked if each.id in applying],
            self.shown.numbered(owner, messages, recalled, told),
            self._before(owner, messages, in_window, thread, session_of_run() if phone is None else None),
            "" if newest is None else references.pop(newest, ""),
            imitated=imitated,
        )
        standing = standing_text((rank, each) for rank, each in ranked if each.condition is None)
        if newest is None:
            standing = joined(standing, late)
        elif late:
            shown[newest] = with_context(shown[newest], storable(late))
        for place, text in references.items():
            shown[place] = with_context(shown[place], storable(text))
        return storable(standing), with_pictures(
            [with_public_pictures(message) for message in shown],
            lambda reference: self._picture(owner, thread, reference),
        )

    def _before(
        self,
        owner: OwnerKey,
        messages: Sequence[BaseMessage],
        in_window: Sequence[BaseMessage],
        thread: str,
        session_id: str | None,
    ) -> str:
        """A summary of what the window leaves out, without what was forgotten or corrected since."""
        if self.summaries is None:
            return ""
        kept = {id(message) for message in in_window}
        dropped = [message for message in messages if id(message) not in kept]
        if not dropped:
            return ""
        if self.settings.remembers:
            try:
                dropped = settled(self.service, owner, session_id, dropped)
            except StoreUnavailable:
                log.warning("summary.skipped", exc_info=True, extra={"owner": masked(owner)})
                outage_note.note("summary")
                return ""
        return self.summaries.of(dropped, thread=thread, session_id=session_id)

    def _picture(self, owner: OwnerKey, thread: str, reference: MediaReference) -> bytes | None:
        try:
            return self.saver.load_media(thread, reference)
        except StoreUnavailable:
            log.warning("pictures.skipped", exc_info=True, extra={"owner": masked(owner)})
            outage_note.note("pictures")
            return None
