"""What all tables share: one metadata, and instants stored the same way on both engines."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Dialect, MetaData, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import TypeDecorator

metadata = MetaData()


def insert_unless_there(table: Table, *returned: Column[Any]) -> dict[str, Any]:
    """By the dialect's name, an insert that changes, and returns, nothing where the row is there already."""
    inserts = {
        "sqlite": sqlite.insert(table).on_conflict_do_nothing(),
        "postgresql": postgresql.insert(table).on_conflict_do_nothing(),
    }
    return {name: insert.returning(*returned) if returned else insert for name, insert in inserts.items()}


class Instant(TypeDecorator[datetime]):
    """A UTC instant as whole microseconds since 1970: eight bytes, sortable, the same on both engines."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive datetime cannot be stored: give it a time zone")
        delta = value - _EPOCH
        return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else _EPOCH + _MICROSECOND * value


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = datetime(1970, 1, 1, microsecond=1, tzinfo=UTC) - _EPOCH
