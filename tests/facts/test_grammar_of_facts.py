"""Facts told by the grammar of a sentence, whatever they are about, and what stands in the same grammar and is none."""

from datetime import UTC, datetime

import pytest

from langmem_plugin.facts import statements

SAID_AT = datetime(2026, 11, 22, 20, tzinfo=UTC)

pytestmark = pytest.mark.spec("W-3")


def found(text):
    return {
        (each.slot.key, each.value, each.negated or each.over)
        for each in statements(text, said_at=SAID_AT)
        if each.slot is not None
    }


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("my uncle runs the lambing shed", ("uncle/routine", "runs the lambing shed", False)),
        ("I coach the under-nines", ("self/routine", "coach the under-nines", False)),
        ("doy clases de cerámica", ("self/routine", "doy clases de cerámica", False)),
        ("mi abuela canta en un coro", ("grandmother/routine", "canta en un coro", False)),
        ("הבת שלי רוני משרתת בצנחנים", ("daughter רוני/routine", "משרתת בצנחנים", False)),
        ("Grandpa doesn't drive any more", ("grandfather/routine", "drive", True)),
        ("my best friend Noor hasn't eaten meat since 2010", ("friend noor/routine", "eaten meat", True)),
    ],
)
def test_the_simple_present_tells_what_somebody_does_for_long(text, fact):
    assert fact in found(text)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I've been teaching chemistry for years", ("self/job", "teach", False)),
        ("been divorced since 2020", ("self/relationship", "divorced", False)),
        ("I've been sober for three years", ("self/drinking", "sober", True)),
        ("he dejado de fumar", ("self/smoking", "fumar", True)),
        ("hemos decidido vender la casa", ("self/decision", "vender la casa", False)),
    ],
)
def test_what_has_gone_on_or_has_ended_is_so_now(text, fact):
    assert fact[0] in {key for key, _, _ in found(text)}
    assert fact[2] in {over for key, _, over in found(text) if key == fact[0]}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I'm 34 and single", {("self/age", "34", False), ("self/relationship", "single", False)}),
        ("my son is 6 and allergic to nuts", {("son/age", "6", False), ("son/allergy", "nuts", False)}),
        (
            "mi papá es viudo y cría palomas",
            {("father/relationship", "viudo", False), ("father/routine", "cría palomas", False)},
        ),
        ("חמותי לא באה, סוכרתית", {("mother-in-law/health", "סוכרתית", False)}),
        ("we've got two kids, Ines and Theo", {("self/children", "Ines", False), ("self/children", "Theo", False)}),
        ("I'm a nurse and you became a doctor", {("self/job", "nurse", False)}),
    ],
)
def test_a_clause_without_subject_goes_on_of_whom_was_spoken_of(text, facts):
    assert found(text) == facts


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("my goddaughter Effie lives in Crail", ("goddaughter effie/home", "Crail", False)),
        ("my cleaner Beata comes every other friday", ("cleaner beata/routine", "comes every other friday", False)),
        ("my ex, Dominic, has gout", ("ex dominic/health", "gout", False)),
        ("My flatmate Sven's diabetic", ("roommate sven/health", "diabetic", False)),
        ("my eldest is at Durham and allergic to wasps", ("child/allergy", "wasps", False)),
        ("remind me to ring my sister Amara", ("self/sister", "Amara", False)),
        ("my van's reg is KV19 TRX", ("self/van reg", "KV19 TRX", False)),
        ("mum's maiden name is Abernethy", ("mother/maiden name", "Abernethy", False)),
        ("לאמא שלי יש סוכרת", ("mother/health", "סוכרת", False)),
        ("the kids call me Baba", ("self/nickname", "Baba", False)),
        ("todos me dicen Chayo", ("self/nickname", "Chayo", False)),
    ],
)
def test_whose_it_is_may_be_said_in_many_ways(text, fact):
    assert fact in found(text)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("the shop's shut Mondays and Tuesdays", ("shop/schedule", "shut Mondays and Tuesdays", False)),
        (
            "la reunión es siempre el último lunes del mes",
            ("reunion/schedule", "siempre el último lunes del mes", False),
        ),
        ("los viernes toco el bajo con mi grupo", ("self/hobby", "toco el bajo con mi grupo", False)),
        ("כל יום שלישי יש לי חוג קרמיקה", ("self/routine", "כל יום שלישי יש לי חוג קרמיקה", False)),
    ],
)
def test_what_happens_again_and_again_is_told_by_its_days(text, fact):
    assert fact in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "use metric with me always",
        "pls dont use exclamation marks when you write for me",
        "never schedule me before 9:30",
        "tutéame siempre",
        "nunca me llames por la mañana",
    ],
)
def test_a_standing_order_is_told_from_an_order_of_the_moment(text):
    assert [each.slot.attribute for each in statements(text, said_at=SAID_AT)] == ["instruction"]


@pytest.mark.parametrize(
    "text",
    [
        "the song goes 'my name is Luka, I live on the second floor'",
        "pasted from the ad: I am a baker and I live in Bristol",
        "copio del anuncio: soy Marta, tengo 30 años",
        "my character in the campaign is a half-elf who lives in Rome",
        "estoy casada con el sofá jaja",
        "אני נשוי למקרר שלי חחח",
        "On Saturday I have a car service at the dealership",
        "books, like novels, are my thing",
        "we push each other to be better",
        "I'm a huge fan!",
        "I'm a decent cook",
        "I'm losing it every week",
        "Add David's manager to the event",
        "the name is so intriguing",
        "The plan is clear",
        "My gym's generator just packed up",
        "can I file the report at any time, or can I only file it once a year",
        "the things I always push aside",
        "I can't have a meeting at midnight",
        "I like to add 30 minutes to that",
        "now give me a short summary",
        "Love is truly magical",
        "soy más de siesta que de deporte",
        "my sister's vegan lasagne",
        "she wants it and my boss needs the report",
    ],
)
def test_what_only_looks_like_a_fact_is_none(text):
    assert found(text) == set()
