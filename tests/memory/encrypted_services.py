"""What the tests of encrypted memories share: a service with keys, and all the bytes that a database holds."""

import contextlib
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import text

from langmem_plugin.database.database_from_settings import open_database
from langmem_plugin.memory import MemoryService
from langmem_plugin.settings import Settings


@contextlib.contextmanager
def encrypted_service(url, key, **options):
    with open_database(Settings(keys=key), url) as database, MemoryService(database, **options) as service:
        yield service


def stored_bytes(url):
    """Of all files, or of all rows of all tables, where bytes are written as they are and as hexadecimal digits."""
    if url.startswith("sqlite"):
        folder = Path(url.removeprefix("sqlite:///")).parent
        return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())
    held = b""
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT schemaname, tablename FROM pg_tables WHERE tablename LIKE 'langmem%'")
        for schema, table in tables.fetchall():
            command = sql.SQL("COPY {}.{} TO STDOUT").format(sql.Identifier(schema), sql.Identifier(table))
            with connection.cursor().copy(command) as copy:
                held += b"".join(copy)
    return held


def is_in(held, value):
    """Any part of a vector: SQLite spreads long values over pages."""
    raw = value if isinstance(value, bytes) else value.encode()
    parts = [raw[at : at + 64] for at in range(0, len(raw), 64)] if isinstance(value, bytes) else [raw]
    return any(part in held or part.hex().encode() in held for part in parts if len(part) == 64 or part == raw)


def tamper(service, statement, **values):
    with service.database.write() as connection:
        assert connection.execute(text(statement), values).rowcount == 1


def texts(found):
    return [getattr(each, "memory", each).text for each in found]
