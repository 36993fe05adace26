"""The time zone and the language of a person, kept in the database and known to every process soon."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from langmem_plugin.database import Database
from langmem_plugin.database.people_tables import person as table
from langmem_plugin.errors import InvalidInput
from langmem_plugin.people import person_settings
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.people.time_zones import zone_named, zone_of_phone
from langmem_plugin.settings import Settings
from tests.cases import for_each

ISRAELI, SPANISH, NEW_YORKER = "+972501234567", "+34600000000", "+12125550123"


@pytest.fixture
def database(database_url):
    with Database(database_url) as opened:
        yield opened


@pytest.mark.spec("I-3")
@for_each(
    ("person", "zone"),
    [
        (ISRAELI, "Asia/Jerusalem"),
        (NEW_YORKER, "America/New_York"),
        ("+491701234567", "Europe/Berlin"),
        (SPANISH, "Asia/Tokyo"),  # the Canaries are an hour behind
        ("+61400000000", "Asia/Tokyo"),
        ("972-group@g.us", "Asia/Tokyo"),
        ("somebody", "Asia/Tokyo"),
        ("+0", "Asia/Tokyo"),
        ("+" + "9" * 900, "Asia/Tokyo"),
    ],
)
def test_a_phone_tells_the_zone_where_its_country_has_one(database, person, zone):
    assert PersonSettings(database, Settings(time_zone="Asia/Tokyo")).time_zone(person).key == zone


@pytest.mark.spec("I-3")
@for_each(
    ("said", "zone"),
    [
        *(("Europe/Madrid", "Europe/Madrid"), ("europe/madrid", "Europe/Madrid"), ("EUROPE/MADRID", "Europe/Madrid")),
        *(("Jerusalem", "Asia/Jerusalem"), ("new york", "America/New_York"), ("New_York", "America/New_York")),
        *(("ירושלים", "Asia/Jerusalem"), ("Nueva York", "America/New_York"), ("São Paulo", "America/Sao_Paulo")),
        *(("Port-au-Prince", "America/Port-au-Prince"), ("Tel Aviv", "Asia/Tel_Aviv"), ("UTC", "UTC")),
        *(("  \u200fJerusalem ", "Asia/Jerusalem"), ("Israel", "Israel"), ("Argentina/Buenos_Aires", None)),
        *(
            ("+2", None),
            ("UTC+2", None),
            ("GMT-5", None),
            ("Etc/GMT+2", None),
            ("EST", None),
            ("cet", None),
            ("", None),
        ),
        *(
            ("../../etc/passwd", None),
            ("/etc/localtime", None),
            ("localtime", None),
            ("Factory", None),
            ("Atlantis", None),
        ),
        *(("\ud800", None), ("\x00", None), ("x" * 64_000, None), ("America", None), ("posix/Europe/Rome", None)),
    ],
)
def test_a_zone_is_named_by_its_name_or_a_city_and_never_by_an_offset(said, zone):
    assert zone_named(said) == zone


@pytest.mark.spec("I-3")
@settings(max_examples=100)
@given(said=st.text(st.characters(exclude_categories=()), max_size=30))
def test_whatever_is_said_a_zone_is_named_or_none(said):
    assert zone_named(said) is None or zone_named(zone_named(said)) == zone_named(said)
    zone_of_phone(said)


@pytest.mark.spec("I-3")
def test_what_a_person_set_wins_and_outlives_a_restart(database_url):
    with Database(database_url) as database:
        assert PersonSettings(database, Settings()).set_time_zone(ISRAELI, "madrid").key == "Europe/Madrid"
        PersonSettings(database, Settings()).set_language(ISRAELI, "es")
    with Database(database_url) as database:
        people = PersonSettings(database, Settings())
        assert people.time_zone(ISRAELI).key == "Europe/Madrid"
        assert people.language(ISRAELI) == "es"
        assert people.time_zone(NEW_YORKER).key == "America/New_York"


@pytest.mark.spec("I-3")
def test_an_offset_is_refused_with_what_to_give_instead_and_nothing_is_changed(database):
    people = PersonSettings(database, Settings())

    with pytest.raises(InvalidInput, match="Europe/Madrid"):
        people.set_time_zone(ISRAELI, "+2")
    assert people.time_zone(ISRAELI).key == "Asia/Jerusalem"


@pytest.mark.spec("A-5")
def test_a_change_is_known_at_once_here_and_after_ten_seconds_elsewhere(database, monkeypatch):
    here, elsewhere = (PersonSettings(database, Settings()) for _ in range(2))
    assert elsewhere.time_zone(ISRAELI).key == "Asia/Jerusalem"

    here.set_time_zone(ISRAELI, "Tokyo")

    assert here.time_zone(ISRAELI).key == "Asia/Tokyo"
    assert elsewhere.time_zone(ISRAELI).key == "Asia/Jerusalem"
    monkeypatch.setattr(person_settings, "_READ_AGAIN_SECONDS", 0.0)
    assert elsewhere.time_zone(ISRAELI).key == "Asia/Tokyo"


@pytest.mark.spec("A-5")
def test_the_zone_and_the_language_set_at_once_by_two_are_both_kept(database):
    one, other = (PersonSettings(database, Settings()) for _ in range(2))
    with ThreadPoolExecutor(4) as threads:
        for _ in range(5):
            threads.submit(one.set_time_zone, ISRAELI, "Tokyo")
            threads.submit(other.set_language, ISRAELI, "he")

    read = PersonSettings(database, Settings())
    assert (read.time_zone(ISRAELI).key, read.language(ISRAELI)) == ("Asia/Tokyo", "he")
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(table)).scalar_one() == 1


def test_zones_of_one_country_are_the_same_through_both_changes_of_the_clock():
    zone = zone_of_phone("+447400000000")  # Guernsey, Jersey, Man and London

    assert zone is not None
    people = datetime(2026, 7, 1, 12, tzinfo=UTC)
    assert people.astimezone(ZoneInfo(zone)).hour == 13
