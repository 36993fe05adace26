"""Limits and ranges, what is left out, and ends of a scale: which items of a list are found by them."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from benchmarks.reference_lines import used
from langmem_plugin.references.meant.decision import findings_of, utterance_of
from langmem_plugin.references.meant.ledger_cache import ledger_of
from langmem_plugin.references.said.utterance import Utterance

BOATS = [
    {"boatRef": "b1", "boatName": "Kittiwake", "kind": "KAYAK", "leavesAt": "2026-06-04T07:30", "hireEur": 12, "seats_max": 2, "rangeM": 90, "bottles": 3, "sunRoof": False},
    {"boatRef": "b2", "boatName": "Old Harry", "kind": "DINGHY", "leavesAt": "2026-06-08T09:10", "hireEur": 35, "seats_max": 60, "rangeM": 140, "bottles": 0, "sunRoof": True},
    {"boatRef": "b3", "boatName": "Merganser", "kind": "PEDALO", "leavesAt": "2026-06-12T13:00", "hireEur": 45, "seats_max": 5, "rangeM": 60, "bottles": 8, "sunRoof": False},
    {"boatRef": "b4", "boatName": "Salt Wind", "kind": "YACHT", "leavesAt": "2026-06-25T17:45", "hireEur": 160, "seats_max": 250, "rangeM": 300, "bottles": 1, "sunRoof": True},
]  # fmt: skip
SHOWN = [
    HumanMessage("which boats are free in june?"),
    *used("search_boats", {}, BOATS, 1),
    AIMessage("Four are free:\n1. Kittiwake\n2. Old Harry\n3. Merganser\n4. Salt Wind"),
]


def found(text: str, shown=SHOWN, key: str = "boatRef") -> list[set[str]]:
    return [{str(entry.item[key]) for entry in each.entries} for each in findings_of(text, ledger_of(shown))]


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("under 40 euros", "b1 b2"), ("anything under forty euros", "b1 b2"), ("less than a hundred euros", "b1 b2 b3"),
        ("40 to 50 euros", "b3"), ("between 30 and 50 euros", "b2 b3"), ("thirty to fifty euros", "b2 b3"),
        ("menos de cuarenta euros", "b1 b2"), ("menos d 40 euros", "b1 b2"), ("por debajo de cuarenta euros", "b1 b2"),
        ("entre 30 y 50 pavos", "b2 b3"), ("פחות מארבעים אירו", "b1 b2"), ("בין 30 ל 50", "b2 b3"), ("up to forty euros", "b1 b2"),
        ("leaves before nine", "b1"), ("the boats after two", "b4"), ("antes de las nueve", "b1"),
        ("anything before the tenth", "b1 b2"), ("between fifty and three hundred seats", "b2 b4"),
        ("range above a hundred metres", "b2 b4"), ("fewer than a dozen seats", "b1 b3"),
    ],
)  # fmt: skip
def test_what_is_said_to_lie_below_above_or_between_is_found(utterance, ids):
    assert set(ids.split()) in found(utterance)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("less than 35 euros", "b1"), ("menos de 35 euros", "b1"), ("פחות מ 35 אירו", "b1"), ("las que no llegan a 35 euros", "b1"),
        ("up to 35 euros", "b1 b2"), ("35 euros or less", "b1 b2"), ("hasta 35 euros", "b1 b2"), ("at most 35 euros", "b1 b2"),
        ("more than 45 euros", "b4"), ("at least 45 euros", "b3 b4"), ("por debajo de los 45 euros", "b1 b2"),
        ("leaves b4 nine", "b1"),
    ],
)  # fmt: skip
def test_a_limit_is_itself_too_much_only_where_it_is_said_so(utterance, ids):
    assert set(ids.split()) in found(utterance)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("everything bar the kayak", "b2 b3 b4"), ("anywhere but the yacht", "b1 b2 b3"), ("all xcept old harry", "b1 b3 b4"),
        ("leave out the pedalo, send me the rest", "b1 b2 b4"), ("bin the pedalo keep the rest", "b1 b2 b4"),
        ("drop the yacht, what's left", "b1 b2 b3"), ("quita el pedalo, mándame el resto", "b1 b2 b4"),
        ("keep only the dinghy, cancel the rest", "b1 b3 b4"), ("תוותר על merganser, תשלח את השאר", "b1 b2 b4"),
    ],
)  # fmt: skip
def test_what_is_left_out_leaves_all_the_others(utterance, ids):
    assert set(ids.split()) in found(utterance)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("kittiwake.. nope old harry", "b2"), ("the kayak, er the yacht i mean", "b4"), ("kittiwake, soz merganser", "b3"),
        ("number one. no sorry two", "b2"), ("hmm no the dinghy", "b2"),
    ],
)  # fmt: skip
def test_a_correction_turns_down_what_was_said_before_it(utterance, ids):
    assert found(utterance)[0] == set(ids.split())


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"), [("the one with the most chairs", "b4"), ("least bottles", "b2"), ("la que más botellas tiene", "b3"), ("which leaves first", "b1"), ("which one leaves last", "b4")]
)  # fmt: skip
def test_the_end_of_a_scale_is_found_by_what_its_field_is_about(utterance, ids):
    assert set(ids.split()) in found(utterance)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Shall I book C for you?", "go on then"), ("Do you want the pedalo? It is the cheapest that seats five.", "sure"),
        ("Want me to hire number 3?", "ya do it"), ("¿Le reservo el pedalo?", "sii"),
    ],
)  # fmt: skip
def test_a_yes_takes_up_what_the_question_before_it_names(question, answer):
    lines = "A) Kittiwake\nB) Old Harry\nC) Merganser\nD) Salt Wind"
    reply = f"{lines}\n\n{question}" if " C " in question else f"{SHOWN[-1].content}\n\n{question}"
    assert {"b3"} in found(answer, [*SHOWN[:-1], AIMessage(reply)])


@pytest.mark.spec("R-1")
def test_cents_of_the_data_are_compared_with_the_euros_that_a_reply_said():
    fares = [{"fareId": "f1", "fare": {"amount": 8900}}, {"fareId": "f2", "fare": {"amount": 13200}}]
    shown = [*used("fares", {}, fares, 1), AIMessage("1. Dawn boat, 89 euros\n2. Noon boat, 132 euros")]
    assert {"f1"} in found("anything under a hundred euros", shown, "fareId")


@pytest.mark.spec("R-4")
def test_a_limit_is_no_place_of_a_list_and_a_neighbour_is_no_limit():
    assert not [each for each in Utterance("before the tenth").phrases if each.kind == "numbers"]
    assert not [each for each in Utterance("40 to 50 quid").phrases if each.kind == "numbers"]
    assert [each.numbers for each in Utterance("the one after the third").phrases if each.kind == "numbers"] == [(3,)]
    assert [each.numbers for each in Utterance("2 to 4").phrases if each.kind == "numbers"] == [(2, 3, 4)]


@pytest.mark.spec("R-4")
def test_what_is_cheaper_than_a_thing_shown_is_no_limit():
    pieces = utterance_of("cheaper than old harry", ledger_of(SHOWN))
    assert not [stretch for stretch in pieces.stretches if stretch.side]
