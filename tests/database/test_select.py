"""One statement that only reads needs no transaction: what it finds is as in one."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import insert, select, text

from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import thread_owner
from langmem_plugin.errors import StoreUnavailable


def threads(connection):
    return connection.execute(select(thread_owner.c.thread)).scalars().all()


def note(connection, thread):
    connection.execute(
        insert(thread_owner).values(thread=thread, owner=None, noted_at=datetime(2026, 1, 1, tzinfo=UTC))
    )


@pytest.mark.spec("C-5")
def test_one_statement_reads_what_is_committed_and_within_together_what_the_block_has_written(database_url):
    with Database(database_url) as database:
        with database.write() as connection:
            note(connection, "+1")
        with database.together():
            assert database.select(threads) == ["+1"]
            with database.write() as connection:
                note(connection, "+2")
            assert sorted(database.select(threads)) == ["+1", "+2"]
        assert sorted(database.select(threads)) == ["+1", "+2"]


@pytest.mark.spec("C-5")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_one_statement_asks_again_where_the_server_has_closed_the_connection(database_url):
    with Database(database_url) as database, Database(database_url) as other:
        for _ in range(2):
            database.select(threads)
        with other.write() as connection:
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
            connection.execute(text(f"{ended} AND pid <> pg_backend_pid()"))
        assert database.select(threads) == []


@pytest.mark.spec("C-5")
def test_a_closed_database_is_unavailable_to_one_statement_too(database_url):
    database = Database(database_url)
    database.close()
    with pytest.raises(StoreUnavailable):
        database.select(threads)


@pytest.mark.spec("C-5", "M-14")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_connection_that_is_lost_as_a_part_ends_is_told_by_name_to_all_that_follow(database_url):
    with Database(database_url) as database, Database(database_url) as other:

        def lost():
            with database.write() as connection:
                pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
                with other.write() as another:
                    another.execute(text(f"SELECT pg_terminate_backend({pid})"))

        def several():
            with database.together():
                with pytest.raises(StoreUnavailable):
                    lost()
                with pytest.raises(StoreUnavailable), database.write() as connection:
                    note(connection, "+1")

        with pytest.raises(StoreUnavailable, match="in the middle"):
            several()
        assert database.select(threads) == []
