"""The days that a question names, in a time zone: "in May", "3 October 2026", "la semana pasada", "אתמול"."""

import calendar
import json
import re
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from importlib.resources import files
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.languages.calendar_names import MONTH_NAMES, MONTHS_IN_SHORT, WEEKDAY_NAMES, WEEKDAY_NUMBERS
from langmem_plugin.memory.keep.changes_and_checksums import microseconds

Span: TypeAlias = tuple[date, date]  # the first and the last day

_WORDS: dict[str, str] = json.loads(files(__package__).joinpath("date_words.json").read_text("utf-8"))
# "What did I say on Monday?" looks back; "what do I have on Monday?" and "what is for dinner today?" do not. A day that
# comes again every year, or something that goes on from a day, is not over after it.
_SAID = {name: re.compile(pattern) for name, pattern in _WORDS.items()}
_MONTH = {
    name.lower(): number for names in (*MONTH_NAMES.values(), MONTHS_IN_SHORT) for number, name in enumerate(names, 1)
}
# These are also names and other words: they need a preposition or a number beside them.
_UNSURE = {*MONTHS_IN_SHORT, *_WORDS["unsure"].split()}
_NAMED = re.compile(
    r"(?:\b(?P<before>in|of|on|since|during|until|by|last|this|early|late|mid|en|de|desde|hasta|durante|este)\s+)?"
    r"(?:\b(?P<day>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+|de\s+)?)?"
    rf"\b(?:(?P<within>ב)|[למה])?(?P<month>{'|'.join(sorted(_MONTH, key=len, reverse=True))})\b"
    r"(?:\s+(?P<day_after>\d{1,2})(?:st|nd|rd|th)?\b)?"
    r"(?:,?\s+(?:of\s+|del?\s+)?(?P<year>(?:19|20)\d\d)\b)?"
)
_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b")
_HEBREW_DAY = "|".join(WEEKDAY_NAMES["he"])
_DAY = "|".join(name for name in WEEKDAY_NUMBERS if name not in WEEKDAY_NAMES["he"])
_WEEKDAY = re.compile(
    r"\b(?:(?P<last>last|past)\s+|on\s+|el\s+(?:(?P<pasado>pasado)\s+)?)?"
    rf"\b(?P<day>{_DAY})\b"
    rf"(?:\s+(?P<after>pasado)\b)?|\b(?:[בה]?יום\s+(?P<hebrew>{_HEBREW_DAY})|[בה](?P<sabbath>שבת))\b"
    r"(?:\s+(?P<gone>שעבר|שעברה|האחרון|האחרונה)\b)?"
)
_A_YEAR = timedelta(days=366)

_LATE = 14.0  # days: people tell of a thing for a week or two afterwards,
_EARLY = 3.0  # and of plans just before
_MICROSECONDS_A_DAY = 86_400_000_000
_FIRST = date(1970, 1, 1)


def nearness(question: str, now: datetime, said_at: NDArray[np.int64]) -> NDArray[np.float32] | None:
    """Return how near each instant, in microseconds since 1970, is to the days that `question` names; None without any.

    1 within them, less with every day before or after. Days are those of the zone `now` is in. A month without a year
    is that of each year.
    """
    if not len(said_at):
        return None
    years = range(_year(said_at.min()) - 1, _year(said_at.max()) + 2)
    spans = named(question.casefold(), now.date(), years)
    if not spans:
        return None
    near = np.zeros(len(said_at), dtype=np.float32)
    for first, last in spans:
        begin, end = _midnight(first, now), _midnight(last + timedelta(days=1), now)
        late = np.maximum((said_at - end) // _MICROSECONDS_A_DAY + 1, 0)
        early = np.maximum((begin - said_at + _MICROSECONDS_A_DAY - 1) // _MICROSECONDS_A_DAY, 0)
        near = np.maximum(near, np.exp(-late / _LATE - early / _EARLY).astype(np.float32))
    return near


def named(question: str, today: date, years: Iterable[int]) -> list[Span]:
    """Return the spans of days in `question`, in small letters; `years` are for a date without a year.

    A year counts for the dates before it too: "between 11 August and 15 August 2026".
    """
    spans = [span for year, month, day in _ISO.findall(question) for span in _span(int(year), int(month), int(day))]
    for found in reversed(list(_NAMED.finditer(question))):
        day = int(found["day"] or found["day_after"] or 0)
        if found["month"] in _UNSURE and not (found["before"] or found["within"] or day or found["year"]):
            continue
        if found["year"]:
            years = [int(found["year"])]
        spans += [span for year in years for span in _span(year, _MONTH[found["month"]], day)]
    looks_back = _SAID["looks back"].search(question) is not None
    for words, days_ago in ((_SAID["today"], 0), (_SAID["yesterday"], 1), (_SAID["day before"], 2)):
        if words.search(question) and (days_ago or looks_back):
            spans.append((today - timedelta(days=days_ago), today - timedelta(days=days_ago)))
    spans += _weekdays(question, today, looks_back=looks_back)
    if looks_back and _SAID["this week"].search(question):
        spans.append((today - timedelta(days=today.weekday()), today))
    if _SAID["last week"].search(question):
        monday = today - timedelta(days=today.weekday() + 7)
        spans.append((monday, monday + timedelta(days=6)))
    if _SAID["last month"].search(question):
        end = today.replace(day=1) - timedelta(days=1)
        spans.append((end.replace(day=1), end))
    return spans


def is_over(text: str, told: date, today: date) -> bool:
    """Tell whether a text names a coming day that has passed since, and nothing that repeats or goes on from it.

    A day without a year is the first such day from when it was told on.
    """
    text = text.casefold()
    if told >= today or _SAID["goes on"].search(text):
        return False
    ahead = [span for span in named(text, told, (told.year, told.year + 1)) if told < span[0] <= told + _A_YEAR]
    for words, days in ((_SAID["tonight"], 0), (_SAID["tomorrow"], 1)):
        if words.search(text):
            ahead.append((told + timedelta(days=days), told + timedelta(days=days)))
    return bool(ahead) and max(last for _, last in ahead) < today


def without_days(question: str) -> str:
    """Return the rest of `question`, in small letters."""
    said = (_SAID[name] for name in ("day before", "yesterday", "today", "last week", "last month", "this week"))
    for days in (_ISO, _NAMED, *said, _WEEKDAY):
        question = days.sub(" ", question)
    return question


def _weekdays(question: str, today: date, *, looks_back: bool) -> list[Span]:
    """Return the newest day of each name that is over or going on; on a Monday "on Monday" may be a
    week ago as well.
    """
    if _SAID["repeated"].search(question):
        return []
    spans = []
    for found in _WEEKDAY.finditer(question):
        last = bool(found["last"] or found["pasado"] or found["after"] or found["gone"])
        if not (last or looks_back):
            continue
        number = WEEKDAY_NUMBERS[found["day"] or found["hebrew"] or found["sabbath"]]
        ago = (today.weekday() - number) % 7
        days = {7} if ago == 0 and last else {0, 7} if ago == 0 else {ago}
        spans += [(today - timedelta(days=each), today - timedelta(days=each)) for each in days]
    return spans


def _span(year: int, month: int, day: int) -> list[Span]:
    """Return the day, or the whole month for day 0; nothing for a day that no calendar has."""
    try:
        return [(date(year, month, day or 1), date(year, month, day or calendar.monthrange(year, month)[1]))]
    except ValueError:
        return []


def _year(instant: int) -> int:
    return (_FIRST + timedelta(days=int(instant) // _MICROSECONDS_A_DAY)).year


def _midnight(day: date, now: datetime) -> int:
    """Return the begin of the day in the zone of `now`, in microseconds since 1970."""
    return microseconds(datetime.combine(day, time(), now.tzinfo))
