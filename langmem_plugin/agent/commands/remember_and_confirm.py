"""/remember, /confirm, and the question at the end of a reply: whether to remember something, or if it is still so."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from sqlalchemy import Connection

from langmem_plugin.agent.commands.command_call_and_paging import CommandCall, one_line
from langmem_plugin.agent.parts_protocol import AgentParts
from langmem_plugin.agent.replying.reply_texts import Replies, pattern_for, words_for
from langmem_plugin.errors import DamagedMemory, EmbeddingUnavailable, MemoryNotFound, StaleMemory, StoreUnavailable
from langmem_plugin.facts import classify
from langmem_plugin.facts.sensitive_facts import is_sensitive
from langmem_plugin.identifiers import OwnerKey, is_group, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import Memory
from langmem_plugin.memory.memory_types import Remembered
from langmem_plugin.people.consent_records import Permission
from langmem_plugin.references.said.yes_or_no import agrees
from langmem_plugin.text_sanitizing import without_steering
from langmem_plugin.writing.confirmation import Unsure

log = event_log(__name__)

_PAGE = 1_000  # letters
_LONGEST_ANSWER = 60  # letters
_SHOWN = 20
_REPEATS_YES, _REPEATS_NO = pattern_for("repeats_yes"), pattern_for("repeats_no")
# A text that dismisses the question, or agrees to something else, decides nothing.
_DISMISSES, _ALL = pattern_for("dismisses"), pattern_for("means_all")
_THAT = pattern_for("introduces", "^(?:{})")
_NO, _YES = (re.compile(rf"(?:{'|'.join(words_for(name))})\b\s*", re.IGNORECASE) for name in ("decline", "accept"))
_NUMBERS = re.compile(r"#?\d{1,4}(?:[ ,;]{1,3}(?:and |y |ו-?)?#?\d{1,4}){0,49}", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S++", re.IGNORECASE)
_ASKS = re.compile(r"[?¿؟？]")


def remember(call: CommandCall) -> str:
    if not call.rest:
        return call.replies.remember_what
    if not call.parts.consent.allowed(call.owner, explicit=True):
        return call.replies.not_remembered
    try:
        session_id = call.parts.saver.current_session(call.owner).session_id
        made = call.service.remember(call.owner, _THAT.sub("", call.rest), source_type="command", session_id=session_id)
    except EmbeddingUnavailable:
        log.warning("remember.not_embedded", exc_info=True, extra={"owner": masked(call.owner)})
        return call.replies.no_embedding
    except StoreUnavailable:
        log.warning("remember.not_stored", exc_info=True, extra={"owner": masked(call.owner)})
        return call.replies.not_remembered
    return remembered(call, made)


def confirm(call: CommandCall) -> str:
    """List the memories that wait for confirmation. With numbers, or "all", confirm them; with a "no" before, forget
    them.

    A number is the place in the list that the person was shown last.
    """
    waiting = call.parts.confirmations.waiting(call.owner)
    if not call.rest:
        return _listed(call, waiting)
    by_number = call.parts.person_settings.shown(call.owner, "confirm")
    by_number = by_number or {number: each.id for number, each in enumerate(waiting, 1)}
    no = _NO.match(call.rest)
    which = call.rest[no.end() :] if no else _YES.sub("", call.rest, count=1)
    chosen = _chosen(which, by_number, waits={each.id for each in waiting})
    if chosen is None:
        replies = call.replies
        return replies.confirm_number.format(most=max(by_number)) if by_number else replies.nothing_waits
    if not chosen:
        return _listed(call, waiting)
    return "\n".join(_waiting(call, memory_id, None, yes=no is None) for memory_id in chosen)


def confirmed(call: CommandCall, about: Mapping[str, Any]) -> str | None:
    """Reply to the person's answer to a question at the end of a reply; None if the text is no answer to it."""
    yes = verdict(call.rest)
    if yes is None:
        return None
    memory_id, revision = about["memory_id"], about["revision"]
    if about["in_doubt"]:
        return _in_doubt(call, memory_id, revision, yes=yes)
    return _waiting(call, memory_id, revision, yes=yes)


def remembered(call: CommandCall, made: Memory) -> str:
    outcome = made.outcome if isinstance(made, Remembered) else "stored"
    fact = one_line(made.text) if len(made.text) > _PAGE else made.text  # shown whole, unless it is as long as a page
    if outcome == "duplicate":
        return call.replies.known_already.format(fact=fact)
    if isinstance(made, Remembered) and outcome == "superseded":
        with call.service.database.read() as connection:
            replaced = call.service.repository.by_ids(connection, made.owner, made.concerned)
        if replaced:
            old = "; ".join(one_line(each.text) for each in replaced)
            return call.replies.remembered_instead.format(fact=fact, old=old)
    return call.replies.remembered.format(fact=fact)


def _listed(call: CommandCall, waiting: Sequence[Memory]) -> str:
    replies = call.replies
    if not waiting:
        return replies.nothing_waits
    shown = dict(enumerate(waiting[:_SHOWN], 1))
    call.parts.person_settings.note_shown(call.owner, "confirm", {number: each.id for number, each in shown.items()})
    lines = [f"{number}. {one_line(each.text)}" for number, each in shown.items()]
    how = replies.confirm_how.format(
        one=call.typed("/confirm", 1),
        no=call.typed("/confirm", f"{replies.no_word} 1"),
        all=call.typed("/confirm", replies.all_word),
    )
    return "\n".join([replies.these_wait.format(count=len(waiting)), *lines, how])


def _chosen(which: str, by_number: Mapping[int, str], *, waits: Collection[str]) -> list[str] | None:
    """Return the ids that a text names; None if it names nothing that was shown."""
    which = " ".join(which.split()).strip(" .!")
    open_ones = [each for each in by_number.values() if each in waits]
    if _ALL.fullmatch(which) or (not which and len(open_ones) == 1):  # a yes or a no to the only open question
        return open_ones
    if not _NUMBERS.fullmatch(which):
        return None
    numbers = list(dict.fromkeys(map(int, re.findall(r"\d+", which))))
    return [by_number[each] for each in numbers] if all(each in by_number for each in numbers) else None


def _waiting(call: CommandCall, memory_id: str, revision: int | None, *, yes: bool) -> str:
    confirmations = call.parts.confirmations
    try:
        if yes:
            return remembered(call, confirmations.confirm(call.owner, memory_id, revision=revision))
        gone = confirmations.decline(call.owner, memory_id, revision=revision)
        return call.replies.declined.format(fact=one_line(gone.text))
    except (MemoryNotFound, StaleMemory, DamagedMemory):
        # It was decided before: by the same answer, which was cut short before it was noted, or in another way.
        log.info("confirmation.changed", extra={"owner": masked(call.owner)})
        held = confirmations.look(call.owner, memory_id)
        if held is not None and yes and held.status == "active":
            return call.replies.remembered.format(fact=held.text)
        if held is not None and not yes and held.status == "forgotten":
            return call.replies.declined.format(fact=one_line(held.text))
        return call.replies.confirm_changed


def _in_doubt(call: CommandCall, memory_id: str, revision: int, *, yes: bool) -> str:
    asked, replies = call.parts.confirmations, call.replies
    decide, told = (asked.still_so, replies.still_so) if yes else (asked.no_longer_so, replies.no_longer_so)
    try:
        return told.format(fact=one_line(decide(call.owner, memory_id, revision=revision).text))
    except (MemoryNotFound, StaleMemory, DamagedMemory):
        log.info("confirmation.changed", extra={"owner": masked(call.owner)})
        return call.replies.confirm_changed


def verdict(text: str) -> bool | None:
    """Read a yes or a no with nothing beside it but the question's own words. Return None if the text is neither, or if
    it only dismisses the question.
    """
    if len(text) > _LONGEST_ANSWER:
        return None
    said = " ".join(text.replace("’", "'").split()).strip(" .!")
    if _DISMISSES.fullmatch(said):
        return None
    if _REPEATS_NO.fullmatch(said):
        return False
    if _REPEATS_YES.fullmatch(said):
        return True
    found = agrees(said)
    if found is None:
        return None
    beside = _REPEATS_YES if found.yes else _REPEATS_NO
    return found.yes if not found.rest or beside.fullmatch(found.rest.strip(" .!")) else None


@dataclass(frozen=True)
class AddedQuestion:
    """A question to add to a reply. Call `open` in the transaction that stores the reply for the person: nobody can
    answer a question that was never sent.
    """

    text: str
    open: Callable[[Connection], None]

    def below(self, reply: str) -> str:
        return f"{reply}\n\n{self.text}"


def question_below(
    parts: AgentParts, owner: OwnerKey, said: str, reply: str, replies: Callable[[], Replies]
) -> AddedQuestion | None:
    """Return the question to add to a reply. Return None if nothing is to be asked now: in a group, while something
    else is asked, below a reply that asks something itself, and while the database cannot be reached.

    At most one question is open at a time, and each memory is asked about once. If the setting says so, each person who
    has just stated something about themselves is asked once, too, whether they, and sensitive facts too, may be
    remembered.
    """
    if not parts.settings.remembers or is_group(owner) or not reply.strip() or _ASKS.search(_ADDRESS.sub("", reply)):
        return None
    try:
        unsure = parts.confirmations.unsure(owner)
        consent = None if unsure is not None else _consent_to_ask(parts, owner, said)
        if (unsure is None and consent is None) or parts.questions.look(owner) is not None:
            return None
    except StoreUnavailable:
        log.warning("confirmation.not_asked", exc_info=True, extra={"owner": masked(owner)})
        return None
    texts = replies()

    def opened(connection: Connection) -> None:
        if consent is not None:
            parts.consent.note_asked(connection, owner, consent)
            parts.questions.ask_in(connection, owner, "confirm", {"consent": consent})
        elif unsure is not None:
            parts.confirmations.note_asked(connection, unsure)
            about = {"memory_id": unsure.memory.id, "revision": unsure.revision_asked, "in_doubt": unsure.in_doubt}
            parts.questions.ask_in(connection, owner, "confirm", about)

    if unsure is not None:
        return AddedQuestion(without_steering(_asked_about(unsure, texts)), opened)
    return AddedQuestion(texts.may_i_remember if consent == "extraction" else texts.may_i_remember_sensitive, opened)


def _consent_to_ask(parts: AgentParts, owner: OwnerKey, said: str) -> Permission | None:
    states, is_delicate = classify(said).should_store, is_sensitive(said) and not _ASKS.search(said)
    if not parts.asks_consent or not (states or is_delicate):
        return None
    with parts.database.read() as connection:
        asked = parts.consent.to_ask(connection, owner)
    return asked if asked != "sensitive" or is_delicate else None


def with_question(message: AIMessage, question: AddedQuestion) -> AIMessage:
    """Return the message as the person gets it, under its id."""
    if isinstance(message.content, str):
        return message.model_copy(update={"content": question.below(message.content)})
    return message.model_copy(update={"content": [*message.content, {"type": "text", "text": f"\n\n{question.text}"}]})


def _asked_about(unsure: Unsure, texts: Replies) -> str:
    fact = one_line(unsure.memory.text)
    if unsure.instead_of:
        old = "; ".join(one_line(each.text) for each in unsure.instead_of)
        return texts.remember_instead.format(fact=fact, old=old)
    if not unsure.in_doubt:
        return texts.remember_this.format(fact=fact)
    if unsure.because is None:
        return texts.still_so_this.format(fact=fact)
    return texts.still_so_since.format(fact=fact, change=one_line(unsure.because.text))
