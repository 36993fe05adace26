"""The time zone of a phone number, and the one that a person means by a name or a city."""

import unicodedata
import zoneinfo
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import phonenumbers
from babel import Locale
from phonenumbers import timezone

_UNKNOWN = "Etc/Unknown"
_COUNTRIES = zoneinfo.available_timezones() & {
    *("Cuba", "Egypt", "Hongkong", "Iceland", "Iran", "Israel", "Jamaica", "Japan", "Libya", "Poland", "Portugal"),
    *("Singapore", "Turkey"),
}
_CITIES_IN = ("en", "he", "es")
# Zones are the same if they agree in every week of these years, each with both clock changes.
_FIRST, _WEEKS = datetime(2025, 1, 1, 12, tzinfo=UTC), 52 * 6


@lru_cache(maxsize=10_000)
def zone_of_phone(phone: str) -> str | None:
    """Return the zone of an E.164 number; None where its country has several that differ, or where it is no number.

    A number that was not given out yet is in the country of its first digits.
    """
    try:
        number = phonenumbers.parse(phone)
    except phonenumbers.NumberParseException:
        return None
    names = [each for each in timezone.time_zones_for_number(number) if each != _UNKNOWN]
    names = names or [each for each in timezone.time_zones_for_geographical_number(number) if each != _UNKNOWN]
    known = [each for each in names if each in zoneinfo.available_timezones()]
    return known[0] if known and len(known) == len(names) and len(set(map(_offsets, known))) == 1 else None


def zone_named(said: str) -> str | None:
    """Return the IANA name of a zone given by that name in any case, or by a city; None for anything else,
    offsets too.
    """
    return _names().get(_plain(said))


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    """Return IANA names and cities in the form in which they are compared, each with its zone."""
    # A name without a region is a country, or an abbreviation such as EST for a fixed offset; "Etc" has offsets.
    zones = {each for each in zoneinfo.available_timezones() if "/" in each and not each.startswith("Etc/")}
    found: dict[str, str] = {}
    for zone in sorted(zones):
        found.setdefault(_plain(zone.rpartition("/")[2]), zone)
    for language in _CITIES_IN:
        for zone, names in sorted(Locale(language).time_zones.items()):
            if zone in zones and "city" in names:
                found[_plain(names["city"])] = zone
    found |= {_plain(each): each for each in _COUNTRIES}
    found |= {_plain(each): each for each in zones} | {"utc": "UTC", "gmt": "UTC"}
    return found


def _plain(said: str) -> str:
    """Return the text without accents and vowel points; blanks, hyphens and underscores are the same."""
    letters = unicodedata.normalize("NFKD", said.casefold())
    kept = "".join(each for each in letters if not unicodedata.combining(each) and unicodedata.category(each) != "Cf")
    return " ".join(kept.replace("_", " ").replace("-", " ").split())


@lru_cache(maxsize=600)
def _offsets(zone: str) -> tuple[timedelta | None, ...]:
    there = ZoneInfo(zone)
    return tuple((_FIRST + timedelta(weeks=week)).astimezone(there).utcoffset() for week in range(_WEEKS))
