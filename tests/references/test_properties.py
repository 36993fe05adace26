"""What tells the items of a list apart, and which of it the words of a person's own come nearest to."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from benchmarks.reference_lines import used
from langmem_plugin.references import resolve
from langmem_plugin.references.meant.by_nearest_property import nearest_properties
from langmem_plugin.references.meant.confidence import SURE, Trees
from langmem_plugin.references.meant.decision import findings_of, utterance_of
from langmem_plugin.references.meant.ledger_cache import ledger_of
from langmem_plugin.references.said.amounts import reckons
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.list_properties import properties_of
from langmem_plugin.references.words.word_vectors import DIMENSION, vector
from tests.references.scenes import SCENES

PETS = [
    {"petRef": "pt-1", "species": "RABBIT", "ownerName": "Ines Calder", "vaccinated": True, "weightKg": 2.1, "checkIn": "2026-06-03", "note": None},
    {"petRef": "pt-2", "species": "PARROT", "ownerName": "Tom Ashby", "vaccinated": False, "weightKg": 0.4, "checkIn": "2026-06-09", "note": "loud"},
    {"petRef": "pt-3", "species": "TORTOISE", "ownerName": "Mia Holt", "vaccinated": True, "weightKg": 3.6, "checkIn": "2026-07-01", "note": None},
]  # fmt: skip
SHOWN = [
    HumanMessage("who is staying with us?"),
    *used("list_stays", {}, PETS, 1),
    AIMessage("Three guests:\n1. Ines Calder, 3 June\n2. Tom Ashby, 9 June\n3. Mia Holt, 1 July"),
]
LEDGER = ledger_of(SHOWN)
LISTED = LEDGER.shown_lists[-1]


def nearest(text: str) -> list[list[str]]:
    utterance = utterance_of(text, LEDGER)
    near = nearest_properties(utterance.marks, utterance, LEDGER)
    return [[str(entry.item["petRef"]) for entry in each.entries] for each in near]


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("how is the bunny doing", ["pt-1"]), ("the bird is too noisy", ["pt-2"]), ("feed the turtle", ["pt-3"]),
        ("dale de comer al conejo", ["pt-1"]), ("תאכילו את הארנב", ["pt-1"]),
        ("the heaviest", ["pt-3"]), ("the june ones", ["pt-1", "pt-2"]), ("the one without its jabs", ["pt-2"]),
    ],
)  # fmt: skip
def test_words_of_a_persons_own_come_nearest_to_what_the_item_meant_says(utterance, ids):
    assert nearest(utterance)[0] == ids


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("the bunny one", ["pt-1"]), ("the noisy one", ["pt-2"]), ("the one without jabs", ["pt-2"]), ("el loro", ["pt-2"]),
        ("התוכי", ["pt-2"]),
    ],
)  # fmt: skip
def test_an_item_is_found_by_a_word_that_it_does_not_hold_and_never_surely(utterance, ids):
    found = resolve(utterance, SHOWN)
    assert [item["petRef"] for item in found.items] == ids
    assert not found.sure


@pytest.mark.spec("R-6")
@given(
    st.lists(
        st.sampled_from(["bunny", "bird", "the", "one", "jabs", "june", "calder", "3", "not", "כלב", "pájaro", "😀"])
    )
)
def test_of_what_words_come_near_to_each_set_of_items_comes_once_and_chances_are_shares(words):
    utterance = utterance_of(" ".join(words), LEDGER)
    near = nearest_properties(utterance.marks, utterance, LEDGER)
    sets = [frozenset(map(id, each.entries)) for each in near]
    chances = [each.chance for each in near]
    assert len(set(sets)) == len(sets)
    assert chances == sorted(chances, reverse=True)
    assert all(0 < len(each.entries) < len(LISTED.entries) for each in near)
    assert not near or sum(chances) == pytest.approx(1, abs=1e-4)


@pytest.mark.spec("R-1")
def test_what_all_items_have_tells_none_apart_and_each_end_of_a_scale_and_flag_does():
    found = {(each.kind, " ".join(each.field)): each.places for each in properties_of(LISTED.entries)}
    assert found["no flag", "vaccinated"] == {1}
    assert found["empty", "note"] == {0, 2}
    assert found["filled", "note"] == {1}
    assert found["most", "weight kg"] == {2}
    assert found["least", "weight kg"] == {1}
    assert all(0 < len(places) < len(PETS) for places in found.values())


@pytest.mark.spec("R-1")
def test_a_year_in_a_name_is_no_scale():
    files = [{"_id": "a", "fileName": "Tax return of 2024"}, {"_id": "b", "fileName": "Tax return of 2023"}]
    messages = [HumanMessage("my files"), *used("list_files", {}, files, 1), AIMessage("1. 2024\n2. 2023")]
    kinds = {each.kind for each in properties_of(ledger_of(messages).shown_lists[-1].entries)}
    assert kinds == {"text"}


@pytest.mark.spec("R-1")
def test_a_word_of_another_language_stands_where_its_english_stands():
    assert vector("conejo", "es") @ vector("rabbit", "en") == pytest.approx(1, abs=0.01)
    assert vector("ארנב", "en") @ vector("rabbit", "en") == pytest.approx(1, abs=0.01)
    assert vector("rabbit", "en") @ vector("bunny", "en") > 2 * abs(vector("rabbit", "en") @ vector("invoice", "en"))


@pytest.mark.spec("R-4")
@given(st.text(max_size=12), st.sampled_from(["en", "es", "he"]))
def test_a_vector_is_of_unit_length_or_nothing_is_known_of_the_word(word, language):
    found = vector(word, language)
    assert found.shape == (DIMENSION,)
    assert np.linalg.norm(found) == pytest.approx(1, abs=1e-3) or not found.any()


@pytest.mark.spec("R-6")
def test_a_sum_asks_about_nothing_shown():
    sums = ["whats 2 plus 2", "cuanto es 3 por 2", "כמה זה 2 כפול 3"]
    assert [reckons(Utterance(each).marks) for each in sums] == [True] * 3
    assert not any(resolve(each, SHOWN).references for each in sums)
    assert not any(reckons(Utterance(each).marks) for each in ("save 2 plus 3", "1 to 3 minus 2", "whats 2 and 3"))


@pytest.mark.spec("R-4")
@given(st.lists(st.floats(-2, 2, width=32), min_size=2, max_size=2))
def test_trees_are_walked_from_each_root_to_a_leaf(values):
    """Two trees: "first" at most 0.5 adds 1, else -1; "second" at most 0 adds 2, else "first" at most 0 adds 3, else 0."""
    stored = {
        "bias": 0.5, "steps": 2, "names": ["first", "second"], "roots": [0, 3],
        "feature": [0, 0, 0, 1, 0, 0, 0, 0], "threshold": [0.5, 0, 0, 0, 0, 0, 0, 0],
        "left": [1, 1, 2, 4, 4, 6, 6, 7], "right": [2, 1, 2, 5, 4, 7, 6, 7], "values": [0, 1, -1, 0, 2, 0, 3, 0],
    }  # fmt: skip
    first, second = values
    odds = 0.5 + (1 if first <= 0.5 else -1) + (2 if second <= 0 else 3 if first <= 0 else 0)
    given_values = {"first": first, "second": second, "unknown": 9.0}
    assert Trees.read(json.loads(json.dumps(stored))).chances([given_values]) == pytest.approx(
        [1 / (1 + np.exp(-odds))]
    )


@pytest.mark.spec("R-4")
def test_beside_a_condition_nothing_is_sure():
    for scene in SCENES.values():
        assert all(each.confidence < SURE for each in resolve("save number 1 if it is cheap", scene).references)


@pytest.mark.spec("R-4")
def test_of_a_message_of_many_pieces_a_few_findings_are_weighed():
    assert 0 < len(findings_of("the bunny and the noisy one and " * 100, LEDGER)) < 30


@pytest.mark.spec("R-4")
def test_an_item_of_thousands_of_fields_is_read_as_far_as_people_speak_of():
    items = [{f"field{number}": number % 7 + place for number in range(4_000)} for place in range(2)]
    messages = [HumanMessage("show me"), *used("list_things", {}, items, 1), AIMessage("Here they are.")]
    entries = ledger_of(messages).shown_lists[-1].entries
    assert all(0 < len(entry.values) <= 200 for entry in entries)
    assert len(properties_of(entries)) <= 400
