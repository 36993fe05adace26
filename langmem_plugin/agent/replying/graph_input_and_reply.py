"""The input of a graph for a person's messages, and the words that are its answer to them and to nothing else."""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.types import INTERRUPT
from langgraph.types import Command, Interrupt, StateSnapshot
from sqlalchemy import Connection

from langmem_plugin.agent.citations import cites, with_sources
from langmem_plugin.agent.commands.recognition import cleaned
from langmem_plugin.agent.graph_state import recalled_of
from langmem_plugin.agent.memory_in_prompt import MemoryInPrompt
from langmem_plugin.agent.parts_protocol import AgentParts
from langmem_plugin.agent.person_of_run import answered_now
from langmem_plugin.agent.replying.incoming_message import clean, ids_of, put_together, sender_of
from langmem_plugin.agent.replying.interrupt_questions import Asked, NotUnderstood, Question, asked_by
from langmem_plugin.agent.replying.reply_texts import LANGUAGES, Replies, replies_in
from langmem_plugin.agent.replying.sync_async_steps import Graph
from langmem_plugin.conversation.quoted_and_own_words import is_own, own_words, quoted_of
from langmem_plugin.conversation.turns.interrupt_decisions import NOTHING_TOLD, Decided, Decisions, Told
from langmem_plugin.conversation.turns.message_claims import Waiting
from langmem_plugin.facts.redacted_text import without_secrets
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.find.tokenizer import words_of
from langmem_plugin.references.said.yes_or_no import agrees

log = event_log(__name__)

_THOUGHT = re.compile(
    r"\A(?:\s*<(think(?:ing)?)>.*?(?:</\1>|\Z)|(?:(?!<think).)*?^</think(?:ing)?>)\s*", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Plan:
    """The plan of an answer: either its text, known without a run, or the input of a run (None: the run goes on by
    itself).

    The answer is what the assistant says after the messages with the ids in `own`; without any, the texts that were not
    `told` before. It also answers the messages with the ids `others`, which an earlier run was given with these.
    `along` is written in the transaction that keeps the answer.
    """

    text: str | None = None
    given: Any = None
    own: frozenset[str | None] = frozenset()
    told: Told = NOTHING_TOLD
    others: Sequence[str] = ()
    along: Callable[[Connection], None] | None = None


@dataclass(frozen=True)
class Worded:
    """The text that goes out after a run. `asks` says that it asks something itself, or stands in place of an answer:
    no question is added below it. `along` is as in the plan.
    """

    text: str
    asks: bool = False
    along: Callable[[Connection], None] | None = None


@dataclass(frozen=True)
class GraphRun:
    """The choice of the input of a graph's run, and of the words of the run that go out."""

    parts: AgentParts
    shown: MemoryInPrompt
    graph: Graph
    config: RunnableConfig
    owner: OwnerKey
    replies: Replies
    sources: bool

    @property
    def decisions(self) -> Decisions:
        # Made each time anew: with_allowlist gives the saver another serializer.
        return Decisions(self.parts.database, self.parts.saver.sessions, lambda: self.parts.saver.serde)

    def plan(self, together: Sequence[Waiting], *, asked: bool, unseen: bool) -> Plan:
        """Plan the answer to these messages. `asked` says that the conversation may wait for an answer. These messages
        are that answer, unless they were written before the question (`unseen`): a "yes" to something else approves
        nothing.
        """
        own = frozenset(each.message.id for each in together)
        fresh = Plan(given={"messages": put_together([each.message for each in together])}, own=own)
        begun_before = any(each.attempts for each in together)
        if not asked and not begun_before:
            return fresh
        state = self.graph.get_state(self.config)
        messages = _messages_in(state.values) or []
        decided = self.decisions.of(self.config)
        if begun_before and _place_of(own, messages) is not None:
            return self._gone_on(state, messages, own, NOTHING_TOLD)
        if begun_before and decided.by in own:  # a process ended during the run that these answers had continued
            lost = [each for each in state.interrupts if _named(each) in decided.asked]
            goes_on = self._gone_on(state, messages, frozenset(), decided.told)
            return _resumed(lost, decided) if lost else goes_on
        if state.interrupts and unseen:
            return Plan(text=_still_asked(state.interrupts, decided, self.replies))
        if state.interrupts:
            return self._decide(state, together, decided)
        return fresh

    def worded(self, result: Any, plan: Plan) -> Worded:
        """Return the words of a run's result for the person: what it said, and the question it stopped with."""
        messages = _messages_in(result)
        if messages is None:  # the graph has another output schema
            messages = _messages_in(self.graph.get_state(self.config).values) or []
        said = self._said(messages, plan, recalled_of(result))
        interrupts = _interrupts_in(result)
        if len(interrupts) > 1:  # in the order in which they will be answered, whichever was done first
            interrupts = self.graph.get_state(self.config).interrupts or interrupts
        if interrupts:
            return Worded("\n\n".join(filter(None, [said, _worded(interrupts[0], self.replies)])), asks=True)
        stops = self.graph.interrupt_before_nodes or self.graph.interrupt_after_nodes
        if stops and (waiting := self.graph.get_state(self.config).next):
            log.warning("reply.breakpoint", extra={"phone": masked(self.owner), "nodes": ", ".join(waiting)})
            return Worded(said or self.replies.stopped, asks=True)
        return Worded(said or self.replies.nothing_said, asks=not said)

    def keep_done(self, *, ends_question: bool) -> None:
        """Keep the results of calls that were done beside one that raised: the model would be told to repeat them. A
        question that was asked beside it stays open, unless the apology is kept nowhere: nobody would know that it was
        not seen, and the next words would answer it.
        """
        written = getattr(self.parts.saver.get_tuple(self.config), "pending_writes", None) or ()
        said = self.parts.sessions.messages_of_turn(self.config)
        calls = {call["id"] for each in said if isinstance(each, AIMessage) for call in each.tool_calls}
        given = [value.get("messages") if isinstance(value, dict) else value for _, _, value in written]
        held = [each for one in given if isinstance(one, list) for each in one]
        done = [each for each in held if getattr(each, "tool_call_id", "") in calls]
        is_asked = any(channel == INTERRUPT for _, channel, _ in written)
        if (is_asked and ends_question) or (done and not is_asked):  # what is put on top of a question ends it
            self.parts.sessions.put_messages(self.config, [*said, *done])

    def text(self, result: Any, own: Sequence[BaseMessage]) -> str:
        """Return the words of a run that leaves no trace: all its messages are its own, except those it was given."""
        messages = _messages_in(result) or []
        plan = Plan(own=frozenset(each.id for each in own))
        interrupts = _interrupts_in(result)
        if interrupts:
            return _worded(interrupts[0], self.replies)
        return self._said(messages, plan, recalled_of(result)) or self.replies.nothing_said

    def _said(self, messages: Sequence[BaseMessage], plan: Plan, recalled: Any) -> str:
        text = _all_said(messages, plan.own, plan.told)
        if self.sources:
            return clean(self.shown.with_sources(text, messages, recalled, self.owner))
        return _uncited(text)

    def _gone_on(
        self, state: StateSnapshot, messages: Sequence[BaseMessage], own: frozenset[str | None], told: Told
    ) -> Plan:
        """Plan how a run that was cut short goes on from where it stopped. A run that had ended has its answer."""
        others = _given_together(messages, own)
        said = _uncited(_all_said(messages, own, told))
        if state.interrupts:
            asked = _worded(state.interrupts[0], self.replies)
            return Plan(text="\n\n".join(filter(None, [said, asked])), others=others)
        if state.tasks:  # `next` leaves out tasks whose results are stored before their checkpoint
            return Plan(given=None, own=own, told=told, others=others)
        return Plan(text=said or self.replies.nothing_said, others=others)

    def _decide(self, state: StateSnapshot, together: Sequence[Waiting], before: Decided) -> Plan:
        """Take the words as the answer to the first open question; the graph goes on when none is left. Ask again where
        nobody who may answer has said anything of their own about it.
        """
        interrupts, messages, replies = state.interrupts, _messages_in(state.values) or [], self.replies
        still = _still_asked(interrupts, before, replies)
        # Who was asked in one language may answer in another.
        asked_in = [_still_asked(interrupts, before, replies_in(each)) for each in LANGUAGES]
        own = [each for each in together if is_own(each.message) and not _is_of_another_text(each.message, asked_in)]
        answering = [each for each in own if self._may_answer(each.message, messages)]
        if not answering:
            return Plan(text=replies.asked_another.format(question=still) if own else still)
        said = "\n".join(self._words(each) for each in answering)
        by, told = together[-1].message_id or "", Told.of(messages)
        asked = [asked_by(each) for each in interrupts]
        if before.by is not None:  # these answer an earlier question: the graph has gone on since
            before = Decided()
        answers = {each.interrupt_id: list(before.answers.get(each.interrupt_id, [])) for each in asked}
        opened = _first_open(asked, answers)
        if opened is not None:
            one, question = opened
            place = f"{one.interrupt_id} {len(answers[one.interrupt_id])}"
            is_last = before.asked_again == place
            try:
                answers[one.interrupt_id].append(question.answer(said))
            except NotUnderstood:
                if not is_last:
                    text = replies.ask_again.format(question=question.words(replies))
                    again = dataclasses.replace(before, asked_again=place)
                    return Plan(text=clean(text), along=self.decisions.kept(self.config, again))
                answers[one.interrupt_id].append(question.rejection(said))
            if (following := _first_open(asked, answers)) is not None:
                kept = self.decisions.kept(self.config, Decided(answers))
                return Plan(text=clean(following[1].words(replies)), along=kept)
        decided = Decided(answers, by=by, told=told, asked=[_named(each) for each in interrupts])
        if by or before != Decided():
            self.decisions.keep(self.config, decided)
        return _resumed(interrupts, decided)

    def _may_answer(self, message: BaseMessage, messages: Sequence[BaseMessage]) -> bool:
        """Tell whether the sender may answer in a group: one of those whose messages the run answers."""
        asked = {sender_of(each) for each in answered_now(messages)}
        if None in asked or not asked:  # this is no group, or its channel does not say who writes
            return True
        person, sender = self.parts.person, sender_of(message)
        return sender is not None and person.owner(sender) in {person.owner(each) for each in asked}

    def _words(self, waiting: Waiting) -> str:
        """Return the words as one text, which a graph that asks expects. In place of a picture stands its reference."""
        content = waiting.message.content
        if isinstance(content, str):
            return own_words(waiting.message)
        blocks: Sequence[Mapping[str, Any]] = self.parts.saver.keep_media(self.config, content)
        return "\n".join(block.get("text") or block["url"] for block in blocks)


def _still_asked(interrupts: Sequence[Interrupt], decided: Decided, replies: Replies) -> str:
    answers = decided.answers if decided.by is None else {}
    asked = [asked_by(each) for each in interrupts]
    opened = _first_open(asked, {each.interrupt_id: answers.get(each.interrupt_id, ()) for each in asked})
    return _worded(interrupts[0], replies) if opened is None else clean(opened[1].words(replies)).strip()


def _is_of_another_text(message: BaseMessage, asked: Sequence[str]) -> bool:
    """Tell whether the message is a yes or a no to a text that it quotes, which is not what is asked."""
    quoted = quoted_of(message)
    # A channel's id of a message that is not known here may stand in place of its text.
    if quoted is None or " " not in (quoted.text or "") or agrees(own_words(message)) is None:
        return False
    text = _compared(quoted.text or "")
    return not any(text in each or each in text for each in map(_compared, asked))


def _compared(text: str) -> str:
    """Return the words: a kept answer is without its secrets, and what a channel quotes may be without its markup."""
    return f" {' '.join(words_of(without_secrets(text)))} "


def _uncited(text: str) -> str:
    return clean(with_sources(text, ()) if cites(text) else text)


def _worded(interrupt: Interrupt, replies: Replies) -> str:
    """Return the first question of an interrupt, or, where it has none, a text that says that the run has stopped."""
    return clean(asked_by(interrupt).questions[0].words(replies)).strip() or replies.stopped


def _first_open(asked: Sequence[Asked], answers: Mapping[str, Sequence[Any]]) -> tuple[Asked, Question] | None:
    for each in asked:
        answered = len(answers[each.interrupt_id])
        if answered < len(each.questions):
            return each, each.questions[answered]
    return None


def _resumed(interrupts: Sequence[Interrupt], decided: Decided) -> Plan:
    """Plan the run that goes on with the answers to these interrupts."""
    asked = [asked_by(each) for each in interrupts]
    values = {each.interrupt_id: each.resume(decided.answers[each.interrupt_id]) for each in asked}
    return Plan(given=Command(resume=values), told=decided.told)


def _named(interrupt: Interrupt) -> str:
    """Name an interrupt by its id and its question: a node may ask a second time under the same id."""
    return repr((interrupt.id, interrupt.value))


def _place_of(own: frozenset[str | None], messages: Sequence[BaseMessage]) -> int | None:
    """Return the place of the last of one's own messages."""
    places = range(len(messages) - 1, -1, -1)
    return next((at for at in places if not own.isdisjoint(ids_of(messages[at]))), None)


def _given_together(messages: Sequence[BaseMessage], own: frozenset[str | None]) -> list[str]:
    """Return the ids of people's messages that stand together with one's own."""
    last = _place_of(own, messages)
    if last is None:
        return []
    first = last + 1
    while first and isinstance(messages[first - 1], HumanMessage):
        first -= 1
    given = takewhile(lambda each: isinstance(each, HumanMessage), messages[first:])
    return [message_id for each in given for message_id in ids_of(each)]


def _all_said(messages: Sequence[BaseMessage], own: frozenset[str | None], told: Told) -> str:
    """Return the new texts of the assistant, of every branch. One before a tool call counts only if none follows it."""
    last = _place_of(own, messages)
    new = told.not_in(messages) if last is None else messages[last + 1 :]
    spoken = [each for each in new if isinstance(each, AIMessage) and _spoken(each)]
    if own and last is None:  # where the graph has rewritten its messages, only the newest can be of this run
        spoken = spoken[-1:]
    final = [each for each in spoken if not each.tool_calls] or spoken[-1:]
    if spoken and spoken[-1].tool_calls and spoken[-1] not in final:
        final.append(spoken[-1])
    return "\n\n".join(map(_spoken, final))


def _spoken(message: AIMessage) -> str:
    """Return the text without what the model thought aloud, whose beginning may stand in the prompt; "" for a blank."""
    text = _THOUGHT.sub("", message.text)
    return text if cleaned(text) else ""


def _messages_in(values: Any) -> list[BaseMessage] | None:
    found = values.get("messages") if isinstance(values, Mapping) else getattr(values, "messages", None)
    # A state without a reducer may hold them as dicts.
    return convert_to_messages(found) if isinstance(found, list) else None


def _interrupts_in(result: Any) -> Sequence[Interrupt]:
    return result.get("__interrupt__") or () if isinstance(result, Mapping) else ()
