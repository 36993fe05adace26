"""The time at which something holds: the days, months and years of a sentence, made absolute from when it was said."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Final, Literal

from babel.dates import format_date

from langmem_plugin.facts.sentence_splitting import Token
from langmem_plugin.facts.value_comparison import number
from langmem_plugin.languages.language_words import Language, Phrases

Unit = Literal["day", "week", "month", "year"]
_Kind = Literal["at", "since", "until"]
_KINDS: Final[tuple[_Kind, ...]] = ("since", "until", "at")
_UNITS: Final[tuple[Unit, ...]] = ("day", "week", "month", "year")
_A_RANGE: Final = 3
_UP_TO: Final = ("-", "to", "al", "a", "עד")
_LETTERS: Final[dict[str, Unit]] = {"d": "day", "w": "week", "m": "month", "y": "year"}


@dataclass(frozen=True)
class Moment:
    """A time that a sentence names: the tokens `first` up to `last` name the time from `start` until before `end`;
    `text` says it absolutely.
    """

    first: int
    last: int
    start: datetime
    end: datetime
    kind: _Kind
    text: str


@dataclass(frozen=True)
class _Date:
    used: int
    start: datetime
    unit: Unit
    needs_preposition: bool = False
    through: datetime | None = None
    """The last day of several: "3-10 July"."""


def moments(tokens: Sequence[Token], language: Language, said_at: datetime, *, ahead: bool) -> list[Moment]:
    """Return every time named; a month or a weekday alone is the next one if `ahead`, else the last."""
    today = said_at.replace(hour=0, minute=0, second=0, microsecond=0)
    found: list[Moment] = []
    place = 0
    while place < len(tokens):
        moment = _moment(tokens, place, language, today, ahead=ahead)
        if moment is None:
            place += 1
        else:
            found.append(moment)
            place = moment.last
    return found


def _moment(tokens: Sequence[Token], place: int, language: Language, today: datetime, *, ahead: bool) -> Moment | None:
    words = [token.plain for token in tokens[place : place + 9]]
    kind: _Kind = "at"
    skipped = 0
    for named in _KINDS:
        used = language.times[named].begin(words)
        if used:
            kind, skipped = named, used
            break
    if skipped and words[skipped : skipped + 1] in (["the"], ["el"], ["-"], ["la"]):
        skipped += 1
    if language.name == "he" and not skipped and words[0][:1] in "במ" and len(words[0]) > 1:
        kind = "since" if words[0][0] == "מ" else "at"
        date = _date([words[0][1:], *words[1:]], language, today, ahead=ahead and kind != "since")
        if date is not None and words[0][1:] in (*language.months, *language.weekdays):
            return _made(date, place, place + date.used, kind, language)
    date = _date(words[skipped:], language, today, ahead=(ahead or kind == "until") and kind != "since")
    if date is None and skipped:
        date, skipped, kind = _date(words, language, today, ahead=ahead), 0, "at"
    if date is None or (date.needs_preposition and not skipped):
        return None
    return _made(date, place, place + skipped + date.used, kind, language)


def _made(date: _Date, first: int, last: int, kind: _Kind, language: Language) -> Moment:
    return Moment(
        first, last, date.start, after(date.through or date.start, date.unit), kind, _said(date, kind, language)
    )


def _date(words: Sequence[str], language: Language, today: datetime, *, ahead: bool) -> _Date | None:
    if not words:
        return None
    used = language.times["week of"].begin(words)
    day = _calendar(words[used:], language, today, ahead=ahead) if used else None
    if day is not None and day.unit == "day":
        return replace(day, used=used + day.used, unit="week")
    return (
        _fixed(words, language, today) or _ago(words, language, today) or _calendar(words, language, today, ahead=ahead)
    )


def _fixed(words: Sequence[str], language: Language, today: datetime) -> _Date | None:
    """Return the time that fixed words name: "yesterday", "last month", "el año pasado"."""
    known = _fixed_times(language)
    used = known[0].begin(words)
    if used:
        named = known[1][tuple(words[:used])]
        return _Date(used, moved(today, _LETTERS[named[-1]], int(named[:-1])), _LETTERS[named[-1]])
    for named, step in (("last", -1), ("next", 1)):
        used = language.times[named].begin(words)
        day = language.weekdays.get(words[used]) if 0 < used < len(words) else None
        if day is not None:
            days = (day - today.weekday()) % 7 or 7
            return _Date(used + 1, today + timedelta(days=days if step > 0 else days - 7 or -7), "day")
    return None


@cache
def _fixed_times(language: Language) -> tuple[Phrases, Mapping[tuple[str, ...], str]]:
    """Return the phrases that name a time, and the time of each as in "-1d"."""
    named = {cell: name for name, cells in language.times.items() if name[-1] in _LETTERS for cell in cells}
    named = {cell: name for cell, name in named.items() if name[:-1].lstrip("-").isdigit()}
    return Phrases(named), named


def _ago(words: Sequence[str], language: Language, today: datetime) -> _Date | None:
    """Return the time so long ago: "two years ago", "hace tres meses", "לפני 3 שנים"."""
    before = language.times["before"].begin(words)
    counted = number(words[before:])
    if counted is None and words[before : before + 1] == ["a"]:
        counted = (1, 1)
    if counted is None or counted[0] > 1000:
        return None
    at = before + counted[1]
    for unit in _UNITS:
        used = language.times[unit].begin(words[at:])
        after = language.times["ago"].begin(words[at + used :]) if used else 0
        if used and (before or after):
            return _Date(at + used + after, moved(today, unit, -int(counted[0])), unit)
    return None


def _calendar(words: Sequence[str], language: Language, today: datetime, *, ahead: bool) -> _Date | None:
    """Return the time that a calendar's words name: "3 May 2026", "May 3rd", "May", "2019", "Sunday"."""
    first = words[0]
    day = _day(first)
    if day and len(words) > _A_RANGE and words[1] in _UP_TO and words[2] != first:
        last = _calendar(words[2:], language, today, ahead=ahead) if _day(words[2]) else None
        if last is not None and last.unit == "day" and day < last.start.day:
            return replace(last, used=last.used + 2, start=last.start.replace(day=day), through=last.start)
    at = 1 if day else 0
    if day and words[at : at + 1] and words[at] in ("of", "de", "ב"):
        at += 1
    said = words[at] if at < len(words) else ""
    month = language.months.get(said) or (language.months.get(said[1:]) if said[:1] == "ב" and day else None)
    if month:
        at += 1
        if not day and at < len(words) and (after := _day(words[at])):
            day, at = after, at + 1
        if at < len(words) and words[at] in ("of", "de", ","):
            at += int(at + 1 < len(words) and _year(words[at + 1]) is not None)
        year = _year(words[at]) if at < len(words) else None
        start = _month_near(today, month, ahead=ahead) if year is None else today.replace(year=year, month=month, day=1)
        if day:
            try:
                start = start.replace(day=day)
                if ahead and year is None and start < today:
                    start = start.replace(year=start.year + 1)
            except ValueError:
                return None
        plain_may = said == "may" and not day and year is None
        return _Date(at + (year is not None), start, "day" if day else "month", needs_preposition=plain_may)
    year = _year(first)
    if year is not None:
        return _Date(1, today.replace(year=year, month=1, day=1), "year", needs_preposition=True)
    weekday = language.weekdays.get(first)
    if weekday is not None:
        days = (weekday - today.weekday()) % 7
        start = today + timedelta(days=(days or 7) if ahead else days - 7 if days else 0)
        return _Date(1, start, "day", needs_preposition=True)
    return None


def _day(word: str) -> int | None:
    digits = word.rstrip("stndrh")
    return int(digits) if re.fullmatch(r"0?[1-9]|[12][0-9]|3[01]", digits) else None


def _year(word: str) -> int | None:
    return int(word) if re.fullmatch(r"(?:19|20)[0-9]{2}|2100", word) else None


def _month_near(today: datetime, month: int, *, ahead: bool) -> datetime:
    year = today.year + (1 if ahead and month < today.month else -1 if not ahead and month > today.month else 0)
    return today.replace(year=year, month=month, day=1)


def moved(today: datetime, unit: Unit, steps: int) -> datetime:
    """Return the beginning of the unit that is so many after today's."""
    if unit == "day":
        return today + timedelta(days=steps)
    if unit == "week":
        return today + timedelta(days=7 * steps - today.weekday())
    months = today.year * 12 + today.month - 1 + steps * (12 if unit == "year" else 1)
    year = min(max(months // 12, 1), 9000)
    return today.replace(year=year, month=1 if unit == "year" else months % 12 + 1, day=1)


def after(start: datetime, unit: Unit) -> datetime:
    """Return the end of the unit that begins at `start`."""
    if unit in ("day", "week"):
        return start + timedelta(days=1 if unit == "day" else 7)
    return moved(start.replace(day=1), unit, 1)


def _said(date: _Date, kind: str, language: Language) -> str:
    dated = language.dated
    body = format_date(date.through or date.start, dated[date.unit], locale=language.name)
    if date.through is not None:
        body = f"{date.start.day}-{body}"
    before = dated.get(f"{kind} {date.unit}", dated[kind])
    return f"{before}{'' if before[-1] == ' ' or not body[0].isdigit() else '-'}{body}"
