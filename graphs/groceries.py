"""One grocery list per phone, and the way to the shop."""

import hashlib
import json
from typing import Any

import httpx

from graphs import recipes
from graphs.household import Household, HouseholdError


def add_recipe(household: Household, phone: str, recipe_id: str) -> dict[str, Any]:
    """All of a recipe's ingredients; a recipe that is on the list already is not put there twice."""
    recipe = recipes.get(household, recipe_id)
    lines = [(part["item"], part["amount"]) for part in recipe["ingredients"]]
    return {"title": recipe["title"], "recipe_id": recipe_id, **_add(household, phone, lines, recipe_id)}


def add_items(household: Household, phone: str, items: list[str]) -> dict[str, Any]:
    lines = [(item.strip(), "") for item in items if item.strip()]
    if not lines:
        raise HouseholdError("Which items should go on the grocery list?")
    return _add(household, phone, lines, "")


def show(household: Household, phone: str) -> list[dict[str, Any]]:
    """In the order they were added; an item that several recipes need is one line."""
    with household.connect() as rows:
        found = rows.execute(
            "SELECT min(line) AS item_id, item, group_concat(nullif(amount, ''), ' + ') AS amount"
            " FROM (SELECT * FROM groceries WHERE phone = ? ORDER BY line) GROUP BY item ORDER BY min(line)",
            (phone,),
        )
        return [{**dict(row), "amount": row["amount"] or ""} for row in found]


def push(household: Household, phone: str) -> dict[str, Any]:
    """Hand the list to the shop and empty it; a list the shop did not take stays as it is.

    The order's id is made from the lines it holds: an order that is sent again carries the same id.
    """
    with household.connect() as rows:
        found = rows.execute("SELECT line FROM groceries WHERE phone = ? ORDER BY line", (phone,))
        lines = [row["line"] for row in found]
    if not lines:
        raise HouseholdError("The grocery list is empty: add something before ordering.")
    items = [{"amount": item["amount"], "item": item["item"]} for item in show(household, phone)]
    order_id = hashlib.sha256(json.dumps([phone, lines]).encode()).hexdigest()[:12]
    sent_to = _send(household, {"order_id": order_id, "phone": phone, "items": items})
    with household.connect() as rows:
        rows.execute(
            "INSERT OR REPLACE INTO orders VALUES (?, ?, ?, ?, ?)",
            (order_id, phone, json.dumps(items), sent_to, household.now().isoformat(timespec="seconds")),
        )
        # Only what was sent: a line added meanwhile belongs to the next order.
        rows.executemany("DELETE FROM groceries WHERE line = ?", [(line,) for line in lines])
    return {"ordered": True, "order_id": order_id, "sent_to": sent_to, "items": items}


def _add(household: Household, phone: str, lines: list[tuple[str, str]], recipe_id: str) -> dict[str, Any]:
    with household.connect() as rows:
        added = [
            f"{amount} {item}".strip()
            for item, amount in lines
            if rows.execute(
                "INSERT OR IGNORE INTO groceries (phone, item, amount, recipe_id) VALUES (?, ?, ?, ?)",
                (phone, item, amount, recipe_id),
            ).rowcount
        ]
    if not added:
        raise HouseholdError("All of that is on the grocery list already.")
    return {"added": added, "items_on_list": len(show(household, phone))}


def _send(household: Household, order: dict[str, Any]) -> str:
    if not household.shop:
        try:
            with household.outbox.open("a", encoding="utf-8") as outbox:
                outbox.write(json.dumps(order, ensure_ascii=False) + "\n")
        except OSError as error:
            raise HouseholdError(f"The order could not be written ({error}); your list is kept.") from error
        return household.outbox.name
    try:
        httpx.post(
            household.shop, json=order, headers={"Idempotency-Key": order["order_id"]}, timeout=10
        ).raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise HouseholdError(f"The shop did not take the order ({error}); your list is kept.") from error
    return httpx.URL(household.shop).host
