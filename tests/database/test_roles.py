"""What a role of PostgreSQL may not do, and schemas that cannot be: clear errors, and nothing in a wrong place."""

import itertools

import pytest
from sqlalchemy import create_engine, inspect, make_url, text

from langmem_plugin.database import Database
from langmem_plugin.errors import ConfigurationError
from tests.cases import for_each

_numbers = itertools.count()


@pytest.fixture
def role(postgresql_server):
    """A role that may connect to the server's database and make nothing in it, and the way to command there."""
    name = f"guest_{next(_numbers)}"
    postgresql_server.psql(f"CREATE DATABASE of_{name};")
    server_url = postgresql_server.get_uri(database=f"of_{name}")
    admin = create_engine(make_url(server_url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:

        def command(statement):
            connection.execute(text(statement.format(role=name)))

        command("CREATE ROLE {role} LOGIN")
        yield make_url(server_url).set(username=name).render_as_string(hide_password=False), command
        command("DROP OWNED BY {role}")
        command("DROP ROLE {role}")
    admin.dispose()


@pytest.mark.spec("A-4")
def test_a_role_needs_no_right_to_make_schemas_where_it_has_one(role):
    url, command = role
    command("CREATE SCHEMA assistant AUTHORIZATION {role}")

    with Database(url, schema="assistant") as database, database.read() as connection:
        assert inspect(connection).has_table("langmem_session", schema="assistant")


@pytest.mark.spec("A-4")
@for_each("schema", [None, "assistant"])
def test_a_role_without_rights_gets_a_clear_error(role, schema):
    url, _ = role

    with pytest.raises(ConfigurationError, match=r"the role may not .*permission denied"):
        Database(url, schema=schema)


@pytest.mark.spec("A-4")
def test_a_role_whose_search_path_leads_nowhere_gets_a_clear_error(role):
    url, command = role
    command("ALTER ROLE {role} SET search_path = nowhere")

    with pytest.raises(ConfigurationError, match="no schema has been selected"):
        Database(url)


@pytest.mark.spec("A-4", "C-1")
def test_a_schema_that_the_role_may_not_use_is_an_error_and_nothing_goes_elsewhere(role):
    url, command = role
    command("CREATE SCHEMA assistant")
    command("GRANT ALL ON SCHEMA public TO {role}")

    with pytest.raises(ConfigurationError, match="may not use the schema 'assistant'"):
        Database(url, schema="assistant")
    with Database(url) as database, database.read() as connection:
        assert inspect(connection).has_table("langmem_session", schema="public")


@pytest.mark.spec("A-4", "C-1")
@for_each("schema", ["", "$user", "pg_mine", "a\0b", "x" * 58, "ש" * 29])
def test_what_postgresql_would_not_take_for_a_schema_as_it_is_cannot_be_one(schema):
    with pytest.raises(ConfigurationError, match="cannot be the name of a schema"):
        Database("postgresql://nobody@127.0.0.1:1/none", schema=schema)
