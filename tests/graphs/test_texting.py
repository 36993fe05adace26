"""The household's conversations, through both graphs, synchronously and asynchronously."""

import pytest

from graphs import family_assistant
from graphs.tools import household_tools
from langmem_plugin import PhoneMemory
from tests.cases import for_each

from .conftest import ERIN, JASON, Texting

pytestmark = pytest.mark.slow


@pytest.mark.spec("R-1", "R-3", "C-1", "C-2", "U-1")
def test_a_dinner_is_found_read_saved_listed_and_ordered_while_another_phone_does_the_same(text):
    assert text(ERIN, "find me a chicken dinner").startswith("1. Chicken tortilla soup (35 minutes")
    text(JASON, "find me a vegetarian lunch")
    third = {"recipe_id": "crunchy-baked-chicken-fingers"}
    assert "600 g chicken breast" in text(ERIN, "number 3 looks good, tell me more")
    assert text.calls == [("get_recipe", third)]
    text(JASON, "save number 2")
    assert text.calls == [("save_recipe", {"recipe_id": "minestrone"})]
    assert text(ERIN, "save that one") == "Crunchy baked chicken fingers (saved)"
    assert text.calls == [("save_recipe", third)]
    text(ERIN, "add the ingredients to the grocery list")
    assert text.calls == [("add_to_grocery_list", third)]
    assert text(JASON, "show my grocery list") == "The grocery list is empty."
    assert "600 g chicken breast" in text(ERIN, "order it")
    assert text.calls == [("push_grocery_list", {})]


@pytest.mark.spec("R-2", "R-3")
def test_what_about_next_week_asks_for_the_calendar_again(text):
    text(ERIN, "what's on our calendar this week?")
    text(ERIN, "what about next week?")
    assert text.calls == [("get_calendar", {"week": "next week"})]


@pytest.mark.spec("R-2")
def test_a_budget_summary_is_narrowed_and_money_moved_from_what_was_seen(text):
    text(ERIN, "what does our budget look like?")
    assert text(ERIN, "what about dining out specifically?").startswith("Dining out (spent 145.75")
    assert text.calls == [("get_budget_summary", {"category": "Dining out"})]
    text(ERIN, "move $50 from that to Groceries")
    assert text.calls == [("move_budget", {"amount": 50, "from_category": "Dining out", "to_category": "Groceries"})]


@pytest.mark.spec("R-2")
def test_wednesday_is_swapped_for_tacos(text):
    text(ERIN, "what's on the meal plan?")
    assert text(ERIN, "swap Wednesday for tacos").startswith("Wednesday (Tacos, this week")


@pytest.mark.spec("R-5", "R-6", "C-3")
def test_after_half_an_hour_of_silence_number_2_means_nothing_and_is_asked_about(text, clock):
    text(ERIN, "find me a chicken dinner")
    clock.forward(minutes=31)
    asked = "Nothing that I have shown you is “number 2”. Which one do you mean?"
    assert text(ERIN, "save number 2") == asked
    assert text.calls == []


def test_the_answer_to_a_question_completes_the_call_it_was_asked_for(text):
    text(ERIN, "find me a chicken dinner")
    assert text(ERIN, "move money from Fun to Groceries") == "What is the amount?"
    text(ERIN, "20")
    assert text.calls == [("move_budget", {"amount": 20, "from_category": "Fun", "to_category": "Groceries"})]


@pytest.mark.spec("C-5")
def test_a_conversation_goes_on_after_a_restart(tmp_path, clock, offline_model, model, household):
    for message in ("find me a chicken dinner", "save number 2"):
        with PhoneMemory(f"sqlite:///{tmp_path}/langmem.db", embeddings=offline_model, now=clock) as memory:
            text = Texting(memory, family_assistant.build(memory, model, household))
            text(ERIN, message)
    assert text.calls == [("save_recipe", {"recipe_id": "creamy-chicken-and-mushroom-pasta"})]


@pytest.mark.spec("C-19")
def test_a_tool_that_breaks_is_told_and_the_conversation_goes_on(text, household):
    with household.connect() as rows:
        rows.execute("DROP TABLE budget")
    assert text(ERIN, "what does our budget look like?") == "That did not work: no such table: budget"
    assert text(ERIN, "show my grocery list") == "The grocery list is empty."


@pytest.mark.spec("M-12")
def test_a_remembered_fact_answers_a_question_in_a_later_conversation(memory, graph, clock):
    memory.reply(graph, ERIN, "/remember Leo is allergic to peanuts")
    clock.forward(days=2)
    assert memory.reply(graph, ERIN, "what is Leo allergic to?") == "Leo is allergic to peanuts"
    assert "peanuts" not in memory.reply(graph, JASON, "what is Leo allergic to?")


@for_each(
    ("said", "call"),
    [
        ("I want something quick for dinner", ("search_recipes", {"query": "quick dinner"})),
        ("show me vegetarian recipes", ("search_recipes", {"query": "vegetarian"})),
        ("any ideas for a vegetarian lunch?", ("search_recipes", {"query": "vegetarian lunch"})),
        ("my favourites", ("show_saved_recipes", {})),
        ("what did I save?", ("show_saved_recipes", {})),
        ("add eggs, butter and flour", ("add_to_grocery_list", {"items": ["eggs", "butter", "flour"]})),
        ("add bread to the shopping list", ("add_to_grocery_list", {"items": ["bread"]})),
        ("what's on my list?", ("show_grocery_list", {})),
        ("push to AnyList", ("push_grocery_list", {})),
        ("send the list to the store", ("push_grocery_list", {})),
        ("what's happening next week?", ("get_calendar", {"week": "next week"})),
        ("when is the piano lesson?", ("get_calendar", {})),
        ("what are we eating this week?", ("get_meal_plan", {"week": "this week"})),
        ("what's for dinner on Friday?", ("get_meal_plan", {})),
        ("change Friday to fish tacos", ("swap_meal", {"day": "Friday", "meal": "fish tacos"})),
        ("how are we doing on the budget?", ("get_budget_summary", {})),
        (
            "transfer 25 dollars from Clothing to Fun",
            ("move_budget", {"amount": 25, "from_category": "Clothing", "to_category": "Fun"}),
        ),
        ("remove the piano", None),
        ("what's the weather", None),
        ("tell me a joke", None),
        ("I am allergic to peanuts", None),
    ],
)
def test_what_a_person_says_first_is_the_tool_they_mean(memory, model, household, said, call):
    calls = (
        model.bind_tools([*household_tools(household, memory.person.owner), *memory.tools()]).invoke(said).tool_calls
    )
    assert [(each["name"], each["args"]) for each in calls] == ([call] if call else [])


@for_each(
    ("said", "call"),
    [
        ("what about beef?", ("search_recipes", {"query": "beef"})),
        ("something with fish instead", ("search_recipes", {"query": "fish"})),
        ("how do I make the last one?", ("get_recipe", {"recipe_id": "roast-chicken-with-root-vegetables"})),
        ("the cheaper one please", ("get_recipe", {"recipe_id": "chicken-tortilla-soup"})),
        ("put number 2 on Thursday", ("swap_meal", {"day": "Thursday", "meal": "Creamy chicken and mushroom pasta"})),
    ],
)
@pytest.mark.spec("R-1", "R-2")
def test_what_a_person_says_next_is_about_what_they_saw(memory, model, household, said, call):
    text = Texting(memory, family_assistant.build(memory, model, household))
    text(ERIN, "find me a chicken dinner")
    text(ERIN, said)
    assert text.calls == [call]
