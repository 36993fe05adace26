"""The lists that an assistant's own replies show, and which of several in a talk is meant."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin.references import resolve
from tests.cases import for_each

from .scenes import used

PLAN = (
    "Here is a plan.\n\n**Week 1: stock**\n- 10 min: count the jars\n\n**Week 2: labels**\n- 10 min: write them\n\n"
    "### Rules of thumb\n\n1. Never store honey in tin.\n2. Date every lid.\n3. Keep a spare seal."
)
OPTIONS = "**Option A – Oak**: heavy.\n\n**Option B – Ash**: light.\n\nTips:\n- Sand it first\n- Oil it twice"


def said(reply: str, utterance: str) -> list[str]:
    return [item["text"] for item in resolve(utterance, [HumanMessage("well?"), AIMessage(reply)]).items]


@pytest.mark.spec("R-1")
@for_each(
    ("reply", "utterance", "meant"),
    [
        (PLAN, "can you make week 2 shorter", "Week 2: labels"),
        (PLAN, "the second week needs one more day, my mother writes the labels", "Week 2: labels"),
        (PLAN, "number 2 is news to me", "Date every lid."),
        (PLAN, "rule 3, why is that?", "Keep a spare seal."),
        (OPTIONS, "option B please, my floor is weak", "Option B – Ash: light."),
        (OPTIONS, "going with oak", "Option A – Oak: heavy."),
        ("- *Rosa* by Ana\n- *Lily* by Bo\n- *Iris* by Cy", "Lily it is", "Lily by Bo"),
        ("1. Ink\n2. Pen\n\nAnd cheaper:\n\n3. Chalk\n4. Coal", "the 4th one", "Coal"),
    ],
)
def test_a_list_is_read_however_a_reply_sets_it_out(reply, utterance, meant):
    assert [text[: len(meant)] for text in said(reply, utterance)] == [meant]


@pytest.mark.spec("R-4", "R-8")
@for_each(
    "utterance",
    [
        "number 4 sounds good", "the fourth one", "in week 3 of the new year i move house", "i have 2 shelves and 3 cellars",
        "first of all thanks", "on second thought no", "the first jar broke", "we were 2 at first", "not number 2",
    ],
)  # fmt: skip
def test_numbers_that_count_and_ordinals_that_order_nothing_point_at_nothing(utterance):
    assert said(PLAN, utterance) == []


@pytest.mark.spec("R-8")
def test_the_noun_of_a_number_chooses_the_list_and_a_new_search_is_no_pick():
    dishes = [{"dish_id": f"d{number}", "title": title} for number, title in enumerate(("Borscht", "Pie", "Trifle"), 1)]
    coats = [{"coat_id": f"c{number}", "title": title} for number, title in enumerate(("Parka", "Mac", "Cape"), 1)]
    talk = [
        HumanMessage("dishes?"),
        *used("search_dishes", dishes, "1"),
        AIMessage("1. Borscht\n2. Pie\n3. Trifle"),
        HumanMessage("coats?"),
        *used("search_coats", coats, "2"),
        AIMessage("1. Parka\n2. Mac\n3. Cape"),
    ]

    assert resolve("save dish number 3", talk).items == [dishes[2]]
    assert resolve("the second dish", talk).items == [dishes[1]]
    assert resolve("number 3", talk).items == [coats[2]]
    for search in ("pie dishes", "show me pies", "find a cape"):
        assert not resolve(search, talk).references


@pytest.mark.spec("R-8")
def test_a_message_that_quotes_another_points_into_it():
    first = AIMessage("1. Mint\n2. Sage", id="m1")
    talk = [HumanMessage("herbs"), first, HumanMessage("trees"), AIMessage("1. Elm\n2. Yew", id="m2")]

    assert resolve("number 2", talk).items == [{"number": 2, "text": "Yew"}]
    assert resolve("number 2", talk, quoted="m1").items == [{"number": 2, "text": "Sage"}]
    assert resolve("number 2", talk, quoted="1. Mint").items == [{"number": 2, "text": "Sage"}]
    assert resolve("number 2", talk, quoted="nobody said this").items == [{"number": 2, "text": "Yew"}]
