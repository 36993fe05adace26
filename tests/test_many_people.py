"""What runs by itself, a list and an erasure do not read the tables of all people, however many there are."""

from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import text

from langmem_plugin import PhoneMemory
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.people import people_listing

pytestmark = pytest.mark.both_engines

_SESSIONS, _PEOPLE = 60_000, 20_000
_NOW = "(extract(epoch from now()) * 1000000)::bigint"
_PHONE = "'+97250' || lpad((g % 20000)::text, 7, '0')"
_FILL = (
    (
        "INSERT INTO langmem_session"
        " (thread, number, session_id, created_at, last_active, ended_at, next_row, epoch, to_take)"
        f" SELECT {_PHONE}, g, 's' || g, {_NOW}, {_NOW}, CASE WHEN g >= {_PEOPLE} THEN {_NOW} END, 1, 0,"
        f" CASE WHEN g < {_PEOPLE} THEN 1 ELSE 0 END FROM generate_series(0, {_SESSIONS - 1}) g"
    ),
    (
        "INSERT INTO langmem_checkpoint (thread, session, namespace, checkpoint_id, position, payload)"
        " SELECT thread, number, '', 'c' || number, 1, '\\x00' FROM langmem_session"
    ),
    (
        "INSERT INTO langmem_extraction_job (thread, session, state, again, claim, beats, attempts, taken, facts)"
        " SELECT thread, number, CASE WHEN number % 10 = 1 THEN 'pending' ELSE 'completed' END, false, 0, 0, 0, '[]', '[]'"
        " FROM langmem_session"
    ),
    *(
        f"INSERT INTO {table} SELECT {values} FROM generate_series(0, {_PEOPLE - 1}) g"
        for table, values in (
            ("langmem_memory_owner (owner, change, rebuild, salt)", f"{_PHONE}, 1, 0, '\\x00'"),
            ("langmem_thread_owner (thread, owner, noted_at)", f"'t' || g, {_PHONE}, 0"),
            ("langmem_question (thread, asked_at, payload)", f"{_PHONE}, {_NOW}, '\\x00'"),
            (
                "langmem_incoming (thread, message_id, position, attempts, received_at, reply, sent)",
                f"{_PHONE}, 'm' || g, 1, 1, {_NOW}, '\\x00', true",
            ),
        )
    ),
)
_BY_TYPE = {"json": "'{}'", "boolean": "false", "bytea": "'\\x00'", "bigint": _NOW, "character varying": "'x' || g"}
_BY_NAME = {"owner": _PHONE, "status": "'active'", "fact_type": "'fact'", "source_type": "'manual'", "tags": "'[]'"}
_READ = "SELECT relname, seq_tup_read FROM pg_stat_user_tables WHERE seq_tup_read > 0"


def memories(connection):
    """A memory for each person, with whatever its columns take."""
    needed = (
        "SELECT column_name, data_type FROM information_schema.columns"
        " WHERE table_name = 'langmem_memory' AND is_nullable = 'NO'"
    )
    columns = dict(map(tuple, connection.execute(text(needed))))
    values = [_BY_NAME.get(name) or _BY_TYPE.get(kind, "1") for name, kind in columns.items()]
    return (
        f"INSERT INTO langmem_memory ({', '.join(columns)})"
        f" SELECT {', '.join(values)} FROM generate_series(0, {_PEOPLE - 1}) g"
    )


@pytest.mark.spec("C-3")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_what_runs_by_itself_goes_by_indexes(database_url, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model) as memory:
        memory.past_sessions.close()
        with memory.database.write(patience=timedelta(minutes=5)) as connection:
            for statement in (*_FILL, memories(connection)):
                connection.execute(text(statement.replace(":", "\\:")))
    with psycopg.connect(database_url, autocommit=True) as server:
        server.execute("ANALYZE")
        server.execute("SELECT pg_stat_reset()")
    with PhoneMemory(database_url, embeddings=offline_model) as memory:
        memory.past_sessions.catch_up()
        memory.housekeeping.sweep()
        assert memory.extraction.jobs.claim()
        with memory.database.read() as connection:
            assert len(session_rows.listed(connection, None, 50)) == 50
            assert len(people_listing.listed(connection)) == 50
            assert people_listing.how_many(connection) is None
        memory.erase("+972500000007")
    with psycopg.connect(database_url) as server:
        read = dict(server.execute(_READ).fetchall())
    assert {table: rows for table, rows in read.items() if rows > _PEOPLE // 4} == {}
