"""Behind PgBouncer each transaction is on another connection: nothing that one leaves there counts, or is left."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import timedelta
from urllib.parse import quote

import psycopg
import pytest
from pydantic import SecretStr
from sqlalchemy import inspect, select, text

from benchmarks.faults.pooler import pooled
from langmem_plugin import ConversationSaver, PhoneMemory, Settings
from langmem_plugin.database import Database, database_from_settings, process_lease
from langmem_plugin.database.encryption.encrypted_columns import CLIENT_NAME
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.database.operations_tables import upkeep
from langmem_plugin.database.prepared_statements import driver
from langmem_plugin.errors import ConfigurationError, StoreUnavailable
from tests.database.conftest import serving
from tests.database.test_deadlines import impatient
from tests.waiting import until

pytestmark = pytest.mark.slow

TENANTS = ("bakery", "garage", "florist")
PEOPLE = [f"+9725012345{number:02}" for number in range(10)]
SIZE = 4


@pytest.fixture
def server_url(postgresql_server):
    postgresql_server.psql("CREATE DATABASE behind_pooler")
    yield postgresql_server.get_uri(database="behind_pooler")
    postgresql_server.psql("DROP DATABASE behind_pooler WITH (FORCE)")


@pytest.fixture
def url(server_url):
    with pooled(server_url, SIZE) as through:
        yield through


def confused(url):
    """What an application that does not mind leaves on the pooler's connections."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as other:
        for _ in range(8):
            other.execute("SET search_path TO nowhere; SET lock_timeout TO '1ms'; SET statement_timeout TO 0")


def settings(**more):
    return Settings(sweep_every=None, extraction="rules", extract_after=timedelta(days=9), **more)


@pytest.mark.spec("C-24", "C-1")
def test_three_tenants_of_one_database_are_each_answered_with_their_own(url, offline_model):
    with ExitStack() as opened:
        served = {}
        for tenant in TENANTS:
            memory = opened.enter_context(
                PhoneMemory(url, tenant=tenant, settings=settings(), embeddings=offline_model)
            )
            served[tenant] = serving(memory)
            for phone in PEOPLE:
                memory.service.remember(phone, f"The {tenant} has my order")
        confused(url)

        def talk(tenant, phone):
            said = (f"Who has my order? {tenant} {number}" for number in range(7))
            return [(each, served[tenant].says(phone, each)) for each in said]

        with ThreadPoolExecutor(len(TENANTS) * len(PEOPLE)) as threads:
            talks = [(tenant, phone) for tenant in TENANTS for phone in PEOPLE]
            answered = [
                (tenant, turns)
                for (tenant, _), turns in zip(talks, threads.map(lambda a: talk(*a), talks), strict=True)
            ]

        turns = [(tenant, said, answer) for tenant, all_of in answered for said, answer in all_of]
        assert len(turns) == 210
        assert [each for each in turns if not each[2].startswith(f"{each[1]} / ")] == []
        named = [(tenant, other) for tenant, _, answer in turns for other in TENANTS if f"The {other} has" in answer]
        assert set(named) == {(tenant, tenant) for tenant in TENANTS}
        for tenant, phone in talks:
            assert len(served[tenant].history(phone)) == 14


@pytest.mark.spec("C-24")
def test_all_that_is_done_with_a_memory_is_done_through_a_pooler(url, offline_model, tmp_path):
    mom, erin = PEOPLE[:2]
    asked = settings(index_after=20, owner_limit=100, vector_index="pgvector")
    with PhoneMemory(url, settings=asked, embeddings=offline_model) as memory:
        server = serving(memory)
        confused(url)
        memory.service.remember_many(mom, [(f"Recipe {number} has {number} eggs", {}) for number in range(40)])
        assert memory.service.reindex(mom)
        with memory.database.read() as connection:
            assert len(inspect(connection).get_table_names("langmem_index")) == 1
        assert memory.service.search(mom, "recipe with 7 eggs")[0].memory.text == "Recipe 7 has 7 eggs"
        server.says(mom, "/privacy on")
        server.says(mom, "My daughter Noa is allergic to peanuts")
        memory.extract(mom)
        assert any("peanuts" in each.text for each in memory.service.list_memories(mom, limit=100))
        server.says(erin, "hello")
        memory.housekeeping.sweep()
        assert memory.audit.newest(1)
        memory.erase(mom, now=True)
        assert memory.service.list_memories(mom, limit=100) == []
        assert len(server.history(erin)) == 2
    sealed = settings(keys=SecretStr(new_master_key()))
    with PhoneMemory(url, tenant="sealed", settings=sealed, embeddings=offline_model) as memory:
        memory.service.remember(mom, "I like tea")
        assert [each.text for each in memory.service.list_memories(mom)] == ["I like tea"]
    assert left_on_connections(url) == set()


@pytest.mark.spec("C-24", "P-1")
def test_a_crowd_texts_at_once_for_the_first_time_where_keys_share_a_small_pool(url, offline_model, monkeypatch):
    """Two processes' worth of transactions, of which each needs a key that nobody has made yet: none waits in vain."""
    monkeypatch.setattr(database_from_settings, "DATABASE_TIMEOUT", timedelta(seconds=60))  # a busy machine is slow
    keys = SecretStr(new_master_key())
    with ExitStack() as opened:
        workers = [
            serving(opened.enter_context(PhoneMemory(url, settings=settings(keys=keys), embeddings=offline_model)))
            for _ in range(2)
        ]
        with ThreadPoolExecutor(len(PEOPLE)) as threads:
            texts = [(workers[number % 2], phone) for number, phone in enumerate(PEOPLE)]
            answers = list(threads.map(lambda text: text[0].says(text[1], "I like tea"), texts))
        assert all(answer.startswith("I like tea / ") for answer in answers), answers
        for phone in PEOPLE:
            assert [len(each.history(phone)) for each in workers] == [2, 2]


@pytest.mark.spec("C-24", "P-1")
def test_a_key_that_was_made_in_a_transaction_that_failed_encrypts_nothing(url, offline_model):
    with PhoneMemory(url, settings=settings(keys=SecretStr(new_master_key())), embeddings=offline_model) as memory:
        service, (mom, erin, *_) = memory.service, PEOPLE
        with suppress(KeyError), memory.database.together():
            service.remember(mom, "I like tea")
            raise KeyError
        with memory.database.together():
            with suppress(KeyError), memory.database.write() as connection:
                CLIENT_NAME.encrypted(connection, (erin, "s"), "Erin")
                raise KeyError
            service.remember(erin, "I like cake")
        service.remember(mom, "I like coffee")
    with PhoneMemory(url, settings=memory.settings, embeddings=offline_model) as again:
        assert [each.text for each in again.service.list_memories(mom)] == ["I like coffee"]
        assert [each.text for each in again.service.list_memories(erin)] == ["I like cake"]


@pytest.mark.spec("C-24")
def test_processes_that_open_it_at_once_through_a_pooler_make_its_tables_once(url, elsewhere):
    confused(url)
    opens = f"from langmem_plugin.database import Database; Database({url!r}, schema='shop').close()"
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(elsewhere, [opens] * 3))
    with Database(url, schema="shop") as database, database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM shop.langmem_version")).scalar() == 1


@pytest.mark.spec("C-24", "C-1")
def test_the_search_path_of_a_url_is_kept_to_in_each_transaction(server_url, url, postgresql_server):
    with psycopg.connect(server_url, autocommit=True) as direct:
        direct.execute("CREATE SCHEMA north; CREATE SCHEMA south")
    for where in (server_url, url):
        for schema in ("north", "south"):
            path = quote(f"-c search_path={schema}\\,public")
            with ConversationSaver(f"{where}{'&' if '?' in where else '?'}options={path}") as saver:
                confused(url)
                for _ in range(2 * SIZE):
                    with saver.database.read() as connection:
                        assert connection.execute(text("SELECT current_schema()")).scalar() == schema


@pytest.mark.spec("C-24")
def test_nothing_is_prepared_on_the_connections_of_a_pooler(server_url, url):
    def prepared(where):
        with Database(where) as database:
            for _ in range(8):
                with database.read() as connection:
                    driver(connection).execute("SELECT 1 WHERE 1 = %s", [1])
            with database.read() as connection:
                return connection.execute(text("SELECT count(*) FROM pg_prepared_statements")).scalar()

    assert prepared(server_url) > 0
    assert prepared(url) == 0
    assert prepared(f"{server_url}&pgbouncer=true") == 0  # of one that cannot be noticed
    with pytest.raises(ConfigurationError, match="pgbouncer"):
        Database(f"{server_url}&pgbouncer=perhaps")


@pytest.mark.spec("C-24", "A-5")
def test_one_process_at_a_time_does_what_it_does_alone(url, monkeypatch):
    monkeypatch.setattr(process_lease, "_RENEW_SECONDS", 0.2)
    with Database(url) as one, Database(url) as other:

        def noted_at():
            with other.read() as connection:
                return connection.execute(select(upkeep.c.noted_at).where(upkeep.c.name.like("alone:%"))).scalar()

        with process_lease.alone(one, "sweep"):
            since = noted_at()
            until(lambda: noted_at() > since)  # it is renewed
            with process_lease.alone(other, "sweep", waits=False) as held:
                assert not held
            with process_lease.alone(other, "audit", waits=False) as held:
                assert held
        with process_lease.alone(other, "sweep", waits=False) as held:
            assert held
        monkeypatch.setattr(process_lease, "_LEASE_SECONDS", 1)
        begun = time.monotonic()
        process_lease._Lease(one, "sweep ").take()  # and then its process is killed
        with process_lease.alone(other, "sweep"):
            assert 1 <= time.monotonic() - begun < 30


@pytest.mark.spec("C-24")
def test_the_wait_for_a_lock_ends_in_time_behind_a_pooler(server_url, url):
    with impatient(url) as database, psycopg.connect(server_url) as other:
        other.execute("LOCK TABLE langmem_upkeep IN ACCESS EXCLUSIVE MODE")
        begun = time.monotonic()
        with pytest.raises(StoreUnavailable), database.read() as connection:
            connection.execute(text("SELECT * FROM langmem_upkeep"))
        with pytest.raises(StoreUnavailable):
            database.scrub(["langmem_upkeep"])
        assert time.monotonic() - begun < 30


def left_on_connections(url):
    with ExitStack() as held:
        through = [held.enter_context(psycopg.connect(url, prepare_threshold=None)) for _ in range(SIZE)]
        asked = """
            SELECT 'prepared ' || name FROM pg_prepared_statements UNION ALL
            SELECT 'cursor ' || name FROM pg_cursors UNION ALL
            SELECT 'lock' FROM pg_locks WHERE locktype = 'advisory' UNION ALL
            SELECT 'listens' FROM pg_listening_channels() UNION ALL
            SELECT 'temporary ' || relname FROM pg_class WHERE relpersistence = 't' UNION ALL
            SELECT name || ' = ' || setting FROM pg_settings WHERE source = 'session'
            AND name NOT IN ('search_path', 'lock_timeout', 'statement_timeout', 'client_encoding', 'application_name')
        """
        return {row[0] for each in through for row in each.execute(asked).fetchall()}
