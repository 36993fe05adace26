"""What a model is given at one call: standing text, the window of the conversation, and late in it what is known now.

The conversation without that late block is the beginning of what the next turn is given, letter for letter.
"""

from collections.abc import Callable, Sequence

from langchain_core.messages import BaseMessage

from langmem_plugin.agent import outage_note
from langmem_plugin.agent.identity import session_of_run
from langmem_plugin.agent.incoming_message import as_shown
from langmem_plugin.agent.memory_in_prompt import MemoryInPrompt
from langmem_plugin.agent.memory_state import Recalled
from langmem_plugin.agent.pictures import with_pictures, with_public_pictures
from langmem_plugin.agent.prompt import joined, late_text, standing_text
from langmem_plugin.agent.references_in_prompt import ReferencesInPrompt
from langmem_plugin.agent.sendable_messages import sendable
from langmem_plugin.agent.served_person import ServedPerson
from langmem_plugin.agent.settled_conversation import settled
from langmem_plugin.agent.summary import Summaries
from langmem_plugin.agent.topic import newest_of_person
from langmem_plugin.conversation.context_block import looks_like_context, with_context
from langmem_plugin.conversation.media.media_reference import MediaReference
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.window import window
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.models import storable
from langmem_plugin.settings import Settings

log = event_log(__name__)

_SHARE_OF_REFERENCES = 4  # that part of the window's tokens, beside it, is for what older messages refer to


class ModelInput:
    """A view: the state is not changed."""

    def __init__(
        self,
        saver: ConversationSaver,
        person: ServedPerson,
        shown: MemoryInPrompt,
        settings: Settings,
        *,
        service: MemoryService,
        count_tokens: Callable[[BaseMessage], int],
        summaries: Summaries | None,
        references: ReferencesInPrompt,
    ) -> None:
        self._saver = saver
        self._person = person
        self._shown = shown
        self._settings = settings
        self._service = service
        self._count_tokens = count_tokens
        self._summaries = summaries
        self._references = references

    def of(
        self,
        messages: Sequence[BaseMessage],
        recalled: Recalled,
        phone: str | None = None,
        *,
        conversation: Sequence[BaseMessage] | None = None,
    ) -> tuple[str, list[BaseMessage]]:
        """What belongs to the system text, and the messages, for the next model call.

        `conversation`: all that was said and shown, where `messages` were shortened from it for this call.

        What is known for the person's newest message stands at its end, so that the calls and results which follow it
        only add to what the model was given before, and what an older one refers to at the end of that. Where nobody
        has written yet it belongs to the system text.
        """
        owner = self._person.owner(phone)
        messages = [sendable(message) for message in messages]
        thread = self._person.thread(owner, phone)
        in_window = window(
            messages,
            max_turns=self._settings.window_turns,
            max_tokens=self._settings.max_tokens[self._person.role(owner)],
            count_tokens=self._count_tokens,
        )
        told = self._shown.told(owner, recalled, messages)
        ranked = list(enumerate(self._shown.chosen(owner, told), 1))
        applying = {each.id for each in self._shown.instructions(owner, messages, told) if each.condition is not None}
        said = {message.id: message.text for message in messages}
        shown = [as_shown(message, said) for message in in_window]
        newest = newest_of_person(shown)
        imitated = any(looks_like_context(message.text) for message in shown)
        references = self._references.of(
            messages if conversation is None else [sendable(each) for each in conversation],
            in_window,
            0 if imitated else self._settings.max_tokens[self._person.role(owner)] // _SHARE_OF_REFERENCES,
        )
        late = late_text(
            [(rank, each) for rank, each in ranked if each.id in applying],
            self._shown.numbered(owner, messages, recalled, told),
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
        if self._summaries is None:
            return ""
        kept = {id(message) for message in in_window}
        dropped = [message for message in messages if id(message) not in kept]
        if not dropped:
            return ""
        if self._settings.remembers:
            try:
                dropped = settled(self._service, owner, session_id, dropped)
            except StoreUnavailable:
                log.warning("summary.skipped", exc_info=True, extra={"owner": masked(owner)})
                outage_note.note("summary")
                return ""
        return self._summaries.of(dropped, thread=thread, session_id=session_id)

    def _picture(self, owner: OwnerKey, thread: str, reference: MediaReference) -> bytes | None:
        try:
            return self._saver.load_media(thread, reference)
        except StoreUnavailable:
            log.warning("pictures.skipped", exc_info=True, extra={"owner": masked(owner)})
            outage_note.note("pictures")
            return None
