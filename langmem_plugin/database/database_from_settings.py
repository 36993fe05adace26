"""Open the database that the settings name, with the keys that they name."""

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, select
from sqlalchemy.schema import CreateSchema

from langmem_plugin.database.conversation_tables import incoming, session
from langmem_plugin.database.database_urls import database_and_schema, database_url
from langmem_plugin.database.encryption import Encryption
from langmem_plugin.database.encryption.encryption import NO_ENCRYPTION
from langmem_plugin.database.encryption.key_store import KEY_TABLES, KeyStore
from langmem_plugin.database.encryption.master_keys import MasterKeys
from langmem_plugin.database.engine import Begun, Database
from langmem_plugin.database.memory_tables import memory_owner
from langmem_plugin.database.operations_tables import upkeep
from langmem_plugin.database.people_tables import person
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.database.tenant_locations import database_of
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.settings import DATABASE_TIMEOUT, Settings

_NOTE = "encrypted:everything:"  # and the id of the key database


def open_database(settings: Settings, url: str | Path | None = None) -> Database:
    """Open the database that the settings name, or the URL if one is given.

    Raises what Database does, and ConfigurationError where the keys are not those of the database, or rows were stored
    without any.
    """
    where, schema = database_of(settings, url)
    with ExitStack() as opened:
        encryption = NO_ENCRYPTION
        if settings.keys is not None:
            encryption = Encryption(_key_store(settings, where, schema))
            opened.callback(encryption.close)
        database = Database(
            where,
            schema=schema,
            region=settings.default_region,
            timeout=DATABASE_TIMEOUT,
            encryption=encryption,
        )
        opened.callback(database.close)
        if settings.keys is None:
            refuse_encrypted(database)
        else:
            _check(database)
        opened.pop_all()
        return database


def refuse_encrypted(database: Database) -> None:
    """Raise ConfigurationError for an encrypted database without keys: anybody could read new rows."""
    if database.encryption.store_id is None and _noted(database) is not None:
        raise ConfigurationError("the database is encrypted: set LANGMEM_KEYS to the keys it was written with")


def _check(database: Database) -> None:
    """Refuse keys other than those it was written with, and rows in plain; note a new database as encrypted.

    Raises ConfigurationError.
    """
    noted, ours = _noted(database), f"{_NOTE}{database.encryption.store_id}"
    if noted == ours:
        return
    if noted is not None:
        raise ConfigurationError("key_database is not the one whose keys encrypted this database: name that one")
    with database.write() as connection:
        if _holds_rows(connection):
            raise ConfigurationError(
                "the database holds rows that are not encrypted: leave out LANGMEM_KEYS, or move each person by "
                "`langmem export` and `langmem import` into a new database that has keys from the start"
            )
        noting = insert_unless_there(upkeep)[connection.dialect.name]
        connection.execute(noting, {"name": ours, "noted_at": datetime.now(UTC)})


def _noted(database: Database) -> str | None:
    with database.read() as connection:
        return connection.execute(select(upkeep.c.name).where(upkeep.c.name.startswith(_NOTE))).scalar()


def _holds_rows(connection: Connection) -> bool:
    return any(
        connection.execute(select(table).limit(1)).first() is not None
        for table in (session, memory_owner, incoming, person)
    )


def _key_store(settings: Settings, where: str | Path, schema: str | None) -> KeyStore:
    assert settings.keys is not None  # noqa: S101 - of the caller
    keys = MasterKeys.of(settings.keys.get_secret_value())
    url, of_schema = _key_database(settings, where, schema)
    database = Database(url, schema=of_schema, timeout=DATABASE_TIMEOUT, make_tables=_make_key_tables)
    encrypted, of_url = database_and_schema(where)
    is_shared = not database.is_sqlite and (database.url, database.schema) == (encrypted, schema or of_url)
    try:
        return KeyStore(database, keys, is_shared=is_shared)
    except BaseException:
        database.close()
        raise


def _key_database(settings: Settings, where: str | Path, schema: str | None) -> tuple[str | Path, str | None]:
    """Return where the keys lie, with the schema: in a file beside a SQLite file; a tenant's keys lie apart as its data
    does.
    """
    if settings.key_database is not None:
        return database_of(settings, settings.key_database)
    parsed = database_url(where)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        return where, schema
    file = Path(parsed.database)
    return file.with_name(f"{file.name}.keys"), None


def _make_key_tables(read: Begun, write: Begun, *, schema: str | None) -> None:  # noqa: ARG001 - looks for itself
    with write() as connection:
        if schema is not None:
            connection.execute(CreateSchema(schema, if_not_exists=True))
        KEY_TABLES.create_all(connection)
