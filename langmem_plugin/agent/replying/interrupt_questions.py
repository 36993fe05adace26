"""The questions that a run stops to ask, in words, and the meaning of a person's words as their answer. Pure functions.

Known are the requests of LangChain's HumanInTheLoopMiddleware (both of its modes), a plain text, and a dict with a
question or options. Any other value that a graph asks with is shown as JSON, and the graph is given the person's words.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from langchain_core.messages import AIMessage
from langgraph.types import Interrupt

from langmem_plugin.agent.replying.reply_texts import Replies, pattern_for, words_for
from langmem_plugin.memory.find.tokenizer import words_of
from langmem_plugin.references import resolve
from langmem_plugin.references.said.yes_or_no import agrees
from langmem_plugin.references.shown.tool_data import plain

_QUESTION_KEYS = ("question", "prompt", "message", "text", "title", "description", "content")
_OPTION_KEYS = ("options", "choices", "actions", "buttons")
_LABEL_KEYS = ("label", "title", "name", "text", "value", "id")
_VALUE_KEYS = ("value", "id", "name", "label", "title", "text")
_GENERATED = "Tool execution requires approval"  # how LangChain's own descriptions begin
_LONGEST_VALUE = 200
# The model is told this: LangChain's own words for a refusal without a reason forbid any other try.
_REFUSED = "The person did not agree to this. They wrote: {said}"
_IN_WORDS = re.compile(r"\(([^()]{1,80}/[^()]{1,80})\)|\[([^\[\]]{1,80}/[^\[\]]{1,80})\]")
_OPEN = pattern_for("opens_a_question", r"^\W*(?:{})\b")
_REPEATING = frozenset(words_of(" ".join(words_for("beside_yes"))))
"""The words that may stand beside a yes without changing it."""
_DECISIONS = ("approve", "edit", "reject", "respond")
_USUAL_DECISIONS = ("approve", "edit", "reject")


class NotUnderstood(Exception):
    """The words are no answer to the question."""


class Question(Protocol):
    def words(self, replies: Replies) -> str:
        """Return the question's words for the person."""
        ...

    def answer(self, said: str) -> Any:
        """Return the value that the graph is given for the words. Raises NotUnderstood."""
        ...

    def rejection(self, said: str) -> Any:
        """Return the refusal that the graph gets for words that stay unclear. Raises NotUnderstood if it takes none."""
        ...


@dataclass(frozen=True)
class Asked:
    """One interrupt of a run: it goes on when all of its questions are answered."""

    interrupt_id: str
    questions: Sequence[Question]
    in_one_answer: bool = False
    """True if the graph takes the answers as LangChain's `decisions`."""

    def resume(self, answers: Sequence[Any]) -> Any:
        return {"decisions": list(answers)} if self.in_one_answer else answers[0]


def asked_by(interrupt: Interrupt) -> Asked:
    """Return the questions of an interrupt, whatever its value is."""
    try:
        return _of_known_shape(interrupt)
    except (KeyError, TypeError, AttributeError):  # the value only looks like a request of LangChain's
        return Asked(interrupt.id, [Open(_as_json(interrupt.value))])


def _of_known_shape(interrupt: Interrupt) -> Asked:
    value = interrupt.value
    match value:
        case {"action_requests": [_, *_] as actions, "review_configs": list(configs)} if all(map(_is_action, actions)):
            allowed = {
                str(name): tuple(map(str, decisions))
                for each in configs
                if isinstance(each, Mapping)
                and (name := each.get("action_name"))
                and isinstance(decisions := each.get("allowed_decisions"), list | tuple)
            }
            questions = [Approval.of(action, allowed.get(str(action["name"]))) for action in actions]
            return Asked(interrupt.id, questions, in_one_answer=True)
        case {"type": "tool_approval", "name": str(), "args": dict()}:
            schema = json.dumps(getattr(interrupt, "response_schema", None), default=str)
            allowed_here = tuple(each for each in _DECISIONS if f'"{each}"' in schema)
            return Asked(interrupt.id, [Approval.of(value, allowed_here or None)])
        case str():
            return Asked(interrupt.id, [_of_text(value)])
        case dict():
            return Asked(interrupt.id, [_of_dict(value)])
    return Asked(interrupt.id, [Open(_as_json(value))])


def _is_action(value: Any) -> bool:
    return isinstance(value, Mapping) and "name" in value and isinstance(value.get("args") or {}, Mapping)


@dataclass(frozen=True)
class Approval:
    """The question whether a tool may be called, and with which arguments."""

    name: str
    arguments: Mapping[str, Any]
    description: str
    allowed: Sequence[str]

    @classmethod
    def of(cls, action: Mapping[str, Any], allowed: Sequence[str] | None) -> "Approval":
        described = str(action.get("description") or "")
        description = "" if described.startswith(_GENERATED) else described
        arguments = {str(name): given for name, given in (action.get("args") or {}).items()}
        return cls(str(action["name"]), arguments, description, allowed or _USUAL_DECISIONS)

    def words(self, replies: Replies) -> str:
        if "approve" not in self.allowed and "respond" in self.allowed:
            return self.description or str(self.arguments.get("question") or self._action())
        return replies.approve.format(action=self.description or self._action())

    def answer(self, said: str) -> dict[str, Any]:
        verdict = agrees(said)
        if verdict is not None and verdict.yes and self._says_it_again(verdict.rest):
            if "approve" in self.allowed:
                return {"type": "approve"}
            if "edit" in self.allowed:
                return {"type": "edit", "edited_action": {"name": self.name, "args": dict(self.arguments)}}
        if "approve" not in self.allowed and "respond" in self.allowed:
            return {"type": "respond", "message": said}
        # "yes, but for tomorrow", "ok, wait" and "how much is it?" approve nothing: the model sees to them.
        return self.rejection(said)

    def rejection(self, said: str) -> dict[str, Any]:
        for kind in ("reject", "respond"):
            if kind in self.allowed:
                return {"type": kind, "message": _REFUSED.format(said=said)}
        raise NotUnderstood

    def _says_it_again(self, rest: str) -> bool:
        """Tell whether the words after a yes only repeat the call: "order it", "the large one, please"."""
        of_the_call = set(words_of(f"{self._action()} {self.description}"))
        return "?" not in rest and set(words_of(rest)) <= of_the_call | _REPEATING

    def _action(self) -> str:
        told = ", ".join(f"{_spaced(name)}: {_shown(value)}" for name, value in self.arguments.items())
        return f"{_spaced(self.name)} ({told})" if told else _spaced(self.name)


@dataclass(frozen=True)
class Choice:
    """A question for one of several values; `question` may be "". One that `names` the values is asked as it is."""

    question: str
    labels: Sequence[str]
    values: Sequence[Any]
    names: bool = False

    @property
    def _is_yes_or_no(self) -> bool:
        return self.names and {verdict and verdict.yes for verdict in map(agrees, self.labels)} == {True, False}

    def words(self, replies: Replies) -> str:
        if self.names:
            return self.question
        return replies.choose.format(question=self.question, options=self._lines).strip()

    @property
    def _lines(self) -> str:
        return "\n".join(f"{number}. {label}" for number, label in enumerate(self.labels, 1))

    def answer(self, said: str) -> Any:
        wanted = _folded(said)
        for labels in (self.labels, [str(value) for value in self.values]):
            same = [at for at, label in enumerate(labels) if _folded(label) == wanted]
            if len(same) == 1:
                return self.values[same[0]]
        verdict = agrees(said)
        # A refusal may have its reason behind it: "no thanks, too expensive".
        if verdict is not None and (not verdict.rest or (self._is_yes_or_no and not verdict.yes and "?" not in said)):
            alike = [at for at, label in enumerate(self.labels) if (of := agrees(label)) and of.yes == verdict.yes]
            if len(alike) == 1 or (alike and self._is_yes_or_no):
                return self.values[alike[0]]
        if self._is_yes_or_no:
            raise NotUnderstood
        if wanted.isdecimal() and 1 <= int(wanted[:9]) <= len(self.values):
            return self.values[int(wanted) - 1]
        shown = resolve(said, [AIMessage(self._lines)])
        meant = {number for each in shown.references for number in each.numbers if number}
        if len(meant) == 1:
            return self.values[meant.pop() - 1]
        raise NotUnderstood

    def rejection(self, said: str) -> Any:
        refusing = [at for at, label in enumerate(self.labels) if (of := agrees(label)) and not of.yes]
        return self.values[refusing[0]] if refusing else said


@dataclass(frozen=True)
class Open:
    """A question that any words answer. A bare yes or no, whatever its form, is given as "yes" or "no"."""

    question: str

    def words(self, replies: Replies) -> str:  # noqa: ARG002 - the graph's own words
        return self.question

    def answer(self, said: str) -> str:
        verdict = None if _OPEN.match(self.question) else agrees(said)
        if verdict is None or verdict.rest:
            return said
        return "yes" if verdict.yes else "no"

    def rejection(self, said: str) -> str:
        return said


def _of_text(text: str) -> Question:
    """Read a text such as "Pay $20? (yes/no)", which names its answers; they are given as they stand there."""
    named = _IN_WORDS.search(text)
    values = [part.strip() for part in (named[1] or named[2]).split("/")] if named else []
    if len(values) < 2 or not all(values):  # noqa: PLR2004 - one is no choice
        return Open(text)
    return Choice(text, values, values, names=True)


def _of_dict(value: Mapping[str, Any]) -> Question:
    question = next((str(value[key]) for key in _QUESTION_KEYS if isinstance(value.get(key), str)), "")
    options = next((value[key] for key in _OPTION_KEYS if isinstance(value.get(key), list | dict) and value[key]), None)
    if options is None:
        return _of_text(question) if question else Open(_as_json(value))
    if isinstance(options, Mapping):
        return Choice(question, [str(each) for each in options.values()], list(options))
    labels = [str(_raw(each, _LABEL_KEYS)) for each in options]
    return Choice(question, labels, [_raw(each, _VALUE_KEYS) for each in options])


def _raw(option: Any, keys: Sequence[str]) -> Any:
    return next((option[key] for key in keys if key in option), option) if isinstance(option, Mapping) else option


def _spaced(name: str) -> str:
    return " ".join(name.replace("_", " ").replace("-", " ").split())


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else _as_json(value)
    return f"{text[:_LONGEST_VALUE]}…" if len(text) > _LONGEST_VALUE else text


def _as_json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False, default=str)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!?\"'“”")
