"""Days that a question names bring forward what was said on them."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from langmem_plugin.memory.find.dates_in_question import is_over, named, nearness
from langmem_plugin.memory.find.past_messages import PastMessage
from tests.cases import for_each

ANNA = "+972501234567"
TODAY = date(2026, 11, 18)  # a Wednesday
NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.mark.spec("M-7")
@for_each(
    ("question", "first", "last"),
    [
        ("what did dana do in may 2025?", date(2025, 5, 1), date(2025, 5, 31)),
        ("where was i on october 3rd, 2026?", date(2026, 10, 3), date(2026, 10, 3)),
        ("where was i on the 3rd of october?", date(2026, 10, 3), date(2026, 10, 3)),
        ("¿qué dije el 3 de octubre de 2025?", date(2025, 10, 3), date(2025, 10, 3)),
        ("¿y en febrero?", date(2026, 2, 1), date(2026, 2, 28)),
        ("¿y en mayo?", date(2026, 5, 1), date(2026, 5, 31)),
        ("מה עשינו ביוני?", date(2026, 6, 1), date(2026, 6, 30)),
        ("מה אמרתי ב-3 באוקטובר?", date(2026, 10, 3), date(2026, 10, 3)),
        ("מה עשינו במרץ 2025", date(2025, 3, 1), date(2025, 3, 31)),
        ("the meeting of 2026-02-28", date(2026, 2, 28), date(2026, 2, 28)),
        ("what did i tell you yesterday?", date(2026, 11, 17), date(2026, 11, 17)),
        ("¿qué dije ayer?", date(2026, 11, 17), date(2026, 11, 17)),
        ("מה ביקשתי בשבוע שעבר?", date(2026, 11, 9), date(2026, 11, 15)),
        ("what did i tell you today?", date(2026, 11, 18), date(2026, 11, 18)),
        ("what did i say the day before yesterday?", date(2026, 11, 16), date(2026, 11, 16)),
        ("what did i say on monday?", date(2026, 11, 16), date(2026, 11, 16)),
        ("last thursday", date(2026, 11, 12), date(2026, 11, 12)),
        ("last wednesday", date(2026, 11, 11), date(2026, 11, 11)),
        ("¿qué dije el sábado?", date(2026, 11, 14), date(2026, 11, 14)),
        ("el lunes pasado", date(2026, 11, 16), date(2026, 11, 16)),
        ("¿qué dije anteayer?", date(2026, 11, 16), date(2026, 11, 16)),
        ("מה אמרתי ביום שני?", date(2026, 11, 16), date(2026, 11, 16)),
        ("מה אכלתי בשבת?", date(2026, 11, 14), date(2026, 11, 14)),
        ("מה אמרתי היום?", date(2026, 11, 18), date(2026, 11, 18)),
        ("what did we decide this week? we decided", date(2026, 11, 16), date(2026, 11, 18)),
        ("what did we buy last month?", date(2026, 10, 1), date(2026, 10, 31)),
    ],
)
def test_a_question_names_days_in_three_languages(question, first, last):
    assert named(question, TODAY, [2026]) == [(first, last)]


@pytest.mark.spec("M-7")
@for_each(
    "question",
    [
        "may i ask you something?",
        "how far did they march?",
        "el mar es azul",
        "the 31st of february 2026",
        "in 40 days",
        "what do i have on monday?",
        "what is for dinner today?",
        "what did we say about mondays?",
        "we decided: every monday",
        "¿qué tengo el lunes?",
        "qué dije de la reunión de cada lunes",
        "מה יש לי ביום שני?",
        "מה אמרתי על היום השני",
    ],
)
def test_words_that_only_look_like_a_month_name_no_day(question):
    assert named(question, TODAY, [2026]) == []


@pytest.mark.spec("M-7")
def test_a_year_counts_for_the_dates_before_it_and_without_one_every_year_is_meant():
    between = named("between 11 august and 15 august 2025", TODAY, [2026])
    assert [first for first, _ in between] == [date(2025, 8, 15), date(2025, 8, 11)]
    assert [first.year for first, _ in named("in june", TODAY, [2024, 2025])] == [2024, 2025]
    assert named("on 29 february", TODAY, [2023, 2024]) == [(date(2024, 2, 29), date(2024, 2, 29))]


@pytest.mark.spec("M-7")
def test_nearness_fades_with_each_day_and_sooner_before_than_after():
    days = [datetime(2026, 5, day, tzinfo=UTC) for day in (7, 9, 10, 11, 24)]
    instants = np.array([int(day.timestamp() * 1_000_000) for day in days], dtype=np.int64)
    near = nearness("what happened on 10 May?", NOW, instants)
    assert near is not None
    assert near[2] == 1.0
    assert near[0] < near[1] < near[3] < 1.0
    assert near[4] == pytest.approx(np.exp(-1.0))
    assert nearness("what happened?", NOW, instants) is None
    assert nearness("what happened in May?", NOW, instants[:0]) is None


@pytest.mark.spec("M-7")
def test_yesterday_is_a_day_of_the_zone_that_the_question_is_asked_in():
    auckland = ZoneInfo("Pacific/Auckland")  # 13 hours before UTC
    instants = _instants(*(datetime(2026, 11, 17, hour, tzinfo=UTC) for hour in (10, 11, 12)))
    asked = datetime(2026, 11, 18, 12, tzinfo=UTC)

    assert list(nearness("yesterday", asked, instants) == 1.0) == [True, True, True]
    assert list(nearness("yesterday", asked.astimezone(auckland), instants) == 1.0) == [False, True, True]


@pytest.mark.spec("M-7")
def test_a_day_on_which_the_clock_is_changed_has_23_or_25_hours():
    madrid = ZoneInfo("Europe/Madrid")
    short = [datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 3, 29, 21, 59, tzinfo=UTC)]
    after = datetime(2026, 3, 29, 22, tzinfo=UTC)
    near = nearness("yesterday", datetime(2026, 3, 30, 9, tzinfo=madrid), _instants(*short, after))

    assert list(near == 1.0) == [True, True, False]


def _instants(*instants):
    return np.array([int(each.timestamp() * 1_000_000) for each in instants], dtype=np.int64)


@pytest.mark.spec("M-7", "M-11")
def test_what_was_said_in_the_month_that_is_asked_for_comes_first(memory, clock):
    months = (3, 5, 9)
    said = [
        PastMessage(f"m{month}", f"s{month}", "user", f"We ate at {place}", datetime(2025, month, 9, tzinfo=UTC))
        for month, place in zip(months, ("the harbour", "the Italian", "my aunt's"), strict=True)
    ]
    memory.history.add(ANNA, said)
    for each, asked in zip(said, ("in March", "en mayo", "בספטמבר"), strict=True):
        found = memory.history.search(ANNA, f"Where did we eat {asked}?")
        assert found[0].message == each
        assert found[0].signals["day"] == 1.0


@pytest.mark.spec("M-7")
@for_each(
    "question",
    ["What did we talk about in May?", "¿Qué dije en mayo?", "מה אמרתי במאי?", "What did I say on 9 May 2025?"],
)
def test_a_question_for_nothing_but_a_day_is_answered_by_what_was_said_then(memory, question):
    said = [
        PastMessage(f"m{month}", f"s{month}", "user", text, datetime(2025, month, 9, tzinfo=UTC))
        for month, text in ((3, "The boiler leaks again"), (5, "Our accountant is Dana Levi"), (9, "Two flat tyres"))
    ]
    said.append(PastMessage("after", "s6", "user", "The tyres are mended", datetime(2025, 6, 2, tzinfo=UTC)))
    memory.history.add(ANNA, said)
    assert [found.message for found in memory.history.search(ANNA, question, min_relevance=0.5)] == [said[1]]
    # With a subject the day only orders: what is about something else stays out.
    assert not memory.history.search(ANNA, "What did the doctor say in May?", min_relevance=0.5)


@pytest.mark.spec("M-7")
def test_notes_that_only_one_person_wrote_gain_nothing_from_those_beside_them(memory, clock):
    notes = ("Boiler serviced by Heatworks", "Bought stamps", "Library card renewed", "Bike chain oiled")
    memory.history.add(ANNA, [PastMessage(f"n{n}", "notes", "user", text, clock()) for n, text in enumerate(notes)])
    answers = [
        PastMessage(f"a{n}", "talk", ("user", "assistant")[n % 2], text, clock()) for n, text in enumerate(notes)
    ]
    alone = {each.message.message_id: each.score for each in memory.history.search(ANNA, "who serviced the boiler?")}
    memory.history.add("ben", answers)
    talking = {each.message.message_id: each.score for each in memory.history.search("ben", "who serviced the boiler?")}
    assert talking["a1"] - talking["a3"] > alone["n1"] - alone["n3"]


@pytest.mark.spec("W-9", "M-9")
@for_each(
    ("text", "told", "over"),
    [
        ("The dentist is on 12 March", date(2026, 3, 4), True),
        ("We fly to Rome on 3 October 2027", date(2026, 3, 4), False),
        ("El 20 de mayo tengo dentista", date(2026, 3, 4), True),
        ("יש לי תור לרופא ב-20 במאי", date(2026, 3, 4), True),
        ("The exam is tomorrow", date(2026, 11, 16), True),
        ("The exam is tomorrow", date(2026, 11, 17), False),
        ("I am tired today", date(2026, 11, 17), True),
        ("I run in the morning", date(2026, 3, 4), False),
        ("Corro por la mañana", date(2026, 3, 4), False),
        ("Mum's birthday is on 12 March", date(2026, 3, 4), False),
        ("I start my new job on 1 May", date(2026, 3, 4), False),
        ("I have lived here since May 2019", date(2026, 3, 4), False),
        ("We married on 5 June 2010", date(2026, 3, 4), False),
        ("I like tea", date(2026, 3, 4), False),
        ("", date(2026, 3, 4), False),
    ],
)
def test_what_is_over_told_of_a_day_to_come_that_has_passed(text, told, over):
    assert is_over(text, told, TODAY) is over
    assert not is_over(text, told, told)
