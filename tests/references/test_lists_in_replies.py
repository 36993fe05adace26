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
        ("1. Ink\n2. Pen\n\nAnd cheaper:\n\n3. Chalk\n4. Coal", "quiero la cuatro", "Coal"),
        ("1. Ink\n2. Pen\n\nAnd cheaper:\n\n3. Chalk\n4. Coal", "guarda el tres", "Chalk"),
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


HIVES = [{"id": "h1", "name": "National", "price": 140}, {"id": "h2", "name": "Langstroth", "price": 95}]
HIVES_SHOWN = [HumanMessage("hives?"), *used("search_hives", HIVES), AIMessage("1. National\n2. Langstroth")]


@pytest.mark.spec("R-4")
@for_each(
    "utterance",
    [
        "1. no 2. yes", "is the number 2 bus late", "the first one that has a roof", "the first hive I bought was rotten",
        "she was the second of nine", "i'll have two", "quiero dos", "el primero que compré era caro",
        "הראשון שקניתי היה יקר", "השני שלי בן שמונה",
    ],
)  # fmt: skip
def test_numbers_of_other_things_answers_and_clauses_that_tell_a_first_apart_point_at_nothing(utterance):
    assert not resolve(utterance, HIVES_SHOWN).references


@pytest.mark.spec("R-1")
@for_each(
    ("utterance", "meant"),
    [
        ("step 2, how long?", "h2"), ("el paso 2", "h2"), ("שלב 2", "h2"), ("no the second one", "h2"), ("no keep number 1", "h1"),
        ("uh the second one you know", "h2"), ("the second of the two", "h2"), ("the second one you showed me", "h2"),
        ("number 2 broke", "h2"), ("the number 2 hive", "h2"), ("the number 2 option", "h2"),
        ("el segundo que me enviaste", "h2"), ("el primero que aparece", "h1"), ("השני שדיברנו עליו", "h2"),
    ],
)  # fmt: skip
def test_a_place_is_understood_in_hasty_talk(utterance, meant):
    assert [each["id"] for each in resolve(utterance, HIVES_SHOWN).items] == [meant]


@pytest.mark.spec("R-1")
def test_a_list_that_goes_on_in_a_later_message_keeps_its_first_numbers():
    talk = [HumanMessage("songs?"), AIMessage("1. Dawn\n2. Dusk"), HumanMessage("more"), AIMessage("3. Noon\n4. Eve")]

    assert [resolve(f"number {number}", talk).items[0]["text"] for number in (1, 2, 3, 4)] == [
        "Dawn",
        "Dusk",
        "Noon",
        "Eve",
    ]
    assert not resolve("number 5", talk).references


@pytest.mark.spec("R-1", "R-4")
def test_things_of_one_name_that_a_sentence_tells_are_all_shown_and_their_name_means_none_of_them():
    records = [
        {"record": f"B-{year}", "name": name, "year": year}
        for name, year in (("Ada Crook", 1881), ("Ada Crook", 1884), ("Ida Moss", 1886))
    ]
    talk = [
        HumanMessage("births?"),
        *used("search_births", records),
        AIMessage("Ida Moss 1886, Ada Crook 1884, Ada Crook 1881."),
    ]

    assert resolve("the second one", talk).items == [records[1]]
    assert resolve("the last one", talk).items == [records[0]]
    assert not resolve("ada crook", talk).references


@pytest.mark.spec("R-1")
def test_the_last_of_a_hebrew_sentence_is_shown_though_an_and_is_written_onto_it():
    cats = [
        {"id": "c1", "name": "שוקו", "age": 2},
        {"id": "c2", "name": "לולה", "age": 7},
        {"id": "c3", "name": "מיצי", "age": 1},
    ]
    talk = [HumanMessage("חתולים?"), *used("list_cats", cats), AIMessage("יש לנו שוקו, לולה ומיצי.")]

    assert resolve("האחרון", talk).items == [cats[2]]
    assert resolve("את כולם חוץ מלולה", talk).items == [cats[0], cats[2]]


@pytest.mark.spec("R-1")
@for_each(
    ("field", "old", "new"),
    [("age_years", 9, 1), ("edad", 9, 1), ("גיל", 9, 1), ("year", 1950, 2020), ("born", 1950, 2020)],
)
def test_the_oldest_has_the_greatest_age_but_the_least_year(field, old, new):
    cats = [{"name": "Pip", field: new}, {"name": "Moss", field: (old + new) // 2}, {"name": "Olga", field: old}]
    talk = [HumanMessage("cats?"), *used("list_cats", cats)]

    assert resolve("the oldest one", talk).items == [cats[2]]
    assert resolve("the youngest one", talk).items == [cats[0]]
