"""Things called by what they are numbered or lettered by, and lists whose lines say little of their items."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin.references import resolve
from tests.references.scenes import used

pytestmark = pytest.mark.spec("R-1", "R-6")
PERMITS = [
    {"permitId": "PW-3301", "holder": "Okafor", "fileNumber": "91347", "feeCents": 4200, "valid_until": "2026-05-04", "debt": 120, "boxes": 14},
    {"permitId": "PW-3344", "holder": "Lindqvist", "fileNumber": "04721", "feeCents": 2550, "valid_until": "2026-03-19", "debt": 0, "boxes": 3},
    {"permitId": "KD-0871", "holder": "Haddad", "fileNumber": "18830", "feeCents": 8900, "valid_until": "2026-09-30", "debt": 655, "boxes": 31},
    {"permitId": "KD-0902", "holder": "Moreno", "fileNumber": "55102", "feeCents": 3100, "valid_until": "2026-12-01", "debt": 45, "boxes": 8},
]  # fmt: skip
BY_LETTER = "a) Okafor, two carts\nb) Lindqvist, flowers\nc) Haddad, fish\nd) Moreno, knives"
BY_HEBREW_LETTER = "א. אוקפור\nב. לינדקוויסט\nג. חדאד\nד. מורנו"
BY_NUMBER = "1. Okafor\n2. Lindqvist\n3. Haddad\n4. Moreno"


def shown(reply):
    return [HumanMessage("which market permits are open"), *used("list_permits", PERMITS), AIMessage(reply)]


def meant(utterance, reply=BY_NUMBER):
    return [item["permitId"] for item in resolve(utterance, shown(reply)).items]


@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("the one ending in 47", ["PW-3301"]), ("kd-0871 please", ["KD-0871"]), ("KD0902", ["KD-0902"]), ("renew 04721", ["PW-3344"]),
        ("la 0902 por favor", ["KD-0902"]), ("el que acaba en 30", ["KD-0871"]), ("זה שנגמר ב 102", ["KD-0902"]),
        ("the one ending in 99", []), ("that'll be 3344 euros i guess", []),
    ],
)  # fmt: skip
def test_an_id_is_known_by_its_end_and_an_amount_is_none(utterance, ids):
    assert meant(utterance) == ids


@given(
    place=st.integers(0, len(PERMITS) - 1),
    length=st.integers(4, 6),
    ask=st.sampled_from(["{}", "cancel {}", "what about {}?"]),
)
def test_the_end_of_an_id_never_means_another_item(place, length, ask):
    code = PERMITS[place]["permitId"].replace("-", "")[-length:]
    assert meant(ask.format(code.lower())) in ([], [PERMITS[place]["permitId"]])


@pytest.mark.parametrize(
    ("utterance", "ids"),
    [("get b, she's waiting", ["PW-3344"]), ("C. and quick", ["KD-0871"]), ("c… actually a", ["PW-3301"]), ("yes, d", ["KD-0902"]), ("i have a question", [])],
)  # fmt: skip
def test_a_letter_means_the_line_it_stands_beside(utterance, ids):
    assert meant(utterance, BY_LETTER) == ids


@pytest.mark.parametrize(
    ("utterance", "ids"), [("ג׳ נשמע טוב", ["KD-0871"]), ("ב, לא רגע, ד", ["KD-0902"]), ("לא חדאד, מורנו", ["KD-0902"])]
)
def test_a_hebrew_letter_or_name_means_the_line_it_stands_in(utterance, ids):
    assert meant(utterance, BY_HEBREW_LETTER) == ids


def test_a_letter_means_nothing_where_numbers_were_shown():
    assert meant("get b, she's waiting") == []


def test_lines_that_say_little_stand_for_the_items_in_their_order():
    """The second and the fourth line share no word with their items, and the third has one of the first item's."""
    reply = "1. Okafor – two carts\n2. the flower lady\n3. Haddad, beside Okafor\n4. knives and tools"
    assert [meant(f"number {place}", reply) for place in (1, 2, 3, 4)] == [[each["permitId"]] for each in PERMITS]


@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("who owes the most", ["KD-0871"]), ("which one runs out first", ["PW-3344"]), ("el que debe más", ["KD-0871"]), ("la que vence antes", ["PW-3344"]),
        ("מי שחייב הכי הרבה", ["KD-0871"]), ("the one with the most boxes", ["KD-0871"]), ("cheaper than okafor?", []),
    ],
)  # fmt: skip
def test_an_end_of_a_scale_is_found_by_what_its_field_is_about(utterance, ids):
    assert meant(utterance) == ids


@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("el de haddad no puedo, el de moreno", ["KD-0902"]), ("no haddad pls, he never answers. moreno", ["KD-0902"]),
        ("renew the second, hang on no, the third", ["KD-0871"]), ("the first one, or no, the fourth", ["KD-0902"]), ("2. no hold on, 4", ["KD-0902"]),
        ("all that aren't moreno", ["PW-3301", "PW-3344", "KD-0871"]),
        ("the first two and the last", ["PW-3301", "PW-3344", "KD-0902"]), ("de la 1 a la 3", ["PW-3301", "PW-3344", "KD-0871"]),
    ],
)  # fmt: skip
def test_what_is_turned_down_is_left_out_and_what_is_counted_together_kept(utterance, ids):
    assert sorted(meant(utterance)) == sorted(ids)


@pytest.mark.parametrize(
    "utterance", ["no wait, not friday, saturday", "no, saturday", "saturday, not friday", "לא, בשבת"]
)
def test_a_correction_of_a_value_revises_the_call_before(utterance):
    moved = [
        *shown(BY_NUMBER),
        HumanMessage("move it to friday"),
        *used("move_stall", {"day": "Friday"}),
        AIMessage("Done: it is on Friday."),
    ]
    assert resolve(utterance, moved).previous_call.tool == "move_stall"
    assert resolve("no thanks", moved).previous_call is None
