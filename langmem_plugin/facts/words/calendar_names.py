"""What the months and the days of the week are called, by language and in their order."""

from typing import Final

from langmem_plugin.facts.words.language_table import numbered

MONTH_NAMES: Final = {
    "en": [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    "es": [
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ],
    "he": ["ינואר", "פברואר", "מרץ", "אפריל", "מאי", "יוני", "יולי", "אוגוסט", "ספטמבר", "אוקטובר", "נובמבר", "דצמבר"],
}
MONTHS_IN_SHORT: Final = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
"""In English."""

WEEKDAY_NAMES: Final = {
    "en": ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
    "es": ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"],
    "he": ["שני", "שלישי", "רביעי", "חמישי", "שישי", "שבת", "ראשון"],
}
"""From Monday on. In Hebrew after the word for "day"."""

WITHOUT_ACCENTS: Final = {"miércoles": "miercoles", "sábado": "sabado"}

_ALSO: Final = {"september": "sept", "septiembre": "setiembre", "מרץ": "מרס"}
_WEEKDAYS_IN_SHORT: Final = {
    "monday": "mon",
    "tuesday": "tues|tue",
    "wednesday": "wed",
    "thursday": "thurs|thu",
    "friday": "fri",
    "saturday": "sat",
    "sunday": "sun",
}


def months(language: str) -> dict[str, int]:
    """Every plain form of a month with its number, from 1."""
    names = [name.casefold() for name in MONTH_NAMES[language]]
    short = MONTHS_IN_SHORT if language == "en" else names
    return numbered(*("|".join([name, *_also(name), brief]) for name, brief in zip(names, short, strict=True)), start=1)


def weekdays(language: str) -> dict[str, int]:
    """Every plain form of a day with its number; 0 is Monday."""
    names = (WITHOUT_ACCENTS.get(name, name) for name in WEEKDAY_NAMES[language])
    return numbered(*("|".join([name, *_WEEKDAYS_IN_SHORT.get(name, "").split("|")]).strip("|") for name in names))


def _also(name: str) -> list[str]:
    return [_ALSO[name]] if name in _ALSO else []
