"""The months and the days of the week by language, as Babel has them, in the forms that people type."""

from collections.abc import Mapping, Sequence
from typing import Final

from babel import Locale

from langmem_plugin.languages.text_normalization import plain

_LOCALES: Final = {language: Locale.parse(language) for language in ("en", "es", "he")}
MONTH_NAMES: Final[Mapping[str, Sequence[str]]] = {
    language: [locale.months["format"]["wide"][number] for number in range(1, 13)]
    for language, locale in _LOCALES.items()
}
MONTHS_IN_SHORT: Final = [name[:3].lower() for name in MONTH_NAMES["en"]]
"""The months' English names, cut to three letters."""
WEEKDAY_NAMES: Final[Mapping[str, Sequence[str]]] = {
    language: [locale.days["format"]["wide"][number].lower().removeprefix("יום ") for number in range(7)]
    for language, locale in _LOCALES.items()
}
"""The names of the days, from Monday on; in Hebrew after the word for "day"."""
WEEKDAY_NUMBERS: Final = {
    form: number
    for names in WEEKDAY_NAMES.values()
    for number, name in enumerate(names)
    for form in (name, plain(name))
}
"""The number of each name of a day, as it is written and without accents; 0 is Monday."""
_MONTHS_TOO: Final = {"en": {"sept": 9}, "es": {"setiembre": 9}, "he": {"מרס": 3}}
_DAYS_TOO: Final = {"tues": 1, "thurs": 3}


def months(language: str) -> dict[str, int]:
    """Return every plain form of a month with its number, from 1."""
    short = MONTHS_IN_SHORT if language == "en" else []
    found = {plain(name): number for names in (MONTH_NAMES[language], short) for number, name in enumerate(names, 1)}
    return found | _MONTHS_TOO[language]


def weekdays(language: str) -> dict[str, int]:
    """Return every plain form of a day with its number; 0 is Monday."""
    found = {plain(name): number for number, name in enumerate(WEEKDAY_NAMES[language])}
    short = {name[:3]: number for name, number in found.items()} | _DAYS_TOO
    return found | short if language == "en" else found
