"""The conditions of standing instructions: a small language over message, topic, role, time, day and date.

    message contains "invoice" and not role is "client"
    time between 22:00 and 07:00 or day is weekend
    date before 2027-01-01 and (topic is "work" or message starts with "please")

`topic is "work"` holds for whatever is about work, whether it says the word or not.
Nothing in it is ever run as code: it is read into the functions below, and those answer.
"""

import functools
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

import numpy as np

from langmem_plugin.errors import EmbeddingUnavailable, InvalidInput
from langmem_plugin.logs import event_log
from langmem_plugin.lru import LruCache
from langmem_plugin.memory.embedding.embedder import Embedder, Vector
from langmem_plugin.memory.find.tokenizer import asked, stems
from langmem_plugin.memory.models import plain, storable

log = event_log(__name__)

_NEAR = 1.3
"""The deviations by which a message is nearer to the topic than to topics in general: fitted to
tests/memory/topics/seen.tsv.

Unlike a cosine it means the same for every model.
"""
_AS_EMBEDDED = "a question about {}"
_IN_GENERAL = (
    *("weather", "animals", "clothes", "history", "mathematics", "computers", "family", "religion", "politics", "art"),
    *("the house", "shopping", "the news", "language", "the calendar", "feelings", "nature", "school", "games"),
    *("transport", "holidays", "friends", "technology", "science"),
)
_CACHE_BYTES, _BYTES_BESIDE = 4 * 2**20, 300
_FOLLOW_UP_WORDS = 2  # the most words of a message that takes its topic from the one before


class Topics:
    """The topics of messages; one per embedder, which keeps the vectors: of a message it has the one that
    recall asked for.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._general: Vector | None = None
        self._vectors: LruCache[str, tuple[Vector | None]] = LruCache(_CACHE_BYTES)
        self._failed: str | None = None

    def of(self, said: Sequence[str]) -> Callable[[str], bool]:
        """Return the rule that tells of a topic whether the person's last messages, oldest first, are about it."""
        message = asks(said)
        in_words = functools.cache(lambda: stems(message, like=message))
        nearness = functools.cache(lambda: self._nearness(message))

        def about(topic: str) -> bool:
            if holds_in_order(in_words(), stems(topic, like=message)):
                return True
            if message == self._failed:
                return False
            try:
                near = nearness()
                vector = self._vector(topic) if near is not None else None
            except EmbeddingUnavailable:
                log.warning("topics.by_words", exc_info=True)
                self._failed = message  # not asked again at each model call of the turn
                return False
            return near is not None and vector is not None and near(vector) >= _NEAR

        return about

    def _nearness(self, message: str) -> Callable[[Vector], float] | None:
        """Return a measure of nearness to a message; None for one that names nothing, or in an unknown language."""
        if not asked(message) or not self._embedder.understands(message):
            return None
        if self._general is None:
            self._general = np.stack(self._embedder.texts([_AS_EMBEDDED.format(each) for each in _IN_GENERAL]))
        vector = self._embedder.query(storable(message))
        general = self._general @ vector
        mean, deviation = float(general.mean()), max(float(general.std()), 1e-6)
        return lambda topic: (float(topic @ vector) - mean) / deviation

    def _vector(self, topic: str) -> Vector | None:
        if (known := self._vectors.get(topic)) is not None:
            return known[0]
        vector = None
        if self._embedder.understands(topic):
            [vector] = self._embedder.texts([_AS_EMBEDDED.format(storable(topic))])
        size = 0 if vector is None else vector.nbytes
        self._vectors.put(topic, (vector,), size + sys.getsizeof(topic) + _BYTES_BESIDE)
        return vector


def asks(said: Sequence[str]) -> str:
    """Return the last message, with the one before it where it says little by itself: as recall asks for both."""
    texts = [text for text in said if text.strip()]
    if len(texts) > 1 and len(asked(texts[-1])) <= _FOLLOW_UP_WORDS:
        return "\n".join(texts[-2:])
    return texts[-1] if texts else ""


_LONGEST = 500  # letters
_DEEPEST = 20  # depth of brackets and nots inside one another
_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS = {name: range(day, day + 1) for day, name in enumerate(_DAY_NAMES)}
_DAYS |= {"weekday": range(5), "weekend": range(5, 7)}
_TOKEN = re.compile(
    r"""(?<!\s)\s*+(?:
    (?P<text>"[^"]*"|“[^“”]*”|'[^']*')
    |(?P<date>\d{4}-\d{2}-\d{2})
    |(?P<time>\d{1,2}:\d{2})
    |(?P<word>[^\W\d_]+)
    |(?P<mark>[()])
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Situation:
    """The situation that a condition is asked about. `at` is in the person's own time zone.

    `is_about` says of a topic whether the talk is about it; without it the words of `topic` decide.
    """

    at: datetime
    message: str = ""
    topic: str = ""
    role: str = "client"
    is_about: Callable[[str], bool] | None = None


Condition = Callable[[Situation], bool]


@functools.lru_cache(maxsize=1_024)
def parsed(condition: str) -> Condition:
    """Return the condition. Raises InvalidInput, saying where it stopped making sense and what would have."""
    if len(condition) > _LONGEST:
        raise InvalidInput(f"a condition has at most {_LONGEST} letters, this one has {len(condition)}")
    reader = _Reader(condition)
    read = reader.read_either(_DEEPEST)
    reader.end()
    return read


def contains(text: str, wanted: str) -> bool:
    """Tell whether the text has these whole words, in any form their language gives them: "invoice" is in "two
    invoices", not in "invoiced4".
    """
    words = re.escape(plain(wanted))
    if re.search(rf"(?<!\w){words}(?!\w)", plain(text)):
        return True
    return holds_in_order(stems(text, like=text), stems(wanted, like=text))


def holds_in_order(words: Sequence[str], wanted: Sequence[str]) -> bool:
    """Tell whether the wanted words stand among the others, one after another."""
    many = len(wanted)
    return many > 0 and any(words[start : start + many] == wanted for start in range(len(words) - many + 1))


def _denied(condition: Condition) -> Condition:
    return lambda situation: not condition(situation)


def _compared(field: str, wanted: str, compare: Callable[[str, str], bool]) -> Condition:
    return lambda situation: compare(getattr(situation, field), wanted)


def _about(wanted: str) -> Condition:
    def holds(situation: Situation) -> bool:
        return (situation.is_about or functools.partial(contains, situation.topic))(wanted)

    return holds


def _between(first: time, last: time) -> Condition:
    """Return the condition of a time from `first` on, before `last`; over midnight where that is before `first`."""

    def holds(situation: Situation) -> bool:
        at = situation.at.time()
        return first <= at < last if first <= last else at >= first or at < last

    return holds


class _Reader:
    """The reader of tokens from left to right; every method leaves the place after what it read."""

    def __init__(self, condition: str) -> None:
        self.condition = condition
        self.tokens: list[tuple[str, str, int]] = []  # kind, text, where it begins
        place = 0
        while condition[place:].strip():
            found = _TOKEN.match(condition, place)
            if found is None or found.lastgroup is None:
                at = place + len(condition[place:]) - len(condition[place:].lstrip())
                raise InvalidInput(f"condition, at letter {at + 1}: {condition[at]!r} means nothing here")
            kind = found.lastgroup
            self.tokens.append((kind, found[kind], found.start(kind)))
            place = found.end()
        self.next = 0

    def read_either(self, depth: int) -> Condition:
        read = [self.read_both(depth)]
        while self.skip("or"):
            read.append(self.read_both(depth))
        return lambda situation: any(each(situation) for each in read)

    def read_both(self, depth: int) -> Condition:
        read = [self.read_single(depth)]
        while self.skip("and"):
            read.append(self.read_single(depth))
        return lambda situation: all(each(situation) for each in read)

    def read_single(self, depth: int) -> Condition:
        if depth == 0:
            raise self.refusal("fewer brackets inside one another")
        if self.skip("not"):
            return _denied(self.read_single(depth - 1))
        if self.skip("("):
            read = self.read_either(depth - 1)
            self.need(")", "a closing bracket")
            return read
        for field in ("message", "topic", "role"):
            if self.skip(field):
                return self.read_text(field)
        if self.skip("time"):
            return self.read_time()
        if self.skip("day"):
            return self.read_day()
        if self.skip("date"):
            return self.read_date()
        raise self.refusal("message, topic, role, time, day or date")

    def read_text(self, field: str) -> Condition:
        if self.skip("contains"):
            return _compared(field, self.read_quoted(), contains)
        if self.skip("starts"):
            self.need("with", "with")
            return _compared(field, self.read_quoted(), lambda text, wanted: plain(text).startswith(plain(wanted)))
        self.need("is", 'contains, starts with, is or is not, and a text in "quotes"')
        denied = self.skip("not")
        wanted = self.read_quoted()
        same = _compared(field, wanted, lambda text, wanted: plain(text) == plain(wanted))
        read = _about(wanted) if field == "topic" else same
        return _denied(read) if denied else read

    def read_time(self) -> Condition:
        if self.skip("between"):
            first = self.read_clock()
            self.need("and", "and")
            return _between(first, self.read_clock())
        if self.skip("before"):
            return _between(time.min, self.read_clock())
        self.need("after", "before, after or between")
        return _denied(_between(time.min, self.read_clock()))

    def read_day(self) -> Condition:
        self.need("is", "is")
        denied = self.skip("not")
        days = _DAYS.get(self.take("word", "a day, weekday or weekend").casefold())
        if days is None:
            self.next -= 1
            raise self.refusal("a day of the week in English, weekday or weekend")
        return lambda situation: (situation.at.weekday() in days) is not denied

    def read_date(self) -> Condition:
        if self.skip("before"):
            last = self.read_calendar()
            return lambda situation: situation.at.date() < last
        self.need("from", "before or from")
        first = self.read_calendar()
        return lambda situation: situation.at.date() >= first

    def read_clock(self) -> time:
        hour, minute = map(int, self.take("time", "a time such as 18:30").split(":"))
        try:
            return time(hour, minute)
        except ValueError as error:
            self.next -= 1
            raise self.refusal("a time of day, 00:00 to 23:59") from error

    def read_calendar(self) -> date:
        day = self.take("date", "a date such as 2027-01-31")
        try:
            return date.fromisoformat(day)
        except ValueError as error:
            self.next -= 1
            raise self.refusal("a date that exists") from error

    def read_quoted(self) -> str:
        text = self.take("text", 'a text in "quotes"')[1:-1].strip()
        if not text:
            self.next -= 1
            raise self.refusal("a text with something in it")
        return text

    def take(self, kind: str, expected: str) -> str:
        if self.next == len(self.tokens) or self.tokens[self.next][0] != kind:
            raise self.refusal(expected)
        self.next += 1
        return self.tokens[self.next - 1][1]

    def skip(self, word: str) -> bool:
        if self.next < len(self.tokens):
            kind, text, _ = self.tokens[self.next]
            if kind in ("word", "mark") and text.casefold() == word:
                self.next += 1
                return True
        return False

    def need(self, word: str, expected: str) -> None:
        if not self.skip(word):
            raise self.refusal(expected)

    def end(self) -> None:
        if self.next < len(self.tokens):
            raise self.refusal("and, or, or the end")

    def refusal(self, expected: str) -> InvalidInput:
        if self.next == len(self.tokens):
            return InvalidInput(f"condition, at the end: expected {expected}")
        _, text, place = self.tokens[self.next]
        return InvalidInput(f"condition, at letter {place + 1} ({text}): expected {expected}")
