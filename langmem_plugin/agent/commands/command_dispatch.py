"""Dispatch of the chat commands: the command in a text is recognised and answered."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from langmem_plugin.agent.commands.command_call_and_paging import CommandCall
from langmem_plugin.agent.commands.forget_undo_why import chosen_to_forget, forget, is_choice, is_remembered, undo, why
from langmem_plugin.agent.commands.instructions import instructions
from langmem_plugin.agent.commands.link_timezone_and_reset import link, link_answered, reset, time_zone
from langmem_plugin.agent.commands.memories_and_search import memories, search, with_page_link
from langmem_plugin.agent.commands.open_questions import ASKED_AS, ASKED_OF, OpenQuestion, QuestionClosed, QuestionKind
from langmem_plugin.agent.commands.privacy_and_export import consented, erases, erasing_answered, export, privacy
from langmem_plugin.agent.commands.recognition import CommandName, Said, cleaned, may_be_typed, said, typed, wants_gone
from langmem_plugin.agent.commands.remember_and_confirm import confirm, confirmed, remember, verdict
from langmem_plugin.agent.parts_protocol import AgentParts
from langmem_plugin.agent.replying.incoming_message import IncomingMessage, as_utc
from langmem_plugin.agent.replying.language_detection import replies_for
from langmem_plugin.errors import LinkedLately, StorageFull, StoreUnavailable
from langmem_plugin.facts.instruction_recognition import instruction_in
from langmem_plugin.identifiers import OwnerKey, is_group, masked
from langmem_plugin.logs import event_log
from langmem_plugin.references.said.yes_or_no import agrees
from langmem_plugin.text_sanitizing import without_steering

log = event_log(__name__)

_CLOCKS_DIFFER = timedelta(seconds=2)  # between a channel's clock and this one
_TO_QUESTIONS: Mapping[QuestionKind, tuple[CommandName, Callable[[CommandCall, Mapping[str, Any]], str | None]]] = {
    "forget": ("forget", chosen_to_forget),
    "confirm": ("confirm", confirmed),
    "erase": ("privacy", erasing_answered),
    "link": ("link", link_answered),
}


def list_commands(call: CommandCall, only: Collection[CommandName] = ()) -> str:
    """List how the commands are typed, each in a line; `only` some of them if they are given."""
    known = (only or ANSWERS) if call.parts.settings.remembers else _OF_CONVERSATION
    return "\n".join(usage for command, usage in call.replies.usage.items() if command.removeprefix("/") in known)


ANSWERS: Mapping[CommandName, Callable[[CommandCall], str]] = {
    "remember": remember,
    "memories": memories,
    "search": search,
    "why": why,
    "forget": forget,
    "undo": undo,
    "confirm": confirm,
    "instructions": instructions,
    "privacy": privacy,
    "export": export,
    "timezone": time_zone,
    "link": link,
    "reset": reset,
    "help": list_commands,
}
"""The names of all commands; their words and texts are in agent/reply_texts."""

_OF_CONVERSATION = frozenset[CommandName]({"reset", "help"})
# While a person's run goes on, no session of theirs ends, and they are neither joined nor erased.
_IN_A_RUN = frozenset(ANSWERS.keys() - {"confirm", "export", "timezone", "link", "reset"})


@dataclass(frozen=True)
class Reading:
    """The commands' reading of a text: `is_answered` if `Commands.answer` answers it. If not, `is_asked` if the
    question of the last reply is still open, and `may_ask` if this reply may end with a question to the person.
    """

    is_answered: bool = False
    is_asked: bool = False
    may_ask: bool = False


@dataclass(eq=False)
class Commands:
    """The chat commands. If the memory is switched off, only those of the conversation exist."""

    parts: AgentParts

    def answer(
        self,
        owner: OwnerKey,
        text: str,
        *,
        written_at: datetime | None = None,
        links: bool = True,
        sender: str | None = None,
    ) -> str | None:
        """Reply to a command, or to an answer to a question; None if the text is neither and belongs to the agent.

        A text that does not answer an open question closes it, unless it was written before that was asked. `links` to
        the person's page are for their chat alone. In a group a question is answered by the `sender` who was asked.
        """
        with suppress(QuestionClosed), self.parts.database.together():
            reply = self._reply(owner, text, self._question(owner, written_at, sender), links=links)
            if sender is not None and reply is not None:
                self.parts.questions.asked_of(owner, sender, reply)
            return reply
        return None

    def reading(self, message: IncomingMessage) -> Reading:
        """Tell how the commands take this message. One that does not answer an open question closes it, unless a reply
        asked it: it may be an earlier message, delivered again.
        """
        parts, owner, text = self.parts, message.owner, message.own_words
        meant = typed(cleaned(text)) if may_be_typed(text) else self._said_by(owner, text)
        if meant is not None and meant.command is not None:
            if meant.command == "remember":
                with suppress(StoreUnavailable):  # opened before the transaction that asks a model
                    parts.saver.current_session(owner)
            return Reading(is_answered=True)
        if not parts.settings.remembers:
            return Reading()
        try:
            with parts.database.read() as connection:
                question = parts.questions.look_in(connection, owner)
                may_ask = parts.confirmations.may_ask(connection, owner) or (
                    parts.asks_consent and parts.consent.to_ask(connection, owner) is not None
                )
        except StoreUnavailable:
            log.warning("question.not_read", exc_info=True, extra={"owner": masked(owner)})
            return Reading()
        if question is not None and _concerns(question, message.sent_at, message.sender):
            # In a group others may have been answered since.
            is_of_it = message.answers_newest is not False or message.quoted_text == question.details.get(ASKED_AS)
            if is_of_it and _is_answer(question, cleaned(text)):
                return Reading(is_answered=True)
            if question.kind != "confirm":
                self._close(owner, question)
        is_open = question is not None and question.kind == "confirm"
        return Reading(is_answered=self._of_memory(owner, text) is not None, is_asked=is_open, may_ask=may_ask)

    def knows(self, text: str) -> bool:
        """Tell whether a text is answered here, whoever sends it. A "yes" is answered only while a question is open."""
        found = typed(cleaned(text)) if may_be_typed(text) else self._said(text)
        return found is not None and found.command is not None

    def answers(self, owner: OwnerKey, text: str) -> str | None:
        """Reply to an answer to the question at the end of the last reply, or to the question whether to forget
        something. For any other text return None, and close that question.

        The method is for runs of a graph outside of `reply`.
        """
        question = self._question(owner)
        if question is None or question.kind not in {"confirm", "forget"}:
            return None
        with suppress(QuestionClosed), self.parts.database.together():
            return self._to_question(owner, text, question)
        return None

    def typed_in_run(self, owner: OwnerKey, text: str) -> str | None:
        """Reply to a slash command that may be carried out inside a run: one that does not end the conversation, join
        people or erase one. Return None for everything else, which belongs to the agent.
        """
        command = typed(cleaned(text)) if may_be_typed(text) else None
        if command is None or command.command not in _IN_A_RUN:
            return None
        if command.command == "privacy" and erases(command.rest):
            return None
        if command.command == "help":
            return list_commands(self._call(owner, text), _IN_A_RUN)
        return self.answer(owner, text, links=False)  # a run's words stay in its state and its traces

    def close_question(self, owner: OwnerKey, *kinds: QuestionKind) -> None:
        """Close the open question, if it is of one of these kinds or none are named: it does not count any more."""
        if (question := self._question(owner)) is not None and (not kinds or question.kind in kinds):
            self._close(owner, question)

    def _call(self, owner: OwnerKey, text: str, rest: str = "") -> CommandCall:
        return CommandCall(self.parts, owner, rest, replies_for(self.parts.person_settings, owner, text))

    def _reply(self, owner: OwnerKey, text: str, question: OpenQuestion | None, *, links: bool) -> str | None:
        if not may_be_typed(text):
            return self._spoken(owner, text, question)
        command = typed(cleaned(text))
        if question is not None:
            self._close(owner, question)
        if command is None or command.command is None:
            return None
        return self._answered(self._call(owner, text, command.rest), command.command, links=links)

    def _spoken(self, owner: OwnerKey, text: str, question: OpenQuestion | None) -> str | None:
        if question is not None and (reply := self._to_question(owner, text, question)) is not None:
            return reply
        found = self._said_by(owner, text) or self._of_memory(owner, text)
        if found is None:
            return None
        call = self._call(owner, text, found.rest)
        return None if found.command is None else self._answered(call, found.command)

    def _answered(self, call: CommandCall, command: CommandName, *, links: bool = True) -> str:
        if not self.parts.settings.remembers and command not in _OF_CONVERSATION:
            return call.replies.memory_disabled

        def work(call: CommandCall) -> str:
            reply = ANSWERS[command](call)
            is_linked = command == "memories" or (command == "privacy" and not erases(call.rest))
            return with_page_link(call, reply) if links and is_linked else reply

        return _kept(call, command, work) or ""

    def _to_question(self, owner: OwnerKey, text: str, question: OpenQuestion) -> str | None:
        """Reply to an answer. If the text is no answer, close the question and return None. Raises QuestionClosed."""
        answer = cleaned(text)
        if not _is_answer(question, answer):
            self._close(owner, question)
            return None
        command, work = _TO_QUESTIONS[question.kind]
        work = consented if question.details.get("consent") else work

        def taken(call: CommandCall) -> str | None:
            self.parts.questions.take(owner, question)
            return work(call, question.details)

        return _kept(self._call(owner, text, answer), command, taken)

    def _said(self, text: str) -> Said | None:
        return said(cleaned(text)) if self.parts.settings.remembers else None

    def _said_by(self, owner: OwnerKey, text: str) -> Said | None:
        """Return the command in a text. In a group a member's wish to be called by a name is no instruction for all."""
        found = self._said(text)
        if found is None or found.command != "instructions" or not is_group(owner):
            return found
        order = instruction_in(text)
        return None if order is not None and order.names else found

    def _of_memory(self, owner: OwnerKey, text: str) -> Said | None:
        """Return a request to forget something, if a memory has all the words that name it."""
        parts = self.parts
        if not parts.settings.remembers or may_be_typed(text):
            return None
        wanted = wants_gone(cleaned(text))
        try:
            if wanted is not None and is_remembered(parts.service, owner, wanted):
                return Said("forget", wanted)
        except StoreUnavailable:
            log.warning("command.not_read", exc_info=True, extra={"owner": masked(owner)})
        return None

    def _question(
        self, owner: OwnerKey, written_at: datetime | None = None, sender: str | None = None
    ) -> OpenQuestion | None:
        """Return the open question, if the text can be about it."""
        if not self.parts.settings.remembers:
            return None
        try:
            question = self.parts.questions.look(owner)
        except StoreUnavailable:
            log.warning("question.not_read", exc_info=True, extra={"owner": masked(owner)})
            return None
        return question if question is not None and _concerns(question, written_at, sender) else None

    def _close(self, owner: OwnerKey, question: OpenQuestion) -> None:
        try:
            self.parts.questions.close(owner, question)
        except StoreUnavailable:
            log.warning("question.not_closed", exc_info=True, extra={"owner": masked(owner)})


def stands_alone(text: str) -> bool:
    """Tell whether a text may be a command, or a whole answer: it is answered by itself, whatever comes with it."""
    plain = cleaned(text)
    return may_be_typed(text) or said(plain) is not None or wants_gone(plain) is not None or is_choice(plain)


def _kept(call: CommandCall, command: CommandName, work: Callable[[CommandCall], str | None]) -> str | None:
    """Return the reply of `work`, or a reply which says that the memory cannot be reached."""
    try:
        reply = work(call)
        return without_steering(reply) if reply is not None else reply
    except LinkedLately:
        return call.replies.linked_lately.format(off=call.typed("/link", call.replies.off_word.format(number="")))
    except StorageFull:
        raise
    except StoreUnavailable:
        log.warning("command.unavailable", exc_info=True, extra={"owner": masked(call.owner), "command": command})
        return call.replies.memory_unavailable


def _concerns(question: OpenQuestion, written_at: datetime | None, sender: str | None) -> bool:
    """Tell whether a text may be about the question: not an older one, nor in a group one of another person, or of an
    administrator who stays anonymous.
    """
    is_older = written_at is not None and as_utc(written_at) + _CLOCKS_DIFFER < question.asked_at
    return not is_older and question.details.get(ASKED_OF, sender) == sender


def _is_answer(question: OpenQuestion, text: str) -> bool:
    """Tell whether a text may be the answer to a question of this kind."""
    if question.kind == "forget":
        return is_choice(text)
    # "No thanks" says no to deleting and to linking. Below a reply it may be meant for the reply.
    no = agrees(text) if question.kind != "confirm" else None
    return verdict(text) is not None or (no is not None and not no.yes and not no.rest)
