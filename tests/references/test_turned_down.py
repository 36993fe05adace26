"""What an utterance turns down, what it excepts, and what it wants instead: which items of a list are left."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from benchmarks.reference_lines import used
from langmem_plugin.references import resolve
from langmem_plugin.references.meant.decision import findings_of
from langmem_plugin.references.meant.ledger_cache import ledger_of

CLASSES = [
    {"classRef": "c1", "classTitle": "Bread Basics", "teacherName": "Odile", "day": "TUE", "startsAt": "09:00", "feeEur": 40, "ticketNum": 8, "kiln": False},
    {"classRef": "c2", "classTitle": "Raku Firing", "teacherName": "Bruno", "day": "WED", "startsAt": "09:30", "feeEur": 75, "ticketNum": 3, "kiln": True},
    {"classRef": "c3", "classTitle": "Sourdough", "teacherName": "Odile", "day": "WED", "startsAt": "18:00", "feeEur": 55, "ticketNum": 5, "kiln": False},
    {"classRef": "c4", "classTitle": "Glazing", "teacherName": "Petra", "day": "FRI", "startsAt": "18:30", "feeEur": 60, "ticketNum": 1, "kiln": True},
    {"classRef": "c5", "classTitle": "Felt Hats", "teacherName": "Ximena", "day": "SAT", "startsAt": "11:00", "feeEur": 30, "ticketNum": 12, "kiln": False},
]  # fmt: skip
SHOWN = [
    HumanMessage("what classes are there next week?"),
    *used("list_classes", {}, CLASSES, 1),
    AIMessage("Five:\n1. Bread Basics\n2. Raku Firing\n3. Sourdough\n4. Glazing\n5. Felt Hats"),
]


def found(text: str) -> list[set[str]]:
    return [{str(entry.item["classRef"]) for entry in each.entries} for each in findings_of(text, ledger_of(SHOWN))]


def meant(text: str) -> set[str]:
    resolution = resolve(text, SHOWN)
    return {str(item["classRef"]) for reference in resolution.references for item in reference.items}


def assert_wanted(utterance: str, wanted: str, turned_down: str) -> None:
    every = found(utterance)
    assert {wanted} in every
    assert not any(set(turned_down.split()) & each for each in every)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("odile's but not the sourdough", "c1"), ("wednesday but not the evening", "c2"), ("wednesday but nt sourdough", "c2"),
        ("el de odile pero no el de la tarde", "c1"), ("odile אבל לא sourdough", "c1"),
    ],
)  # fmt: skip
def test_but_not_takes_away_from_what_is_described(utterance, ids):
    assert set(ids.split()) in found(utterance)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "wanted", "turned_down"),
    [
        ("glazing.. no, felt hats", "c5", "c4"), ("sourdough, no, glazing", "c4", "c3"), ("raku. no the felt hats", "c5", "c2"),
        ("b. no, d", "c4", "c2"), ("glazing no q va, felt hats", "c5", "c4"), ("glazing no q es caro, felt hats", "c5", "c4"),
        ("glazing, טעות, sourdough", "c3", "c4"), ("ugh no, glazing", "c4", ""), ("hold off on glazing, book felt hats", "c5", "c4"),
        ("scrap glazing, take felt hats", "c5", "c4"), ("no forget glazing, felt hats", "c5", "c4"),
        ("el de glazing déjalo, sourdough", "c3", "c4"), ("glazing no, felt hats", "c5", "c4"),
        ("תשכח מ glazing, sourdough", "c3", "c4"),
    ],
)  # fmt: skip
def test_a_correction_means_what_it_says_last(utterance, wanted, turned_down):
    assert_wanted(utterance, wanted, turned_down)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("all of em cept glazing", "c1 c2 c3 c5"), ("all the classes except glazing and felt hats", "c1 c2 c3"),
        ("הכל חוץ מ glazing", "c1 c2 c3 c5"), ("skip glazing do everything else", "c1 c2 c3 c5"),
        ("the two on wednesday minus sourdough", "c2"), ("everyone but petra", "c1 c2 c3 c5"),
        ("mark them all full except glazing", "c1 c2 c3 c5"),
    ],
)  # fmt: skip
def test_an_exception_leaves_the_others(utterance, ids):
    assert set(ids.split()) in found(utterance)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "wanted"),
    [
        ("not glazing, the one after it", "c5"),
        ("no el glazing, el que sigue", "c5"),
        ("not sourdough, the one before it", "c2"),
    ],
)
def test_the_one_beside_what_was_turned_down_is_meant(utterance, wanted):
    assert {wanted} in found(utterance)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"), [("whatever isn't odile's", "c2 c4 c5"), ("everything that isn't on wednesday", "c1 c4 c5")]
)
def test_a_denied_description_means_all_the_others(utterance, ids):
    assert set(ids.split()) in found(utterance)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "wanted"),
    [("book the felt 1", "c5"), ("the sourdough 1 pls", "c3"), ("book number 1", "c1"), ("1", "c1")],
)
def test_a_1_behind_a_description_is_no_number(utterance, wanted):
    assert meant(utterance) == {wanted}


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "wanted"),
    [("cheapest ticket", "c5"), ("the dearest one", "c2"), ("which one starts last", "c4"), ("starts last", "c4")],
)
def test_an_end_of_a_scale_is_of_what_is_measured_so(utterance, wanted):
    assert {wanted} in found(utterance)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("from the second to the fourth", "c2 c3 c4"), ("de la segunda a la cuarta", "c2 c3 c4"), ("third to fifth", "c3 c4 c5"),
        ("50 to 60 euros, all of them", "c3 c4"), ("the twenty past six one", ""), ("the half past six one", "c4"),
    ],
)  # fmt: skip
def test_a_range_of_ordinals_is_all_between_and_what_sums_up_adds_nothing(utterance, ids):
    every = found(utterance)
    assert set(ids.split()) in every if ids else not any(len(each) > 1 for each in every)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("sourdough is with odile, no? ok book it", "c3"), ("glazing, no, that's right", "c4"), ("scrap glazing, thanks", "c4"),
        ("scrap glazing and tell petra", "c4"), ("deja el glazing, porfa", "c4"), ("tell petra no, and thank her", "c4"),
        ("the classes 1 and 2", "c1 c2"), ("i like the second to the fourth", "c2 c4"), ("glazing, que no que está llena?", "c4"),
    ],
)  # fmt: skip
def test_a_no_or_a_to_that_turns_nothing_down_leaves_what_is_said(utterance, ids):
    every = found(utterance)
    assert set(ids.split()) in every


@pytest.mark.spec("R-1")
@pytest.mark.parametrize("utterance", ["can't sleep, book the dearest", "everything else looks good, book the dearest"])
def test_what_else_is_said_does_not_turn_a_comparison_round(utterance):
    assert {"c2"} in found(utterance)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "wanted", "turned_down"),
    [
        ("wednesday, ignore the raku", "c3", "c2"), ("odile, leave out the sourdough", "c1", "c3"),
        ("raku looks too hot, get me the felt one", "c5", "c2"), ("sourdough is too late, the one by petra", "c4", "c3"),
        ("glazing es demasiado caro, el de bruno", "c2", "c4"), ("leave the glazing be, the felt one", "c5", "c4"),
        ("la de bruno, pero la de petra no eh", "c2", "c4"), ("mark 2 paid, sorry i mean 1", "c1", "c2"),
        ("5 is too dear, take 3", "c3", "c5"),
    ],
)  # fmt: skip
def test_what_is_ignored_or_too_much_is_turned_down_beside_what_is_wanted(utterance, wanted, turned_down):
    assert_wanted(utterance, wanted, turned_down)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("the ones petra didnt make", "c1 c2 c3 c5"), ("los que no da odile", "c2 c4 c5"), ("non kiln ones", "c1 c3 c5"),
        ("everything by odile but the sourdough", "c1"), ("todo menos glazing y raku", "c1 c3 c5"),
        ("everybody except odile send them a note", "c2 c4 c5"), ("all but the book on raku", "c1 c3 c4 c5"),
    ],
)  # fmt: skip
def test_what_somebody_did_not_do_leaves_what_others_did(utterance, ids):
    assert set(ids.split()) in found(utterance)


MEALS = [
    {"mealId": "m1", "dish": "Lentil soup", "contains": ["celery"], "label": "gluten free"},
    {"mealId": "m2", "dish": "Pad thai", "contains": ["peanuts", "gluten"], "label": "spicy"},
    {"mealId": "m3", "dish": "Satay", "contains": ["peanuts"], "label": "mild"},
]
EATEN = [HumanMessage("what can we eat?"), *used("list_meals", {}, MEALS, 1), AIMessage("Soup, pad thai or satay.")]


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"), [("the ones without peanuts", "m1"), ("sin peanuts", "m1"), ("the one without gluten", "m1")]
)
def test_without_something_is_what_has_none_or_says_so_itself(utterance, ids):
    every = findings_of(utterance, ledger_of(EATEN))
    assert set(ids.split()) in [{str(entry.item["mealId"]) for entry in each.entries} for each in every]
