"""What all tables share: one metadata, instants stored the same way on both engines, owners that no input can forge."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Dialect, MetaData, String, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DontWrapMixin
from sqlalchemy.types import TypeDecorator

from langmem_plugin.errors import InvalidInput
from langmem_plugin.phones import owner_as_stored, owner_to_store

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


class InvalidOwner(InvalidInput, DontWrapMixin):
    """What was passed as an owner can be nobody's key; nothing was read or stored."""


class Owner(TypeDecorator[str]):
    """Whose a row is. Here, where every statement passes, a text that looks like a scope's key is refused."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is None:
            return None
        try:
            return owner_to_store(value)
        except InvalidInput as error:
            raise InvalidOwner(str(error)) from error

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else owner_as_stored(value)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = datetime(1970, 1, 1, microsecond=1, tzinfo=UTC) - _EPOCH
