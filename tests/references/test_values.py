"""What people say of time, dates, money and quantities, and what the fields of items say, as values that compare."""

import math
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langmem_plugin.references.shown.field_values import field_values
from langmem_plugin.references.text import said_values as grammar
from langmem_plugin.references.text import value_words
from langmem_plugin.references.text.said_values import said_values, written_values
from langmem_plugin.references.text.values import Value, comparable, likeness

pytestmark = pytest.mark.spec("R-1")
FRIDAY = date(2026, 3, 6).toordinal()


def short(values):
    """`kind amount unit`, then ~ where am or pm is open."""
    return {f"{value.kind} {value.amount:g} {value.unit}".strip() + "~" * (not value.exact) for value in values}


def best(text, key, value, siblings=None):
    """How like the best reading of a text is to a field."""
    shown = field_values(key, value, siblings or {})
    return max((likeness(said, one) for said in said_values(text) for one in shown), default=0)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("the quarter past six one", 375),
        ("quarter after six", 375),
        ("a quarter to seven", 405),
        ("ten to 8", 470),
        ("ten minutes to 8", 470),
        ("half nine", 570),
        ("half past 9", 570),
        ("the six fifteen", 375),
        ("6.15", 375),
        ("615", 375),
        ("6:15", 375),
        ("7ish", 420),
        ("around 7", 420),
        ("at seven", 420),
        ("six o'clock", 360),
        ("seven oh five", 425),
        ("twelve-fifty", 770),
        ("שש ורבע", 375),
        ("של שש ורבע", 375),
        ("רבע לשבע", 405),
        ("עשרה לשמונה", 470),
        ("חמש וחצי", 330),
        ("אחת עשרה וחצי", 690),
        ("שבע ועשרים", 440),
        ("בשבע", 420),
        ("las seis y cuarto", 375),
        ("la una y media", 90),
        ("ocho menos diez", 470),
        ("ocho menos cuarto", 465),
        ("veinte para las ocho", 460),
        ("בעשרים לשבע", 400),
        ("ב-8 וחצי", 510),
        ("השעה שבע", 420),
        ("las siete y media", 450),
        ("las seis y veinte", 380),
        ("las once", 660),
    ],
)
def test_a_clock_without_am_or_pm_is_either(text, minutes):
    said = [value for value in said_values(text) if value.kind == "time"]
    assert [(value.amount, value.exact) for value in said] == [(minutes, False)]
    assert best(text, "start", f"{minutes // 60:02}:{minutes % 60:02}") == 1
    assert best(text, "start", f"{(minutes // 60 + 12) % 24:02}:{minutes % 60:02}") == 1


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("6pm", 1080),
        ("6:15 p.m.", 1095),
        ("615pm", 1095),
        ("six thirty pm", 1110),
        ("quarter past six in the evening", 1095),
        ("12 am", 0),
        ("12pm", 720),
        ("noon", 720),
        ("midnight", 0),
        ("18h", 1080),
        ("18h30", 1110),
        ("18:15", 1095),
        ("06:15", 375),
        ("8 at night", 1200),
        ("the 7 tonight", 1140),
        ("9 in the morning", 540),
        ("בעשר בערב", 1320),
        ("2 בלילה", 120),
        ("בשש וחצי בערב", 1110),
        ("שמונה בבוקר", 480),
        ("6:15 בערב", 1095),
        ("a las 3 de la tarde", 900),
        ("las 3 de la mañana", 180),
        ("ocho y media de la noche", 1230),
        ("mediodía", 720),
        ("las 20:30", 1230),
    ],
)
def test_a_clock_with_its_half_of_the_day_is_exact(text, minutes):
    assert [(v.amount, v.exact) for v in said_values(text) if v.kind == "time" and v.until is None] == [(minutes, True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the 40 minute one", {"duration 40"}),
        ("90 min", {"duration 90"}),
        ("seven minutes", {"duration 7"}),
        ("2 hr", {"duration 120"}),
        ("two weeks", {"duration 20160"}),
        ("an hour", {"duration 60"}),
        ("the hour twenty", {"duration 80"}),
        ("the hour twenty one", {"duration 81", "duration 80"}),
        ("an hour and a half", {"duration 90"}),
        ("two and a half hours", {"duration 150"}),
        ("1½ hours", {"duration 90"}),
        ("half an hour", {"duration 30"}),
        ("three quarters of an hour", {"duration 45"}),
        ("1h 20m", {"duration 80"}),
        ("2-3 hours", {"duration 120", "duration 180"}),
        ("שעה ועשרים", {"duration 80"}),
        ("שעה וחצי", {"duration 90"}),
        ("חצי שעה", {"duration 30"}),
        ("רבע שעה", {"duration 15"}),
        ("שעתיים", {"duration 120"}),
        ("שעתיים וחצי", {"duration 150"}),
        ("עשרים דקות", {"duration 20"}),
        ("ארבעים וחמש דקות", {"duration 45"}),
        ("חמש עשרה דקות", {"duration 15"}),
        ("media hora", {"duration 30"}),
        ("una hora y veinte", {"duration 80"}),
        ("dos horas y media", {"duration 150"}),
        ("tres cuartos de hora", {"duration 45"}),
        ("cuarenta y cinco minutos", {"duration 45"}),
        ("12 bucks", {"money 12 USD"}),
        ("the 12 buck one", {"money 12 USD"}),
        ("twelve dollars", {"money 12 USD"}),
        ("a hundred bucks", {"money 100 USD"}),
        ("$12.50", {"money 12.5 USD"}),
        ("12 dollars and 50 cents", {"money 12.5 USD"}),
        ("$20 an hour", {"money 20 USD"}),
        ("2 grand", {"money 2000"}),
        ("$1.5k", {"money 1500 USD"}),
        ("12-15 bucks", {"money 12 USD", "money 15 USD"}),
        ("five quid", {"money 5 GBP"}),
        ("two hundred and five dollars", {"money 205 USD"}),
        ("₪40", {"money 40 ILS"}),
        ("40₪", {"money 40 ILS"}),
        ("40 שקל", {"money 40 ILS"}),
        ('20 ש"ח', {"money 20 ILS"}),
        ("שלוש מאות שקל", {"money 300 ILS"}),
        ("מאתיים וחמישים שקלים", {"money 250 ILS"}),
        ("veinte euros", {"money 20 EUR"}),
        ("mil doscientos euros", {"money 1200 EUR"}),
        ("1.250,00 €", {"money 1250 EUR"}),
        ("1.250 €", {"money 1250 EUR"}),
        ("$1.2m", {"money 1.2e+06 USD"}),
        ("six pounds", {"money 6 GBP", "quantity 2.72155 kg"}),
        ("1.5k", {"quantity 1500"}),
        ("615k", {"quantity 615000"}),
        ("45 thousand", {"quantity 45000"}),
        ("half a million", {"quantity 500000"}),
        ("20%", {"quantity 20 percent"}),
        ("twenty percent", {"quantity 20 percent"}),
        ("3 km", {"quantity 3 km"}),
        ("two bedrooms", {"quantity 2 bedroom"}),
        ("4 people", {"quantity 4 people"}),
        ("two llamas", {"quantity 2 llama"}),
        ("make it 8 instead", {"quantity 8"}),
        ("the 19.99 shirt", {"quantity 19.99"}),
        ("a couple of hours", {"duration 120"}),
        ("3-4pm", {"time 900", "time 960"}),
        ("11 to 1 pm", {"time 660", "time 780"}),
        ("ten to 8 pm", {"time 1190", "time 600", "time 1200"}),
        ("from 5 to 8", {"time 300~", "time 480~"}),
        ("10 to 12 people", {"quantity 10 people", "quantity 12 people"}),
        ("five and a half", {"quantity 5.5"}),
        ("שני חדרים", {"quantity 2 room"}),
        ("חמישים אחוז", {"quantity 50 percent"}),
        ("dos escalas", {"quantity 2 stop"}),
        ("number 2", {"quantity 2"}),
        ("the cheap one please", set()),
        ("once upon a time", set()),
        ("last month", set()),
        ("I may go", set()),
        ("number 4 may be better", {"quantity 4"}),
        ("twelve fifty", {"time 770~", "money 12.5"}),
        ("twenty twenty four", {"time 1224", "money 20.24", "date 2024 year"}),
        ("2024", {"quantity 2024", "date 2024 year"}),
    ],
)
def test_durations_money_and_quantities_are_said_in_many_ways(text, expected):
    assert short(said_values(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("march 4", {"date 97 month-day"}),
        ("4th of march", {"date 97 month-day"}),
        ("fourth of march", {"date 97 month-day"}),
        ("March 4, 2024", {"date 738949 day"}),
        ("2024-03-04", {"date 738949 day"}),
        ("4.3.2024", {"date 738949 day", "date 738979 day"}),
        ("4/3", {"date 97 month-day", "date 127 month-day"}),
        ("4/31", set()),
        ("the 14th", {"date 14 day-of-month"}),
        ("the one due friday", {"date 4 weekday"}),
        ("next fri", {"date 4 weekday"}),
        ("thurs", {"date 3 weekday"}),
        ("the august ones", {"date 8 month"}),
        ("in may", {"date 5 month"}),
        ("tomorrow", {"date 1 relative-day"}),
        ("yesterday", {"date -1 relative-day"}),
        ("ביום שלישי", {"date 1 weekday"}),
        ("יום ג'", {"date 1 weekday"}),
        ("מחר", {"date 1 relative-day"}),
        ("במרץ", {"date 3 month"}),
        ("ב-14 במרץ", {"date 107 month-day"}),
        ("el martes", {"date 1 weekday"}),
        ("el 4 de marzo de 2024", {"date 738949 day"}),
        ("el 14", {"date 14 day-of-month", "quantity 14"}),
        ("mañana", {"date 1 relative-day"}),
        ("por la mañana", {"time 300"}),
        ("mañana por la mañana", {"date 1 relative-day", "time 300"}),
        ("בבוקר", {"time 300"}),
        ("tonight", {"time 1020", "date 0 relative-day"}),
    ],
)
def test_dates_and_parts_of_the_day_are_said_in_many_ways(text, expected):
    assert short(said_values(text)) == expected


@pytest.mark.parametrize(
    ("key", "value", "siblings", "expected"),
    [
        ("start", "2024-03-04T18:15:00+02:00", {}, ["date 738949 day", "time 1095"]),
        ("start", {"dateTime": "2024-03-04T18:15:00Z"}, {}, ["date 738949 day", "time 1095"]),
        ("when", datetime(2024, 3, 4, 18, 15, tzinfo=UTC), {}, ["date 738949 day", "time 1095"]),
        ("created_at", 1709568900, {}, ["date 738949 day", "time 975"]),
        ("ts", 1709568900000, {}, ["date 738949 day", "time 975"]),
        ("departs", "18:15", {}, ["time 1095"]),
        ("time", "6:15 PM", {}, ["time 1095"]),
        ("date", "March 4, 2024", {}, ["date 738949 day"]),
        ("when", "Fri 6:15 PM", {}, ["date 4 weekday", "time 1095"]),
        ("date", "2024/03/04", {}, ["date 738949 day"]),
        ("date", "20240304", {}, ["date 738949 day"]),
        ("released", "2024-03", {}, ["date 738946 day"]),
        ("end_time", 9, {}, ["quantity 9"]),
        ("year", 2024, {}, ["date 2024 year"]),
        ("released", "2024", {}, ["date 2024 year"]),
        ("duration", "PT25M", {}, ["duration 25"]),
        ("duration", "P1DT2H", {}, ["duration 1560"]),
        ("time", "1h 20m", {}, ["duration 80"]),
        ("runtime", "95 min", {}, ["duration 95"]),
        ("runtime", "1:21:00", {}, ["duration 81"]),
        ("duration", "3:45", {}, ["duration 3.75", "duration 225"]),
        ("duration_s", 1500, {}, ["duration 25"]),
        ("seconds", 90, {}, ["duration 1.5"]),
        ("durationMin", 40, {}, ["duration 40"]),
        ("length_ms", 90000, {}, ["duration 1.5"]),
        ("walk_time_sec", 300, {}, ["duration 5"]),
        ("hours", 2, {}, ["duration 120"]),
        ("took", timedelta(minutes=3), {}, ["duration 3"]),
        ("total_time", 25, {}, ["duration 25", "duration 0.416667"]),
        ("duration", {"text": "25 mins", "value": 1500}, {}, ["duration 25", "duration 1500"]),
        ("price", 12.5, {}, ["money 12.5"]),
        ("price", Decimal("12.50"), {}, ["money 12.5"]),
        ("price", 12.5, {"currency": "ils"}, ["money 12.5 ILS"]),
        ("price_usd", 5, {}, ["money 5 USD"]),
        ("price_min", 5, {}, ["money 5"]),
        ("amount_cents", 1250, {"currency": "EUR"}, ["money 12.5 EUR"]),
        ("price_minor", 1250, {}, ["money 12.5"]),
        ("unit_amount", 999, {}, ["money 9.99"]),
        ("sum", {"amount": "-42.10", "currency": "EUR"}, {}, ["money -42.1 EUR"]),
        ("worth", {"value": 1250, "currency": "ILS"}, {}, ["money 1250 ILS"]),
        ("price", "$1,250.00", {}, ["money 1250 USD"]),
        ("price", "1.250,00 €", {}, ["money 1250 EUR"]),
        ("rent", "₪ 4,500 / month", {}, ["money 4500 ILS"]),
        ("price", "12-15", {}, ["money 12", "money 15"]),
        ("price", "$12-15", {}, ["money 12 USD", "money 15 USD"]),
        ("balance", "-$42.10", {}, ["money -42.1 USD"]),
        ("fee", "free", {}, ["money 0"]),
        ("market_cap", "$1.2B", {}, ["money 1.2e+09 USD"]),
        ("rate", 4.5, {}, ["quantity 4.5"]),
        ("nightly_rate", 120, {"currency": "$"}, ["money 120 USD"]),
        ("salary", "$120k-$150k", {}, ["money 120000 USD", "money 150000 USD"]),
        ("serves", "4-6", {}, ["quantity 4 serving", "quantity 6 serving"]),
        ("interest_rate", 3.5, {}, ["quantity 3.5"]),
        ("discount_percent", 20, {}, ["quantity 20 percent"]),
        ("discount", "20%", {}, ["quantity 20 percent"]),
        ("distance_m", 1500, {}, ["quantity 1.5 km"]),
        ("distance_km", 3.2, {}, ["quantity 3.2 km"]),
        ("distance", 2, {"unit": "km"}, ["quantity 2 km"]),
        ("amount", 2, {"unit": "kg"}, ["quantity 2 kg"]),
        ("area", "85 m²", {}, ["quantity 85 m2"]),
        ("temp_c", 20, {}, ["quantity 20 °C"]),
        ("temp_min", 5, {}, ["quantity 5"]),
        ("bedrooms", 2, {}, ["quantity 2 bedroom"]),
        ("num_guests", 4, {}, ["quantity 4 people"]),
        ("guest_count", 4, {}, ["quantity 4 people"]),
        ("total_results", 25, {}, ["quantity 25 result"]),
        ("rating", 4.5, {}, ["quantity 4.5"]),
        ("price_level", "$$", {}, ["quantity 2 level"]),
        ("difficulty", "easy", {}, ["quantity 1 level"]),
        ("dates", ["2024-03-04", "2024-03-05"], {}, ["date 738949 day", "date 738950 day"]),
        ("order_number", 615, {}, []),
        ("phone", "+1 555 0123", {}, []),
        ("open", True, {}, []),
        ("note", None, {}, []),
        ("price", math.nan, {}, []),
        ("created_at", 10**400, {}, []),
    ],
)
def test_a_field_says_its_value_by_notation_key_and_neighbours(key, value, siblings, expected):
    found = field_values(key, value, siblings)
    assert [text.rstrip("~") for one in found for text in short([one])] == expected


@pytest.mark.parametrize(
    ("text", "key", "value", "siblings", "expected"),
    [
        ("the 12 buck one", "price", 12.0, {}, 1),
        ("the 12 buck one", "price", "$12.30", {}, 0),
        ("about 12 bucks", "price", "$12.30", {}, 1),
        ("12 bucks", "price", 12, {"currency": "EUR"}, 0),
        ("40 שקל", "price", {"amount": 40, "currency": "ILS"}, {}, 1),
        ("42.10 euros", "amount", "-42.10", {"currency": "EUR"}, 1),
        ("the 40 one", "minutes", 40, {}, 0.5),
        ("the 40 one", "price_usd", 40, {}, 0.5),
        ("the 40 one", "distance_km", 40, {}, 0.5),
        ("the 40 one", "rating", 40, {}, 1),
        ("the 7 one", "start", "19:00", {}, 0.5),
        ("40 minutes", "duration_s", 2400, {}, 1),
        ("25 minutes", "duration_s", 1527, {}, 0.5),
        ("40 minutes", "distance_km", 40, {}, 0),
        ("two bedrooms", "bedrooms", 2, {}, 1),
        ("two bedrooms", "bathrooms", 2, {}, 0),
        ("quarter past six", "start", "2026-03-06T18:15:00Z", {}, 1),
        ("6:15 am", "start", "2026-03-06T18:15:00Z", {}, 0),
        ("7ish", "start", "19:20", {}, 1),
        ("at 7", "start", "19:20", {}, 0),
        ("friday", "due", "2026-03-06", {}, 1),
        ("march 6", "due", "2026-03-06", {}, 1),
        ("march 6 2025", "due", "2026-03-06", {}, 0),
        ("the march one", "due", "Mar 6", {}, 1),
        ("the 6th", "due", "2026-03-06", {}, 1),
        ("2026", "due", "2026-03-06", {}, 1),
        ("the evening one", "start", "18:15", {}, 1),
        ("the morning one", "start", "18:15", {}, 0),
        ("the night one", "start", "01:00", {}, 1),
        ("a la tarde", "start", "15:00", {}, 1),
    ],
)
def test_what_is_said_is_like_what_is_shown_when_both_mean_the_same(text, key, value, siblings, expected):
    assert best(text, key, value, siblings) == expected


def test_only_what_has_one_scale_is_put_in_order():
    prices = [field_values("price", text, {}) for text in ("$12", "$9.50", "free", "call us")]
    assert comparable(prices) == [12, 9.5, 0, None]
    assert comparable([field_values("price", text, {}) for text in ("$12", "€9")]) == [None, None]
    assert comparable([field_values("size", text, {}) for text in ("2 km", "3 kg")]) == [None, None]
    late, early = (field_values("start", f"2026-03-06T{hour}:00", {}) for hour in (18, 9))
    assert comparable([late, early, []]) == [FRIDAY * 1440 + 1080, FRIDAY * 1440 + 540, None]
    assert comparable([]) == []


HOURS, MINUTES = st.integers(0, 23), st.integers(0, 59)
SAID_QUARTERS = {
    0: ("at {0}", "בשעה {0}", "a las {0}"),
    15: ("quarter past {0}", "{0} ורבע", "las {0} y cuarto"),
    30: ("half past {0}", "{0} וחצי", "las {0} y media"),
}


@settings(deadline=None)
@given(HOURS, MINUTES, st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_a_time_is_itself_in_any_notation(hour, minute, day):
    half, twelve = "pm" if hour >= 12 else "am", hour % 12 or 12
    printed = [f"{hour:02}:{minute:02}", f"{hour:02}:{minute:02}:00", f"{twelve}:{minute:02} {half.upper()}"]
    printed += [f"{day.isoformat()}T{hour:02}:{minute:02}:00{zone}" for zone in ("", "Z", "+02:00")]
    said = [f"{hour}:{minute:02}", f"{twelve}:{minute:02}{half}", f"the {twelve}.{minute:02} {half} one"]
    said += [form.format(twelve) for form in SAID_QUARTERS.get(minute, ())]
    for text in said:
        assert all(best(text, "start", field) == 1 for field in printed), text


@settings(deadline=None)
@given(st.dates(date(1000, 1, 1), date(2999, 12, 31)))
def test_a_date_is_itself_in_any_notation(day):
    printed = [
        day.isoformat(),
        f"{day:%B} {day.day}, {day.year}",
        f"{day.day} {day:%b} {day.year}",
        f"{day.isoformat()} 10:00",
    ]
    said = [
        day.isoformat(),
        f"{day:%B} {day.day}".lower(),
        f"the {day.day}th of {day:%B}",
        f"{day:%A}",
        f"{day.month}/{day.day}",
        f"{day.day}/{day.month}/{day.year}",
    ]
    for text in said:
        assert all(best(text, "due", field) == 1 for field in printed), text


@settings(deadline=None)
@given(st.integers(0, 10**8))
def test_money_is_itself_in_any_notation(cents):
    amount = f"{cents // 100}.{cents % 100:02}"
    grouped = f"{cents // 100:,}.{cents % 100:02}"
    european = grouped.replace(",", " ").replace(".", ",").replace(" ", ".")
    fields = [("price", f"${grouped}", {}), ("price", float(amount), {}), ("amount_cents", cents, {"currency": "USD"})]
    fields += [
        ("price", {"amount": amount, "currency": "usd"}, {}),
        ("cost", f"{european} USD", {}),
        ("price", f"-${amount}", {}),
    ]
    for text in (f"${amount}", f"the {grouped} dollar one", f"{amount} bucks", f"{european} dólares", f"{amount} דולר"):
        for key, value, siblings in fields:
            assert best(text, key, value, siblings) == 1, (text, value)
    assert best(f"{amount} euros", *fields[0]) == 0


@settings(deadline=None)
@given(st.integers(1, 99), st.integers(1, 59))
def test_a_duration_is_itself_in_any_notation(hours, minutes):
    total = hours * 60 + minutes
    fields = [
        ("duration", f"PT{hours}H{minutes}M"),
        ("runtime", f"{hours}h {minutes}m"),
        ("runtime", f"{total} min"),
        ("runtime", f"{hours}:{minutes:02}:00"),
    ]
    fields += [
        ("duration_s", total * 60),
        ("minutes", total),
        ("length_ms", total * 60_000),
        ("took", timedelta(minutes=total)),
    ]
    said = [
        f"{hours}h{minutes}",
        f"{hours} hours and {minutes} minutes",
        f"the {total} minute one",
        f"{hours} hr {minutes}",
        f"{hours} horas y {minutes} minutos",
    ]
    said += [f"{hours} שעות ו {minutes} דקות", f"{total} דק'"]
    for text in said:
        assert all(best(text, key, value) == 1 for key, value in fields), text


PIECES = st.sampled_from(
    [" ".join(key) for meanings in value_words._LEXICON.values() for key, _ in meanings]
    + [
        "615",
        "18:15",
        "99:99",
        "$",
        "-",
        "½",
        "4/3",
        "0/0",
        "2024-13-45",
        "14th",
        "1" * 20,
        "1e400",
        "\ud83d",
        "\u0301",
        "־",
        "ל",
        "a.m.",
        "²",
        "٣",
        "'",
        '"',
        "\x00",
        ",",
        "one",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=8).flatmap(
    lambda parts: st.sampled_from(["", " ", "-"]).map(lambda between: between.join(parts))
)
FIELDS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, max_examples=100)
@given(TEXTS)
def test_a_span_lies_inside_the_text_and_values_are_in_their_bounds(text):
    for value in said_values(text) + written_values(text):
        assert 0 <= value.span[0] < value.span[1] <= len(text)
        assert math.isfinite(value.amount)
        assert value.kind != "time" or 0 <= value.amount < 1440
        assert likeness(value, value) in (0.5, 1)


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(["price", "time", "created_at", "durationS", "distance_m", "", "amount_cents", "year"]) | TEXTS,
    FIELDS,
    st.dictionaries(st.sampled_from(["currency", "unit"]), FIELDS),
)
def test_no_field_is_too_odd_to_read(key, value, siblings):
    found = field_values(key, value, siblings)
    assert all(math.isfinite(one.amount) for one in found)
    assert {likeness(one, other) for one in found for other in found} <= {0, 0.5, 1}
    comparable([found, []])


UNITS = [
    "six ",
    "6:",
    "a ",
    "1,",
    "1.",
    "½",
    "at ",
    "half ",
    "twenty ",
    "ל",
    "a'",
    "two hundred and ",
    "hour and ",
    "$",
    "$1 ",
    "1-",
    "march ",
    "1/",
    "y ",
    "a\u0301",
    "one hundred thousand ",
    "n",
    "9",
    " ",
]


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=range(len(UNITS)))
def test_a_very_long_text_takes_work_in_proportion(unit, monkeypatch):
    tried = Counter()

    original = grammar._Phrase.__init__

    def counted(phrase, all_words, match):
        tried[unit] += match.end() - match.start() + 1
        original(phrase, all_words, match)

    monkeypatch.setattr(grammar._Phrase, "__init__", counted)
    text = (unit * 64_000)[:64_000]
    said_values(text)
    assert tried[unit] <= 30 * len(text)


def test_the_same_text_has_the_same_values_and_no_text_has_none():
    assert said_values("") == field_values("", "", {}) == []
    assert said_values("6:15 or $12") == said_values("6:15 or $12")
    assert Value("money", 12.0, "USD", (8, 11)) in said_values("6:15 or $12")
