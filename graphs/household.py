"""The household's SQLite file: its tables, and what a new one holds."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from langchain_core.tools import ToolException

SEEDS = Path(__file__).parent / "data"
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

TABLES = """
CREATE TABLE IF NOT EXISTS recipes (
    recipe_id TEXT PRIMARY KEY, title TEXT NOT NULL, minutes INTEGER NOT NULL, servings INTEGER NOT NULL,
    cost_per_serving REAL NOT NULL, tags TEXT NOT NULL, ingredients TEXT NOT NULL, steps TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS saved_recipes (
    phone TEXT NOT NULL, recipe_id TEXT NOT NULL REFERENCES recipes, saved_at TEXT NOT NULL,
    PRIMARY KEY (phone, recipe_id));
CREATE TABLE IF NOT EXISTS groceries (
    line INTEGER PRIMARY KEY AUTOINCREMENT, phone TEXT NOT NULL, item TEXT NOT NULL, amount TEXT NOT NULL,
    recipe_id TEXT NOT NULL, UNIQUE (phone, item, recipe_id));
CREATE TABLE IF NOT EXISTS orders (
    order_id TEXT PRIMARY KEY, phone TEXT NOT NULL, items TEXT NOT NULL, sent_to TEXT NOT NULL,
    sent_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    event_id INTEGER PRIMARY KEY, date TEXT NOT NULL, time TEXT NOT NULL, title TEXT NOT NULL,
    who TEXT NOT NULL, UNIQUE (date, time, title));
CREATE TABLE IF NOT EXISTS meals (
    date TEXT PRIMARY KEY, meal TEXT NOT NULL, recipe_id TEXT REFERENCES recipes);
CREATE TABLE IF NOT EXISTS budget (
    category TEXT PRIMARY KEY COLLATE NOCASE, spent_cents INTEGER NOT NULL, limit_cents INTEGER NOT NULL);
"""


class HouseholdError(ToolException):
    """What was asked cannot be done; the text is for the person who asked."""


class Household:
    """One file for one household, made and filled when it is not there yet.

    Recipes, calendar, meals and budget belong to everyone; saved recipes, grocery lists and orders belong to
    a phone. `path` is by default `HOUSEHOLD_DB` from the environment, else `data/household.db`. Orders go by
    HTTP POST to `shop` (by default `GROCERY_URL`), or into `outbox.jsonl` beside the file when it is empty.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        shop: str | None = None,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self.path = Path(path or os.environ.get("HOUSEHOLD_DB") or "data/household.db")
        self.shop = os.environ.get("GROCERY_URL", "") if shop is None else shop
        self.outbox = self.path.with_name("outbox.jsonl")
        self.now = now
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.connect() as rows:
            rows.executescript(TABLES)
        with self.connect() as rows:
            _seed_recipes(rows)
            _seed_budget(rows)

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own for each use, so that tools may run in any thread; all or nothing."""
        with closing(sqlite3.connect(self.path, timeout=10)) as rows, rows:
            rows.row_factory = sqlite3.Row
            rows.execute("PRAGMA foreign_keys = ON")
            yield rows

    def monday(self, week: str) -> date:
        """The first day of "this week" or "next week", with that week's calendar and meals in place."""
        today = self.now().date()
        monday = today - timedelta(days=today.weekday())
        if week == "next week":
            monday += timedelta(days=7)
        with self.connect() as rows:
            _seed_week(rows, monday)
        return monday


def day_of(monday: date, weekday: str) -> date:
    return monday + timedelta(days=WEEKDAYS.index(weekday))


def _seed_recipes(rows: sqlite3.Connection) -> None:
    recipes = json.loads((SEEDS / "recipes.json").read_text(encoding="utf-8"))
    for recipe in recipes:
        lists = {key: json.dumps(value) for key, value in recipe.items() if isinstance(value, list)}
        rows.execute(
            "INSERT OR IGNORE INTO recipes VALUES"
            " (:recipe_id, :title, :minutes, :servings, :cost_per_serving, :tags, :ingredients, :steps)",
            {**recipe, **lists},
        )


def _seed_budget(rows: sqlite3.Connection) -> None:
    for category, spent, limit in _seeds()["budget"]:
        amounts = (category, round(spent * 100), round(limit * 100))
        rows.execute("INSERT OR IGNORE INTO budget VALUES (?, ?, ?)", amounts)


def _seed_week(rows: sqlite3.Connection, monday: date) -> None:
    """Weeks alternate between two patterns, so that the example is never out of date."""
    seeds, pattern = _seeds(), "odd" if monday.isocalendar().week % 2 else "even"
    for weekday, time, title, who in seeds["calendar"][pattern]:
        event = (day_of(monday, weekday).isoformat(), time, title, who)
        rows.execute("INSERT OR IGNORE INTO events (date, time, title, who) VALUES (?, ?, ?, ?)", event)
    for weekday, recipe_id in seeds["meals"][pattern]:
        rows.execute(
            "INSERT OR IGNORE INTO meals SELECT ?, title, recipe_id FROM recipes WHERE recipe_id = ?",
            (day_of(monday, weekday).isoformat(), recipe_id),
        )


def _seeds() -> dict[str, Any]:
    seeds: dict[str, Any] = json.loads((SEEDS / "household.json").read_text(encoding="utf-8"))
    return seeds
