"""Which command a text is, and who answers it."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from langmem_plugin.agent.commands.command_words import CommandName, cleaned, may_be_typed, nearest, typed
from langmem_plugin.agent.commands.confirming import Confirming, remembered, verdict
from langmem_plugin.agent.commands.explaining import Explaining
from langmem_plugin.agent.commands.forgetting import Forgetting, is_answer
from langmem_plugin.agent.commands.instruction_list import InstructionList
from langmem_plugin.agent.commands.lines import typed_in
from langmem_plugin.agent.commands.linking import Linking
from langmem_plugin.agent.commands.memory_list import MemoryList, PageLinks
from langmem_plugin.agent.commands.open_questions import (
    ASKED_OF,
    OpenQuestion,
    OpenQuestions,
    QuestionClosed,
)
from langmem_plugin.agent.commands.plain_words import Said, asks_why, said, wants_gone
from langmem_plugin.agent.commands.privacy import Exporting, Privacy
from langmem_plugin.agent.prompt.instruction_choice import InstructionChoice
from langmem_plugin.agent.replying.incoming_message import as_utc
from langmem_plugin.agent.replying.languages import Languages, written_in
from langmem_plugin.agent.replying.replies import Replies
from langmem_plugin.errors import EmbeddingUnavailable, InvalidInput, LinkedLately, StorageFull, StoreUnavailable
from langmem_plugin.facts.standing_orders import instruction_in
from langmem_plugin.foreign_text import without_steering
from langmem_plugin.identifiers import OwnerKey, is_group, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.people import People
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.portability.exporter import Holdings
from langmem_plugin.privacy.erasure import Erasure
from langmem_plugin.settings import Role
from langmem_plugin.writing.confirmation import Confirmations
from langmem_plugin.writing.consent import Consents
from langmem_plugin.writing.provenance import Provenance

log = event_log(__name__)

_Told = TypeVar("_Told", str, str | None)
_Answer = Callable[[OwnerKey, str, Replies], str]
_CLOCKS_DIFFER = timedelta(seconds=2)  # a channel's from ours
_OF_CONVERSATION = frozenset[CommandName]({"reset", "help"})
# No session ends and nobody is joined or erased while a run of theirs goes on.
_IN_A_RUN: tuple[CommandName, ...] = (
    "remember",
    "memories",
    "search",
    "why",
    "forget",
    "undo",
    "instructions",
    "privacy",
    "help",
)


@dataclass(frozen=True)
class Reading:
    """How the commands take a text: `is_answered` if `Commands.answer` answers it. If not, `is_asked` if the question
    of the last reply is still open, and `may_ask` if this reply may end with a question to the person.
    """

    is_answered: bool = False
    is_asked: bool = False
    may_ask: bool = False


class Commands:
    """`reset` ends the conversation of the owner it is given, and `session_of` names the session that it is in. Without
    `remembers` there are only conversations.
    """

    def __init__(
        self,
        service: MemoryService,
        reset: Callable[[OwnerKey], None],
        *,
        session_of: Callable[[OwnerKey], str],
        people: People,
        person_settings: PersonSettings,
        languages: Languages,
        role_of: Callable[[OwnerKey], Role],
        choice: InstructionChoice,
        questions: OpenQuestions,
        consents: Consents,
        confirmations: Confirmations,
        provenance: Provenance,
        holdings: Callable[[OwnerKey], Holdings],
        remembers: bool = True,
        asks_consent: bool = False,
        extracts: bool = True,
        erasure: Erasure,
        page_links: PageLinks,
    ) -> None:
        self._service = service
        self._page_links = page_links
        self._reset = reset
        self._session_of = session_of
        self._person_settings = person_settings
        self._languages = languages
        self._role_of = role_of
        self._remembers = remembers
        self._questions = questions
        self._consents = consents
        self._confirmations = confirmations
        self._asks_consent = asks_consent
        self._confirming = Confirming(confirmations, person_settings, service)
        self._privacy = Privacy(consents, erasure, questions, person_settings, people, extracts=extracts)
        memories = MemoryList(service, person_settings, role_of)
        self._forgetting = Forgetting(service, questions, memories.numbered)
        self._explaining = Explaining(service, provenance, memories, person_settings)
        self._linking = Linking(people, questions, holdings)
        instructions = InstructionList(service, person_settings, choice)
        self._answers: Mapping[CommandName, _Answer] = {
            "remember": self._remember,
            "memories": memories.listed,
            "search": memories.searched,
            "why": lambda owner, rest, replies: self._explaining.why(owner, rest, role_of(owner), replies),
            "forget": self._forgetting.forget,
            "undo": lambda owner, _rest, replies: self._forgetting.undo(owner, replies),
            "confirm": self._confirming.confirm,
            "instructions": instructions.answer,
            "privacy": self._privacy.answer,
            "export": Exporting(holdings, memories, people).answer,
            "timezone": self._time_zone,
            "link": self._linking.answer,
            "reset": self._start_afresh,
            "help": self._help,
        }

    def answer(
        self,
        owner: OwnerKey,
        text: str,
        *,
        written_at: datetime | None = None,
        links: bool = True,
        sender: str | None = None,
    ) -> str | None:
        """The reply to a command, or to what a person was asked; None if the text is neither and belongs to the agent.

        A text that does not answer an open question closes it, unless it was written before that was asked. `links` to
        the person's page are for their chat alone. In a group a question is answered by the `sender` who was asked.
        """
        with suppress(QuestionClosed), self._service.database.together():
            reply = self._reply(owner, text, self._question(owner, written_at, sender), links=links)
            if sender is not None and reply is not None:
                self._questions.asked_of(owner, sender)
            return reply
        return None

    def _reply(self, owner: OwnerKey, text: str, question: OpenQuestion | None, *, links: bool) -> str | None:
        if not may_be_typed(text):
            return self._spoken(owner, text, question)
        command = typed(cleaned(text))
        if question is not None:
            self._close(owner, question)
        if command is None:
            return None
        replies = self._languages.language_for(owner, text)
        if command.command is not None:
            return self._answered(owner, text, command.command, command.rest, links=links)
        near = self._nearest(owner, command.word, text)
        return None if near is None else replies.unknown_command.format(command=f"/{command.word}", near=f"/{near}")

    def knows(self, text: str) -> bool:
        """Tells whether a text is answered here, whoever sends it. A "yes" is answered only while a question is open,
        and a slip of the pen in another language than English only for a person who writes that language.
        """
        if not may_be_typed(text):
            return self._said(text) is not None
        command = typed(cleaned(text))
        return command is not None and (command.command is not None or nearest(command.word, "en") is not None)

    def reading(
        self, owner: OwnerKey, text: str, *, written_at: datetime | None = None, sender: str | None = None
    ) -> Reading:
        """Says how the commands take this text of this person. A text that does not answer an open question closes it,
        unless a reply asked it: the text may be an earlier message, delivered again.
        """
        command = typed(cleaned(text)) if may_be_typed(text) else None
        meant = command or self._said_by(owner, text)
        if meant is not None and self.knows(text):
            if meant.command == "remember":
                with suppress(StoreUnavailable):  # opened before the transaction in which a model is asked
                    self._session_of(owner)
            return Reading(is_answered=True)
        if command is not None and self._nearest(owner, command.word, text) is not None:
            return Reading(is_answered=True)
        if not self._remembers:
            return Reading()
        try:
            with self._service.database.read() as connection:
                question = self._questions.look_in(connection, owner)
                may_ask = self._confirmations.may_ask(connection, owner) or (
                    self._asks_consent and self._consents.to_ask(connection, owner) is not None
                )
        except StoreUnavailable:
            log.warning("question.not_read", exc_info=True, extra={"owner": masked(owner)})
            return Reading()
        if question is not None and _concerns(question, written_at, sender):
            if _is_answer(question, cleaned(text)):
                return Reading(is_answered=True)
            if question.kind != "confirm":
                self._close(owner, question)
        is_open = question is not None and question.kind == "confirm"
        is_answered = self._of_memory(owner, text) is not None
        return Reading(is_answered=is_answered, is_asked=is_open, may_ask=may_ask)

    def answers(self, owner: OwnerKey, text: str) -> str | None:
        """The reply to what the last reply asked at its end, or to whether to forget something. None for anything else,
        and nothing of that is open any more.

        For runs of a graph outside of `reply`.
        """
        question = self._question(owner, None)
        if question is None or question.kind not in {"confirm", "forget"}:
            return None
        with suppress(QuestionClosed), self._service.database.together():
            return self._to_question(owner, text, question)
        return None

    def typed_in_run(self, owner: OwnerKey, text: str) -> str | None:
        """The reply to a slash command that may be carried out inside of a run: none that ends the conversation, joins
        people or erases one. None for everything else, which belongs to the agent.
        """
        command = typed(cleaned(text)) if may_be_typed(text) else None
        if command is None or command.command not in _IN_A_RUN:
            return None
        if command.command == "privacy" and self._privacy.erases(command.rest):
            return None
        if command.command == "help":
            return self._listed(_IN_A_RUN, self._languages.language_for(owner, text))
        return self.answer(owner, text, links=False)  # what a run says, its state and its traces keep

    def close_question(self, owner: OwnerKey) -> None:
        """Closes the open question: it does not count any more."""
        if (question := self._question(owner, None)) is not None:
            self._close(owner, question)

    def close_confirmation(self, owner: OwnerKey) -> None:
        """Closes the question at the end of an earlier reply, because another reply goes out."""
        if (question := self._question(owner, None)) is not None and question.kind == "confirm":
            self._close(owner, question)

    def _nearest(self, owner: OwnerKey, word: str, text: str) -> str | None:
        """The command that a misspelt word stands for, in the language of this text, else in the one the person wrote
        before.
        """
        return nearest(word, written_in(text) or self._person_settings.language(owner))

    def _spoken(self, owner: OwnerKey, text: str, question: OpenQuestion | None) -> str | None:
        if question is not None and (reply := self._to_question(owner, text, question)) is not None:
            return reply
        found = self._said_by(owner, text) or self._of_memory(owner, text)
        if found is not None and found.command == "why":
            replies, role = self._languages.language_for(owner, text), self._role_of(owner)
            return self._kept(owner, "why", replies, lambda: self._explaining.of_last_reply(owner, role, replies))
        return self._answered(owner, text, found.command, found.rest) if found else None

    def _said(self, text: str) -> Said | None:
        return said(cleaned(text)) if self._remembers else None

    def _said_by(self, owner: OwnerKey, text: str) -> Said | None:
        """The command in a text. In a group a wish of one member to be called by a name is no instruction for all."""
        found = self._said(text)
        if found is None or found.command != "instructions" or not is_group(owner):
            return found
        order = instruction_in(text)
        return None if order is not None and order.names else found

    def _of_memory(self, owner: OwnerKey, text: str) -> Said | None:
        """A request about something remembered: to explain why the last reply was given, or to forget it, if a memory
        has all the words that name it.
        """
        if not self._remembers or may_be_typed(text):
            return None
        plain = cleaned(text)
        wanted = wants_gone(plain)
        try:
            if asks_why(plain) and self._explaining.can_explain(owner, self._role_of(owner)):
                return Said("why")
            if wanted is not None and self._forgetting.knows(owner, wanted):
                return Said("forget", wanted)
        except StoreUnavailable:
            log.warning("command.not_read", exc_info=True, extra={"owner": masked(owner)})
        return None

    def _answered(self, owner: OwnerKey, text: str, command: CommandName, rest: str, *, links: bool = True) -> str:
        replies = self._languages.language_for(owner, text)
        if not self._remembers and command not in _OF_CONVERSATION:
            return replies.memory_disabled

        def work() -> str:
            reply = self._answers[command](owner, rest, replies)
            is_linked = command == "memories" or (command == "privacy" and not self._privacy.erases(rest))
            return self._page_links.below(owner, reply, replies) if links and is_linked else reply

        return self._kept(owner, command, replies, work)

    def _to_question(self, owner: OwnerKey, text: str, question: OpenQuestion) -> str | None:
        """The reply to an answer; a text that is no answer closes the question: None. Raises QuestionClosed."""
        said_now = cleaned(text)
        if not _is_answer(question, said_now):
            self._close(owner, question)
            return None
        replies = self._languages.language_for(owner, text)
        command, work = self._answer_to(owner, said_now, question, replies)

        def taken() -> str | None:
            self._questions.take(owner, question)
            return work()

        return self._kept(owner, command, replies, taken)

    def _answer_to(
        self, owner: OwnerKey, said_now: str, question: OpenQuestion, replies: Replies
    ) -> tuple[CommandName, Callable[[], str | None]]:
        match question.kind:
            case "erase":
                return "privacy", partial(self._privacy.answered, owner, said_now, replies)
            case "confirm" if question.details.get("consent"):
                return "confirm", partial(
                    self._privacy.consented, owner, said_now, question.details["consent"], replies
                )
            case "confirm":
                return "confirm", partial(self._confirming.answered, owner, said_now, question, replies)
            case "link":
                return "link", partial(self._linking.answered, owner, said_now, question.details, replies)
            case "forget":
                return "forget", partial(self._forgetting.answered, owner, said_now, question.details, replies)

    def _kept(self, owner: OwnerKey, command: CommandName, replies: Replies, work: Callable[[], _Told]) -> _Told | str:
        """The reply that the work gives, or one which says that the memory cannot be reached."""
        try:
            reply = work()
            return without_steering(reply) if reply is not None else reply
        except LinkedLately:
            return replies.linked_lately.format(off=typed_in(replies, "/link", "off"))
        except StorageFull:
            raise
        except StoreUnavailable:
            log.warning("command.unavailable", exc_info=True, extra={"owner": masked(owner), "command": command})
            return replies.memory_unavailable

    def _question(self, owner: OwnerKey, written_at: datetime | None, sender: str | None = None) -> OpenQuestion | None:
        """The open question, if the text that came in can be about it."""
        if not self._remembers:
            return None
        try:
            question = self._questions.look(owner)
        except StoreUnavailable:
            log.warning("question.not_read", exc_info=True, extra={"owner": masked(owner)})
            return None
        return question if question is not None and _concerns(question, written_at, sender) else None

    def _close(self, owner: OwnerKey, question: OpenQuestion) -> None:
        try:
            self._questions.close(owner, question)
        except StoreUnavailable:
            log.warning("question.not_closed", exc_info=True, extra={"owner": masked(owner)})

    def _remember(self, owner: OwnerKey, fact: str, replies: Replies) -> str:
        if not fact:
            return replies.remember_what
        if not self._consents.allowed(owner, explicit=True):
            return replies.not_remembered
        try:
            made = self._service.remember(owner, fact, source_type="command", session_id=self._session_of(owner))
        except EmbeddingUnavailable:
            log.warning("remember.not_embedded", exc_info=True, extra={"owner": masked(owner)})
            return replies.no_embedding
        except StoreUnavailable:
            log.warning("remember.not_stored", exc_info=True, extra={"owner": masked(owner)})
            return replies.not_remembered
        return remembered(self._service, made, replies)

    def _time_zone(self, owner: OwnerKey, name: str, replies: Replies) -> str:
        told = replies.time_zone
        if name:
            try:
                self._person_settings.set_time_zone(owner, name)
            except InvalidInput:
                return replies.time_zone_unknown.format(name=name[:100])
            told = replies.time_zone_set
        zone = self._person_settings.time_zone(owner)
        return told.format(zone=zone.key, time=f"{self._service.now().astimezone(zone):%H:%M}")

    def _start_afresh(self, owner: OwnerKey, _rest: str, replies: Replies) -> str:
        self._reset(owner)
        return replies.conversation_cleared

    def _help(self, _owner: OwnerKey, _rest: str, replies: Replies) -> str:
        return self._listed(self._answers, replies)

    def _listed(self, commands: Collection[CommandName], replies: Replies) -> str:
        known = commands if self._remembers else _OF_CONVERSATION
        return "\n".join(usage for command, usage in replies.usage.items() if command.removeprefix("/") in known)


def _concerns(question: OpenQuestion, written_at: datetime | None, sender: str | None) -> bool:
    """Says whether a text may be about the question: not one that is older, nor in a group one of another person."""
    is_older = written_at is not None and as_utc(written_at) + _CLOCKS_DIFFER < question.asked_at
    return not is_older and (sender is None or question.details.get(ASKED_OF, sender) == sender)


def _is_answer(question: OpenQuestion, text: str) -> bool:
    """Tells whether a text may be the answer to a question of this kind."""
    match question.kind:
        case "forget":
            return is_answer(text)
        case "confirm" | "erase" | "link":
            return verdict(text) is not None


def stands_alone(text: str) -> bool:
    """Says whether a text may be a command, or a whole answer: it is answered by itself, whatever comes with it."""
    plain = cleaned(text)
    if may_be_typed(text) or said(plain) is not None or asks_why(plain) or wants_gone(plain) is not None:
        return True
    return is_answer(plain)
