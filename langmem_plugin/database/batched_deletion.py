"""Delete many rows a few at a time: other writers get a turn between one transaction and the next."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Table, delete, select, tuple_

from langmem_plugin.database.engine import Database
from langmem_plugin.database.schema import in_parts

_LOOKED_UP_AT_ONCE = 10_000


def delete_in_slices(database: Database, table: Table, doomed: ColumnElement[bool]) -> Iterator[int]:
    """Delete the `doomed` rows; yield after each transaction how many it deleted. They are looked up outside of it,
    which may take long.
    """
    key = list(table.primary_key.columns)
    while True:
        with database.read() as connection:
            found: list[Any] = [*connection.execute(select(*key).where(doomed).limit(_LOOKED_UP_AT_ONCE))]
        deleted = 0
        for part in in_parts([tuple(row) for row in found]):
            with database.write(durable=False) as connection:
                gone = connection.execute(delete(table).where(tuple_(*key).in_(part), doomed)).rowcount
            deleted += gone
            yield gone
        if len(found) < _LOOKED_UP_AT_ONCE or not deleted:
            return
