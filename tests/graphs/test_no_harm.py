"""The household does nothing that nobody clearly asked for, in three languages, through both graphs."""

import pytest
from langchain_core.messages import AIMessage

from graphs import groceries, planner, recipes
from graphs.tools import household_tools
from tests.cases import for_each

from .conftest import ERIN

pytestmark = [pytest.mark.slow, pytest.mark.spec("R-6")]

WRITING = {"save_recipe", "add_to_grocery_list", "push_grocery_list", "swap_meal", "move_budget", "forget_fact"}


@pytest.fixture
def say(memory, graph):
    """Texts as a channel does; `say.calls` are those of the last message."""

    def reply(text, **delivery):
        before = len(messages())
        said = memory.reply(graph, ERIN, text, **delivery)
        new = [message for message in messages()[before:] if isinstance(message, AIMessage)]
        reply.calls = [(call["name"], call["args"]) for message in new for call in message.tool_calls]
        return said

    def messages():
        return graph.get_state({"configurable": {"thread_id": ERIN}}).values.get("messages", [])

    return reply


def written(calls):
    return [call for call in calls if call[0] in WRITING]


def test_that_is_not_every_category_of_the_budget(say, household):
    say("give me the budget summary")
    before = planner.budget(household, None)
    say("move $50 from that to Groceries")
    assert written(say.calls) == []
    assert planner.budget(household, None) == before
    say("Dining out")
    assert written(say.calls) == [
        ("move_budget", {"amount": 50, "from_category": "Dining out", "to_category": "Groceries"})
    ]


def test_it_is_not_every_day_of_the_week(say, household):
    say("show me the meal plan")
    before = planner.meal_plan(household, "this week")
    say("swap it for tacos")
    assert planner.meal_plan(household, "this week") == before
    say("Wednesday")
    assert [(name, arguments["day"], arguments["meal"]) for name, arguments in written(say.calls)] == [
        ("swap_meal", "Wednesday", "tacos")
    ]


def test_one_that_is_not_said_is_not_deleted_and_not_all_are(say, memory):
    memory.service.remember(ERIN, "Leo is allergic to peanuts")
    say("find me a chicken dinner")
    assert say("delete that one").startswith("Which one do you mean")
    say("the second one")
    assert written(say.calls) == []
    assert len(memory.service.list_memories(ERIN)) == 1


@for_each(
    "text",
    [
        "cancel my order",
        "don't order yet",
        "do not order it",
        "what if i ordered it?",
        "if i ordered it, when would it come?",
        "should i order it?",
        "i ordered it already",
        "my order arrived",
        "order status",
        "order it, never mind",
        "is it ordered?",
        "no lo pidas todavía",
        "cancela el pedido",
        "¿debería pedirlo?",
        "אל תזמין עדיין",
        "תבטל את ההזמנה",
        "האם להזמין?",
    ],
)
def test_nothing_is_ordered_that_nobody_orders(say, household, text):
    say("add bread to the grocery list")
    say(text)
    assert written(say.calls) == []
    assert [line["item"] for line in groceries.show(household, ERIN)] == ["bread"]


@for_each("text", ["order it", "please order it", "can you order it?", "ok, order it then", "pídelo", "תזמין"])
def test_what_is_ordered_is_ordered_once(say, household, text):
    say("add bread to the grocery list")
    say(text)
    assert say.calls == [("push_grocery_list", {})]
    assert groceries.show(household, ERIN) == []


@pytest.mark.spec("R-1", "R-3")
@for_each(
    "texts",
    [
        [
            "find me a chicken dinner",
            "tell me more about number 3",
            "save it",
            "add the ingredients to the grocery list",
        ],
        ["busca una cena de pollo", "cuéntame más del número 3", "guárdala", "añade los ingredientes a la lista"],
        ["מצא לי ארוחת ערב עם עוף", "ספר לי עוד על מספר 3", "שמור את זה", "תוסיף את המצרכים לרשימת הקניות"],
    ],
)
def test_a_dinner_is_found_saved_and_bought_in_every_language(say, household, texts):
    third = ("crunchy-baked-chicken-fingers",)
    called = []
    for text in texts:
        say(text)
        called += say.calls
    assert [name for name, _ in called] == ["search_recipes", "get_recipe", "save_recipe", "add_to_grocery_list"]
    assert {arguments["recipe_id"] for _, arguments in called[1:]} == set(third)
    assert [each["recipe_id"] for each in recipes.saved(household, ERIN)] == list(third)


@pytest.mark.spec("R-2")
@for_each(
    ("text", "call"),
    [
        ("muéstrame el presupuesto", ("get_budget_summary", {})),
        ("תראה לי את התקציב", ("get_budget_summary", {})),
        ("¿qué hay en el calendario la próxima semana?", ("get_calendar", {"week": "next week"})),
        ("מה ביומן השבוע?", ("get_calendar", {"week": "this week"})),
        ("cambia el miércoles por tacos", ("swap_meal", {"day": "Wednesday", "meal": "tacos"})),
        ("תחליף את יום רביעי ל tacos", ("swap_meal", {"day": "Wednesday", "meal": "tacos"})),
        (
            "mueve 20 de Fun a Groceries",
            ("move_budget", {"amount": 20, "from_category": "Fun", "to_category": "Groceries"}),
        ),
        ("añade leche y pan a la lista de la compra", ("add_to_grocery_list", {"items": ["leche", "pan"]})),
        ("muestra mi lista de la compra", ("show_grocery_list", {})),
        ("תראה לי את רשימת הקניות", ("show_grocery_list", {})),
    ],
)
def test_what_is_said_in_hebrew_and_spanish_is_the_tool_it_means(say, text, call):
    say(text)
    assert say.calls == [call]


def test_a_dinner_without_a_day_is_asked_about(say):
    assert say("קבע ארוחת ערב").endswith("?")
    assert say.calls == []


def test_what_nobody_wrote_writes_nothing(say, household):
    say("add bread to the grocery list", automated=True)
    say("order it", automated=True)
    assert groceries.show(household, ERIN) == []
    say("add bread to the grocery list")
    say("order it", automated=True)
    assert [line["item"] for line in groceries.show(household, ERIN)] == ["bread"]


@for_each("text", ["hello", "flargle", "tell me a joke"])
def test_an_unknown_request_gets_one_short_line(say, text):
    assert say(text) == "I work without a language model here, and no tool of mine does that."


@for_each("said", ["save number 2", "save it", "save the soup with noodles"])
def test_an_id_that_nobody_showed_is_refused_with_those_that_were(memory, scripted_graph, household, said):
    graph = scripted_graph("chicken-soup")
    memory.reply(graph, ERIN, "find me a chicken dinner")
    with memory.turn(ERIN) as config:
        messages = graph.invoke({"messages": said}, config)["messages"]
    told = next(each for each in reversed(messages) if each.type == "tool")
    assert told.status == "error"
    assert told.text.startswith("unknown recipe_id chicken-soup; shown: chicken-tortilla-soup Chicken tortilla soup, ")
    assert "creamy-chicken-and-mushroom-pasta Creamy chicken and mushroom pasta" in told.text
    assert recipes.saved(household, ERIN) == []


@pytest.fixture
def scripted_graph(memory, household, model):
    """A graph of nodes whose model searches as it should and saves under an id that it made up."""
    from tests.chat_graph import chat_graph

    tools = household_tools(household, memory.person.owner)
    thinking = model.bind_tools(tools)

    def build(recipe_id):
        def agent(state):
            last = state["messages"][-1]
            if last.type == "human" and last.text.startswith("save"):
                return {
                    "messages": AIMessage(
                        "", tool_calls=[{"name": "save_recipe", "args": {"recipe_id": recipe_id}, "id": "1"}]
                    )
                }
            return {"messages": thinking.invoke(memory.prompt(state, ""))}

        return chat_graph(memory, agent, tools)

    return build
