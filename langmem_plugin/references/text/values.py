"""A value that a person said or an item shows (a time, a date, a duration, money, a quantity), and when two are alike."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

Kind = Literal["time", "date", "duration", "money", "quantity"]


@dataclass(frozen=True)
class Value:
    """One value. `span` is where a text says it.

    time: minutes since midnight; a part of the day lasts from `amount` up to `until` (past 1440: the next day); not
    `exact` where neither am nor pm is said. date: by unit a proleptic ordinal ("day"), month*31+day ("month-day"),
    Monday=0 ("weekday"), "month", "day-of-month", "year", or days from today ("relative-day"). duration: minutes.
    money: main units of an ISO currency, "" if unknown. quantity: of a unit, "" for a bare number. `about` where the
    person says that it is rough.
    """

    kind: Kind
    amount: float
    unit: str = ""
    span: tuple[int, int] = (0, 0)
    exact: bool = True
    until: float | None = None
    about: bool = False


def dates(year: int, month: int, day: int) -> list[Value]:
    """The date, if there is such a day; year 0 is any year."""
    try:
        known = date(year or 2000, month, day)
    except (ValueError, OverflowError):
        return []
    return [Value("date", known.toordinal(), "day") if year else Value("date", month * 31 + day, "month-day")]


def likeness(said: Value, shown: Value) -> float:
    """1 where both mean the same, 0.5 where only the number agrees (40 and 40 km), 0 else.

    A time without am or pm is either; a date is compared by what both say of it; signs do not matter; what is said to
    be `about` may be a tenth off, or half an hour. Currencies that differ are never alike.
    """
    if said.kind != shown.kind:
        return _bare_likeness(said, shown) or _bare_likeness(shown, said)
    if said.kind == "time":
        return float(_same_time(said, shown))
    if said.kind == "date":
        return float(_same_date(said, shown))
    if said.kind == "money":
        return float("" in (said.unit, shown.unit) or said.unit == shown.unit) * _near(said, shown)
    if said.kind == "duration":
        # A screen shows 25 min where the data says 1,527 seconds.
        rounded = said.amount >= 1 and said.amount % 1 == 0 and abs(said.amount - abs(shown.amount)) < 1
        return float(_near(said, shown)) or 0.5 * rounded
    if said.unit == shown.unit or ({said.unit[:1], shown.unit[:1]} == {"°"} and "°" in (said.unit, shown.unit)):
        return float(_near(said, shown))
    return 0.5 * _near(said, shown) if "" in (said.unit, shown.unit) else 0


def _near(said: Value, shown: Value) -> bool:
    return _close(said.amount, shown.amount, about=said.about or shown.about)


def _close(amount: float, other: float, *, about: bool) -> bool:
    return math.isclose(abs(amount), abs(other), rel_tol=0.1 if about else 1e-6, abs_tol=1e-6)


def _same_time(said: Value, shown: Value) -> bool:
    if said.until is not None and shown.until is not None:
        return said.amount == shown.amount
    if said.until is not None or shown.until is not None:
        part, clock = (said, shown) if said.until is not None else (shown, said)
        readings = [clock.amount + later for later in ((0, 1440) if clock.exact else (0, 720, 1440, 2160))]
        return any(part.amount <= reading < (part.until or 0) for reading in readings)
    day = 1440 if said.exact and shown.exact else 720
    apart = abs(said.amount - shown.amount) % day
    return min(apart, day - apart) <= (30 if said.about or shown.about else 0.5)


def _same_date(said: Value, shown: Value) -> bool:
    if said.unit == shown.unit:
        return said.amount == shown.amount
    return shown.amount in parts_of_date(said).get(shown.unit, ()) or said.amount in parts_of_date(shown).get(
        said.unit, ()
    )


def parts_of_date(value: Value) -> dict[str, tuple[float, ...]]:
    """What a date also is, by unit."""
    if value.unit == "month-day":
        month, day = divmod(int(value.amount) - 1, 31)
        return {"month": (month,), "day-of-month": (day + 1,)}
    if value.unit != "day" or not 1 <= value.amount <= date.max.toordinal():
        return {}
    known = date.fromordinal(int(value.amount))
    return {
        "month-day": (known.month * 31 + known.day,),
        "month": (known.month,),
        "day-of-month": (known.day,),
        "weekday": (known.weekday(),),
        "year": (known.year,),
    }


def _bare_likeness(bare: Value, other: Value) -> float:
    """0.5 where a number without a unit is the number of the other value."""
    if bare.kind != "quantity" or bare.unit or other.kind == "quantity":
        return 0
    about = bare.about or other.about
    return 0.5 * any(_close(bare.amount, number, about=about) for number in numbers(other))


def numbers(value: Value) -> tuple[float, ...]:
    """By which a value may be said without its unit: the hour of a time, the day of a date, the hours of minutes."""
    amount = abs(value.amount)
    if value.kind == "duration":
        return amount, amount / 60
    if value.kind == "time":
        return (amount / 60, abs(amount / 60 - 12)) if value.until is None else ()
    if value.kind == "date":
        return (amount,) if value.unit in ("day-of-month", "year") else parts_of_date(value).get("day-of-month", ())
    return (amount,)


def comparable(fields: Sequence[Sequence[Value]]) -> list[float | None]:
    """What orders the items of a list by a field, given the values of that field in each of them; None for an item
    without one.

    A date with a time is an instant in minutes. All are None where kinds, units or currencies differ: those have no
    order. A price of 0 goes with any currency.
    """
    measures = [_measure(values) for values in fields]
    scales = {measure[0] for measure in measures if measure and (measure[0][0] != "money" or measure[1])}
    return [measure[1] if measure and len(scales) < 2 else None for measure in measures]


def instant(values: Sequence[Value]) -> float | None:
    """The minute that a date with a time tells; of a date alone its midnight."""
    measure = _measure(values)
    return measure[1] if measure and measure[0] == ("date", "day") else None


def _measure(values: Sequence[Value]) -> tuple[tuple[str, str], float] | None:
    dated = next((value for value in values if value.kind == "date"), None)
    if dated is not None:
        clock = next((value.amount for value in values if value.kind == "time"), 0.0)
        return ("date", dated.unit), dated.amount * 1440 + clock
    return ((values[0].kind, values[0].unit), values[0].amount) if values else None
