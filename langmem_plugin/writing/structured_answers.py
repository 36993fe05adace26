"""Answers of a chat model, read by a schema, or as JSON in its text where it takes none; untraced, given up in time."""

import contextlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from langmem_plugin.logs import event_log
from langmem_plugin.memory.calls_with_timeout import TimedCalls
from langmem_plugin.tracing import untraced

log = event_log(__name__)

MODEL_TIMEOUT = timedelta(seconds=60)
_TRIES = 3
_LONGEST_REASON = 500  # letters
_LONGEST_ANSWER = 100_000
_THOUGHT_ENDS = re.compile(r"</think(?:ing)?+>")
_MOST_STARTS = 200  # brackets at which JSON may begin in an answer
_JSON = json.JSONDecoder(strict=False)  # models write line breaks into strings
_BEGINS = re.compile(r"\{|\[(?=\s*(?:\{|\][\s`]*\Z))")
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*+(?:"|$))|,(?=\s*[\]}])', re.DOTALL)

Read = TypeVar("Read")


class Unusable(ValueError):
    """An answer that cannot be read; the text says why, for the model."""


@dataclass(frozen=True)
class Answer(Generic[Read]):
    """The value that could be read of the last answer, None if there is none, and the faults of that answer."""

    read: Read | None
    wrong: tuple[str, ...] = ()


class StructuredAnswers:
    """The questions to one model. `as_json` tells a model that takes no schema how to answer; `name` says in the log
    what is asked for.
    """

    def __init__(
        self, model: BaseChatModel, schema: type[BaseModel], as_json: str, *, name: str, timeout: timedelta
    ) -> None:
        self._model = model
        self._schema = schema
        self._as_json = as_json
        self._name = name
        self._seconds = timeout.total_seconds()
        self._calls = TimedCalls(f"langmem-{name}-model")
        self._takes_schema = True

    def read(self, messages: Sequence[BaseMessage], reads: Callable[[Any], tuple[Read, list[str]]]) -> Answer[Read]:
        """Ask the model, and at most twice again with what is wrong.

        `reads` returns the value and its faults, or raises Unusable. Raises whatever the model raises, and GivenUp
        where it does not answer.
        """
        asked = list(messages)
        answer: Answer[Read] = Answer(None)
        for _ in range(_TRIES):
            try:
                found, wrong = reads(self._answer(asked))
                answer = Answer(found, tuple(wrong))
            except Unusable as error:
                answer = Answer(None, (str(error),))
            if not answer.wrong:
                return answer
            told = "; ".join(answer.wrong)[:_LONGEST_REASON]
            asked = [*messages, HumanMessage(f"Your last answer could not be used: {told}. Answer again.")]
        return answer

    def close(self) -> None:
        """Stop waiting for any answer."""
        self._calls.close()

    def _answer(self, messages: list[BaseMessage]) -> Any:
        """Ask by a schema; a model that takes none answers as JSON in its text, from then on."""
        if self._takes_schema:
            try:
                return self._calls.answer(lambda: self._by_schema(messages), self._seconds)
            except (TimeoutError, Unusable):
                raise
            except Exception as error:  # noqa: BLE001 - of any class: every provider has its own
                log.info("model.takes_no_schema", extra={"asked_for": self._name, "error": type(error).__name__})
        answer = self._calls.answer(lambda: self._by_text(messages), self._seconds)
        self._takes_schema = False  # it answers, so it was the schema that it could not take
        return answer

    def _by_schema(self, messages: list[BaseMessage]) -> Any:
        asks = self._model.with_structured_output(self._schema, method="function_calling", include_raw=True)
        found = untraced(lambda config: asks.invoke(messages, config))
        if isinstance(found, dict) and "raw" in found:
            # Each part is read by itself, so that a wrong one does not spoil the others.
            raw = found["raw"]
            if raw.tool_calls:
                return raw.tool_calls[0]["args"]
            return _json_in(raw.invalid_tool_calls[0]["args"] or "" if raw.invalid_tool_calls else raw.text)
        return found.model_dump() if isinstance(found, BaseModel) else found

    def _by_text(self, messages: list[BaseMessage]) -> Any:
        first = SystemMessage(f"{messages[0].text}\n{self._as_json}")
        asked = [first, *messages[1:]]
        return _json_in(untraced(lambda config: self._model.invoke(asked, config)).text)


def _json_in(text: str) -> Any:
    """Return the longest JSON object or list in a text, which may think aloud before it, and hold others; a comma may
    stand behind the last of its members.
    """
    text = _THOUGHT_ENDS.split(text[:_LONGEST_ANSWER])[-1]
    begin = _BEGINS.search(text)
    # Only from there: a quotation mark in the words before it would turn the strings inside out.
    text = "" if begin is None else _LAST_COMMA.sub(lambda found: found[1] or "", text[begin.start() :])
    longest, found, at = 0, None, 0
    for _ in range(_MOST_STARTS):
        start = _BEGINS.search(text, at)
        if start is None:
            break
        at = start.end()
        with contextlib.suppress(ValueError, RecursionError):
            read, at = _JSON.raw_decode(text, start.start())
            if at - start.start() > longest:
                longest, found = at - start.start(), read
    if found is None:
        raise Unusable("it is no JSON object as it was asked for")
    return found
