"""What people state about themselves and theirs, in their own words."""

import string
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_plugin.facts import statement_of, statements
from tests.growth import is_linear

pytestmark = pytest.mark.spec("W-3")

SAID_AT = datetime(2026, 11, 22, 20, tzinfo=UTC)
STATED = (
    "I'm allergic to peanuts",
    "my daughter Mia is 7",
    "my dentist is Dr. Levi",
    "we moved to Haifa in May",
    "I no longer work at Intel",
    "TestCorp owes me 5000",
    "אני אלרגי לבוטנים",
    "הבת שלי נועה בת 7",
    "כבר לא גרה בחיפה",
    "soy alérgica a los mariscos",
    "mi hija Lucía tiene 8 años",
    "ya no trabajo en Nubelia",
)


def facts(text):
    return [(each.slot.key if each.slot else None, each.value) for each in statements(text, said_at=SAID_AT)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm allergic to peanuts", "Allergic to peanuts"),
        ("my daughter Mia is 7", "Daughter Mia is 7"),
        ("we moved to Haifa in May", "Moved to Haifa in May 2026"),
        ("my dentist is Dr. Levi", "Dentist is Dr. Levi"),
        ("I don't eat red meat", "Don't eat red meat"),
        ("TestCorp owes me ₪5000", "TestCorp owes ₪5000"),
        ("I've been vegan since January", "Vegan since January 2026"),
        ("I quit smoking two years ago", "Quit smoking in 2024"),
        ("find a recipe without nuts, my son is allergic", "Son is allergic to nuts"),
        ("Adam is my son and he's allergic to milk", "Adam is my son"),
        ("הבת שלי מיה בת 7", "הבת מיה בת 7"),
        ("עברנו לחיפה בשנה שעברה", "עברנו לחיפה ב-2025"),
        ("mi hija Mia tiene 7 años", "Hija Mia tiene 7 años"),
        ("nos mudamos a Valencia el año pasado", "Nos mudamos a Valencia en 2025"),
    ],
)
def test_a_fact_is_short_without_its_speaker_and_with_times_made_absolute(text, expected):
    assert statements(text, said_at=SAID_AT)[0].text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I'm allergic to peanuts, milk and eggs",
            [("self/allergy", "peanuts"), ("self/allergy", "milk"), ("self/allergy", "eggs")],
        ),
        ("my dad Peter is 71 and lives in Cork", [("father peter/age", "71"), ("father peter/home", "Cork")]),
        ("my wife's name is Olga", [("self/wife", "Olga")]),
        ("Priya Nair is my accountant", [("self/accountant", "Priya Nair")]),
        ("I switched dentists, it's Dr. Amir now", [("self/dentist", "Dr. Amir")]),
        ("im vegan and my wife is allergic to shellfish", [("self/diet", "vegan"), ("wife/allergy", "shellfish")]),
        (
            "we have a dog named Rufus and a cat called Olive",
            [("self/pet", "dog Rufus"), ("self/pet", "cat called Olive")],
        ),
        ("my son's teacher is Mrs. Brown", [("son/teacher", "Mrs. Brown")]),
        ("can you help? I work at Acme", [("self/employer", "Acme")]),
        ("nothing with cilantro pls i hate it", [("self/dislike", "cilantro")]),
        ("יש לי שני ילדים, דניאל בן 9 ותמר בת 5", [("דניאל/age", "9"), ("תמר/age", "5")]),
        ("אני טבעונית ובעלי אלרגי לאגוזים", [("self/diet", "טבעונית"), ("husband/allergy", "אגוזים")]),
        ("vivo en Madrid y trabajo en Nubelia", [("self/home", "Madrid"), ("self/employer", "Nubelia")]),
        ("el cumple de mi mamá es el 3 de mayo", [("mother/birthday", "3 de mayo")]),
    ],
)
def test_every_fact_has_its_slot_and_its_value(text, expected):
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "negated", "over"),
    [
        ("I don't eat pork", True, False),
        ("I no longer work at Intel", True, True),
        ("I don't drink alcohol anymore", True, True),
        ("I used to live in Boston", False, True),
        ("I sold the Yaris", True, False),
        ("אני כבר לא עובד באינטל", True, True),
        ("אני לא אוכלת בשר", True, False),
        ("ya no vivo en Madrid", True, True),
        ("no como carne", True, False),
        ("I eat fish", False, False),
    ],
)
def test_what_is_not_so_and_what_is_no_more_so_is_said(text, negated, over):
    (found,) = statements(text, said_at=SAID_AT)

    assert (found.negated, found.over) == (negated, over)


@pytest.mark.parametrize(
    "text",
    [
        "I'm 5 minutes away",
        "I left the keys at home",
        "I have a meeting at 5",
        "my phone is dead",
        "my boss is angry",
        "I like that one",
        "call me later",
        "we decided to meet at 5",
        "I moved the meeting to Tuesday",
        "My order is 5521",
        "maybe I'm allergic to something",
        "if I lived in Rome I would eat pasta",
        "I dreamt I lived in Tokyo",
        "the novel opens with “call me Ishmael”",
        "some woman said she's allergic to cats",
        "is my dentist Dr. Levi?",
        "translate: I live in Haifa",
        "My name is Bob, he said.",
        "Dear customer, my name is Eve and I live in Rome. Unsubscribe here.",
        "יש לי פגישה מחר",
        "אני בדרך",
        "נגיד שאני גר ברומא",
        "tengo una reunión mañana",
        "si viviera en Roma comería pasta",
    ],
)
def test_what_only_looks_like_a_fact_is_left_alone(text):
    assert facts(text) == []


def test_secrets_are_told_by_whole_words():
    assert statements("the wifi password is sunny-Tree-42", said_at=SAID_AT)[0].sensitive
    assert statements("my visa number is 4111 1111 1111 1111", said_at=SAID_AT)[0].sensitive
    assert statements("הקוד לכניסה לבניין שלנו הוא 4471", said_at=SAID_AT)[0].sensitive
    assert not statements("I love turkey and monkeys", said_at=SAID_AT)[0].sensitive


def test_a_fact_holds_from_and_until_when_that_was_said():
    (moved,) = statements("we moved to Haifa in May", said_at=SAID_AT)
    (left,) = statements("I left Amazon in March", said_at=SAID_AT)

    assert moved.valid_from == datetime(2026, 5, 1, tzinfo=UTC)
    assert left.valid_from == datetime(2026, 3, 1, tzinfo=UTC)
    assert statements("I've lived in London since 2015", said_at=SAID_AT)[0].valid_from.year == 2015


def test_a_correction_keeps_what_it_corrects():
    (found,) = statements("actually it's Dana, not Dina", said_at=SAID_AT)

    assert (found.slot, found.value, found.instead_of) == (None, "Dana", "Dina")


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("Mia lives in Tel Aviv", "mia/home", "Tel Aviv"),
        ("Dana is allergic to peanuts", "dana/allergy", "peanuts"),
        ("TestCorp moved to Ramat Gan", "testcorp/home", "Ramat Gan"),
        ("Allergic to peanuts", "self/allergy", "peanuts"),
        ("Lives in Haifa", "self/home", "Haifa"),
        ("Daughter Mia is 7", "daughter mia/age", "7"),
        ("Dentist is Dr. Levi", "self/dentist", "Dr. Levi"),
        ("choir practice: mondays at 18:30", "self/choir practice", "mondays at 18:30"),
        ("The billing project uses Postgres as its database", "billing project/database", "Postgres"),
        ("I left Acme and started a new job at Northwind", "self/employer", "Northwind"),
        ("TestCorp paid 2000, they owe me 3000 now", "testcorp/debt", "3000"),
        ("אלרגי לבוטנים", "self/allergy", "בוטנים"),
        ("Vive en Madrid", "self/home", "Madrid"),
    ],
)
def test_a_fact_as_memories_word_it_has_a_slot(text, key, value):
    found = statement_of(text, SAID_AT)

    assert (found.slot.key, found.value, found.text, found.quote) == (key, value, text, text)


def test_what_is_not_understood_is_kept_as_it_is():
    found = statement_of(" The third shelf is the best one ")

    assert (found.slot, found.value, found.text) == (None, None, "The third shelf is the best one")


@pytest.mark.parametrize("text", STATED)
@given(
    before=st.sampled_from(["", "hey ", "btw, ", "ok so "]), after=st.sampled_from(["", ".", "!", "...", " 🙂", " !!"])
)
def test_a_fact_does_not_hang_on_punctuation_or_on_its_first_letter(text, before, after):
    plainly = [(slot, value) for slot, value in facts(text)]

    assert plainly
    assert facts(text + after) == plainly
    assert facts(text[0].swapcase() + text[1:]) == plainly
    if text.isascii():
        assert facts(before + text + after) == plainly


@given(st.sampled_from(STATED), st.sampled_from(["", "is it true that ", "do you know if "]))
def test_a_question_never_states_a_fact(text, before):
    assert facts(f"{before}{text}?") == []


@given(
    st.lists(st.sampled_from(STATED) | st.text(string.printable, max_size=30) | st.text(max_size=10), max_size=5).map(
        " ".join
    )
)
def test_a_quote_stands_in_the_text_word_for_word(text):
    for found in statements(text, said_at=SAID_AT):
        assert found.quote in text
        assert found.value
        assert found.text
        assert 0 <= found.confidence <= 1


@given(st.text(max_size=200))
def test_any_text_can_be_one_fact(text):
    assert statement_of(text).text == text.strip()


@pytest.mark.slow
@pytest.mark.spec("C-13")
@pytest.mark.parametrize(
    "part",
    [
        "[",
        "((",
        "my ",
        "my daughter ",
        "I'm allergic to ",
        "a",
        " ",
        "and ",
        "\ud83d ",
        "\x00",
        "1 ",
        "'s ",
        "not ",
        '"',
        "I ",
        "ש",
        "of my ",
        "peanuts, ",
        ". ",
        "every day ",
    ],
)
def test_a_long_text_is_read_in_time(part):
    assert is_linear(
        lambda text: statements(text, said_at=SAID_AT),
        lambda length: (part * (length // len(part) + 1))[:length],
        8_000,
    )
    assert statements(part * 5_000, said_at=SAID_AT) is not None
    assert statement_of((part * 64_000)[:64_000]) is not None
