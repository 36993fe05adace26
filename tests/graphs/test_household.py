"""The household's tools: whose list it is, the way to the shop, and what is refused."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from graphs.household import Household
from graphs.tools import household_tools

from .conftest import ERIN, JASON


class Hands:
    """Uses the tools as a run of one phone would."""

    def __init__(self, household, memory):
        self.tools = {tool.name: tool for tool in household_tools(household, memory.person.owner)}

    def __call__(self, phone, tool, **arguments):
        from langgraph.graph import START, MessagesState, StateGraph
        from langgraph.prebuilt import ToolNode

        graph = (
            StateGraph(MessagesState).add_node("tools", ToolNode(list(self.tools.values()))).add_edge(START, "tools")
        )
        call = {"name": tool, "args": arguments, "id": "1", "type": "tool_call"}
        asked = {"messages": [{"role": "assistant", "content": "", "tool_calls": [call]}]}
        said = graph.compile().invoke(asked, {"configurable": {"thread_id": phone}})["messages"][-1]
        return json.loads(said.content) if said.content[:1] in ("[", "{") else said.content


@pytest.fixture
def use(household, memory):
    return Hands(household, memory)


@contextmanager
def shop(status) -> Iterator[tuple[str, list[dict]]]:
    orders = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            orders.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/orders", orders
        server.shutdown()
        thread.join()


@pytest.mark.spec("C-1")
def test_each_phone_has_its_own_grocery_list_and_saved_recipes(use):
    use(ERIN, "add_to_grocery_list", items=["milk"])
    use(ERIN, "save_recipe", recipe_id="turkey-tacos")
    assert [each["item"] for each in use(ERIN, "show_grocery_list")] == ["milk"]
    assert use(JASON, "show_grocery_list") == "The grocery list is empty."
    assert use(JASON, "show_saved_recipes") == "No recipe is saved yet."


def test_all_forms_of_a_phone_share_one_list(use):
    use("+1 202-555-0123", "add_to_grocery_list", items=["milk"])
    assert len(use("12025550123@c.us", "show_grocery_list")) == 1


def test_an_item_two_recipes_need_is_one_line_with_both_amounts(use):
    use(ERIN, "add_to_grocery_list", recipe_id="turkey-tacos")
    use(ERIN, "add_to_grocery_list", recipe_id="fish-tacos-with-lime-slaw")
    amounts = {each["item"]: each["amount"] for each in use(ERIN, "show_grocery_list")}
    assert amounts["corn tortillas"] == "12 + 8"


@pytest.mark.spec("R-3")
def test_adding_a_recipe_twice_changes_nothing(use):
    use(ERIN, "add_to_grocery_list", recipe_id="turkey-tacos")
    before = use(ERIN, "show_grocery_list")
    assert use(ERIN, "add_to_grocery_list", recipe_id="turkey-tacos") == "All of that is on the grocery list already."
    assert use(ERIN, "show_grocery_list") == before


def test_an_order_is_posted_and_empties_only_its_own_list(tmp_path, memory):
    with shop(200) as (url, orders):
        use = Hands(Household(tmp_path / "household.db", shop=url), memory)
        use(ERIN, "add_to_grocery_list", recipe_id="turkey-tacos")
        use(JASON, "add_to_grocery_list", items=["beer"])
        assert use(ERIN, "push_grocery_list")["sent_to"] == "127.0.0.1"
    assert [(order["phone"], len(order["items"])) for order in orders] == [(ERIN, 8)]
    assert use(ERIN, "show_grocery_list") == "The grocery list is empty."
    assert len(use(JASON, "show_grocery_list")) == 1


def test_a_refused_order_is_told_and_sent_again_under_the_same_id(tmp_path, memory):
    with shop(503) as (url, orders):
        use = Hands(Household(tmp_path / "household.db", shop=url), memory)
        use(ERIN, "add_to_grocery_list", items=["milk"])
        assert "503" in use(ERIN, "push_grocery_list")
        assert len(use(ERIN, "show_grocery_list")) == 1
        use(ERIN, "push_grocery_list")
    assert orders[0]["order_id"] == orders[1]["order_id"]


def test_a_shop_that_is_not_there_loses_nothing(tmp_path, memory):
    use = Hands(Household(tmp_path / "household.db", shop="http://127.0.0.1:9/orders"), memory)
    use(ERIN, "add_to_grocery_list", items=["milk"])
    assert use(ERIN, "push_grocery_list").startswith("The shop did not take the order")
    assert len(use(ERIN, "show_grocery_list")) == 1


def test_without_a_shop_orders_are_lines_of_a_file(use, household):
    use(ERIN, "add_to_grocery_list", items=["milk"])
    use(ERIN, "push_grocery_list")
    [line] = household.outbox.read_text().splitlines()
    assert json.loads(line)["items"] == [{"amount": "", "item": "milk"}]


def test_money_that_is_spent_cannot_be_moved(use):
    refused = use(ERIN, "move_budget", amount=500, from_category="Fun", to_category="Groceries")
    assert refused == "Fun has only 78.70 left to move."
    assert use(ERIN, "get_budget_summary", category="fun")[0]["limit"] == 120


def test_a_category_or_recipe_that_does_not_exist_is_named(use):
    assert 'no category "Yachts"' in use(ERIN, "get_budget_summary", category="Yachts")
    assert 'no recipe "gold-soup"' in use(ERIN, "get_recipe", recipe_id="gold-soup")
    assert "No recipe matches" in use(ERIN, "search_recipes", query="zzz")


def test_there_are_recipes_to_choose_from(household):
    with household.connect() as rows:
        assert rows.execute("SELECT count(*) FROM recipes").fetchone()[0] >= 36
