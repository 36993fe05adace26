"""Standing orders: what somebody tells an assistant to do from now on, always, never, or whenever they ask about X.

Found by rules in English, Hebrew and Spanish; rather none than a wrong one. A question, what somebody else said, and
what the person tells of themselves ("I always eat lunch at noon") are none.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from types import SimpleNamespace

from langmem_plugin.facts.sentence_splitting import sentences
from langmem_plugin.facts.time_expressions import after, moments, moved
from langmem_plugin.languages.calendar_names import MONTH_NAMES, WEEKDAY_NAMES, WEEKDAY_NUMBERS
from langmem_plugin.languages.language_words import LANGUAGES, Language
from langmem_plugin.languages.language_words import words as words_of

MOST_IMPORTANT = 9
"""The priority of what was said to be important, of 10."""

_LONGEST, _LONGEST_SENTENCE = 2_000, 400  # letters; what is longer was pasted
_MOST = 5  # orders in one message
_TOPIC_WORDS = 6
_OPENINGS = ("greeting", "important", "never_ever", "from_now", "until", "times")
_ENDINGS = ("polite", "from_now", "until", "times")
_LAYERS = 8  # openings in front of what is to be done: a greeting, "from now on", a condition, …
_APOSTROPHES = str.maketrans("’ʼ`´׳", "'''''")
_SENTENCE = re.compile(r"[^.!?…\n]++(?:[.!?…](?!\s)[^.!?…\n]*+)*+[.!?…]*+")
_QUOTED = re.compile(r"[\"“”«»„>*\-•#|]")
_SAYING = re.compile("|".join(each.orders["saying"] for each in LANGUAGES), re.IGNORECASE)
"""Words of saying, which ask for nothing: "never say never" is no order."""
_QUESTION = re.compile(r"[?¿؟]")
_NO_MESSAGE_OF_THEIR_OWN = re.compile(r"```|^\s{0,3}>|^-{2,}\s?Forwarded", re.MULTILINE | re.IGNORECASE)
_PART = re.compile("«(\\w+)»")
_END = r"[.!…]{0,5}\Z"
_CLOCK = r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?\s?(?P<half>[ap]\.?m\b\.?)?"


class OrderWords(SimpleNamespace):
    """Patterns of `orders` in a language's file, held against the beginning of what is left of a sentence.

    The patterns of `…_end` end the sentence, and so does `unless`. `topic` ends before the topic; `whenever` is a
    condition that only a model can read, up to its comma. `never_ever` says both that it is important and that it must
    not be. `wanted` is what an assistant is told to do where it is plain that it is meant to last, `answering` how to
    answer, and `lasting` says by itself that it is meant to last. `more` is a request of another kind, behind the
    order; `releases` say that an order is over, of something that it was about.
    """


_CLOCK_2 = re.sub("(hour|minute|half)>", r"\g<1>2>", _CLOCK)


def _words_of(language: Language) -> OrderWords:
    cells = language.orders
    names, days = MONTH_NAMES[language.name], WEEKDAY_NAMES[language.name]
    parts = cells["parts"] | {
        "months": "|".join(names).lower(),
        "weekdays": "|".join(form for form, day in WEEKDAY_NUMBERS.items() if days[day][:2] == form[:2]),
        "end": _END,
        "clock": _CLOCK,
        "clock_2": _CLOCK_2,
    }

    def pattern(cell: str) -> re.Pattern[str]:
        while _PART.search(cell):
            cell = _PART.sub(lambda found: parts[found[1]], cell)
        return re.compile(cell, re.IGNORECASE | re.VERBOSE)

    others = ("parts", "never", "units", "ends", "no_last_word", "saying", "releases")
    return OrderWords(
        **{name: pattern(cell) for name, cell in cells.items() if name not in others},
        releases=tuple(map(pattern, cells["releases"])),
        language=language,
        never=cells["never"],
        numbers={**language.numbers, "a": 1, "an": 1},
        units={word: unit for unit, cell in cells["units"].items() for word in cell.split("|")},
        periods=cells["ends"],
        no_last_word=words_of(cells["no_last_word"]),
    )


Ending = Callable[[datetime], datetime]
"""The instant from which on an order that was said at another, in the person's own time zone, holds no more.

Days are ended with the last one included: "until Friday" goes on through Friday.
"""


@dataclass(frozen=True)
class Spoken:
    """One order. `text` is what to do; `quote` the sentence it is from, as it was written.

    `condition` is in the language of standing instructions' conditions; `priority` is set where it was said how much it
    matters. `names` says that it is about what to call the person: also a fact about them.
    """

    text: str
    quote: str
    condition: str | None = None
    priority: int | None = None
    until: Ending | None = None
    names: bool = False

    def ends(self, at: datetime) -> datetime | None:
        """Return the instant when an order said at `at`, in the person's own time zone, ends; None for
        one without an end.
        """
        return None if self.until is None else self.until(at)


def instruction_in(text: str) -> Spoken | None:
    """Return the first order in a message; None where it holds none."""
    return next(iter(instructions_in(text)), None)


def instructions_in(text: str) -> list[Spoken]:
    """Return every order in a message, five at most, in the order in which they were given."""
    if len(text) > _LONGEST or _NO_MESSAGE_OF_THEIR_OWN.search(text):
        return []
    found: list[Spoken] = []
    for sentence in _SENTENCE.findall(text):
        if len(found) == _MOST:
            break
        if _SAYING.search(sentence):
            continue
        order = _order_in(sentence.strip(), plainly=False)
        if order is not None:
            found.append(order)
    return found


def order_of(text: str) -> Spoken | None:
    """Return the order that a text is known to be: its condition, priority and end are taken out of it.

    None where nothing but the order itself would be left out.
    """
    if len(text) > _LONGEST_SENTENCE or "\n" in text.strip():
        return None
    return _order_in(text.strip(), plainly=True)


def released_in(text: str) -> list[str]:
    """Return the topics of orders that a message takes back, one a sentence: "emojis" of "you can use emojis again".

    Such words mean an order only where one about the topic stands: "you can use the car again" ends none.
    """
    if len(text) > _LONGEST or _NO_MESSAGE_OF_THEIR_OWN.search(text):
        return []
    found = []
    for sentence in _SENTENCE.findall(text)[:_MOST]:
        said = " ".join(sentence.translate(_APOSTROPHES).split()).strip(" .,!…")
        for release in _RELEASES:
            if not _QUESTION.search(sentence) and (match := release.fullmatch(said)):
                found.append(match["topic"].strip(" ,"))
                break
    return found


@dataclass
class _Reading:
    """The rest of a sentence, and the parts that were cut off it."""

    rest: str
    words: OrderWords
    stands: bool = False
    """True where something said that the order is to last."""
    conditions: list[str] = field(default_factory=list)
    priority: int | None = None
    until: Ending | None = None
    forbids: bool = False

    def cut_openings(self) -> None:
        for _ in range(_LAYERS):
            if not (any(self._cut(part, last=False) for part in _OPENINGS) or self._topic()):
                return

    def cut_endings(self) -> None:
        for _ in range(_LAYERS):
            if not any(self._cut(part, last=True) for part in _ENDINGS):
                break
        if found := self.words.unless.search(self.rest):
            self.conditions.append(f"not {_about(found['topic'], self.words)}")
            self.rest = self.rest[: found.start()]

    def _cut(self, part: str, *, last: bool) -> bool:
        """Take one part off the beginning or the end; return False where there is none that can be read."""
        pattern: re.Pattern[str] = getattr(self.words, f"{part}_end" if last else part)
        found = pattern.search(self.rest) if last else pattern.match(self.rest)
        if found is None or not found[0]:
            return False
        if part == "until":
            until = _until(found, self.words)
            if until is None:
                return False
            self.until = until
        elif part == "times":
            condition = _times(found)
            if condition is None:
                return False
            self.conditions.append(condition)
        self.stands |= part in ("from_now", "never_ever")
        self.forbids |= part == "never_ever"
        if part in ("important", "never_ever"):
            self.priority = MOST_IMPORTANT
        self.rest = self.rest[: found.start()] if last else self.rest[found.end() :]
        return True

    def _topic(self) -> bool:
        found = self.words.topic.match(self.rest)
        if found is None:
            return False
        for topic, order in self._split_topic(self.rest[found.end() :]):
            if any(each.match(order) for each in (self.words.wanted, self.words.until, self.words.times)):
                self.conditions.append(_about(topic, self.words))
                self.stands, self.rest = True, order
                return True
        return False

    def _split_topic(self, text: str) -> Iterator[tuple[str, str]]:
        """Give (topic, order): split at the first comma, else behind each of the first words."""
        before, comma, after = text.partition(",")
        if comma and len(before.split()) <= _TOPIC_WORDS:
            yield before, self.words.then.sub("", after, count=1)
            return
        words = text.split(" ")
        for many in range(1, min(len(words), _TOPIC_WORDS + 1)):
            if words[many - 1].casefold() not in self.words.no_last_word:
                yield " ".join(words[:many]), self.words.then.sub("", " ".join(words[many:]), count=1)


def _order_in(sentence: str, *, plainly: bool) -> Spoken | None:
    """Return the order in a sentence; with `plainly` it is known that the sentence is one."""
    if not sentence or len(sentence) > _LONGEST_SENTENCE or _QUOTED.match(sentence):
        return None
    plain = " ".join(sentence.translate(_APOSTROPHES).split())
    for words in _ORDER_WORDS:
        if words.letters.search(plain) and (found := _read(_Reading(plain, words), sentence, plainly=plainly)):
            return found
    return None


def _read(reading: _Reading, sentence: str, *, plainly: bool) -> Spoken | None:
    words = reading.words
    reading.cut_openings()
    if not plainly and not words.whenever.match(reading.rest) and (more := words.more.search(reading.rest)):
        reading.rest = reading.rest[: more.start()]
    reading.cut_endings()
    text = reading.rest.strip(" ,;:")
    if not text or _QUESTION.search(text):
        return None
    if plainly:
        if not (reading.stands or reading.conditions or reading.until or reading.priority):
            return None
    elif not _lasts(reading, text):
        return None
    if reading.forbids and not text.startswith(words.never):
        text = f"{words.never} {text.removeprefix('אל ')}"
    return Spoken(
        _as_written(text, sentence),
        sentence,
        " and ".join(reading.conditions) or None,
        reading.priority,
        reading.until,
        names=words.names.match(text) is not None,
    )


def _lasts(reading: _Reading, text: str) -> bool:
    """Tell whether it is an order for more than this once."""
    words = reading.words
    if words.lasting.match(text) or (reading.stands and words.wanted.match(text)) or _whenever(text, words):
        return True
    return bool(reading.until or reading.conditions) and words.answering.match(text) is not None


def _whenever(text: str, words: OrderWords) -> bool:
    """Tell whether a text begins with a condition that only the model can read: it stays in the text."""
    found = words.whenever.match(text)
    return found is not None and words.wanted.match(text[found.end() :]) is not None


def _as_written(text: str, sentence: str) -> str:
    """Return the text with the apostrophes of the sentence, where the sentence holds it as it is."""
    flat = " ".join(sentence.split())
    at = flat.translate(_APOSTROPHES).find(text)
    return text if at < 0 else flat[at : at + len(text)]


def _about(topic: str, words: OrderWords) -> str:
    topic = topic.replace('"', "").strip(" ,.'“”")
    while (found := words.determiner.match(topic)) is not None:
        topic = topic[found.end() :]
    return f'topic is "{topic}"'


def _until(found: re.Match[str], words: OrderWords) -> Ending | None:
    """Return the end that a text gives; None for a date that does not exist."""
    said = {name.rstrip("234"): value.casefold() for name, value in found.groupdict().items() if value}

    def ends(at: datetime) -> datetime:
        today = at.replace(hour=0, minute=0, second=0, microsecond=0)
        if "many" in said or "one" in said:
            many = said.get("many", "")
            unit = words.units[said.get("unit") or said["one"]]
            count = int(many) if many.isdecimal() else words.numbers[many] if many else 1
            span = timedelta(days=30 * count) if unit == "months" else timedelta(**{unit: count})
            return at + span if unit in ("minutes", "hours") else today + span + timedelta(days=1)
        if "today" in said:
            return today + timedelta(days=1)
        if "iso" in said:
            return datetime.combine(date.fromisoformat(said["iso"]), time.min, at.tzinfo) + timedelta(days=1)
        if period := said.get("period") or said.get("next"):
            unit = next(unit for unit, spelling in words.periods.items() if spelling in period)
            return after(moved(today, unit, 0), unit)
        until = f"{' '.join(next(iter(words.language.times['until'])))} {said['last']}"
        (sentence,) = sentences(until, words.language)
        return moments(sentence.tokens, words.language, at, ahead=True)[0].end

    try:
        ends(datetime(2023, 1, 1))  # noqa: DTZ001 - any day of a year without 29 February will do
    except (ValueError, KeyError, IndexError):
        return None
    return ends


def _times(found: re.Match[str]) -> str | None:
    """Return the condition that a text gives on the time; None for a time that no clock shows."""
    said = {name.rstrip("2"): value.casefold() for name, value in found.groupdict().items() if value}
    if "weekend" in said:
        return "day is weekend"
    if "weekday_" in said:
        return "day is weekday"
    if "on" in said:
        number = WEEKDAY_NUMBERS[said["on"]]
        return f"day is {next(name for name, day in WEEKDAY_NUMBERS.items() if day == number)}"
    if "first" in said:
        first, last = (_clock(*re.findall(r"(\d+)(?::(\d\d))?\s?([ap]?)", said[each])[0]) for each in ("first", "last"))
        return f"time between {first} and {last}" if first and last else None
    at = _clock(said["hour"], said.get("minute"), said.get("half"))
    return at and f"time {'after' if 'after' in said else 'before'} {at}"


def _clock(hour: str, minute: str | None, half: str | None) -> str | None:
    at = int(hour) % 12 + (12 if half.startswith("p") else 0) if half else int(hour)
    return f"{at:02}:{minute or '00'}" if at < 24 and int(minute or 0) < 60 else None


_ORDER_WORDS = tuple(map(_words_of, sorted(LANGUAGES, key=lambda each: each.name != "he")))
_RELEASES = tuple(release for each in _ORDER_WORDS for release in each.releases)
