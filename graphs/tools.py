"""What an assistant may do in the household, as LangChain tools; each call acts for the phone of its run."""

from collections.abc import Callable
from typing import Any, Literal, NotRequired

from langchain_core.tools import BaseTool, tool
from typing_extensions import TypedDict

from graphs import groceries, planner, recipes
from graphs.household import Household, HouseholdError

Week = Literal["this week", "next week"]
Day = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class Person(TypedDict):
    """Who texts: the context of a run where the thread is not the phone."""

    phone: NotRequired[str]


def broken(error: Exception) -> str:
    """What a person is told of a tool that raised; the conversation goes on."""
    return f"That did not work: {error}"


def household_tools(household: Household, phone: Callable[[], str]) -> list[BaseTool]:
    """All tools over one household; what they refuse becomes a tool message, never an exception.

    `phone` tells whose run it is.
    """
    tools = [
        *_recipe_tools(household, phone),
        *_grocery_tools(household, phone),
        *_plan_tools(household),
        *_budget_tools(household),
    ]
    for each in tools:
        each.handle_tool_error = True
    return tools


def _recipe_tools(household: Household, phone: Callable[[], str]) -> list[BaseTool]:
    @tool
    def search_recipes(query: str) -> list[dict[str, Any]]:
        """Find something to cook or eat: recipes for a dinner, lunch, breakfast or dessert. `query` is an
        ingredient, a dish, a kind of food or a tag such as quick or vegetarian, in a few words.
        """
        return recipes.search(household, query)

    @tool
    def get_recipe(recipe_id: str) -> dict[str, Any]:
        """Tell more about one recipe: its ingredients, steps and details."""
        return recipes.get(household, recipe_id)

    @tool
    def save_recipe(recipe_id: str) -> dict[str, Any]:
        """Save one recipe to this person's favourites, to keep it for later."""
        return recipes.save(household, phone(), recipe_id)

    @tool
    def show_saved_recipes() -> list[dict[str, Any]] | str:
        """List all my saved recipes, the favourites I kept before."""
        return recipes.saved(household, phone()) or "No recipe is saved yet."

    return [search_recipes, get_recipe, save_recipe, show_saved_recipes]


def _grocery_tools(household: Household, phone: Callable[[], str]) -> list[BaseTool]:
    @tool
    def add_to_grocery_list(recipe_id: str | None = None, items: list[str] | None = None) -> dict[str, Any]:
        """Add to the grocery list, put on the shopping list: all ingredients of the recipe with that recipe_id, or
        the items named.
        """
        if recipe_id:
            return groceries.add_recipe(household, phone(), recipe_id)
        if items:
            return groceries.add_items(household, phone(), items)
        raise HouseholdError("Add which recipe's ingredients, or which items?")

    @tool
    def show_grocery_list() -> list[dict[str, Any]] | str:
        """Show what is on the grocery list now, waiting to be bought."""
        return groceries.show(household, phone()) or "The grocery list is empty."

    @tool
    def push_grocery_list() -> dict[str, Any]:
        """Order it: send the whole grocery list to the shop to be delivered. Push or buy it."""
        return groceries.push(household, phone())

    return [add_to_grocery_list, show_grocery_list, push_grocery_list]


def _plan_tools(household: Household) -> list[BaseTool]:
    @tool
    def get_calendar(week: Week = "this week") -> list[dict[str, Any]]:
        """What is on the family calendar in a week: when lessons, practice, visits and appointments are, and whose."""
        return planner.calendar(household, week)

    @tool
    def get_meal_plan(week: Week = "this week") -> list[dict[str, Any]]:
        """The meal plan of a week: what is for dinner on each day from Monday to Sunday."""
        return planner.meal_plan(household, week)

    @tool
    def swap_meal(day: Day, meal: str, week: Week = "this week") -> dict[str, Any]:
        """Swap one day's meal in the meal plan for another, or put a meal on that day: a recipe or any dish."""
        return planner.swap(household, day, meal, week)

    return [get_calendar, get_meal_plan, swap_meal]


def _budget_tools(household: Household) -> list[BaseTool]:
    @tool
    def get_budget_summary(category: str | None = None) -> list[dict[str, Any]]:
        """The budget: how much money is spent, allowed and left, in every category or in one."""
        return planner.budget(household, category)

    @tool
    def move_budget(amount: float, from_category: str, to_category: str) -> list[dict[str, Any]]:
        """Move an amount of money from one budget category to another."""
        return planner.move(household, amount, from_category, to_category)

    return [get_budget_summary, move_budget]
