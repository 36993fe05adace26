"""Conditions of standing instructions are read on the clock and the calendar of the person."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_plugin.memory.instructions.conditions import Situation, parsed
from tests.cases import for_each

MADRID, JERUSALEM = ZoneInfo("Europe/Madrid"), ZoneInfo("Asia/Jerusalem")


def holds(condition, instant, zone):
    return parsed(condition)(Situation(instant.astimezone(zone)))


@pytest.mark.spec("I-3")
@for_each(
    ("condition", "instant", "zone", "wanted"),
    [
        ("time between 08:00 and 12:00", datetime(2026, 1, 5, 7, tzinfo=UTC), MADRID, True),
        ("time between 08:00 and 12:00", datetime(2026, 1, 5, 7, tzinfo=UTC), ZoneInfo("UTC"), False),
        ("time between 08:00 and 12:00", datetime(2026, 7, 6, 6, tzinfo=UTC), MADRID, True),
        ("time between 08:00 and 12:00", datetime(2026, 7, 6, 10, tzinfo=UTC), MADRID, False),
        ("day is saturday", datetime(2026, 3, 6, 22, tzinfo=UTC), JERUSALEM, True),
        ("day is saturday", datetime(2026, 3, 7, 22, tzinfo=UTC), JERUSALEM, False),
        ("date before 2026-03-07", datetime(2026, 3, 6, 22, tzinfo=UTC), JERUSALEM, False),
        ("date from 2026-03-07", datetime(2026, 3, 6, 22, tzinfo=UTC), JERUSALEM, True),
        # The night on which the clock skips from 02:00 to 03:00, and the one with two hours from 02:00 to 03:00.
        ("time between 02:00 and 03:00", datetime(2026, 3, 29, 1, tzinfo=UTC), MADRID, False),
        ("time between 03:00 and 04:00", datetime(2026, 3, 29, 1, tzinfo=UTC), MADRID, True),
        ("time between 02:00 and 03:00", datetime(2026, 10, 25, 0, 30, tzinfo=UTC), MADRID, True),
        ("time between 02:00 and 03:00", datetime(2026, 10, 25, 1, 30, tzinfo=UTC), MADRID, True),
        ("time between 02:00 and 03:00", datetime(2026, 10, 25, 2, 30, tzinfo=UTC), MADRID, False),
    ],
)
def test_a_time_a_day_and_a_date_are_the_persons(condition, instant, zone, wanted):
    assert holds(condition, instant, zone) is wanted


@pytest.mark.spec("I-3")
@given(minutes=st.integers(0, 2 * 366 * 24 * 60))
def test_between_two_times_of_the_day_is_what_a_clock_on_the_wall_says(minutes):
    instant = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    wall = instant.astimezone(MADRID)

    assert holds("time between 08:00 and 12:00", instant, MADRID) == (8 <= wall.hour < 12)
    assert holds("day is weekend", instant, MADRID) == (wall.weekday() >= 5)
