"""A reply to a message of a channel, as SMS or WhatsApp, by a graph: a text comes in, a text goes out, exactly once."""

import contextlib
import functools
import logging
import re
import uuid
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError
from langgraph.pregel import Pregel

from langmem_plugin.agent.commands.command_dispatch import Commands, Reading
from langmem_plugin.agent.commands.recognition import cleaned
from langmem_plugin.agent.commands.remember_and_confirm import AddedQuestion, question_below, with_question
from langmem_plugin.agent.graph_check import check, own_steps
from langmem_plugin.agent.models import no_model
from langmem_plugin.agent.parts_protocol import AgentParts
from langmem_plugin.agent.recall_and_write_steps import TurnContext
from langmem_plugin.agent.replying.graph_input_and_reply import GraphRun, Worded
from langmem_plugin.agent.replying.incoming_message import IncomingMessage, claim_id_of, ends_sentence, ids_of
from langmem_plugin.agent.replying.language_detection import replies_for
from langmem_plugin.agent.replying.reply_notices import Notices, note_missing, watched
from langmem_plugin.agent.replying.reply_texts import LANGUAGES, Replies, replies_in
from langmem_plugin.agent.replying.sync_async_steps import Graph, Reply, Steps, begin, end, pause, run, send
from langmem_plugin.conversation.config_keys import MAY_WAIT, session_id_of, without_trace
from langmem_plugin.conversation.turns.message_claims import (
    MOST_ATTEMPTS,
    Answer,
    Claim,
    Claimed,
    MessageClaims,
    Waiting,
)
from langmem_plugin.errors import (
    InvalidInput,
    NotSerializable,
    StorageFull,
    StoreUnavailable,
    TurnLost,
    TurnTimeout,
    UnknownSession,
    WriteConflict,
)
from langmem_plugin.facts.redacted_text import MASK
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.references.said.yes_or_no import agrees
from langmem_plugin.telemetry import timing

log = event_log(__name__)

_CONVERSATION = "conversation"  # the missing part is the turn itself
ANSWER_WITHIN = timedelta(hours=12)
"""The age from which a message is kept but not answered."""
STEP_LIMIT = 50
"""The most steps for one message: a model that calls tools for ever is stopped, and the person is told so."""
_TRIES = 2  # a message that lost its turn takes another
_MOST_PAUSES = 5
_COMMAND_POLLS, _POLL_SECONDS = 100, 0.1
_SENT_WITHIN = timedelta(seconds=10)  # after that, the process that was to send an answer has died
_MOST_CONFLICTS = 5
_ALBUM_SECONDS = 1.0  # the rest of an album comes within this time
_ASKS = re.compile(r"[?¿؟？]")
_PICTURE = "picture"


@dataclass(frozen=True)
class _Task:
    """A message to be answered, by which graph, how, in whose words, and what had to be missing in the answer."""

    graph: Graph
    message: IncomingMessage
    replies: Replies
    notices: Notices
    call: timing
    reading: Reading = field(default_factory=Reading)

    def noticed(self, text: str) -> str:
        """Return the text with a sentence about the missing memory, and another if the message is in no history."""
        if text and self.message.unopened == _PICTURE and text != self.replies.picture_gone:
            text = f"{text}\n\n{self.replies.picture_gone}"
        if not (text and self.notices.missing):
            return text
        told = self.replies.without_memory
        if _CONVERSATION in self.notices.missing:
            told = f"{told} {self.replies.without_history}"
        return f"{text}\n\n{told}"


class _NotSent(Exception):
    """The channel's own function raised an error."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Channel:
    """The answering of messages: with a graph, in turns, or with a text that needs none."""

    def __init__(self, parts: AgentParts, commands: Commands, context: TurnContext) -> None:
        self.parts, self.commands, self.context = parts, commands, context
        # Made each time anew: with_allowlist gives the saver another serializer.
        self.claims = MessageClaims(parts.database, parts.saver.sessions, lambda: parts.saver.serde)
        self._own_steps: weakref.WeakKeyDictionary[Graph, frozenset[str]] = weakref.WeakKeyDictionary()

    def check_once(self, graph: Graph) -> None:
        """Log what should be changed in a graph, the first time that it is used. Raises ConfigurationError."""
        if not isinstance(graph, Pregel) or graph not in self._own_steps:
            for advice in check(graph, self.parts.saver):
                log.warning("graph.wiring", extra={"graph": graph.name, "advice": advice})
            self._own_steps[graph] = own_steps(graph)

    def reply(self, graph: Graph, message: IncomingMessage, call: timing) -> Steps[Reply]:
        """Answer a message: see PhoneMemory.reply."""
        with watched() as notices:
            message = self._quoting(message)
            replies = replies_for(self.parts.person_settings, message.owner, message.own_words)
            task = _Task(graph, message, replies, notices, call)
            try:
                is_let_be = message.edited and self._is_known(message)
                answer = Reply("", repeated=True) if is_let_be else (yield from self._answered(task))
            except _NotSent as failed:
                # A channel that sends by itself must know of the error, and there is no other way to tell it.
                raise failed.error from None
            except Exception as error:
                if message.raise_errors:
                    raise
                text = self._told_instead(error, task, message.owner)
                # A second delivery is told the same. A message refused as busy is still to be answered.
                claim_id = None if isinstance(error, TurnTimeout) else message.claim_id
                if claim_id is not None:
                    with contextlib.suppress(StoreUnavailable), self.parts.database.write() as connection:
                        self.claims.answered(connection, message.owner, [claim_id], text)
                return (yield from self._out(task, text, claim_id))
        return Reply(task.noticed(answer), repeated=answer.repeated)

    def _answered(self, task: _Task) -> Steps[Reply]:
        message = task.message
        if message.reaction and not self._is_answer(message):
            return Reply("", repeated=True)
        if not cleaned(message.text) and not message.images:
            texts = task.replies
            text = texts.cannot_open if message.unopened else texts.empty_message
            return (yield from self._told_once(task, texts.picture_gone if message.unopened == _PICTURE else text))
        try:
            said = message.said
        except InvalidInput:
            if task.message.raise_errors:
                raise
            log.warning("reply.picture_unreadable", exc_info=True, extra={"phone": masked(message.owner)})
            return (yield from self._told_once(task, task.replies.picture_unreadable))
        if message.automated or not self.parts.settings.enable_memory_system:
            command = None if message.automated else self._command_of(message)
            return (yield from (self._without_memory(task, said) if command is None else self._out(task, command)))
        before = self._answered_before(task)
        return (yield from (self._kept(task) if before is None else self._again(task, before)))

    def _kept(self, task: _Task) -> Steps[Reply]:
        """Answer a message that was not answered before, and keep the answer with its claim."""
        message = task.message
        reading = self.commands.reading(message)
        if reading.is_answered:
            told = yield from self._once(task, lambda: self._command_of(message))
            if told is not None:
                return told
            reading = Reading()  # another message answered the question meanwhile
        if message.is_older_than(ANSWER_WITHIN, self.parts.now()):
            return self._only_recorded(task)
        task, lost = replace(task, reading=reading), None
        for attempt in range(_TRIES):
            claim = self._claim(message, lost)
            try:
                return (yield from self._in_turn(task, claim))
            except TurnLost:
                # The process that took the turn may have answered this message: the next turn knows.
                if attempt + 1 == _TRIES or message.claim_id is None:
                    raise
                lost = claim.session_id
        raise AssertionError  # the last attempt returned or raised

    def _is_known(self, message: IncomingMessage) -> bool:
        """Tell whether the message was delivered before; True if no deliveries are kept: none is answered twice."""
        if not self.parts.settings.enable_memory_system or message.claim_id is None:
            return True
        return self.claims.is_known(message.owner, message.claim_id)

    def _quoting(self, message: IncomingMessage) -> IncomingMessage:
        """Return the message with the text that it quotes, if the channel's id shows it is the assistant's."""
        quoted = message.quoted
        if quoted is None or quoted.id is None or not self.parts.settings.enable_memory_system:
            return message
        with contextlib.suppress(StoreUnavailable):
            text, is_newest = self.claims.text_sent_as(message.owner, quoted.id)
            if text is not None:
                return replace(message, quoted=quoted._replace(text=text), answers_newest=is_newest)
        return message

    def _is_answer(self, message: IncomingMessage) -> bool:
        """Tell whether a reaction is a yes or a no to the question of the newest answer."""
        asked = message.quoted_text if message.answers_newest else None
        return agrees(message.text) is not None and _ASKS.search(asked or "") is not None

    def _answered_before(self, task: _Task) -> Answer | None:
        """Return the earlier answer to this message, if it was sent or nothing has to send it here; None otherwise."""
        if task.message.claim_id is None:
            return None
        with contextlib.suppress(StoreUnavailable):
            answer = self.claims.answer_to(task.message.owner, task.message.claim_id)
            if answer is not None and (answer.sent or task.message.send is None):
                return answer
        return None

    # Answers without a turn

    def _without_memory(self, task: _Task, said: HumanMessage) -> Steps[Reply]:
        owner = task.message.owner
        of_graph = self._run_of(task, without_trace(owner), owner)
        result = yield run(task.graph, {"messages": [said]}, _bounded(of_graph))
        text = of_graph.text(result, [said])
        claim_id = None if task.message.automated else task.message.claim_id
        if claim_id is not None and self.parts.settings.enable_memory_system:
            # While the database cannot be reached nothing is kept; once it can be, nothing is answered twice.
            with contextlib.suppress(StoreUnavailable, Claimed):
                self.claims.once(owner, claim_id, lambda: text, anyway=True)
        return (yield from self._out(task, text, claim_id))

    def _told_once(self, task: _Task, text: str) -> Steps[Reply]:
        """Send a text that needs no graph, once, also when the database cannot be reached; none for an old message."""
        if task.message.is_older_than(ANSWER_WITHIN, self.parts.now()):
            return Reply("", repeated=True)
        if self.parts.settings.enable_memory_system:
            with contextlib.suppress(StoreUnavailable):
                return (yield from self._once(task, lambda: text)) or Reply(text)
        return (yield from self._out(task, text, task.message.claim_id))

    def _once(self, task: _Task, work: Callable[[], str | None]) -> Steps[Reply | None]:
        """Do the work once, in one transaction with all that it writes, and reply with its text; None if it gives none.
        It does not wait for a turn that hangs: /reset must work then.
        """
        message, claim_id = task.message, task.message.claim_id
        # A code of /link may make them another person.
        whose = functools.partial(self.parts.people.person_of, message.source)
        anyway = False
        for attempt in range(_MOST_CONFLICTS):
            try:
                text = self.claims.once(message.owner, claim_id, work, whose=whose, anyway=anyway)
            except Claimed:
                answer = yield from self._awaited(task, message.owner, claim_id or "")
                if answer is not None:
                    return (yield from self._again(task, answer))
                anyway = True
            except WriteConflict:
                if attempt + 1 == _MOST_CONFLICTS:
                    raise
            else:
                return None if text is None else (yield from self._out(task, text, claim_id))
        raise AssertionError  # the last attempt returned or raised

    def _command_of(self, message: IncomingMessage) -> str | None:
        return self.commands.answer(message.owner, message.own_words, written_at=message.sent_at, sender=message.sender)

    def _awaited(self, task: _Task, thread: str, claim_id: str) -> Steps[Answer | None]:
        """Return the answer that another delivery is giving, once it has been sent; None if nothing comes of it."""
        polls = _COMMAND_POLLS if self.claims.is_recent(thread, claim_id, _SENT_WITHIN) else 0
        answer = self.claims.answer_to(thread, claim_id)
        while polls and (answer is None or not (answer.sent or task.message.send is None)):
            yield pause(_POLL_SECONDS)
            answer, polls = self.claims.answer_to(thread, claim_id), polls - 1
        return answer

    def _only_recorded(self, task: _Task) -> Reply:
        """Keep an old message that a channel synchronises, once, and do not answer it."""
        message, thread, claim_id = task.message, task.message.owner, task.message.claim_id
        try:
            if claim_id is None or self.claims.answer_to(thread, claim_id) is None:
                self.parts.sessions.record(thread, message.said)
                with contextlib.suppress(Claimed):
                    self.claims.once(thread, claim_id, lambda: "", anyway=True)
        except (StoreUnavailable, TurnTimeout) as error:
            if task.message.raise_errors:
                raise
            self._told_instead(error, task, thread)  # the log alone: nobody waits for an answer
        return Reply("", repeated=True)

    # Answers in a turn

    def _in_turn(self, task: _Task, claim: Claim) -> Steps[Reply]:
        """Answer in a turn. While the database cannot be reached, answer without memory, unless the run has begun: no
        tool acts twice.
        """
        thread = task.message.owner
        try:
            turn = self.parts.turns.turn(task.message.source, claim, person=thread)
            config = yield begin(turn)
            config["configurable"][MAY_WAIT] = self._own_steps[task.graph]
            claim.session_id = session_id_of(config)
        except StorageFull:
            raise
        except TurnTimeout:
            self.claims.refuse(thread, claim)
            raise
        except StoreUnavailable as unavailable:
            log.warning("turn.store_unavailable", exc_info=unavailable, extra={"phone": masked(thread)})
            note_missing(_CONVERSATION)
            return (yield from self._without_memory(task, claim.message))
        try:
            reply = yield from self._while_held(task, claim, config, asked=turn.awaits_answer)
        except BaseException as error:  # whatever ends it, a cancelled task too: else all wait for its turn
            yield end(turn, error)
            raise
        try:
            yield end(turn, None)
        except StoreUnavailable as unavailable:
            # All is kept. Only the turn could not be given back: another process takes it.
            log.warning("turn.not_given_back", exc_info=unavailable, extra={"phone": masked(thread)})
        return reply

    def _while_held(self, task: _Task, claim: Claim, config: RunnableConfig, *, asked: bool) -> Steps[Reply]:
        if claim.answer is not None:
            return (yield from self._again(task, claim.answer))
        texts: dict[str, str] = {}
        newest = self.claims.newest_answer(config["configurable"]["thread_id"]) if asked else None
        unseen = newest is not None and newest.text.startswith(_apologies())  # nobody saw what was asked behind it
        for waiting in claim.before:
            if waiting.message_id not in texts:
                texts |= yield from self._answer(task, [waiting], config, asked=asked, unseen=unseen)
                asked = unseen = True  # the run before may have asked something: look it up
        if claim.message_id in texts:  # an earlier run was begun with this message
            return Reply(texts[claim.message_id])
        yield from self._gather(task.message, claim, config)
        told = yield from self._answer(task, claim.together, config, asked=asked, unseen=unseen)
        return Reply(next(iter(told.values())))

    def _gather(self, message: IncomingMessage, claim: Claim, config: RunnableConfig) -> Steps[None]:
        """Wait, if `burst` is set, until no message has come for that time, or the last one ends a sentence."""
        burst, album = self.parts.settings.burst, message.album
        if album is None and (burst is None or ends_sentence(message.text)):
            return
        seconds = max(burst.total_seconds() if burst else 0.0, _ALBUM_SECONDS if album else 0.0)
        for _ in range(_MOST_PAUSES):
            yield pause(seconds)
            joined = self.claims.join(config, claim)
            if not joined or (album is None and ends_sentence(claim.together[-1].message.text)):
                return

    def _answer(
        self, task: _Task, together: Sequence[Waiting], config: RunnableConfig, *, asked: bool, unseen: bool
    ) -> Steps[dict[str, str]]:
        """Run the graph once for these messages, or take the answer that is already known, and keep it before it is
        sent. Return the texts by the ids of all messages that they answer ("" for one without an id).
        """
        thread = OwnerKey(config["configurable"]["thread_id"])  # a link may have made the person another one meanwhile
        unseen = unseen or any(each.waited for each in together)
        ids = [each.message_id for each in together if each.message_id is not None]
        ids += [more for each in together for more in ids_of(each.message)[1:] if more not in ids]
        question = along = None
        if task.reading.is_asked or unseen:  # these messages were no answer to it
            self.commands.close_question(thread, "confirm")
        try:
            worded, others = yield from self._worded(task, together, config, asked=asked, unseen=unseen)
            text, along = worded.text, worded.along
            ids += [each for each in others if each not in ids]
            if task.reading.may_ask and not worded.asks and not task.notices.missing:
                own_words = task.message.own_words
                question = question_below(self.parts, thread, own_words, text, lambda: task.replies)
        except Exception as error:
            if task.message.raise_errors or isinstance(error, TurnLost | UnknownSession | StoreUnavailable):
                raise
            text = self._told_instead(error, task, thread)
            self._run_of(task, config, thread).keep_done(ends_question=not ids)
        text = task.notices.below(text, task.replies)
        if question is not None:
            text = self._asking(text, question, config, ids)
        else:
            self.parts.saver.write_now(config, lambda to: self.claims.answered(to, thread, ids, text), along)
        yield from self._send(task, text, thread, ids)
        return dict.fromkeys(ids or [""], text)

    def _asking(self, reply: str, question: AddedQuestion, config: RunnableConfig, ids: Sequence[str]) -> str:
        """Return the reply with the question below it. Keep both as the answer in the transaction that opens the
        question.

        Where that could not be stored, return the reply alone, for nobody could answer the question.
        """
        thread, text = str(config["configurable"]["thread_id"]), question.below(reply)
        try:
            self.parts.saver.write_now(config, lambda to: self.claims.answered(to, thread, ids, text), question.open)
        except StoreUnavailable:
            if ids:
                raise
            log.warning("confirmation.not_asked", exc_info=True, extra={"phone": masked(thread)})
            return reply
        try:
            said = self.parts.sessions.messages_of_turn(config)
            if said and isinstance(said[-1], AIMessage):
                self.parts.sessions.put_messages(config, [*said[:-1], with_question(said[-1], question)])
        except StoreUnavailable:
            log.warning("confirmation.not_in_history", exc_info=True, extra={"phone": masked(thread)})
        return text

    def _worded(
        self, task: _Task, together: Sequence[Waiting], config: RunnableConfig, *, asked: bool, unseen: bool
    ) -> Steps[tuple[Worded, Sequence[str]]]:
        """Return the answer's words, and the ids of other messages that they answer."""
        if max(each.attempts for each in together) >= MOST_ATTEMPTS:
            log.error("reply.given_up", extra={"phone": masked(task.message.owner), "attempts": MOST_ATTEMPTS})
            return Worded(task.replies.failed, asks=True), ()
        of_graph = self._run_of(task, config, OwnerKey(config["configurable"]["thread_id"]))
        plan = of_graph.plan(together, asked=asked, unseen=unseen)
        if plan.text is not None:
            return Worded(plan.text, asks=True, along=plan.along), plan.others
        result = yield run(task.graph, plan.given, _bounded(of_graph))
        return of_graph.worded(result, plan), plan.others

    def _run_of(self, task: _Task, config: RunnableConfig, owner: OwnerKey) -> GraphRun:
        return GraphRun(self.parts, self.context.shown, task.graph, config, owner, task.replies, task.message.sources)

    def _claim(self, message: IncomingMessage, lost: str | None) -> Claim:
        joins = self.parts.settings.burst is not None or message.album is not None
        message_id = message.claim_id or (uuid.uuid4().hex if joins else None)
        return Claim(self.claims, message.said, message_id, joins, lost)

    # Sending

    def _out(self, task: _Task, text: str, claim_id: str | None = None) -> Steps[Reply]:
        yield from self._send(task, text, task.message.owner, [] if claim_id is None else [claim_id])
        return Reply(text)

    def _send(self, task: _Task, text: str, thread: str, ids: Sequence[str]) -> Steps[None]:
        """Send the parts that are not out yet, from the first of them. Where a part is out and this cannot be noted,
        log it: it is nothing to tell the person.
        """
        if task.message.send is None or not text:
            return
        noticed = task.noticed(text)
        parts = [noticed] if task.message.parts is None else task.message.parts(noticed)
        done = self.claims.parts_sent(thread, ids) if len(parts) > 1 else 0
        for number, part in enumerate(parts[done:], done + 1):
            try:
                sent_as = yield send(task.message.send, part)
            except Exception as error:  # any error here is the channel's own
                raise _NotSent(error) from error
            if not ids:
                continue
            known = claim_id_of(task.message.source, str(sent_as)) if isinstance(sent_as, str | int) else ""
            try:
                self.claims.went_out(thread, ids, known, is_last=number == len(parts))
            except StoreUnavailable:
                log.warning("reply.not_confirmed", exc_info=True, extra={"phone": masked(thread)})

    def _again(self, task: _Task, answer: Answer) -> Steps[Reply]:
        """Return the kept answer, and send it only if that was never confirmed."""
        text = f"{answer.text}\n\n{task.replies.told_once}" if MASK in answer.text else answer.text
        if not answer.sent:
            yield from self._out(task, text, task.message.claim_id)
        return Reply(text, repeated=True)

    def _told_instead(self, error: Exception, task: _Task, thread: str) -> str:
        """Return the text that the person gets instead of an answer; the log has the details."""
        task.call.failed = True
        _, level, event, text = next(row for row in _instead(task.replies) if isinstance(error, row[0]))
        log.log(level, event, exc_info=error, extra={"phone": masked(thread)})
        return text


def _bounded(of: GraphRun) -> RunnableConfig:
    """Return the config with the graph's own step limit, if `with_config` gave it one."""
    own = (getattr(of.graph, "config", None) or {}).get("recursion_limit", STEP_LIMIT)
    return {**of.config, "recursion_limit": own}


def _instead(replies: Replies) -> Sequence[tuple[type[Exception] | tuple[type[Exception], ...], int, str, str]]:
    """Return the kinds of error, each with the level and the event of the log, and what the person is told."""
    return (
        (GraphRecursionError, logging.ERROR, "reply.too_many_steps", replies.too_many_steps),
        (no_model(), logging.ERROR, "reply.no_model", replies.no_model),
        (NotSerializable, logging.ERROR, "reply.not_serializable", replies.not_storable),
        # The session was taken over or deleted while the message was answered.
        ((TurnLost, UnknownSession), logging.ERROR, "reply.turn_lost", replies.turn_lost),
        (TurnTimeout, logging.WARNING, "reply.turn_timeout", replies.busy),
        (StorageFull, logging.CRITICAL, "reply.storage_full", replies.storage_full),
        (StoreUnavailable, logging.ERROR, "reply.not_kept", replies.not_kept),
        (Exception, logging.ERROR, "reply.failed", replies.failed),
    )


@functools.cache
def _apologies() -> tuple[str, ...]:
    return tuple(text for language in LANGUAGES for *_, text in _instead(replies_in(language)))
