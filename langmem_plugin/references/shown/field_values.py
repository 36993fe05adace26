"""What a field of an item says, in whatever notation its API prints, as values that compare with what people say."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice

from langmem_plugin.references.text.said_values import written_values
from langmem_plugin.references.text.tokens import key_words, normal, stem
from langmem_plugin.references.text.value_words import number
from langmem_plugin.references.text.values import Value, dates
from langmem_plugin.references.words.time_and_money import CURRENCIES, FREE, KEYS, LEVELS, MEASURES, MINUTES

_LONGEST_TEXT = 200
_LONGEST_LIST = 50
_SIBLINGS = 60  # fields that are looked through for a unit or a currency
_INSTANT = re.compile(
    r"(\d{4})[-/](\d\d)(?:[-/](\d\d)(?:[T ](\d\d):(\d\d)(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|[+-]\d\d:?\d\d)?)?)?",
    re.IGNORECASE,
)
_PART = r"(?:(\d{1,9}(?:\.\d{1,9})?)"
_PERIOD = re.compile(rf"P{_PART}W)?{_PART}D)?(?:T{_PART}H)?{_PART}M)?{_PART}S)?)?", re.IGNORECASE)
_FIGURE = re.compile(r"([-−(]?)\s?\+?(\d[\d.,]{0,30})\)?")
_STOPWATCH = re.compile(r"(\d{1,3}):(\d\d)(?::(\d\d))?")


def field_values(key: str, value: object, siblings: Mapping[str, object]) -> list[Value]:
    """The values of one field; `siblings` are the fields beside it, which may name its currency or unit.

    A wall time is taken as written; an epoch is in UTC. A duration without a unit is read as minutes and, after
    that, as seconds. Money keeps its sign. Both ends of a range are given. Nothing is raised.
    """
    return list(dict.fromkeys(_values(key, value, siblings)))


def _values(
    key: str, value: object, siblings: Mapping[str, object], *, inside: bool = False, listed: bool = False
) -> list[Value]:
    """`inside` and `listed` say whether the value was found in a mapping, and in a list; no other is looked into."""
    if isinstance(value, Mapping):
        named = [] if inside else [(f"{key}_{inner}", value[inner]) for inner in list(value)[:_LONGEST_LIST]]
        return [found for name, part in named for found in _values(name, part, value, inside=True)]
    if isinstance(value, (list, tuple)):
        parts = [] if listed else value[:_LONGEST_LIST]
        return [found for part in parts for found in _values(key, part, siblings, inside=inside, listed=True)]
    if isinstance(value, timedelta):
        return [Value("duration", value.total_seconds() / 60)]
    named_by = key_words(key)
    if named_by and (named_by[-1] in KEYS["nothing"] or (named_by[1:] and named_by[-1] == "number")):
        return []
    if isinstance(value, (int, float)):
        known = not isinstance(value, bool) and abs(value) < 1e18
        return _figure(key, float(value), siblings) if known else []
    if isinstance(value, (str, date, time, Decimal)):
        return _text(key, str(value).strip()[:_LONGEST_TEXT], siblings)
    return []


def _text(key: str, text: str, siblings: Mapping[str, object]) -> list[Value]:
    low = normal(text)
    if not text or low in LEVELS:
        return [Value("quantity", LEVELS[low], "level")] if text else []
    if low in FREE:
        return [Value("money", 0)]
    if len(set(text)) == 1 and text[0] in "$€£₪★⭐":
        return [Value("quantity", len(text), "star" if text[0] in "★⭐" else "level")]
    if instant := _INSTANT.fullmatch(text):
        year, month, day, hour, minute = (int(part or 0) for part in instant.groups())
        clock = [Value("time", hour * 60 + minute)] if instant[4] and hour < 24 and minute < 60 else []
        return [*dates(year, month, day or 1), *clock] if year else []
    if (period := _PERIOD.fullmatch(text)) and any(period.groups()):
        amounts = zip(period.groups(), (10080, 1440, 60, 1, 1 / 60), strict=True)
        return [Value("duration", sum(float(amount or 0) * minutes for amount, minutes in amounts))]
    if figure := _FIGURE.fullmatch(text):
        return _figure(key, number(figure[2]) * (-1 if figure[1] else 1), siblings)
    named = set(key_words(key)) - {"hora"}  # which is when
    if (watch := _STOPWATCH.fullmatch(text)) and named & (KEYS["duration"] | MINUTES.keys()):
        first, second, third = (int(part or 0) for part in watch.groups())
        long = Value("duration", first * 60 + second + third / 60)
        return [long] if watch[3] else [Value("duration", first + second / 60), long]
    found: list[Value] = []
    for value in written_values(text):
        if value.kind == "quantity" and not value.unit:
            found += _figure(key, value.amount, siblings)
        elif value.kind == "money" and not value.unit:
            found.append(replace(value, unit=_currency(key, siblings)))
        else:
            found.append(value)
    if text[0] in "-−(" and found and found[0].amount > 0:
        found[0] = replace(found[0], amount=-found[0].amount)
    return [replace(value, span=(0, 0)) for value in found]


def _figure(key: str, figure: float, siblings: Mapping[str, object]) -> list[Value]:
    """A number, by what its key and the fields beside it say of it."""
    if not math.isfinite(figure):
        return []
    ordered = key_words(key) or ("",)
    named, last = set(ordered), ordered[-1]
    if abs(figure) >= 1e7 and named & KEYS["moment"]:
        return _epoch(figure)
    unit = _beside("unit", siblings)
    currency = _currency(key, siblings)
    if unit and last in KEYS["amount"] and not currency:
        return [replace(value, span=(0, 0)) for value in written_values(f"{abs(figure):.10g} {unit[:40]}")]
    if named & KEYS["percent"]:
        return [Value("quantity", figure, "percent")]
    if named & KEYS["minor"] or ordered[-2:] == ("unit", "amount"):
        return [Value("money", figure / 100, currency)]
    if _is_money(named, last, currency):
        return [Value("money", figure, currency)]
    if lasting := _duration(key, named, last, figure):
        return lasting
    if last in MEASURES and len(last) > 1:
        factor, measure = MEASURES[last]
        return [Value("quantity", figure * factor, measure)]
    if last == "m" and named & KEYS["distance"]:
        return [Value("quantity", figure / 1000, "km")]
    if last in ("c", "f") and named & {"temp", "temperature", "high", "low"}:
        return [Value("quantity", figure, "°" + last.upper())]
    if named & KEYS["year"] and 1000 <= figure < 3000:
        return [Value("date", figure, "year")]
    if key in ("day", "month") and 1 <= figure <= 31:
        return [Value("date", figure, "month" if key == "month" else "day-of-month")]
    return [Value("quantity", figure, _counted(key, ordered))]


def _is_money(named: set[str], last: str, currency: str) -> bool:
    if named & KEYS["not money"]:
        return False
    amounts = named & KEYS["money"]
    if amounts == {"rate"}:
        return bool(currency)
    if amounts == {"total"}:
        return bool(currency) or last == "total"
    if amounts == {"amount"} or not amounts:
        return bool(amounts) or (bool(currency) and (last in KEYS["amount"] or last in CURRENCIES))
    return True


def _duration(key: str, named: set[str], last: str, figure: float) -> list[Value]:
    lasts = named & KEYS["duration"] or last == "time" or "time" in named
    alone = named == {last}
    if last in MINUTES and (lasts or (len(last) > 1 and (alone or last != "min"))):
        if alone and last in ("day", "month", "year", "hour") and not key.lower().endswith("s"):
            return []
        return [Value("duration", figure * MINUTES[last])]
    if (
        not lasts
        or named & (KEYS["moment"] - {"time"})
        or last in MEASURES
        or named & KEYS["distance"]
        or last in KEYS["count"]
    ):
        return []
    return [Value("duration", figure), Value("duration", figure / 60)]


def _epoch(figure: float) -> list[Value]:
    """Seconds since 1970 or parts of them; 20260304 is a date."""
    if 0 < figure < 1e8:
        return dates(int(figure) // 10_000, int(figure) // 100 % 100, int(figure) % 100)
    seconds = next((figure / scale for scale in (1, 1e3, 1e6, 1e9) if abs(figure / scale) < 1e11), math.inf)
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return []
    return [Value("date", moment.toordinal(), "day"), Value("time", moment.hour * 60 + moment.minute)]


def _counted(key: str, ordered: tuple[str, ...]) -> str:
    """What a number counts: `bedrooms`, `guest_count`, `num_guests`."""
    if len(ordered) > 1 and ordered[-1] in KEYS["count"]:
        noun = ordered[-2]
    elif (key.lower().endswith("s") and not key.lower().endswith("ss")) or set(ordered[:-1]) & KEYS["count"]:
        noun = ordered[-1]
    else:
        return ""
    return MEASURES.get(noun, (1, stem(noun)))[1]


def _currency(key: str, siblings: Mapping[str, object]) -> str:
    """ISO code, "" if nothing names it."""
    for word in key_words(key):
        if len(word) == 3 and word in CURRENCIES:
            return CURRENCIES[word]
    name = _beside("currency", siblings)
    if len(name) == 3 and name.isascii() and name.isalpha():
        return name.upper()
    return CURRENCIES.get(normal(name), "")


def _beside(kind: str, siblings: Mapping[str, object]) -> str:
    for name, value in islice(siblings.items(), _SIBLINGS):
        if isinstance(value, str) and str(name).lower() in KEYS[kind]:
            return value.strip()
    return ""
