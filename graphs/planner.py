"""What the household shares: calendar, meal plan and budget."""

import sqlite3
from datetime import date, timedelta
from typing import Any

from graphs import recipes
from graphs.household import WEEKDAYS, Household, HouseholdError, day_of


def calendar(household: Household, week: str) -> list[dict[str, Any]]:
    found = _of_week(household, week, "SELECT event_id, title, date, time, who FROM events")
    return [
        {
            "event_id": row["event_id"],
            "title": row["title"],
            "day": _weekday(row["date"]),
            "time": row["time"],
            "who": row["who"],
            "date": row["date"],
        }
        for row in sorted(found, key=lambda row: (row["date"], row["time"]))
    ]


def meal_plan(household: Household, week: str) -> list[dict[str, Any]]:
    found = _of_week(household, week, "SELECT date, meal, recipe_id FROM meals")
    return [_meal(row["date"], row["meal"], row["recipe_id"], week) for row in found]


def swap(household: Household, day: str, meal: str, week: str) -> dict[str, Any]:
    """`meal` is a recipe's id or title, or anything else the household cooks."""
    on = day_of(household.monday(week), day).isoformat()
    recipe = recipes.named(household, meal)
    title, recipe_id = meal[:1].upper() + meal[1:], None
    if recipe:
        title, recipe_id = recipe["title"], recipe["recipe_id"]
    with household.connect() as rows:
        before = rows.execute("SELECT meal FROM meals WHERE date = ?", (on,)).fetchone()[0]
        rows.execute("UPDATE meals SET meal = ?, recipe_id = ? WHERE date = ?", (title, recipe_id, on))
    return {**_meal(on, title, recipe_id, week), "instead_of": before}


def budget(household: Household, category: str | None) -> list[dict[str, Any]]:
    with household.connect() as rows:
        found = rows.execute("SELECT * FROM budget ORDER BY limit_cents DESC, category")
        categories = [_category(row) for row in found]
    chosen = [row for row in categories if category is None or row["category"].lower() == category.strip().lower()]
    if not chosen:
        names = ", ".join(row["category"] for row in categories)
        raise HouseholdError(f'The budget has no category "{category}". It has: {names}.')
    return chosen


def move(household: Household, amount: float, source: str, target: str) -> list[dict[str, Any]]:
    """Shift part of one category's limit to another; what is spent already cannot be moved."""
    cents = round(amount * 100)
    [giver], [taker] = budget(household, source), budget(household, target)
    if cents <= 0 or giver == taker:
        raise HouseholdError("Say an amount above zero and two different categories.")
    with household.connect() as rows:
        moved = rows.execute(
            "UPDATE budget SET limit_cents = limit_cents - ? WHERE category = ? AND limit_cents - spent_cents >= ?",
            (cents, giver["category"], cents),
        ).rowcount
        if not moved:
            raise HouseholdError(f"{giver['category']} has only {giver['left']:.2f} left to move.")
        gain = (cents, taker["category"])
        rows.execute("UPDATE budget SET limit_cents = limit_cents + ? WHERE category = ?", gain)
    return [*budget(household, source), *budget(household, target)]


def _of_week(household: Household, week: str, query: str) -> list[sqlite3.Row]:
    monday = household.monday(week)
    days = (monday.isoformat(), (monday + timedelta(days=6)).isoformat())
    with household.connect() as rows:
        return rows.execute(f"{query} WHERE date BETWEEN ? AND ? ORDER BY date", days).fetchall()


def _meal(day: str, meal: str, recipe_id: str | None, week: str) -> dict[str, Any]:
    return {"day": _weekday(day), "meal": meal, "recipe_id": recipe_id, "week": week, "date": day}


def _category(row: Any) -> dict[str, Any]:
    spent, limit = row["spent_cents"], row["limit_cents"]
    amounts = {"spent": spent / 100, "limit": limit / 100, "left": (limit - spent) / 100}
    return {"category": row["category"], **amounts}


def _weekday(day: str) -> str:
    return WEEKDAYS[date.fromisoformat(day).weekday()]
