"""Durations as people write them: 45s, 30m, 24h, 7d, combined as 1h30m, a number of seconds, or never."""

import re
from datetime import timedelta
from typing import Any

EXPECTED = "a duration such as 45s, 30m, 24h, 7d or PT30M"

_NEVER = ("never", "none")
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_WRITTEN = re.compile(
    r"(?=.)(?:(?P<d>\d{1,6})d)?\s*+(?:(?P<h>\d{1,8})h)?\s*+(?:(?P<m>\d{1,9})m)?\s*+(?:(?P<s>\d{1,10}(?:\.\d{1,6})?)s?)?",
    re.IGNORECASE | re.ASCII,
)


def duration(given: Any) -> Any:
    """Return a timedelta for a text that is a duration; any other value comes back as it was given. Raises ValueError
    for true and false, which are numbers to Python.
    """
    if isinstance(given, bool):
        raise ValueError(f"{EXPECTED} is expected")  # noqa: TRY004 - pydantic reports it
    if not isinstance(given, str) or (found := _WRITTEN.fullmatch(given.strip())) is None:
        return given
    return timedelta(**{_UNITS[unit]: float(number) for unit, number in found.groupdict().items() if number})


def none_if_never(given: Any) -> Any:
    return None if isinstance(given, str) and given.strip().casefold() in _NEVER else given
