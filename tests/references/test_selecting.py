"""Things picked by more than a name: how many, which side of a limit, which of two alike, and in other words."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin.references import resolve
from tests.references.scenes import used

TENTS = [
    {"tentId": "t1", "model": "Alpine Solo", "sleeps": 1, "weightGrams": 1100, "price": {"amount": "210", "currency": "EUR"}, "ownerName": "Marta", "status": "RENTED", "floor": 1, "zone": 4, "age": 3, "boughtOn": "2019-05-02"},
    {"tentId": "t2", "model": "Family Dome", "sleeps": 6, "weightGrams": 9800, "price": {"amount": "95", "currency": "EUR"}, "ownerName": "Iker", "status": "AVAILABLE", "floor": 2, "zone": 7, "age": 9, "boughtOn": "2012-01-20"},
    {"tentId": "t3", "model": "Trail Duo", "sleeps": 2, "weightGrams": 2300, "price": {"amount": "140", "currency": "EUR"}, "ownerName": "Iker", "status": "AVAILABLE", "floor": 2, "zone": 9, "age": 1, "boughtOn": "2023-08-11"},
    {"tentId": "t4", "model": "Storm Bivy", "sleeps": 1, "weightGrams": 800, "price": {"amount": "60", "currency": "EUR"}, "ownerName": "Marta", "status": "BROKEN", "floor": 3, "zone": 2, "age": 5, "boughtOn": "2018-03-30"},
]  # fmt: skip
SHOWN = [
    HumanMessage("what tents do we have"),
    *used("list_tents", TENTS),
    AIMessage("1. Alpine Solo\n2. Family Dome\n3. Trail Duo\n4. Storm Bivy"),
]
ASKED = [
    *SHOWN,
    HumanMessage("tell me about the dome"),
    AIMessage("The Family Dome belongs to Iker. Shall I put the Family Dome aside for you on Friday at 3?"),
]


def meant(utterance, messages=SHOWN, **options):
    return [item["tentId"] for item in resolve(utterance, messages, **options).items]


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("the two from iker", ["t2", "t3"]), ("both of martas", ["t1", "t4"]), ("reserve everything under 100 euros", ["t2", "t4"]),
        ("the ones over 200 €", ["t1"]), ("the ones under 100", ["t2", "t4"]), ("everything 100 euros or less", ["t2", "t4"]), ("the heaviest", ["t2"]), ("הכי כבד", ["t2"]), ("la más pesada", ["t2"]), ("the oldest", ["t2"]),
        ("the youngest one", ["t3"]), ("the one on floor 3", ["t4"]), ("the one in zone 2", ["t4"]),
        ("not the dome the cheaper one", ["t4"]), ("todas menos la de zona 9", ["t1", "t2", "t4"]),
    ],
)  # fmt: skip
def test_how_many_how_much_and_which_end_of_a_scale_pick_things(utterance, ids):
    assert meant(utterance) == ids


@pytest.mark.spec("R-1", "R-6")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("no the other one iker has", ["t3"]), ("si reserva", ["t2"]), ("yes but at 5", ["t2"]), ("trail duo, is it light", ["t3"]),
        ("y en bilbao?", []), ("no, hire the climbing tent", []),
    ],
)  # fmt: skip
def test_an_offer_is_taken_up_and_another_of_the_same_kind_is_not_the_one_offered(utterance, ids):
    assert meant(utterance, ASKED) == ids


@pytest.mark.spec("R-6")
@pytest.mark.parametrize(
    "utterance",
    ["cancel everything under the table", "delete everything i never used", "drop all that nobody wants", "set an alarm for friday at 3", "is solo a good idea"],
)  # fmt: skip
def test_what_is_restricted_in_words_not_read_is_never_the_whole_list(utterance):
    assert not resolve(utterance, SHOWN).references


PARCELS = [
    HumanMessage("what is in the lockers"),
    *used(
        "list_parcels",
        [
            {"parcelId": "p1", "sender": {"name": "Oakley Foods"}, "locker": "14C", "customs": {"required": True, "note": None}, "signed": True, "fee": 0, "by": "2026-05-08"},
            {"parcelId": "p2", "sender": {"name": "Nordic Yarn"}, "locker": "9A", "customs": {"required": False, "note": None}, "signed": False, "fee": 4, "by": "2026-05-15"},
            {"parcelId": "p3", "sender": {"name": "Brightpath"}, "locker": "16E", "customs": {"required": False, "note": None}, "signed": False, "fee": 6, "by": "2026-05-12"},
        ],
    ),
    AIMessage("1. Oakley Foods, 8 May\n2. Nordic Yarn, 15 May\n3. Brightpath, 12 May"),
]  # fmt: skip


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("who hasn't signed", ["p2", "p3"]), ("the one with customs", ["p1"]), ("not oakley, the one after it", ["p2"]), ("pull up no 3", ["p3"]),
        ("the bright path one", ["p3"]), ("the one in 16e", ["p3"]), ("everything due after may 10", ["p2", "p3"]),
        ("the third is new, no?", ["p3"]), ("skip the signed one and send me the rest", ["p2", "p3"]),
    ],
)  # fmt: skip
def test_what_things_lack_where_they_stand_and_when_they_fall_due_pick_them(utterance, ids):
    assert [item["parcelId"] for item in resolve(utterance, PARCELS).items] == ids


@pytest.mark.spec("R-6", "R-4")
def test_a_limit_whose_measure_is_not_said_is_never_sure():
    assert resolve("cancel everything under 100", SHOWN).references
    assert not resolve("cancel everything under 100", SHOWN).sure
