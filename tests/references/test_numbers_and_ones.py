"""Numbers that count a list, and those that say something else: "one", "for", how many we are, a day, an id's end."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from benchmarks.reference_lines import used
from langmem_plugin.references import resolve
from langmem_plugin.references.meant.decision import findings_of, utterance_of
from langmem_plugin.references.meant.ledger_cache import ledger_of

REPAIRS = [
    {"jobNo": "VR-1407", "bike": "Green tandem", "fault": "FLAT_TYRE", "ready": True, "dueOn": "2026-09-03", "dropOff": "08:45", "owedEur": 18},
    {"jobNo": "VR-1411", "bike": "Cargo trike", "fault": "BENT_WHEEL", "ready": False, "dueOn": "2026-09-03", "dropOff": "11:45", "owedEur": 95},
    {"jobNo": "VR-1430", "bike": "Folding Brompton", "fault": "CABLES", "ready": False, "dueOn": "2026-09-07", "dropOff": "13:10", "owedEur": 40},
    {"jobNo": "VR-1452", "bike": "Mud racer", "fault": "CHAIN", "ready": False, "dueOn": "2026-09-11", "dropOff": "16:30", "owedEur": 0},
    {"jobNo": "VR-1466", "bike": "Kids balance", "fault": "PAINT", "ready": False, "dueOn": "2026-09-15", "dropOff": "17:20", "owedEur": 25},
]  # fmt: skip
SHOWN = [
    HumanMessage("what is in the workshop?"),
    *used("list_repairs", {}, REPAIRS, 1),
    AIMessage("Five:\n1. Green tandem\n2. Cargo trike\n3. Folding Brompton\n4. Mud racer\n5. Kids balance"),
]
PLACES = {job["jobNo"]: place for place, job in enumerate(REPAIRS, 1)}


def found(text: str, shown=SHOWN) -> list[list[int]]:
    return [
        [PLACES[str(entry.item["jobNo"])] for entry in each.entries] for each in findings_of(text, ledger_of(shown))
    ]


def kinds(text: str) -> set[str]:
    return {phrase.kind for phrase in utterance_of(text, ledger_of(SHOWN)).phrases}


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "places"),
    [
        ("get 1, 2 and 5 for monday", [1, 2, 5]), ("2, 3 and 4 - any news", [2, 3, 4]), ("1 or 4... go with 4", [4]),
        ("from the second to the fourth, again", [2, 3, 4]), ("de la segunda a la cuarta, otra vez", [2, 3, 4]),
        ("the ready 1, tell her", [1]), ("option 4 that we saw", [4]),
        ("in the end 2 please", [2]), ("the two due the 3rd", [1, 2]),
        ("the job ending 30", [3]), ("the one whose number ends 66", [5]), ("la de las doce menos cuarto", [2]),
    ],
)  # fmt: skip
def test_what_is_counted_is_found(utterance, places):
    assert sorted(places) in [sorted(each) for each in found(utterance)]


@pytest.mark.spec("R-1", "R-2")
@pytest.mark.parametrize(
    "utterance",
    [
        "somos 4",
        "we are 4 and one is ill",
        "need a pump 4 which",
        "pay 4 the tandem",
        "is that 1 ready",
        "el menos caro",
    ],
)
def test_a_number_that_says_something_else_counts_nothing(utterance):
    assert not kinds(utterance) & {"numbers", "all_but"}


@pytest.mark.spec("R-1", "R-2")
@pytest.mark.parametrize(
    "utterance",
    [
        "who was mud racer",
        "quien invento folding brompton",
        "who wrote green tandem anyway",
        "whats the difference between chain and cables",
        "how many cables can i fit on a tandem",
        "the cargo trike man is away til tuesday, note that",
        "el 3 de septiembre cierra folding brompton, apúntalo",
    ],
)
def test_what_asks_or_tells_of_the_world_means_nothing_shown_whatever_is_called_so(utterance):
    assert not resolve(utterance, SHOWN).references


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "place"),
    [("find me the one with the chain", 4), ("look for the trike", 2), ("odio el tandem, enséñame el trike", 2)],
)
def test_who_points_while_searching_means_what_is_shown(utterance, place):
    assert [place] in found(utterance)


@pytest.mark.spec("R-1", "R-2")
@pytest.mark.parametrize("utterance", ["why so cheap", "how expensive", "it is too late", "tan caro"])
def test_so_cheap_compares_nothing(utterance):
    assert "comparison" not in kinds(utterance)


def asked(question: str):
    return [*SHOWN[:-1], AIMessage(f"{SHOWN[-1].content}\n\n{question}")]


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("The trike is bent. Should I call about the 3rd?", 2),
        ("The racer came in at 16:30. Shall I finish it by the 11th?", 4),
    ],
)
def test_a_yes_takes_up_what_the_question_and_the_sentence_before_it_agree_on(question, place):
    every = [each for each in findings_of("sure", ledger_of(asked(question))) if each.sort == "offered"]
    assert [PLACES[str(entry.item["jobNo"])] for each in every for entry in each.entries] == [place]


@pytest.mark.spec("R-1", "R-2")
def test_a_time_behind_a_pronoun_is_when_and_describes_nothing():
    assert not any(each.sort == "description" for each in findings_of("book it for 13:10", ledger_of(SHOWN)))


BILLS = [
    {"billNo": "f1", "period": "2026-B1", "cents": 4120, "note": "the meter was changed in june"},
    {"billNo": "f2", "period": "2026-B2", "cents": 3875, "note": None},
    {"billNo": "f3", "period": "2026-B3", "cents": 5210, "note": None},
    {"billNo": "f4", "period": "2026-B4", "cents": 9760, "note": None},
]


@pytest.mark.spec("R-1")
def test_lines_that_tell_of_hardly_any_item_stand_for_all_in_their_order():
    shown = [
        HumanMessage("my water bills"),
        *used("list_bills", {}, BILLS, 1),
        AIMessage("1. January, February\n2. March, April\n3. May, June\n4. July, August"),
    ]
    assert [entry.item["billNo"] for entry in ledger_of(shown).shown_lists[-1].entries] == ["f1", "f2", "f3", "f4"]
