"""Rows whose ids are drawn at random: one that is taken already is drawn again, three times."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Column, Connection

from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.errors import WriteConflict

TRIES = 4  # the first, and three more

_One = TypeVar("_One")


def insert_new(
    connection: Connection,
    named: Column[Any],
    made: Sequence[_One],
    values: Callable[[int, _One], Mapping[str, Any]],
    draw_again: Callable[[_One], _One],
) -> list[_One]:
    """Stores each of `made`, as its row's `values` (its place, and itself), and returns them as they were stored.

    `named` is the column that holds the id. Raises WriteConflict when four ids in a row were taken.
    """
    # Nothing fails when a row is there: on PostgreSQL a failed insert would end the whole transaction.
    statement = insert_unless_there(named.table, named)[connection.dialect.name]
    stored, waiting = list(made), list(range(len(made)))
    for _ in range(TRIES):
        rows = [values(at, stored[at]) for at in waiting]
        taken_in = Counter(connection.execute(statement, rows).scalars()) if rows else Counter[Any]()
        left = []
        for at, row in zip(waiting, rows, strict=True):
            if taken_in[row[named.name]]:
                taken_in[row[named.name]] -= 1  # two of one batch may have drawn the same: the first is stored
            else:
                left.append(at)
        if not left:
            return stored
        waiting = left
        for at in waiting:
            stored[at] = draw_again(stored[at])
    raise all_taken(named.table.name)


def all_taken(what: str) -> WriteConflict:
    return WriteConflict(
        f"{TRIES} ids in a row that were drawn for {what} are taken: the source of random numbers repeats itself; "
        "nothing was written, restart the process and try again"
    )
