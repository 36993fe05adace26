"""The one short question that may stand at the end of a reply: whether to remember something, or if it is still so."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from langchain_core.messages import AIMessage
from sqlalchemy import Connection

from langmem_plugin.agent.commands.lines import one_line
from langmem_plugin.agent.commands.open_questions import OpenQuestions
from langmem_plugin.agent.replying.replies import Replies
from langmem_plugin.database import Database
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.facts import classify
from langmem_plugin.facts.sensitive import is_sensitive
from langmem_plugin.foreign_text import without_steering
from langmem_plugin.identifiers import OwnerKey, is_group, masked
from langmem_plugin.logs import event_log
from langmem_plugin.people.consents import Permission
from langmem_plugin.writing.confirmation import Confirmations, Unsure
from langmem_plugin.writing.consent import Consents

log = event_log(__name__)

_ADDRESS = re.compile(r"https?://\S++", re.IGNORECASE)
_ASKS = re.compile(r"[?¿؟？]")


@dataclass(frozen=True)
class AddedQuestion:
    """`open` belongs to the transaction that makes the reply the person's: what was never sent is not answered."""

    text: str
    open: Callable[[Connection], None]

    def below(self, reply: str) -> str:
        return f"{reply}\n\n{self.text}"


@dataclass(eq=False)
class ConfirmationQuestions:
    """At most one is open at a time, and each memory is asked about once. With `consents`, so is each person who has
    just stated something about themselves: whether they may be remembered at all, and what is sensitive too.
    """

    confirmations: Confirmations
    questions: OpenQuestions
    database: Database
    consents: Consents | None

    def for_reply(self, owner: OwnerKey, said: str, reply: str, replies: Callable[[], Replies]) -> AddedQuestion | None:
        """The question to add to a reply; None where nothing is to be asked now: in a group, while something else is
        asked, below a reply that asks something itself, and while the database cannot be reached.
        """
        if is_group(owner) or not reply.strip() or _ASKS.search(_ADDRESS.sub("", reply)):
            return None
        try:
            unsure = self.confirmations.unsure(owner)
            consent = None if unsure is not None else self._consent_to_ask(owner, said)
            if (unsure is None and consent is None) or self.questions.look(owner) is not None:
                return None
        except StoreUnavailable:
            log.warning("confirmation.not_asked", exc_info=True, extra={"owner": masked(owner)})
            return None
        if consent is not None:
            texts = replies()
            question = texts.may_i_remember if consent == "extraction" else texts.may_i_remember_sensitive
            return AddedQuestion(question, partial(self._open_consent, owner, consent))
        assert unsure is not None  # noqa: S101 - one of both is to be asked
        return AddedQuestion(without_steering(_worded(unsure, replies())), partial(self._open, owner, unsure))

    def _consent_to_ask(self, owner: OwnerKey, said: str) -> Permission | None:
        states, is_delicate = classify(said).should_store, is_sensitive(said) and not _ASKS.search(said)
        if self.consents is None or not (states or is_delicate):
            return None
        with self.database.read() as connection:
            asked = self.consents.to_ask(connection, owner)
        return asked if asked != "sensitive" or is_delicate else None

    def _open_consent(self, owner: OwnerKey, asked: Permission, connection: Connection) -> None:
        assert self.consents is not None  # noqa: S101 - they were asked whether to
        self.consents.note_asked(connection, owner, asked)
        self.questions.ask_in(connection, owner, "confirm", {"consent": asked})

    def _open(self, owner: OwnerKey, unsure: Unsure, connection: Connection) -> None:
        self.confirmations.note_asked(connection, unsure)
        about = {"memory_id": unsure.memory.id, "revision": unsure.revision_asked, "in_doubt": unsure.in_doubt}
        self.questions.ask_in(connection, owner, "confirm", about)


def with_question(message: AIMessage, question: AddedQuestion) -> AIMessage:
    """The message as the person gets it, under its id."""
    if isinstance(message.content, str):
        return message.model_copy(update={"content": question.below(message.content)})
    return message.model_copy(update={"content": [*message.content, {"type": "text", "text": f"\n\n{question.text}"}]})


def _worded(unsure: Unsure, texts: Replies) -> str:
    fact = one_line(unsure.memory.text)
    if unsure.instead_of:
        old = "; ".join(one_line(each.text) for each in unsure.instead_of)
        return texts.remember_instead.format(fact=fact, old=old)
    if not unsure.in_doubt:
        return texts.remember_this.format(fact=fact)
    if unsure.because is None:
        return texts.still_so_this.format(fact=fact)
    return texts.still_so_since.format(fact=fact, change=one_line(unsure.because.text))
