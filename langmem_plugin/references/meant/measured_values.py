"""A field's value as a number that can be compared: money, time of day, date, duration, rating, quantity."""

import re
from datetime import date

from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.text.tokens import normal
from langmem_plugin.references.words import phrases

_MINUTES = {
    "s": 1 / 60,
    "sec": 1 / 60,
    "second": 1 / 60,
    "m": 1,
    "min": 1,
    "minute": 1,
    "minuto": 1,
    "דקות": 1,
    "דקה": 1,
    "h": 60,
    "hr": 60,
    "hour": 60,
    "hora": 60,
    "שעה": 60,
    "שעות": 60,
    "d": 1440,
    "day": 1440,
    "dia": 1440,
    "week": 10080,
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DURATION = re.compile(r"(?<!\d)(\d+(?:[.,]\d+)?)\s*+([a-z\u05d0-\u05ea]+?)s?(?![a-z\u05d0-\u05ea])")
_ISO_DURATION = re.compile(r"^pt?(?:(\d{1,9})d)?t?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?\s*(am|pm)?|(\d{1,2})\s*(am|pm)")
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_DATED = frozenset(phrases("year|released|release|published|date|recorded|created|built|born"))
_WRITTEN_DATE = re.compile(
    r"(?:(\d{1,2})\s+)?(" + "|".join(_MONTHS) + r")[a-z]*+\.?\s*+(?:(\d{1,2})(?:st|nd|rd|th)?)?(?:,?\s*+(\d{4}))?"
)
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_EASE = {
    "very easy": 0,
    "easy": 1,
    "facil": 1,
    "קל": 1,
    "beginner": 1,
    "simple": 1,
    "low": 1,
    "cheap": 1,
    "inexpensive": 1,
    "budget": 1,
    "small": 1,
    "medium": 2,
    "moderate": 2,
    "intermediate": 2,
    "mid": 2,
    "average": 2,
    "בינוני": 2,
    "media": 2,
    "hard": 3,
    "difficult": 3,
    "advanced": 3,
    "high": 3,
    "expensive": 3,
    "dificil": 3,
    "large": 3,
    "קשה": 3,
    "pricey": 3,
    "very expensive": 4,
    "expert": 4,
}


def year_of(entry: ItemEntry) -> int | None:
    """The year an item is from, by a date-like field, else the first year in its texts."""
    texts: list[str] = []
    for name, words in entry.fields.items():
        text = str(entry.field_value(name))
        if words & _DATED:
            texts.insert(0, text)
        else:
            texts.append(text)
    for text in texts:
        found = _YEAR.search(text)
        if found:
            return int(found.group())
    return None


def measure(value: object) -> float | None:
    """A comparable number for money, durations (minutes), clock times (minutes), dates (days), ratings and
    levels.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, (list, tuple)):
        return float(len(value))
    if isinstance(value, dict):
        for key in ("amount", "value", "price", "total", "minutes", "datetime", "date"):
            if key in value:
                return measure(value[key])
        return None
    text = normal(str(value)).strip()
    if text in _EASE:
        return float(_EASE[text])
    if text and set(text) <= {"$", "€", "₪", "£", "★", "⭐"}:
        return float(len(text))
    if text in ("free", "gratis", "חינם"):
        return 0.0
    day = _DATE.search(text)
    clock = _CLOCK.search(_DATE.sub(" ", text).replace("t", " "))
    if day:
        try:
            days = date(int(day[1]), int(day[2]), int(day[3])).toordinal()
        except ValueError:
            return None
        return days * 1440 + (_minutes(clock) if clock else 0)
    written = _WRITTEN_DATE.search(text)
    if written and (written[1] or written[3] or written[4]):
        clock_part = _minutes(clock) if clock else 0
        number_of_day = int(written[1] or written[3] or 1)
        return (int(written[4] or 0) * 372 + _MONTHS.index(written[2]) * 31 + number_of_day) * 1440.0 + clock_part
    year = _YEAR.search(text)
    if year and len(text) > 4 and not clock and not text.replace(".", "").isdigit():
        return int(year.group()) * 372 * 1440.0
    iso = _ISO_DURATION.match(text)
    if iso and any(iso.groups()):
        days_, hours, minutes, seconds = (int(part or 0) for part in iso.groups())
        return days_ * 1440 + hours * 60 + minutes + seconds / 60
    if clock:
        return _minutes(clock)
    durations = [
        (float(number.replace(",", ".")), unit) for number, unit in _DURATION.findall(text) if unit in _MINUTES
    ]
    if durations:
        return sum(number * _MINUTES[unit] for number, unit in durations)
    number = _NUMBER.search(text)
    return float(number.group().replace(",", "")) if number else None


def _minutes(clock: re.Match[str]) -> float:
    hour = int(clock[1] or clock[4])
    half = clock[3] or clock[5]
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return float(hour * 60 + int(clock[2] or 0))
