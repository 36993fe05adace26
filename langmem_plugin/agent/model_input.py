"""The input of a model at one call: standing text, the window of the conversation, and late in it the facts known now.

The conversation without that late block is the beginning of what the next turn is given, letter for letter.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langmem_plugin.agent.graph_state import Recalled, newest_of_person
from langmem_plugin.agent.memory_in_prompt import MemoryInPrompt
from langmem_plugin.agent.parts_protocol import AgentParts
from langmem_plugin.agent.person_of_run import run_config, thread_of_run
from langmem_plugin.agent.prompt_texts import as_shown, joined, late_text, standing_text, with_room
from langmem_plugin.agent.replying.reply_notices import note_missing
from langmem_plugin.agent.summary_of_left_out import Summaries, settled
from langmem_plugin.conversation.config_keys import session_id_of
from langmem_plugin.conversation.media.media_reference import MediaReference, references_in
from langmem_plugin.conversation.media.picture_urls import why_refused
from langmem_plugin.conversation.quoted_and_own_words import looks_like_context, own_words, quoted_of, with_context
from langmem_plugin.conversation.window import window
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.references import Resolution, describe, resolve
from langmem_plugin.references.meant.resolver import quoted_place, shows_something

log = event_log(__name__)

_HEARD = 100  # messages; only the last exchanges are read for what they mean
_NAMES = ("url", "uri")
_REFUSED = "[a picture or file by its address, which is not allowed: the address was left out]"
_HALF = re.compile(r"[\ud800-\udfff]")
_SENT = ("content", "name", "tool_calls", "invalid_tool_calls", "tool_call_id", "additional_kwargs")
_LEVELS = 60
_LARGEST_BITS = 10_000  # Python refuses to write out a number of more than 4,300 digits


def references_of(messages: Sequence[BaseMessage]) -> Resolution:
    """Resolve what the person's last message refers to in all that came before it, each in its writer's own words."""
    newest = newest_of_person(messages)
    if newest is None or not shows_something(messages[:newest]):
        return Resolution()
    heard = list(messages[: max(0, newest - _HEARD)])
    for message in messages[len(heard) : newest]:
        place = quoted_place(_quoted(message, heard), heard)
        if place is not None and isinstance(heard[place], AIMessage):
            heard.append(AIMessage(heard[place].text))  # shown once more: its items are what was spoken of last
        is_anothers = isinstance(message, HumanMessage) and own_words(message) != message.text
        heard.append(HumanMessage(own_words(message)) if is_anothers else message)
    return resolve(own_words(messages[newest]), heard, quoted=_quoted(messages[newest], heard))


def _quoted(message: BaseMessage, before: Sequence[BaseMessage]) -> str | None:
    """Return the id or the text of the message that this one answers, whichever is known."""
    return next((each for each in quoted_of(message) or () if quoted_place(each, before) is not None), None)


def with_public_pictures(message: BaseMessage) -> BaseMessage:
    """Replace each address that a provider should not fetch by a line of text, whoever wrote the address."""
    return _by_block(message, lambda block: {"type": "text", "text": _REFUSED} if _is_refused(block) else block)


def _by_block(message: BaseMessage, shown_as: Callable[[Any], Any]) -> BaseMessage:
    if not isinstance(message.content, list):  # a text that a person typed stays a text, whatever it looks like
        return message
    shown = [shown_as(block) for block in message.content]
    return message.model_copy(update={"content": shown}) if shown != message.content else message


def _is_refused(block: Any) -> bool:
    if not isinstance(block, dict) or block.get("type") == "text":
        return False
    return any(each[:5].lower() != "data:" and why_refused(each) is not None for each in _addresses(block))


def _addresses(block: dict[Any, Any]) -> Iterator[str]:
    """Give the addresses in a block of any provider's shape: `url`, `image_url`, `file_uri` and such, also nested."""
    for key, value in block.items():
        if isinstance(value, str) and isinstance(key, str) and key.lower().endswith(_NAMES):
            yield value
        elif isinstance(value, dict):
            inner = value.items() if key != "extras" else ()
            yield from (each for name, each in inner if isinstance(each, str) and str(name).lower().endswith(_NAMES))


def with_pictures(messages: Sequence[BaseMessage], load: Callable[[MediaReference], bytes | None]) -> list[BaseMessage]:
    """Return the messages with the pictures and files of the newest turn in place of the lines that stand for them.

    After an interrupt a run goes on from what is stored, and the model is to see what it saw before. A line stays where
    `load` gives nothing. Messages that are changed are copies.
    """
    newest = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage)), 0)
    with_its_own = partial(_by_block, shown_as=lambda block: _shown(block, load))
    return [*messages[:newest], *map(with_its_own, messages[newest:])]


def _shown(block: Any, load: Callable[[MediaReference], bytes | None]) -> Any:
    if not isinstance(block, dict) or block.get("type") != "text":
        return block
    text = str(block.get("text"))
    match references_in(text):
        case [reference] if str(reference) == text and (data := load(reference)) is not None:
            return {"type": reference.kind, "base64": b64encode(data).decode(), "mime_type": reference.mime_type}
    return block


def sendable(message: BaseMessage) -> BaseMessage:
    """Return the message, or a copy if something in it could not be sent. It is stored with the same question marks."""
    held = {**message.__dict__, **(message.__pydantic_extra__ or {})}  # pydantic takes long to say that a field is none
    fields = {name: held[name] for name in _SENT if held.get(name)}
    changed = {name: new for name, value in fields.items() if (new := _whole(value, _LEVELS)) is not value}
    return message.model_copy(update=changed) if changed else message


def _whole(value: Any, levels: int) -> Any:
    """Return the value with all of it sendable; the very same object if nothing has to change."""
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


@dataclass(eq=False)
class ModelInput:
    """The input of a model, made from the state, which it does not change."""

    parts: AgentParts
    shown: MemoryInPrompt
    summaries: Summaries | None

    def of(
        self,
        messages: Sequence[BaseMessage],
        recalled: Recalled,
        phone: str | None = None,
        *,
        conversation: Sequence[BaseMessage] | None = None,
    ) -> tuple[str, list[BaseMessage]]:
        """Return the text to add to the system text, and the messages, for the next model call.

        `conversation` is all that was said and shown, where `messages` were shortened from it for this call.

        What is known for the person's newest message stands at the end of that message, so that the calls and results
        which follow only add to the model's input before. Where nobody has written yet, the text belongs to the system
        text.
        """
        owner = self.parts.person.owner(phone)
        messages = [sendable(message) for message in messages]
        thread = (phone is None and thread_of_run()) or owner
        in_window = window(
            messages,
            max_turns=self.parts.settings.window_turns,
            max_tokens=self.parts.settings.max_tokens[self.parts.person.role(owner)],
            count_tokens=self.parts.count_tokens,
        )
        told = self.shown.told(owner, recalled, messages)
        ranked = list(enumerate(with_room(told.instructions, self.parts.count_tokens), 1))
        applying = {each.id for each in self.shown.instructions(owner, messages, told) if each.condition is not None}
        said = {message.id: message.text for message in messages}
        shown = [as_shown(message, said) for message in in_window]
        newest = newest_of_person(shown)
        imitated = any(looks_like_context(message.text) for message in shown)
        late = late_text(
            [(rank, each) for rank, each in ranked if each.id in applying],
            self.shown.numbered(owner, messages, recalled, told),
            self._before(owner, messages, in_window, thread, session_id_of(run_config()) if phone is None else None),
            "" if newest is None else describe(references_of(messages if conversation is None else conversation)),
            imitated=imitated,
        )
        standing = standing_text((rank, each) for rank, each in ranked if each.condition is None)
        if newest is None:
            standing = joined(standing, late)
        elif late:
            shown[newest] = with_context(shown[newest], storable(late))
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
        """Return a summary of what the window leaves out, without what was forgotten or corrected since."""
        kept = {id(message) for message in in_window}
        dropped = [message for message in messages if id(message) not in kept]
        if self.summaries is None or not dropped:
            return ""
        if self.parts.settings.remembers:
            try:
                dropped = settled(self.parts.service, owner, session_id, dropped)
            except StoreUnavailable:
                log.warning("summary.skipped", exc_info=True, extra={"owner": masked(owner)})
                note_missing("summary")
                return ""
        return self.summaries.of(dropped, thread=thread, session_id=session_id)

    def _picture(self, owner: OwnerKey, thread: str, reference: MediaReference) -> bytes | None:
        try:
            return self.parts.saver.load_media(thread, reference)
        except StoreUnavailable:
            log.warning("pictures.skipped", exc_info=True, extra={"owner": masked(owner)})
            note_missing("pictures")
            return None
