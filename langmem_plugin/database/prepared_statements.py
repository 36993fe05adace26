"""Statements that every turn runs dozens of times: compiled once, then given to the driver itself.

`Connection.execute` looks each statement up, builds a context and wraps the result anew; apart from SQLite's own work,
that was most of the cost of a turn (benchmarks/conversation.py).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from sqlalchemy import ClauseElement, Column, ColumnElement, Connection, Dialect, Select, bindparam
from sqlalchemy.types import TypeEngine

Row = tuple[Any, ...]
Parameters = Mapping[str, Any]
_Process = Callable[[Any], Any] | None


def given(*columns: Column[Any]) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that each column has the value of the parameter `of_` and its name."""
    return tuple(column == bindparam(f"of_{column.name}") for column in columns)


class Prepared:
    """One Core statement, or one for each dialect by its name; its parameters are given by name.

    It runs inside the transaction of the connection. Errors of the driver leave it unwrapped, and `Database.read` and
    `Database.write` name them for the caller.
    """

    _all: ClassVar[list["Prepared"]] = []

    def __init__(self, statement: ClauseElement | Mapping[str, ClauseElement]) -> None:
        self._statement = statement
        self._by_dialect: dict[str, _Compiled] = {}
        self._all.append(self)

    @classmethod
    def compile_all(cls, dialect: Dialect) -> None:
        """Compile all statements of the imported modules, so that the first turn of a process need not."""
        for each in cls._all:
            each.compiled(dialect)

    def first(self, connection: Connection, parameters: Parameters) -> Row | None:
        """Return the first row, its values converted by the columns' types; None if there is none."""
        return next(iter(self.all(connection, parameters)), None)

    def all(self, connection: Connection, parameters: Parameters) -> list[Row]:
        compiled = self.compiled(connection.dialect)
        rows = driver(connection).execute(compiled.sql, compiled.bound(parameters)).fetchall()
        return [compiled.read(row) for row in rows] if compiled.processed else rows

    def run(self, connection: Connection, parameters: Parameters) -> int:
        """Return how many rows it touched."""
        compiled = self.compiled(connection.dialect)
        touched: int = driver(connection).execute(compiled.sql, compiled.bound(parameters)).rowcount
        return touched

    def run_each(self, connection: Connection, rows: Sequence[Parameters]) -> None:
        compiled = self.compiled(connection.dialect)
        if len(rows) == 1:  # executemany of psycopg would begin a pipeline for it
            driver(connection).execute(compiled.sql, compiled.bound(rows[0]))
        else:
            driver(connection).cursor().executemany(compiled.sql, [compiled.bound(row) for row in rows])

    def compiled(self, dialect: Dialect) -> "_Compiled":
        compiled = self._by_dialect.get(dialect.name)
        if compiled is None:
            statement = self._statement
            one = statement if isinstance(statement, ClauseElement) else statement[dialect.name]
            compiled = self._by_dialect[dialect.name] = _Compiled(one, dialect)
        return compiled


class _Compiled:
    """The SQL of one dialect, and the conversions of values on their way in and out."""

    def __init__(self, statement: ClauseElement, dialect: Dialect) -> None:
        compiled: Any = statement.compile(dialect=dialect)
        self.sql = str(compiled)
        self._names: list[str] | None = compiled.positiontup if compiled.positional else None
        self._given = {name: value for name, value in compiled.params.items() if value is not None}
        ways = ((name, _binding(bind.type, dialect)) for bind, name in compiled.bind_names.items())
        self._ways = {name: way for name, way in ways if way is not None}
        columns = statement.selected_columns if isinstance(statement, Select) else ()
        self.processed = [
            (at, way) for at, column in enumerate(columns) if (way := _result(column.type, dialect)) is not None
        ]

    def bound(self, parameters: Parameters) -> Sequence[Any] | Parameters:
        values = {**self._given, **parameters}
        for name, way in self._ways.items():
            values[name] = way(values[name])
        return values if self._names is None else [values[name] for name in self._names]

    def read(self, row: Row) -> Row:
        values = list(row)
        for at, way in self.processed:
            values[at] = way(values[at])
        return tuple(values)


def driver(connection: Connection) -> Any:
    """Return the driver's own connection."""
    return connection.connection.dbapi_connection


def _binding(kind: TypeEngine[Any], dialect: Dialect) -> _Process:
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _result(kind: TypeEngine[Any], dialect: Dialect) -> _Process:
    return kind.dialect_impl(dialect).result_processor(dialect, None)
