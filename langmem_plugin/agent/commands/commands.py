"""Which command a text is, and who answers it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from langmem_plugin.agent.command_words import CommandName, cleaned, may_be_typed, nearest, typed
from langmem_plugin.agent.commands.forgetting import Forgetting, is_answer
from langmem_plugin.agent.commands.instruction_list import InstructionList
from langmem_plugin.agent.commands.linking import Linking
from langmem_plugin.agent.commands.memory_list import MemoryList
from langmem_plugin.agent.commands.plain_words import Said, said
from langmem_plugin.agent.instruction_choice import InstructionChoice
from langmem_plugin.agent.languages import Languages
from langmem_plugin.agent.replies import Replies
from langmem_plugin.errors import EmbeddingUnavailable, InvalidInput, StorageFull, StoreUnavailable
from langmem_plugin.facts.standing_orders import instruction_in
from langmem_plugin.identifiers import is_group, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.people import People
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.settings import Role

log = event_log(__name__)

_Told = TypeVar("_Told", str, str | None)
_Answer = Callable[[str, str, Replies], str]
_OF_CONVERSATION = frozenset[CommandName]({"reset", "help"})


class Commands:
    """`reset` ends the conversation of the owner it is given. Without `remembers` there are only conversations, and
    without `notices` standing instructions in plain words belong to the agent.
    """

    def __init__(
        self,
        service: MemoryService,
        reset: Callable[[str], None],
        *,
        people: People,
        person_settings: PersonSettings,
        languages: Languages,
        role_of: Callable[[str], Role],
        choice: InstructionChoice,
        remembers: bool = True,
        notices: bool = True,
    ) -> None:
        self._service = service
        self._reset = reset
        self._person_settings = person_settings
        self._languages = languages
        self._remembers = remembers
        self._notices = notices
        self._forgetting = Forgetting(service)
        memories = MemoryList(service, person_settings, role_of)
        instructions = InstructionList(service, person_settings, choice)
        self._answers: Mapping[CommandName, _Answer] = {
            "remember": self._remember,
            "memories": memories.listed,
            "search": memories.searched,
            "forget": self._forgetting.forget,
            "undo": lambda owner, _rest, replies: self._forgetting.undo(owner, replies),
            "instructions": instructions.answer,
            "timezone": self._time_zone,
            "link": Linking(people).answer,
            "reset": self._start_afresh,
            "help": self._help,
        }

    def answer(self, owner: str, text: str) -> str | None:
        """The reply to a command, or to what a command asked; None if the text is neither and belongs to the agent.

        A text that does not answer an open question closes it.
        """
        question = self._question(owner)
        if not may_be_typed(text):
            if question is not None and (reply := self._answer_to(owner, text, question)) is not None:
                return reply
            found = self._said_by(owner, text)
            return self._answered(owner, text, found.command, found.rest) if found else None
        if (command := typed(cleaned(text))) is None:
            return None
        if command.command is not None:
            return self._answered(owner, text, command.command, command.rest)
        replies = self._languages.language_for(owner, text)
        near = nearest(command.word, self._person_settings.language(owner))
        return None if near is None else replies.unknown_command.format(command=f"/{command.word}", near=f"/{near}")

    def knows(self, text: str) -> bool:
        """Whether a text is answered here, whoever sends it: "yes" only while there is a question, and a slip of the
        pen in another language than English only for who writes that language.
        """
        if not may_be_typed(text):
            return self._said(text) is not None
        command = typed(cleaned(text))
        return command is not None and (command.command is not None or nearest(command.word, "en") is not None)

    def takes(self, owner: str, text: str) -> bool:
        """Whether `answer` will answer this text of this person. What does not answer an open question closes it."""
        if self.knows(text) and (may_be_typed(text) or self._said_by(owner, text) is not None):
            return True
        command = typed(cleaned(text)) if may_be_typed(text) else None
        if command is not None and nearest(command.word, self._person_settings.language(owner)) is not None:
            return True
        if not self._remembers:
            return False
        try:
            if self._forgetting.questions.look(owner) is None:
                return False
            if is_answer(cleaned(text)):
                return True
            self._forgetting.questions.take(owner)
        except StoreUnavailable:
            log.warning("question.not_read", exc_info=True, extra={"owner": masked(owner)})
        return False

    def _said(self, text: str) -> Said | None:
        found = said(cleaned(text)) if self._remembers else None
        return None if found is not None and found.command == "instructions" and not self._notices else found

    def _said_by(self, owner: str, text: str) -> Said | None:
        """In a group what one of them is to be called is no instruction for all of them."""
        found = self._said(text)
        if found is None or found.command != "instructions" or not is_group(owner):
            return found
        order = instruction_in(text)
        return None if order is not None and order.names else found

    def _answered(self, owner: str, text: str, command: CommandName, rest: str) -> str:
        replies = self._languages.language_for(owner, text)
        if not self._remembers and command not in _OF_CONVERSATION:
            return replies.memory_disabled
        return self._kept(owner, command, replies, lambda: self._answers[command](owner, rest, replies))

    def _answer_to(self, owner: str, text: str, question: dict[str, Any]) -> str | None:
        if not is_answer(cleaned(text)):
            return None
        replies = self._languages.language_for(owner, text)
        return self._kept(
            owner, "forget", replies, lambda: self._forgetting.answered(owner, cleaned(text), question, replies)
        )

    def _kept(self, owner: str, command: CommandName, replies: Replies, work: Callable[[], _Told]) -> _Told | str:
        """What the work says, or that the memory cannot be reached."""
        try:
            return work()
        except StorageFull:
            raise
        except StoreUnavailable:
            log.warning("command.unavailable", exc_info=True, extra={"owner": masked(owner), "command": command})
            return replies.memory_unavailable

    def _question(self, owner: str) -> dict[str, Any] | None:
        if not self._remembers:
            return None
        try:
            return self._forgetting.questions.take(owner)
        except StoreUnavailable:
            log.warning("question.not_read", exc_info=True, extra={"owner": masked(owner)})
            return None

    def _remember(self, owner: str, fact: str, replies: Replies) -> str:
        if not fact:
            return replies.remember_what
        try:
            self._service.remember(owner, fact, source_type="command")
        except EmbeddingUnavailable:
            log.warning("remember.not_embedded", exc_info=True, extra={"owner": masked(owner)})
            return replies.no_embedding
        except StoreUnavailable:
            log.warning("remember.not_stored", exc_info=True, extra={"owner": masked(owner)})
            return replies.not_remembered
        return replies.remembered.format(fact=fact)

    def _time_zone(self, owner: str, name: str, replies: Replies) -> str:
        told = replies.time_zone
        if name:
            try:
                self._person_settings.set_time_zone(owner, name)
            except InvalidInput:
                return replies.time_zone_unknown.format(name=name[:100])
            told = replies.time_zone_set
        zone = self._person_settings.time_zone(owner)
        return told.format(zone=zone.key, time=f"{self._service.now().astimezone(zone):%H:%M}")

    def _start_afresh(self, owner: str, _rest: str, replies: Replies) -> str:
        self._reset(owner)
        return replies.conversation_cleared

    def _help(self, _owner: str, _rest: str, replies: Replies) -> str:
        known = self._answers if self._remembers else _OF_CONVERSATION
        return "\n".join(usage for command, usage in replies.usage.items() if command.removeprefix("/") in known)
