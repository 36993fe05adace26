"""What /memories, /search and /instructions show."""

import re
from datetime import UTC, datetime

import pytest

from langmem_plugin import PhoneMemory
from langmem_plugin.agent.replying.reply_texts import LANGUAGES, replies_in
from langmem_plugin.memory.find.past_messages import PastMessage
from tests.cases import for_each

ERIN = "+972501234567"


def lines_of(answer):
    return [line for line in answer.splitlines() if re.match(r"\d+\. ", line)]


@pytest.mark.spec("U-2", "M-9")
def test_memories_come_ten_to_a_page_each_once_and_with_their_number(memory):
    kinds = ("preference", "personal", "fact")
    memory.service.remember_many(ERIN, [(f"Thing {each}", {"fact_type": kinds[each % 3]}) for each in range(25)])

    pages = [memory.command(ERIN, command) for command in ("/memories", "/memories 2", "/memories 3")]

    assert all(page.startswith("What I remember (25):") for page in pages)
    assert [len(lines_of(page)) for page in pages] == [10, 10, 5]
    assert len({line for page in pages for line in lines_of(page)}) == 25
    assert pages[0].endswith("Page 1 of 3. Next: /memories 2")
    assert "Next" not in pages[2]
    assert memory.command(ERIN, "/memories 4") == "There is no such page. The last one is 3."
    for wrong in ("0", "-1", "x", "2 3", "99999999999999999999", "²"):
        assert memory.command(ERIN, f"/memories {wrong}").startswith("There is no such page")


@pytest.mark.spec("U-2", "M-9")
def test_each_line_tells_the_day_on_which_it_was_said_by_the_persons_own_clock(memory, clock):
    memory.command(ERIN, "/timezone America/New_York")
    late = datetime(2026, 2, 11, 2, tzinfo=UTC)
    memory.service.remember(ERIN, "Dentist in two weeks", said_at=late)
    memory.service.remember(ERIN, "Dentist for the dog next Friday")

    for command in ("/memories", "/search dentist", "/forget dentist"):
        listed = memory.command(ERIN, command)
        assert "Dentist in two weeks (2026-02-10) [" in listed
        assert f"Dentist for the dog next Friday ({clock():%Y-%m-%d}) [" in listed


@pytest.mark.spec("U-2")
def test_a_long_memory_is_one_short_line_of_the_list(memory):
    memory.command(ERIN, "/remember " + "a long story\nin many lines " * 40)

    assert len(lines_of(memory.command(ERIN, "/memories"))[0]) < 240
    assert len(memory.command(ERIN, "/memories").splitlines()) == 2


@pytest.mark.spec("I-4", "U-2")
def test_instructions_are_added_listed_and_switched_by_a_number_that_stays(memory, clock):
    assert memory.command(ERIN, "/instructions").startswith("You have given me no standing instructions")
    for text in ("be brief", "if day is weekend then send no offers", "answer in French"):
        assert memory.command(ERIN, f"/instructions {text}").startswith("✅ From now on: ")
        clock.forward(seconds=1)

    assert memory.command(ERIN, "/instructions off 2") == "✅ Switched off: if day is weekend: send no offers"
    assert memory.command(ERIN, "/instructions").splitlines() == [
        "From now on:",
        "1. be brief",
        "2. (off) if day is weekend: send no offers",
        "3. answer in French",
    ]
    assert [each.text for each in memory.instructions.list_instructions(ERIN)] == ["answer in French", "be brief"]
    assert memory.command(ERIN, "/instructions on 2") == "✅ On again: if day is weekend: send no offers"
    for wrong in ("off 4", "off 0", "on 9999"):
        assert memory.command(ERIN, f"/instructions {wrong}").startswith("There is no number")
    assert "/instructions" in memory.command(ERIN, "what do you know about me?")


@pytest.mark.spec("I-4", "U-2")
def test_the_same_instruction_again_is_the_one_there_is_switched_on(memory):
    memory.command(ERIN, "/instructions if day is weekend then be brief")
    memory.command(ERIN, "/instructions off 1")

    memory.command(ERIN, "/instructions If day is weekend then be brief")

    assert [each.active for each in memory.instructions.list_instructions(ERIN, active_only=False)] == [True]


@pytest.mark.spec("I-4", "U-2")
def test_when_there_is_no_room_for_another_instruction_the_person_is_told(memory):
    for number in range(200):
        memory.instructions.add(ERIN, f"rule {number}")

    assert memory.command(ERIN, "/instructions one more").startswith("There is no room")
    assert len(memory.command(ERIN, "/instructions 2").splitlines()) == 12


@pytest.mark.spec("U-2")
def test_dates_are_those_of_the_persons_time_zone(memory, clock):
    clock.instant = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)  # half past one in Jerusalem, the next day
    memory.command(ERIN, "/remember I have a dog")
    said_at = datetime(2026, 2, 27, 22, 30, tzinfo=UTC)
    memory.service.history.add(ERIN, [PastMessage("m", "s", "user", "My dog is ill", said_at)])

    found = memory.command(ERIN, "/search dog")

    assert re.findall(r"\d{4}-\d\d-\d\d", found) == ["2026-03-02", "2026-02-28"]


@pytest.mark.spec("U-2", "M-7")
def test_yesterday_in_a_search_is_yesterday_where_the_person_is(memory, clock):
    clock.instant = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)  # the second of March in Jerusalem
    days = datetime(2026, 3, 1, 9, tzinfo=UTC), datetime(2026, 2, 28, 9, tzinfo=UTC)
    for day in days:
        said = [PastMessage(f"{day}{each}", f"{day}", "user", "The plumber came", day) for each in range(5)]
        memory.service.history.add(ERIN, said)

    def found(city):
        memory.people.set_time_zone(ERIN, city)
        return set(re.findall(r"\d{4}-\d\d-\d\d", memory.command(ERIN, "/search what did I say yesterday?")))

    assert found("Jerusalem") == {"2026-03-01"}
    assert found("London") == {"2026-02-28"}


@pytest.mark.spec("U-2", "I-4")
@for_each("change", ["remove 1", "delete 1", "1 delete", "#1 remove", "מחק 1", "eliminar 1", "borra 1"])
def test_an_instruction_is_removed_by_its_number(memory, clock, change):
    memory.command(ERIN, "/instructions Answer briefly")
    clock.forward(minutes=1)
    memory.command(ERIN, "/instructions Call me Erin")

    told = {replies_in(each).instruction_removed.format(text="Answer briefly") for each in LANGUAGES}
    assert memory.command(ERIN, f"/instructions {change}") in told
    assert [each.text for each in memory.instructions.list_instructions(ERIN, active_only=False)] == ["Call me Erin"]


@pytest.mark.spec("U-2", "M-7")
def test_a_search_by_a_category_or_by_words_is_answered_and_one_for_what_is_not_there_says_so(
    database_url, clock, offline_model
):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as memory:
        memory.service.remember(ERIN, "The rent is 4,000", category="housing")
        memory.service.remember(ERIN, "One-pan salmon is our dinner")
        memory.service.remember(ERIN, "Salmon needs a pan")
        memory.sessions.add_message(ERIN, "user", "hello")
        assert "The rent is 4,000 (" in memory.command(ERIN, "/search housing")
        found = memory.command(ERIN, "/search salmon for dinner")
        assert "- One-pan salmon is our dinner (2026-03-01) [" in found.splitlines()[1]
        assert memory.command(ERIN, "/search unicorn") == "I found nothing about “unicorn”."


@pytest.mark.spec("U-2", "I-4")
def test_an_instruction_that_begins_with_a_number_is_no_change(memory):
    assert memory.command(ERIN, "/instructions 2 options at most") == "✅ From now on: 2 options at most"
    assert memory.command(ERIN, "/instructions 1 off") == "✅ Switched off: 2 options at most"
    assert memory.command(ERIN, "/instructions 1 priority 9") == "✅ Priority 9 of 10: 2 options at most"


@pytest.mark.spec("I-3", "U-2")
@for_each(
    ("typed", "told"),
    [
        ("/instructions if day is weekend then rest", "✅ From now on: if day is weekend: rest"),
        (
            '/instrucciones if topic is "or day" then responde siempre muy breve y en español, por favor',
            '✅ A partir de ahora: si el tema es "or day": responde siempre muy breve y en español, por favor',
        ),
        ("/הוראות אם אני שואל על אוכל תזכיר בוטנים", '✅ מעכשיו: אם הנושא הוא "אוכל": תזכיר בוטנים'),
        (
            "/הוראות if day is not monday then תענה לי תמיד בקצרה ובעברית",
            "✅ מעכשיו: אם היום לא יום שני: תענה לי תמיד בקצרה ובעברית",
        ),
    ],
)
def test_a_condition_is_told_in_the_persons_language(memory, typed, told):
    assert memory.command(ERIN, typed) == told
