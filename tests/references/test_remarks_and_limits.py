"""What a remark behind a list sets, what limits mean on a clock, and what is not said of anything shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin.references import resolve
from tests.references.scenes import used

FERRIES = [
    {"ferryId": "f1", "line": "Alder", "leaves": "2026-03-06T18:20:00+01:00", "deckDepthM": 2.1, "noiseDb": 61, "fare": {"cents": 2400, "currency": "EUR"}, "lounge": {"open": True}},
    {"ferryId": "f2", "line": "Birch", "leaves": "2026-03-06T19:40:00+01:00", "deckDepthM": 3.4, "noiseDb": 55, "fare": {"cents": 3100, "currency": "EUR"}, "lounge": {"open": False}},
    {"ferryId": "f3", "line": "Cedar", "leaves": "2026-03-06T21:15:00+01:00", "deckDepthM": 1.7, "noiseDb": 70, "fare": {"cents": 1900, "currency": "EUR"}, "lounge": {"open": None}},
    {"ferryId": "f4", "line": "Rowan", "leaves": "2026-03-07T01:10:00+01:00", "deckDepthM": 2.8, "noiseDb": 66, "fare": {"cents": 1500, "currency": "EUR"}, "lounge": {"open": False}},
]  # fmt: skip
LIST = "1. Alder, 18:20, 24 €\n2. Birch, 19:40, 31 €\n3. Cedar, 21:15, 19 €\n4. Rowan, 01:10, 15 €"


def shown(reply: str = LIST) -> list:
    return [HumanMessage("ferries to the island tonight"), *used("list_ferries", FERRIES), AIMessage(reply)]


def meant(said: str, reply: str = LIST) -> list[str]:
    return [item["ferryId"] for item in resolve(said, shown(reply)).items]


@pytest.mark.spec("R-3")
@pytest.mark.parametrize("said", ["book it", "hold it for me", "reservalo", "תזמין אותו"])
def test_a_remark_behind_a_list_sets_what_it_means(said):
    assert meant(said, f"{LIST}\nThe Birch has the best seats.") == ["f2"]


@pytest.mark.spec("R-3")
def test_without_a_remark_a_pronoun_asks_which_of_a_list():
    found = resolve("book it", shown())
    assert not found.references
    assert found.question


@pytest.mark.spec("R-3")
def test_a_yes_takes_up_the_one_that_the_question_tells_of_by_a_value():
    assert meant("yes please", f"{LIST}\nShall I book the 21:15?") == ["f3"]


@pytest.mark.spec("R-3")
def test_a_verb_of_agreeing_with_another_thing_takes_up_nothing():
    assert meant("approve the visa form", f"{LIST}\nShall I book the Cedar?") == []


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("said", "ids"),
    [
        ("the ones after 8", ["f3", "f4"]),
        ("whichever leaves after midnight", ["f4"]),
        ("the deepest one", ["f2"]),
        ("the quietest one", ["f2"]),
        ("la mas silenciosa", ["f2"]),
        ("הכי רועשת", ["f3"]),
        ("alder, uy no, cedar", ["f3"]),
        ("which is cheaper, the alder or the birch", ["f1"]),
        ("the louder of the first two", ["f1"]),
    ],
)  # fmt: skip
def test_limits_scales_and_corrections_pick_what_a_person_means(said, ids):
    assert meant(said) == ids


@pytest.mark.spec("R-6")
@pytest.mark.parametrize(
    "said",
    [
        "the cheapest of the ones with a sauna",
        "how do i undo my last 3 commits",
        "whats the fastest ferry ever",
        "whats a lounge",
        "acuerdate que el 2 no estoy en casa",
        "dont forget im driving",
        "all that have wifi except the cedar",
        "תשריין לי מקום לחמישי",
    ],
)
def test_what_is_not_said_of_anything_shown_means_nothing(said):
    assert not resolve(said, shown()).references


@pytest.mark.spec("R-1")
@pytest.mark.parametrize("said", ["send the map for {}", "give me {}", "dame {}", "{} please"])
@given(places=st.lists(st.integers(1, 4), min_size=2, max_size=4, unique=True))
def test_a_list_of_numbers_is_read_whole_or_not_at_all(said, places):
    *first, last = sorted(places)
    numbers = f"{', '.join(map(str, first))} and {last}"
    assert meant(said.format(numbers)) in ([f"f{place}" for place in sorted(places)], [])


@pytest.mark.spec("R-2")
@pytest.mark.parametrize("word", ["Berth", "Gate", "Muelle", "רציף"])
def test_lines_without_a_sign_are_a_list_and_keep_their_own_numbers(word):
    lines = "\n".join(
        f"{word} {number} – {ferry['line']}" for number, ferry in zip((14, 22, 31, 47), FERRIES, strict=True)
    )
    assert meant("number 22", f"Tonight:\n{lines}") == ["f2"]
    assert meant("the third one", f"Tonight:\n{lines}") == ["f3"]
