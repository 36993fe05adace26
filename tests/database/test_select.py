"""One statement that only reads needs no transaction: what it finds is as in one."""

from collections import Counter
from datetime import UTC, datetime
from threading import get_ident

import pytest
from sqlalchemy import event, insert, select, text

from langmem_plugin import PhoneMemory, Settings
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


@pytest.mark.spec("C-24")
def test_no_verb_holds_two_connections_at_once(database_url, offline_model):
    """Behind a pool of one connection it would wait for itself."""
    quiet = Settings(sweep_every=None, search_past_sessions=False, extraction="off")
    anna, ben = "tel:+972501234567", "tg:4242"
    with PhoneMemory(database_url, settings=quiet, embeddings=offline_model) as memory:
        made = memory.service.remember(anna, "Anna has a boat")
        held, most = Counter(), Counter()

        def taken(*_):
            held[get_ident()] += 1
            most[get_ident()] = max(most[get_ident()], held[get_ident()])

        event.listen(memory.database.engine, "checkout", taken)
        event.listen(memory.database.engine, "checkin", lambda *_: held.subtract([get_ident()]))
        memory.people.set_name(anna, "Anna Levi")
        assert memory.people.name(anna) == "Anna Levi"
        memory.service.note_access(anna, {made.id: 0.9}, "cited")
        memory.service.update(anna, made.id, text="Anna has two boats")
        assert memory.service.search(anna, "boats")
        memory.sessions.add_message(anna, "user", "hello")
        assert memory.command(anna, "/memories")
        memory.people.link(anna, ben)
        assert memory.people.identifiers(ben) == [memory.people.resolve(anna), "telegram:4242"]
        memory.import_person(memory.export(anna))
        memory.people.unlink(ben)
        memory.erase(anna)
        memory.restore_erased(anna)
    assert set(most.values()) == {1}
