"""The conditions of standing instructions: a small language over message, topic, role, time, day and date.

Its grammar is `conditions.lark`. Nothing in it is ever run as code: it is read into the functions below, and those
answer. Which topic a talk has is for the model to say: where nobody names it, a condition on it may hold.
"""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from importlib.resources import files
from typing import Any

from lark import Lark, Transformer, UnexpectedInput, UnexpectedToken, v_args

from langmem_plugin.errors import InvalidInput
from langmem_plugin.memory.find.tokenizer import stemmer
from langmem_plugin.memory.memory_types import plain

_LONGEST = 500  # letters
_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS = {name: range(day, day + 1) for day, name in enumerate(_DAY_NAMES)}
_DAYS |= {"weekday": range(5), "weekend": range(5, 7)}
_EXPECTED = {
    "FIELD": "message, topic, role",
    "TEXT": 'a text in "quotes"',
    "CLOCK": "a time such as 18:30",
    "WEEKDAY": "a day of the week in English, weekday or weekend",
    "CALENDAR": "a date such as 2027-01-31",
    "LPAR": "an opening bracket",
    "RPAR": "a closing bracket",
    "$END": "the end",
}


@dataclass(frozen=True)
class Situation:
    """The situation that a condition is asked about. `at` is in the person's own time zone."""

    at: datetime
    message: str = ""
    topic: str = ""
    role: str = "client"


Condition = Callable[[Situation], bool]
_Test = Callable[[Situation, bool], bool]
"""The test whether a part of a condition may be so, or with False may not be so."""


@functools.lru_cache(maxsize=1_024)
def parsed(condition: str) -> Condition:
    """Return the condition. Raises InvalidInput, saying where it stopped making sense and what would have."""
    if len(condition) > _LONGEST:
        raise InvalidInput(f"a condition has at most {_LONGEST} letters, this one has {len(condition)}")
    try:
        test: Any = _parser().parse(condition)
    except UnexpectedInput as error:
        raise _refusal(condition, error) from error
    return lambda situation: test(situation, True)


def contains(text: str, wanted: str) -> bool:
    """Tell whether the text has these whole words, in any form their language gives them: "invoice" is in "two
    invoices", not in "invoiced4".
    """
    words = re.escape(plain(wanted))
    if re.search(rf"(?<!\w){words}(?!\w)", plain(text)):
        return True
    stem = stemmer(text)
    said, asked = (" ".join(stem(each)) for each in (text, wanted))
    return bool(asked) and f" {asked} " in f" {said} "


def _refusal(condition: str, error: UnexpectedInput) -> InvalidInput:
    wanted = (error.accepts if isinstance(error, UnexpectedToken) else getattr(error, "allowed", None)) or ()
    expected = ", ".join(sorted(_EXPECTED.get(name, name.lower()) for name in wanted))
    place = error.pos_in_stream
    if place is None or (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        return InvalidInput(f"condition, at the end: expected {expected}")
    [said] = re.findall(r"\A(?:\w+|.)", condition[place:], re.DOTALL)
    return InvalidInput(f"condition, at letter {place + 1} ({said}): expected {expected}")


def _known(holds: Condition) -> _Test:
    return lambda situation, wanted: holds(situation) is wanted


@v_args(inline=True)
class _Tests(Transformer[Any, _Test]):
    """The test that each rule of the grammar makes of its parts."""

    def any_of(self, *tests: _Test) -> _Test:
        return lambda situation, wanted: (any if wanted else all)(test(situation, wanted) for test in tests)

    def all_of(self, *tests: _Test) -> _Test:
        return lambda situation, wanted: (all if wanted else any)(test(situation, wanted) for test in tests)

    def denied(self, _: str | None, test: _Test) -> _Test:
        return lambda situation, wanted: test(situation, not wanted)

    def contains(self, field: str, text: str) -> _Test:
        return self._text(field, text, contains)

    def begins(self, field: str, text: str) -> _Test:
        return self._text(field, text, lambda said, wanted: plain(said).startswith(plain(wanted)))

    def equals(self, field: str, negation: str | None, text: str) -> _Test:
        same = contains if field.lower() == "topic" else lambda said, wanted: plain(said) == plain(wanted)
        return self._unless(negation, self._text(field, text, same))

    def between(self, first: str, last: str) -> _Test:
        begin, end = _clock(first), _clock(last)
        if begin <= end:
            return _known(lambda situation: begin <= situation.at.time() < end)
        return _known(lambda situation: not end <= situation.at.time() < begin)  # over midnight

    def before(self, end: str) -> _Test:
        return _known(lambda situation: situation.at.time() < _clock(end))

    def after(self, begin: str) -> _Test:
        return _known(lambda situation: situation.at.time() >= _clock(begin))

    def on_day(self, negation: str | None, day: str) -> _Test:
        return self._unless(negation, _known(lambda situation: situation.at.weekday() in _DAYS[day.lower()]))

    def until(self, end: str) -> _Test:
        last = _calendar(end)
        return _known(lambda situation: situation.at.date() < last)

    def since(self, begin: str) -> _Test:
        first = _calendar(begin)
        return _known(lambda situation: situation.at.date() >= first)

    def _unless(self, negation: str | None, test: _Test) -> _Test:
        return test if negation is None else self.denied(negation, test)

    def _text(self, field: str, text: str, compare: Callable[[str, str], bool]) -> _Test:
        name, wanted_text = field.lower(), text[1:-1].strip()

        def test(situation: Situation, wanted: bool) -> bool:
            said: str = getattr(situation, name)
            return (name == "topic" and not said) or compare(said, wanted_text) is wanted

        return test


def _clock(said: str) -> time:
    hour, minute = said.split(":")
    return time(int(hour), int(minute))


def _calendar(said: str) -> date:
    try:
        return date.fromisoformat(said)
    except ValueError as error:
        raise InvalidInput(f"condition: {said} is not a date that exists") from error


@functools.cache
def _parser() -> Lark:
    grammar = files(__package__).joinpath("conditions.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=True, transformer=_Tests())
