"""Recipes: find, read, save for a phone."""

import json
import re
import sqlite3
from typing import Any

from graphs.household import Household, HouseholdError

LISTED = ("recipe_id", "title", "minutes", "servings", "cost_per_serving", "tags")


def search(household: Household, query: str, limit: int = 5) -> list[dict[str, Any]]:
    """Those that match the most words of the query, in title before tags before ingredients; best first."""
    wanted = _stems(query)
    found = [(_matches(recipe, wanted), recipe) for recipe in _all(household)]
    most = max(words for (words, _), _ in found)
    if not most:
        raise HouseholdError(
            f'No recipe matches "{query}". Try an ingredient, a meal such as dinner, or a tag such as quick.'
        )
    found.sort(key=lambda scored: (-scored[0][1], scored[1]["title"]))
    return [_listed(recipe) for (words, _), recipe in found if words == most][:limit]


def get(household: Household, recipe_id: str) -> dict[str, Any]:
    with household.connect() as rows:
        row = rows.execute("SELECT * FROM recipes WHERE recipe_id = ?", (recipe_id,)).fetchone()
    if row is None:
        raise HouseholdError(f'There is no recipe "{recipe_id}"; search for it first.')
    return _recipe(row)


def save(household: Household, phone: str, recipe_id: str) -> dict[str, Any]:
    recipe = get(household, recipe_id)
    with household.connect() as rows:
        saved = rows.execute(
            "INSERT OR IGNORE INTO saved_recipes VALUES (?, ?, ?)",
            (phone, recipe_id, household.now().isoformat(timespec="seconds")),
        ).rowcount
    return {"recipe_id": recipe_id, "title": recipe["title"], "saved" if saved else "already_saved": True}


def saved(household: Household, phone: str) -> list[dict[str, Any]]:
    with household.connect() as rows:
        found = rows.execute(
            "SELECT recipes.* FROM saved_recipes JOIN recipes USING (recipe_id)"
            " WHERE phone = ? ORDER BY saved_at, title",
            (phone,),
        )
        return [_listed(_recipe(row)) for row in found]


def named(household: Household, words: str) -> dict[str, Any] | None:
    """The one recipe these words can mean: its id, its title, or the only title that holds them all."""
    recipes = _all(household)
    wanted = words.strip().lower()
    for recipe in recipes:
        if wanted in (recipe["recipe_id"], recipe["title"].lower()):
            return recipe
    stems = _stems(words)
    holding = [recipe for recipe in recipes if stems and stems <= _stems(recipe["title"])]
    return holding[0] if len(holding) == 1 else None


def _all(household: Household) -> list[dict[str, Any]]:
    with household.connect() as rows:
        return [_recipe(row) for row in rows.execute("SELECT * FROM recipes")]


def _listed(recipe: dict[str, Any]) -> dict[str, Any]:
    return {key: recipe[key] for key in LISTED}


def _matches(recipe: dict[str, Any], wanted: set[str]) -> tuple[int, int]:
    """How many of the words it holds, and how tellingly."""
    title, tags = _stems(recipe["title"]), _stems(" ".join(recipe["tags"]))
    foods = _stems(" ".join(part["item"] for part in recipe["ingredients"]))
    return len(wanted & (title | tags | foods)), 3 * len(wanted & title) + 2 * len(wanted & tags)


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in re.findall(r"[^\W\d_]+", text.lower())}


def _stem(word: str) -> str:
    return word.removesuffix("es") if word.endswith("oes") else word.removesuffix("s")


def _recipe(row: sqlite3.Row) -> dict[str, Any]:
    return {**dict(row), **{key: json.loads(row[key]) for key in ("tags", "ingredients", "steps")}}
