"""A person's time zone in a talk: shown, set, and what instructions and the model's tools go by."""

from datetime import UTC, datetime

import pytest

ERIN, NEW_YORKER = "+972501234567", "+12125550123"


@pytest.mark.spec("I-3", "U-2")
def test_the_time_zone_is_shown_and_set(memory, clock):
    clock.instant = datetime(2026, 7, 1, 9, 30, tzinfo=UTC)

    assert memory.command(ERIN, "/timezone").startswith("Your time zone is Asia/Jerusalem, where it is 12:30.")
    assert memory.command(ERIN, "/timezone europe/madrid") == "✅ Your time zone is Europe/Madrid, where it is 11:30."
    assert memory.command(ERIN, "/timezone new york").startswith("✅ Your time zone is America/New_York")
    for wrong in ("+2", "UTC+2", "Atlantis", "EST", "{zone}"):
        assert memory.command(ERIN, f"/timezone {wrong}").startswith(f"I know no time zone “{wrong}”. Send a city")
    assert "America/New_York" in memory.command(ERIN, "/timezone")
    assert memory.command(NEW_YORKER, "/timezone").startswith("Your time zone is America/New_York, where it is 05:30.")


@pytest.mark.spec("I-3", "I-2")
def test_an_instruction_applies_by_the_clock_of_the_person(memory, graph_of, scripted, clock):
    model = scripted()
    graph = graph_of(model)
    for phone in (ERIN, NEW_YORKER):
        memory.command(phone, "/instructions if time between 08:00 and 12:00 then speak of breakfast")

    def told(phone):
        memory.reply(graph, phone, "hello there")
        return "speak of breakfast" in model.stated

    clock.instant = datetime(2026, 7, 1, 6, tzinfo=UTC)  # 9 in Jerusalem, 2 in New York
    assert (told(ERIN), told(NEW_YORKER)) == (True, False)
    clock.instant = datetime(2026, 7, 1, 13, tzinfo=UTC)  # 16 in Jerusalem, 9 in New York
    assert (told(ERIN), told(NEW_YORKER)) == (False, True)
    memory.command(ERIN, "/timezone New York")
    assert told(ERIN)


@pytest.mark.spec("I-3")
def test_the_clock_is_changed_between_two_messages(memory, graph_of, scripted, clock):
    model = scripted()
    graph = graph_of(model)
    memory.command(ERIN, "/timezone Madrid")
    memory.command(ERIN, "/instructions if time before 08:00 then whisper")

    def told():
        memory.reply(graph, ERIN, "hello there")
        return "whisper" in model.stated

    clock.instant = datetime(2026, 3, 28, 6, 30, tzinfo=UTC)  # 07:30, the day before the clock is changed
    assert told()
    clock.instant = datetime(2026, 3, 29, 6, 30, tzinfo=UTC)  # 08:30
    assert not told()


@pytest.mark.spec("W-8")
def test_the_tool_that_recalls_tells_the_persons_own_day_on_which_it_was_said(memory, clock):
    clock.instant = datetime(2026, 3, 6, 3, tzinfo=UTC)  # still the fifth in New York
    memory.service.remember(NEW_YORKER, "the gas man comes tomorrow")
    recall = next(each for each in memory.tools() if each.name == "recall_facts")

    clock.forward(days=40)
    with memory.turn(NEW_YORKER) as config:
        [told] = recall.invoke({"query": "when does the gas man come"}, config)
    assert told["text"] == "the gas man comes tomorrow (that day is over) (said 5 Mar 2026)"
