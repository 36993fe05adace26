"""The parts of the resolver by themselves, over an utterance and a ledger made by hand."""

import pytest

from langmem_plugin.references.meant.by_comparison import by_comparison
from langmem_plugin.references.meant.by_offer import by_agreement
from langmem_plugin.references.meant.by_pointing import by_singular
from langmem_plugin.references.meant.by_position import by_numbers, by_other
from langmem_plugin.references.meant.finding import Unclear
from langmem_plugin.references.meant.revised_call import revises
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList

SOUP, STEW = ({"id": 1, "name": "Soup", "price": 9}, {"id": 2, "name": "Stew", "price": 7})


def ledger(*items, labels=None, reply=""):
    entries = [ItemEntry(item, position=place) for place, item in enumerate(items)]
    listed = ShownList(entries, list(labels or [None] * len(items)), turn=1, kind="list")
    return Ledger(shown_lists=[listed], focus=entries[:1], turn=1, reply=reply)


def found(way, text, shown, *more):
    utterance = Utterance(text)
    finding = way(utterance.phrases[0], utterance, shown, *more)
    return finding and [entry.item for entry in finding.entries]


@pytest.mark.spec("R-1")
def test_a_printed_number_goes_before_the_place():
    assert found(by_numbers, "number 2", ledger(SOUP, STEW)) == [STEW]
    assert found(by_numbers, "number 2", ledger(SOUP, STEW, labels=[2, 1])) == [SOUP]
    assert found(by_numbers, "number 3", ledger(SOUP, STEW)) is None


@pytest.mark.spec("R-1")
def test_an_end_of_a_scale_is_one_item_or_none():
    assert found(by_comparison, "the cheapest one", ledger(SOUP, STEW)) == [STEW]
    assert found(by_comparison, "the cheapest one", ledger(SOUP, SOUP | {"name": "Bisque"})) is None


@pytest.mark.spec("R-1")
def test_the_other_is_the_one_that_was_not_spoken_of():
    shown = ledger(SOUP, STEW)
    assert found(by_other, "the other one", shown, []) == [STEW]
    assert found(by_other, "the other one", shown, shown.shown_lists[0].entries[1:]) == [SOUP]


@pytest.mark.spec("R-1", "R-4")
def test_it_is_unclear_after_a_list_and_clear_after_one_thing():
    assert found(by_singular, "save it", ledger(SOUP)) == [SOUP]
    utterance = Utterance("save it")
    assert isinstance(by_singular(utterance.phrases[0], utterance, ledger(SOUP, STEW)), Unclear)


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(("text", "meant"), [("sounds great", True), ("yes please", True), ("is it raining?", False)])
def test_what_was_just_offered_is_taken_up(text, meant):
    assert (by_agreement(Utterance(text), ledger(SOUP, reply="Soup costs 9. Shall I order it?")) is not None) == meant


@pytest.mark.spec("R-2")
@pytest.mark.parametrize(
    ("text", "reply", "revised"),
    [
        ("make it 8 pm", "Booked for 7 pm.", True), ("in tel aviv", "It will rain.", True), ("no, on friday", "Is this right?", True),
        ("yes", "Is this right?", False), ("the second one", "Here are some times", False), ("thanks", "Booked for 7 pm.", False),
    ],
)  # fmt: skip
def test_a_revision_is_told_from_an_answer(text, reply, revised):
    assert revises(text, reply) == revised
