"""Clock times, dates, weekdays and numbers in a text, each in one form that can be compared."""

import re
from datetime import date

from langmem_plugin.references.text.tokens import normal
from langmem_plugin.references.words import LANGUAGES

_PREFIXES = "".join(language.prefixes for language in LANGUAGES)
_WEEKDAYS = {form: number for language in LANGUAGES for form, number in language.weekdays.items()}
_MONTHS = {form: number for language in LANGUAGES for form, number in language.months.items()}
_CLOCK = re.compile(
    r"(?<![\d:])(\d{1,2})(?:[:.](\d{2}))?(?::\d{2})?\s?(am|pm|a\.m\.?|p\.m\.?)(?![a-z])|(?<![\d:])(\d{1,2}):(\d{2})(?::\d{2})?(?!\d)",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})(?:/(\d{2,4}))?(?![\d/])")
_DAY_MONTH = re.compile(
    r"(?<![\w])(?:(\d{1,2})(?:st|nd|rd|th)?(?: of| de|) +(?:ב|ל)?({months})\b|({months})\.? +(?:the +)?(\d{1,2})"
    r"(?:st|nd|rd|th)?\b)".replace(
        "{months}", "|".join(sorted((re.escape(month) for month in _MONTHS), key=len, reverse=True))
    )
)
_HALF = re.compile(r"half past (\d{1,2})")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?")


def number_text(value: float) -> str:
    """One spelling for a number: 12, not 12.0."""
    return str(int(value)) if value.is_integer() else f"{value:g}"


def typed_atoms(text: str) -> set[str]:
    """Clock times (`t:minutes`), dates (`d:month-day`), weekdays (`w:0` is Monday) and numbers (`n:12`)
    said in a text.
    """
    low = normal(text)
    found = _weekday_atoms(low)
    if not _DIGIT.search(low):
        return found
    for month_day in _ISO.finditer(low):
        year, month, day = (int(part) for part in month_day.groups())
        found |= _date_atoms(year, month, day)
    if found:
        low = _ISO.sub(" ", low)
    if ":" in low or "m" in low:
        for hour, minute, half, hour24, minute24 in _CLOCK.findall(low):
            clock = int(hour24 or hour)
            if half:
                clock = clock % 12 + (12 if half.startswith("p") else 0)
            if clock < 25:
                found.add(f"t:{clock * 60 + int(minute24 or minute or 0)}")
        for hour in _HALF.findall(low):
            found.update((f"t:{int(hour) * 60 + 30}", f"t:{(int(hour) + 12) * 60 + 30}"))
        low = _CLOCK.sub(" ", low)
    if "/" in low:
        for first, second, year in _SLASHED.findall(low):
            found |= _date_atoms(int(year) if len(year) == 4 else 0, int(first), int(second))
            if int(first) > 12:
                found |= _date_atoms(int(year) if len(year) == 4 else 0, int(second), int(first))
        low = _SLASHED.sub(" ", low)
    for day, month, month_first, day_last in _DAY_MONTH.findall(low) if len(low) > 4 else ():
        found |= _date_atoms(0, _MONTHS[month or month_first], int(day or day_last))
    for match in _NUMBER.findall(low):
        found.add("n:" + number_text(float(match.replace(",", ""))))
    return found


_DIGIT = re.compile(r"\d")
_SINGLE_WEEKDAYS = {form: number for form, number in _WEEKDAYS.items() if " " not in form}
_WEEKDAY_PHRASES = {form: number for form, number in _WEEKDAYS.items() if " " in form}


def _weekday_atoms(low: str) -> set[str]:
    found: set[str] = set()
    for word in _LETTERS.findall(low):
        number = _SINGLE_WEEKDAYS.get(word)
        if number is None and word[-1] == "s":
            number = _SINGLE_WEEKDAYS.get(word[:-1])
        if number is None and word[0] in _PREFIXES:
            number = _SINGLE_WEEKDAYS.get(word[1:])
        if number is not None:
            found.add(f"w:{number}")
    for form, number in _WEEKDAY_PHRASES.items():
        if form in low:
            found.add(f"w:{number}")
    return found


_LETTERS = re.compile(r"[^\W\d_]+")


def _date_atoms(year: int, month: int, day: int) -> set[str]:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return set()
    found = {f"d:{month}-{day}"}
    if year:
        try:
            found.add(f"w:{date(year, month, day).weekday()}")
        except ValueError:
            return set()
    return found
