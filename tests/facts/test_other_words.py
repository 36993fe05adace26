"""One fact in other words: it is read in the same slot, known again, and replaced; what only looks like it stays."""

from datetime import UTC, datetime

import pytest

from langmem_plugin.agent.commands.plain_words import said
from langmem_plugin.facts import relation, statement_of, statements
from langmem_plugin.facts.standing_orders import instructions_in

SAID_AT = datetime(2026, 11, 22, 20, tzinfo=UTC)


def of(new, old):
    return relation(statement_of(new, SAID_AT), statement_of(old, SAID_AT)).kind


def found(text):
    return {(each.slot.key, each.value, each.negated) for each in statements(text, said_at=SAID_AT) if each.slot}


@pytest.mark.spec("W-3")
@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("we've got 45 goats now", ("self/goats", "45", False)),
        ("tengo 30 gallinas", ("self/gallinas", "30", False)),
        ("יש לי 12 עיזים", ("self/עיזים", "12", False)),
        ("i never fly before noon", ("self/routine", "fly before noon", True)),
        ("siempre viajo en tren", ("self/routine", "viajo en tren", False)),
        ("I swim 3 times a week", ("self/routine", "swim 3 times a week", False)),
        ("we buy all our flour from Millbrook", ("self/flour supplier", "Millbrook", False)),
        ("Our bread comes from Ruiz", ("self/bread supplier", "Ruiz", False)),
        ("אנחנו קונים את הקמח מטחנה", ("self/קמח supplier", "טחנה", False)),
        ("the oven repair guy is Stan", ("self/oven repair guy", "Stan", False)),
        ("my endocrinologist is dr shah", ("self/endocrinologist", "dr shah", False)),
        ("the mechanic i go to is Tony", ("self/mechanic", "Tony", False)),
        ("flat 2 rent is 980", ("flat 2/rent", "980", False)),
        ("I raised flat 2's rent to 990", ("flat 2/rent", "990", False)),
        ("I got mum's birthday wrong, it's 4 March", ("mother/birthday", "4 March", False)),
        ("nephew Oscar is 5", ("nephew oscar/age", "5", False)),
        ("Leo had his fourth birthday", ("leo/age", "4", False)),
        ("switched to Verizon last week", ("self/carrier", "Verizon", False)),
        ("im a warehouse supervisor at Lidl", ("self/employer", "Lidl", False)),
        ("me llamo Iker y soy agricultor", ("self/job", "agricultor", False)),
        ("לאחותי קוראים שירה", ("self/sister", "שירה", False)),
        ("אין לי רישיון נהיגה", ("self/possession", "רישיון נהיגה", True)),
        ("we decided to sell the house", ("self/decision", "sell the house", False)),
    ],
)
def test_a_fact_in_everyday_words_is_read(text, fact):
    assert fact in found(text)


@pytest.mark.spec("W-3")
@pytest.mark.parametrize(
    "text",
    [
        "I always knew you were clever",
        "i never got the confirmation email",
        "i only have 5 minutes",
        "i have 4 slices of pizza left",
        "We have 3 candidates for the job",
        "the singer is Adele",
        "the engineer is German",
        "the manager is Carlos in that show",
        "ticket price is 40 euros",
        "room code is 4412",
        "we get emails from Amazon",
        "I ordered a pizza from Dominos",
        "i decided to open a window",
        "I switched to the other tab",
        "I moved to Verizon Center",
        "I don't have a clue",
        "Dana's wife is Ruth",
        "My boss's wife is Ana",
        "nunca dije eso",
        "subí el volumen a 10",
        "יש לי שתי אפשרויות",
        "אין לי כוח",
    ],
)
def test_what_is_of_the_moment_or_of_others_is_no_fact_of_the_speaker(text):
    assert found(text) == set()


@pytest.mark.spec("W-6")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Our eggs come from Henley Farm", "Henley Farm supplies our eggs"),
        ("I own a boat in Split", "the boat in Split belongs to us"),
        ("I pay 45 a month for the gym", "the gym costs me 45 a month"),
        ("My Italian is at level A2", "I'm at A2 in Italian"),
        ("I have 45 goats", "forty-five goats is what I have"),
        ("Omar rents the studio from me", "Omar is my tenant in the studio"),
        ("My daughter attends Hill Primary", "Hill Primary is my daughter's school"),
        ("I charge 60 pounds an hour", "my rate is £60/h"),
        ("La casa de Ronda es mía", "soy dueña de la casa de Ronda"),
        ("הבת שלי נועה אלרגית לבוטנים", "לנועה יש אלרגיה לבוטנים"),
    ],
)
def test_one_fact_in_other_words_is_known_again(old, new):
    assert of(new, old) == "duplicate"


@pytest.mark.spec("W-6")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My phone carrier is Vodafone", "I switched to Verizon"),
        ("We have a Mazda 3", "We sold the Mazda and got a Kia"),
        ("My son Leo is 3", "Leo had his fourth birthday"),
        ("My boyfriend is Tim", "Tim and I broke up"),
        ("I bank with Barclays", "moved my account from Barclays to Monzo"),
        ("I have 45 goats", "sold a few, down to 38 goats"),
        ("I work the late shift", "they put me on the early shift"),
        ("I play padel on Thursdays", "I don't play padel any more"),
        ("A kilo of beef costs me 12 euros", "beef went up, a kilo is 14 euros now"),
        ("Our drummer is Otto", "Otto quit, Lena is our drummer now"),
        ("I eat meat", "I went vegan"),
        ("Tengo 15 ovejas", "compré más, ahora tengo 21 ovejas"),
        ("רופאת המשפחה שלי היא ד״ר כהן", "החלפתי רופאת משפחה, עכשיו זאת ד״ר שפירא"),
    ],
)
def test_what_is_said_to_have_changed_takes_the_place_of_what_was(old, new):
    assert of(new, old) == "supersedes"


@pytest.mark.spec("W-6")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("we supply Dana's flour", "Dana supplies our flour"),
        ("I charge 60 an hour", "I pay 60 an hour for the babysitter"),
        ("My hourly rate is 75", "my weekend rate is 95 now"),
        ("My hourly rate is 75", "For rush jobs my rate is 110"),
        ("My phone carrier is Vodafone", "I switched to oat milk"),
        ("I have a Barclays mortgage", "I switched to Monzo"),
        ("I'm with Vodafone", "my internet moved to Sky"),
        ("We have a Mazda 3 and a Kia", "I sold the Kia"),
        ("I work at Acme", "I left Acme's gym"),
        ("My boyfriend is Tim", "Tim and Ana broke up"),
        ("I swim on Fridays", "I don't run any more"),
        ("Leo is 3", "Theo had his fourth birthday"),
        ("Flat 2's rent is 950", "flat 3's rent went up to 1000"),
        ("I work the night shift at Dunkin", "they moved Tom to the morning shift at Dunkin"),
        ("A sack of flour costs me 18 euros", "a sack of rye flour is 21 euros now"),
        ("I live in Leeds", "I work in Wakefield, at Pinderfields hospital"),
        ("אני גר בחיפה", "עברתי לפרטנר"),
        ("Mi novio es Hugo", "Hugo y mi hermana terminaron"),
    ],
)
def test_a_change_of_something_else_takes_nothing_away(old, new):
    assert of(new, old) in ("keeps_both", "unrelated")


@pytest.mark.spec("W-1")
@pytest.mark.parametrize(
    "text",
    [
        "don't forget that I need a taxi at 5",
        "remember that song is great",
        "recuerda que necesito un taxi a las 5",
        "תזכור שאני צריך מונית בחמש",
    ],
)
def test_an_errand_and_a_word_about_a_song_are_not_asked_to_be_remembered(text):
    assert said(text) is None


@pytest.mark.spec("I-1")
@pytest.mark.parametrize("text", ["nunca digas nunca", "Never say never!", "לעולם אל תגיד לעולם"])
def test_a_saying_is_no_standing_order(text):
    assert instructions_in(text) == []
