"""What is sure, what is asked about, what is left alone; and what a resolution says of itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin import resolve as resolve_with_offline_model
from langmem_plugin.references import describe, resolve
from tests.references.scenes import SCENES, used

CATEGORIES = [
    {"category": name, "limit": limit} for name, limit in (("Groceries", 600), ("Dining out", 200), ("Fun", 90))
]
BUDGET = [
    HumanMessage("give me the budget summary"),
    *used("budget_summary", {"budget": CATEGORIES}),
    AIMessage("Groceries 600, Dining out 200, Fun 90."),
]
PAYMENTS = [
    {"payment_id": "p-1", "to": "Water works", "amount_cents": 4210, "paid": False, "due": "2026-03-06"},
    {"payment_id": "p-2", "to": "Power company", "amount_cents": 12050, "paid": True, "due": "2026-03-02"},
    {"payment_id": "p-3", "to": "Phone", "amount_cents": 1999, "paid": True, "due": "2026-03-06"},
]
BILLS = [
    HumanMessage("my bills"),
    *used("list_payments", PAYMENTS),
    AIMessage("1. Water works\n2. Power company\n3. Phone"),
]


def meant(utterance, messages):
    return [item["payment_id"] for item in resolve(utterance, messages).items]


@pytest.mark.spec("R-6", "R-1")
@settings(deadline=None)
@given(
    st.sampled_from(["it", "that", "that one", "this one", "him"]),
    st.sampled_from(["delete", "save", "cancel", "swap"]),
    st.data(),
)
def test_a_singular_pronoun_never_means_several_items(pronoun, verb, data):
    scene = data.draw(st.sampled_from(sorted(SCENES)))
    found = resolve(f"{verb} {pronoun}", SCENES[scene])
    assert all(
        len(each.items) == 1 for each in found.references if each.words in ("it", "that", "that one", "this one", "him")
    )


@pytest.mark.spec("R-6")
def test_that_beside_a_name_is_asked_about_and_never_every_category():
    found = resolve("move $50 from that to Groceries", BUDGET)
    assert not found.references
    assert len(found.candidates) == 3
    assert found.question
    assert found


@pytest.mark.spec("R-6")
@pytest.mark.parametrize(
    ("utterance", "messages", "words"),
    [
        ("save number 2", [], "number 2"),
        ("save that one", [], "that one"),
        ("pay number 9", BILLS, "number 9"),
        ("guarda el número 2", [], "número 2"),
        ("שמור את מספר 9", BILLS, "מספר 9"),
    ],
)
def test_words_that_point_at_nothing_are_told(utterance, messages, words):
    found = resolve(utterance, messages)
    assert found.unresolved == (words,)
    assert found.question
    assert bool(found)
    assert not found.references
    assert words in describe(found)


@pytest.mark.spec("R-6", "R-4")
@pytest.mark.parametrize(
    "utterance",
    [
        "remember that I'm allergic to nuts", "tell mom that I'll be late", "make sure that the door is closed", "it is what it is",
        "whats 2 plus 2", "is that legit", "turn it up to seven",
    ],
)  # fmt: skip
def test_words_of_pointing_that_point_at_nothing_shown_are_left_alone(utterance):
    assert not resolve(utterance, BILLS).references


@pytest.mark.spec("R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("pay the unpaid one", ["p-1"]), ("the one thats not paid yet", ["p-1"]), ("the 120 dollar one", ["p-2"]),
        ("the paid ones", ["p-2", "p-3"]), ("the biggest amount", ["p-2"]), ("not the first, the one after it", ["p-2"]),
        ("not the phone, the power one", ["p-2"]), ("all but the phone", ["p-1", "p-2"]), ("first two", ["p-1", "p-2"]), ("a and c", ["p-1", "p-3"]),
    ],
)  # fmt: skip
def test_what_the_fields_of_any_item_say_is_understood(utterance, ids):
    assert meant(utterance, BILLS) == ids


@pytest.mark.spec("R-1")
def test_amounts_of_different_currencies_are_never_compared():
    prices = [
        {"offer_id": "a", "price": {"amount": 90, "currency": "EUR"}},
        {"offer_id": "b", "price": {"amount": 300, "currency": "ILS"}},
    ]
    shown = [HumanMessage("offers"), *used("list_offers", prices), AIMessage("1. 90 €\n2. 300 ₪")]
    assert not resolve("the cheapest", shown).references


@pytest.mark.spec("R-1")
def test_a_position_is_sure_and_a_description_says_how_sure_it_is():
    assert resolve("pay number 2", BILLS).sure
    described = resolve("pay the power one", BILLS)
    assert 0 < described.references[0].confidence < 1
    assert not resolve("hello", BILLS).sure


@pytest.mark.spec("R-1")
@pytest.mark.parametrize("resolving", [resolve, resolve_with_offline_model])
def test_messages_may_be_what_langchain_takes_for_messages(resolving):
    shown = [("user", "soups?"), {"role": "assistant", "content": "1. Minestrone\n2. Ramen"}]
    assert resolving("number 2", shown).items == [{"number": 2, "text": "Ramen"}]


@pytest.mark.spec("R-1")
def test_a_model_that_agrees_makes_a_finding_sure_and_one_that_does_not_makes_it_a_question():
    utterance = "can you pay power now"
    assert not resolve(utterance, BILLS).sure
    assert resolve(utterance, BILLS, model=GenericFakeChatModel(messages=iter([AIMessage("[2]")]))).sure
    other = resolve(utterance, BILLS, model=GenericFakeChatModel(messages=iter([AIMessage("[3]")])))
    assert [item["payment_id"] for item in other.candidates] == ["p-2", "p-3"]
    assert other.question
    silent = resolve(utterance, BILLS, model=GenericFakeChatModel(messages=iter([AIMessage("no idea")])))
    assert silent == resolve(utterance, BILLS)


@pytest.mark.spec("R-1")
def test_a_resolution_explains_itself():
    found = resolve("pay number 2", BILLS)
    assert found.explain().splitlines()[:2] == ["shown: Water works, Power company, Phone", "said: pay number 2"]
    assert '"number 2" = Power company (sure' in found.explain()
    assert "Power company (sure" in found._repr_html_()
    assert "to ask:" in resolve("number 9", BILLS).explain()


ORDERS = [
    HumanMessage("my orders"),
    *used(
        "list_orders",
        [
            {"order_id": "o-1", "item": "Blue running shoes", "price": 79.9, "status": "SHIPPED"},
            {"order_id": "o-2", "item": "Espresso machine", "price": 249, "status": "PROCESSING"},
            {"order_id": "o-3", "item": "Coffee beans", "price": 31, "status": "DELIVERED"},
            {"order_id": "o-4", "item": "Blue rain jacket", "price": 110, "status": "PROCESSING"},
        ],
    ),
    AIMessage("1. Blue running shoes\n2. Espresso machine\n3. Coffee beans\n4. Blue rain jacket"),
]


@pytest.mark.spec("R-6", "R-4")
@pytest.mark.parametrize(
    "utterance",
    [
        "do not pay the first one", "I'd rather not cancel the second", "stop paying the second", "no canceles el primero", "neither the first nor the second",
        "cancel 1 through 3 except 2", "save for a rainy day", "cancel the second jacket",
        "play the first 4 minutes",
    ],
)  # fmt: skip
def test_what_is_refused_or_limited_in_ways_not_read_means_nothing(utterance):
    assert not resolve(utterance, ORDERS).references


@pytest.mark.spec("R-6", "R-1")
@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("cancel the ones that aren't delivered", ["o-1", "o-2", "o-4"]), ("return the most expensive delivered one", ["o-3"]), ("the third last", ["o-2"]),
        ("cancel the second processing one", ["o-4"]), ("cancel the last one I mean the first one", ["o-1"]), ("cancel the first no the second", ["o-2"]),
        ("use the third instead of the second", ["o-3"]), ("cancel the one after the espresso machine", ["o-3"]),
    ],
)  # fmt: skip
def test_corrections_neighbours_and_conditions_change_what_is_meant(utterance, ids):
    assert [item["order_id"] for item in resolve(utterance, ORDERS).items] == ids


@pytest.mark.spec("R-6")
@pytest.mark.parametrize("utterance", ["pay 2", "if you can, cancel the first", "is the third or the fourth cheaper?"])
def test_what_other_words_may_turn_is_never_sure(utterance):
    assert not resolve(utterance, ORDERS).sure


@pytest.mark.spec("R-6")
@pytest.mark.parametrize(
    "utterance",
    [
        "I live at number 12",
        "my flight is at gate number 14",
        "whats #1 on the charts",
        "play that one song by Adele",
        "book the first one you find",
    ],
)
def test_numbers_of_other_things_are_not_asked_about(utterance):
    assert not resolve(utterance, []).unresolved


@pytest.mark.spec("R-4")
@pytest.mark.parametrize("utterance", ["got it", "forget it", "leave it", "i like it", "is it open on sunday?"])
def test_it_of_an_idiom_is_not_asked_about(utterance):
    assert not resolve(utterance, ORDERS)
