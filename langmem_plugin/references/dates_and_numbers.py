"""The dates, times, weekdays and numbers of a text, in one form."""

import re
from datetime import date

from langmem_plugin.references.tokens import PREFIXES, normal, word_atoms
from langmem_plugin.references.words import LANGUAGES

_WEEKDAYS = {form: number for language in LANGUAGES for form, number in language.weekdays.items()}
_WEEKDAY_PHRASES = {form: number for form, number in _WEEKDAYS.items() if " " in form}
_MONTHS = {form: number for language in LANGUAGES for form, number in language.months.items()}
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
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


def atoms(text: str) -> frozenset[str]:
    """Return everything in a text that can be compared with another text: words and typed values."""
    return word_atoms(text) | typed_atoms(text)


def typed_atoms(text: str) -> set[str]:
    """Return clock times (`t:minutes`), dates (`d:month-day`), weekdays (`w:0` is Monday) and numbers (`n:12`) said in
    a text.
    """
    low = normal(text)
    found = _weekday_atoms(low)
    if not _DIGIT.search(low):
        return found
    for month_day in _ISO.findall(low):
        found |= _date_atoms(*map(int, month_day))
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
            month, day = (first, second) if int(first) <= 12 else (second, first)
            found |= _date_atoms(int(year) if len(year) == 4 else 0, int(month), int(day))
        low = _SLASHED.sub(" ", low)
    for day, month, month_first, day_last in _DAY_MONTH.findall(low) if len(low) > 4 else ():
        found |= _date_atoms(0, _MONTHS[month or month_first], int(day or day_last))
    for figure in _NUMBER.findall(low):
        number = float(figure.replace(",", ""))
        found.add(f"n:{int(number)}" if number.is_integer() else f"n:{number:g}")
    return found


def _weekday_atoms(low: str) -> set[str]:
    numbers = {number for form, number in _WEEKDAY_PHRASES.items() if form in low}
    for word in _LETTERS.findall(low):
        forms = (word, word.removesuffix("s"), word[1:] if word[0] in PREFIXES else "")
        number = next((_WEEKDAYS[form] for form in forms if form in _WEEKDAYS), None)
        if number is not None:
            numbers.add(number)
    return {f"w:{number}" for number in numbers}


def _date_atoms(year: int, month: int, day: int) -> set[str]:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return set()
    try:
        weekday = {f"w:{date(year, month, day).weekday()}"} if year else set()
    except ValueError:
        return set()
    return {f"d:{month}-{day}", *weekday}
