"""What needs the person's own leave is known by its words, and what only looks like it is not."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from langmem_plugin.facts import statements
from langmem_plugin.facts.attributes import attribute_of
from langmem_plugin.facts.sensitive_facts import is_sensitive, kinds_of
from tests.cases import for_each

pytestmark = pytest.mark.spec("P-2")

SAID_AT = datetime(2026, 3, 1, tzinfo=UTC)

SENSITIVE = """
I have HIV|Tengo VIH|I have hepatitis B|I caught an STD|My sister has MS|I have arthritis|I suffer from psychosis
I have melanoma|I have anemia|My mother has cancer|I start chemo on Monday|I have dialysis on Tuesdays|I take metformin
I take lisinopril|I take atorvastatin|I take diazepam|I am on amoxicillin|My HbA1c is 7.2|My CD4 count is 400
My tumor marker went up|My blood pressure is high|My psychiatrist is Dr. Cohen|My oncologist is Dr. Katz
I see a therapist on Mondays|My psychologist is Dana|הפסיכולוג שלי הוא דני|Mi psiquiatra es Ana|I am blind|My son is deaf
I use a wheelchair|I am Jewish|I'm Muslim|I am a Christian|I go to the mosque on Fridays|I go to church on Sundays
I pray at the synagogue|I go to mass every week|Voy a misa los domingos|אני הולך לבית כנסת בשבת|אני יהודי|אני מוסלמי
Soy judío|I am gay|I am a lesbian|I voted for the Democrats|I am in the union|I am on parole|My dealer lives in Haifa
I smoke weed|I go to AA meetings|I was in rehab last year|My salary is 20,000|My income is 9000 a month|Mi sueldo es 2000
My mistress lives in Paris|I am pregnant|Estoy embarazada|אני בהריון|My login is erin7|My username is erin
The wifi password is sunny-Tree-42|My locker code is 4471|My PIN is 9182|The alarm is 5512|The cvv is 123
My passport is A1234567|My ID number is 123|My ID is 123456782|my e-mail is a@b.co and the password is fish
יש לי סוכרת|אני לוקח תרופות|יש לי לחץ דם גבוה|Tomo metformina|Tengo diabetes|Mi código es 4471|המשכורת שלי היא 9000
"""
PLAIN = """
I love turkey|I saw monkeys at the zoo|I work at a church street café|My son's school is Herzl|I live on St. Mary's road
My dentist is Dr. Levi|My GP is Dr. Cohen|I am allergic to peanuts|I am vegan|I am lactose intolerant
The venue has a ramp|TestCorp owes me 5000|My customer owes us 900|I live in Haifa|My dog is called Rex|I drink tea
My birthday is on 3 April|I moved to Oklahoma|I have a diploma in law|I love the aroma of coffee|My gym is Holmes Place
I speak three languages|Hablo dos idiomas|My zip code is 90210|The dress code is casual|The area code is 212
I play the piano|My car is a Mazda|I prefer window seats|My wife is Dana|אני גר בחיפה|אני אוהב קפה|יש לי כלב
אשתי היא דנה|אני אלרגי לבוטנים|Vivo en Madrid|Me gusta el café|Soy alérgico a las nueces|Mi perro se llama Rex
My meeting is at nine|I work in marketing|My flight leaves on Sunday|I collect keys|My phone is a Pixel
I like spinning|My office is in Roma|Quiero vivir en Roma|I like jazz
"""


def _each(table):
    return [each.strip() for each in table.replace("\n", "|").split("|") if each.strip()]


def test_the_tables_are_long_enough_to_mean_something():
    assert len(_each(SENSITIVE)) >= 60
    assert len(_each(PLAIN)) >= 40


@for_each("said", _each(SENSITIVE))
def test_a_sensitive_fact_is_known_as_one(said):
    assert is_sensitive(said)


@for_each("said", _each(PLAIN))
def test_an_ordinary_fact_is_not_taken_for_one(said):
    assert not is_sensitive(said)


def test_what_is_found_in_a_sentence_carries_it():
    assert statements("My salary is 20,000", said_at=SAID_AT)[0].sensitive
    assert not statements("I am allergic to peanuts", said_at=SAID_AT)[0].sensitive


def test_what_an_attribute_is_about_says_it_too():
    sensitive = ("medication", "religion", "salary", "therapist", "pin")
    assert all(attribute_of(each).sensitive for each in sensitive)
    assert not any(
        attribute_of(each).sensitive for each in ("dentist", "gp", "allergy", "diet", "accessibility", "debt")
    )


def _labelled(name):
    lines = (Path(__file__).with_name(name)).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines]


def _rates(lines):
    """(precision, recall) of finding anything at all, and the lines whose kind is another."""
    right = sum(bool(kind and kinds_of(text)) for kind, text in lines)
    found, wanted = sum(bool(kinds_of(text)) for _, text in lines), sum(bool(kind) for kind, _ in lines)
    return right / found, right / wanted, [text for kind, text in lines if kind and kind not in kinds_of(text)]


def test_of_labelled_lines_each_kind_is_known_and_nothing_else_is_taken_for_one():
    lines = _labelled("sensitive_lines.tsv")

    assert len(lines) >= 150
    assert _rates(lines) == (1.0, 1.0, [])


def test_of_lines_that_no_rule_was_written_from_most_are_known_and_few_wrongly():
    precision, recall, _ = _rates(_labelled("sensitive_unseen.tsv"))

    assert precision >= 0.85
    assert recall >= 0.85


@for_each("given", ["my mail is dana@example.org", "the server is 203.0.113.7"])
def test_an_address_that_is_told_to_be_used_is_known_and_not_asked_about(given):
    assert kinds_of(given)
    assert not is_sensitive(given)


@for_each("text", ["1" * 50_000, "1 " * 20_000, "a@" * 20_000, "::" * 20_000, "GB82" * 10_000, "eyJ" * 20_000, ""])
def test_a_long_text_is_read_in_no_time_and_without_an_error(text):
    assert isinstance(kinds_of(text), frozenset)
