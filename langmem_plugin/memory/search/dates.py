"""The days that a question names: "in May", "3 October 2026", "la semana pasada", "אתמול"."""

import calendar
import re
from collections.abc import Iterable
from datetime import date, timedelta
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Span: TypeAlias = tuple[date, date]  # the first and the last day

_MONTHS = (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר",
)
_MONTH = {name: number for names in _MONTHS for number, name in enumerate(names.split(), 1)}
# Also names and other words: these need a preposition or a number beside them.
_UNSURE = {*_MONTHS[1].split(), "march", "april", "june", "mayo", "julio", "מאי", "יוני"}
_NAMED = re.compile(
    r"(?:\b(?P<before>in|of|on|since|during|until|by|last|this|early|late|mid|en|de|desde|hasta|durante|este)\s+)?"
    r"(?:\b(?P<day>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+|de\s+)?)?"
    rf"\b(?:(?P<within>ב)|[למה])?(?P<month>{'|'.join(sorted(_MONTH, key=len, reverse=True))})\b"
    r"(?:\s+(?P<day_after>\d{1,2})(?:st|nd|rd|th)?\b)?"
    r"(?:,?\s+(?:of\s+|del?\s+)?(?P<year>(?:19|20)\d\d)\b)?"
)
_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b")
_YESTERDAY = re.compile(r"\b(?:yesterday|ayer|אתמול)\b")
_LAST_WEEK = re.compile(r"\b(?:last week|semana pasada|[בה]?שבוע שעבר)\b")
_LAST_MONTH = re.compile(r"\b(?:last month|mes pasado|[בה]?חודש שעבר)\b")

_LATE = 14.0  # days: people tell of a thing afterwards, for a week or two,
_EARLY = 3.0  # and of plans just before
_MICROSECONDS_A_DAY = 86_400_000_000
_FIRST = date(1970, 1, 1)


def nearness(question: str, today: date, said_at: NDArray[np.int64]) -> NDArray[np.float32] | None:
    """How near each instant, in microseconds since 1970, is to the days that `question` names; None without any.

    1 within them, less with every day before or after. A month without a year is that of each year.
    """
    days = said_at // _MICROSECONDS_A_DAY
    if not len(days):
        return None
    years = range(_day(days.min()).year - 1, _day(days.max()).year + 1)
    spans = named(question.casefold(), today, years)
    if not spans:
        return None
    near = np.zeros(len(days), dtype=np.float32)
    for first, last in spans:
        late, early = np.maximum(days - (last - _FIRST).days, 0), np.maximum((first - _FIRST).days - days, 0)
        near = np.maximum(near, np.exp(-late / _LATE - early / _EARLY).astype(np.float32))
    return near


def named(question: str, today: date, years: Iterable[int]) -> list[Span]:
    """The spans of days in `question`, in small letters; `years` are for a date without one.

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
    if _YESTERDAY.search(question):
        spans.append((today - timedelta(days=1), today - timedelta(days=1)))
    if _LAST_WEEK.search(question):
        monday = today - timedelta(days=today.weekday() + 7)
        spans.append((monday, monday + timedelta(days=6)))
    if _LAST_MONTH.search(question):
        end = today.replace(day=1) - timedelta(days=1)
        spans.append((end.replace(day=1), end))
    return spans


def without_days(question: str) -> str:
    """The rest of `question`, in small letters."""
    for days in (_ISO, _NAMED, _YESTERDAY, _LAST_WEEK, _LAST_MONTH):
        question = days.sub(" ", question)
    return question


def _span(year: int, month: int, day: int) -> list[Span]:
    """The day, or the whole month for day 0; nothing for a day that no calendar has."""
    try:
        return [(date(year, month, day or 1), date(year, month, day or calendar.monthrange(year, month)[1]))]
    except ValueError:
        return []


def _day(number: int) -> date:
    return _FIRST + timedelta(days=int(number))
