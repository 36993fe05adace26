"""Vector collections in PostgreSQL beside other installations of the same server."""

import numpy as np
import pytest
from sqlalchemy import create_engine, inspect, make_url, text

from langmem_plugin.database import Database
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory.index.stores import VectorsById, pgvector


@pytest.mark.spec("A-4", "C-1")
def test_installations_in_two_schemas_share_no_collection(postgresql_server):
    postgresql_server.psql("CREATE DATABASE two_indexes;")
    url = postgresql_server.get_uri(database="two_indexes")
    held = {}
    for schema in ("one", "other", None):
        vectors = VectorsById(2)
        vectors.of = {str(schema): np.array([1, 0], dtype=np.float32)}
        with Database(url, schema=schema) as database:
            collection = pgvector(database)("godfather", vectors)
            collection.add_texts([str(schema)], ids=[str(schema)])
            held[schema] = [each.page_content for each in collection.similarity_search_by_vector([1, 0], 5)]
            with database.read() as connection:
                assert inspect(connection).get_table_names(f"{schema or 'langmem'}_index") == ["godfather"]

    assert held == {"one": ["one"], "other": ["other"], None: ["None"]}


@pytest.mark.slow
@pytest.mark.spec("A-4")
def test_a_role_that_may_make_nothing_is_told_what_its_owner_has_to_make_and_that_is_enough(request):
    server = request.getfixturevalue("postgresql_server")
    for command in ("CREATE DATABASE poor_index", "CREATE ROLE poor LOGIN"):
        server.psql(f"{command};")
    owner = create_engine(make_url(server.get_uri(database="poor_index")).set(drivername="postgresql+psycopg"))
    with owner.begin() as connection:
        connection.execute(text("CREATE SCHEMA assistant AUTHORIZATION poor"))
    url = make_url(server.get_uri(database="poor_index")).set(username="poor").render_as_string(hide_password=False)

    with Database(url, schema="assistant") as database:
        with pytest.raises(ConfigurationError, match="have its owner run") as told:
            pgvector(database)
        with owner.begin() as connection:
            connection.execute(text(str(told.value).partition("have its owner run ")[2]))
        vectors = VectorsById(2)
        vectors.of = {"one": np.array([1, 0], dtype=np.float32)}
        assert pgvector(database)("godfather", vectors).add_texts(["one"], ids=["one"]) == ["one"]

    owner.dispose()
    for command in ("DROP DATABASE poor_index", "DROP ROLE poor"):
        server.psql(f"{command};")


@pytest.mark.spec("M-14", "A-4")
def test_a_table_has_its_index_from_the_start_and_is_searched_by_it(postgresql_server):
    url = f"{postgresql_server.get_uri(database='filled_index')}"
    postgresql_server.psql("CREATE DATABASE filled_index;")
    chance = np.random.default_rng(0)
    vectors = VectorsById(8)
    vectors.of = {str(number): chance.standard_normal(8).astype(np.float32) for number in range(500)}
    first, last = [*vectors.of][:300], [*vectors.of][300:]
    with Database(url) as database:
        collection = pgvector(database)("godfather", vectors)

        def how_it_searches():
            with database.read() as connection:
                connection.execute(text("SET LOCAL enable_seqscan = off"))
                asked = f"SELECT id FROM langmem_index.godfather ORDER BY embedding <=> '{vectors.of['7'].tolist()}' LIMIT 1"
                return connection.execute(text(f"EXPLAIN {asked}")).scalars().all()

        collection.add_texts(first, ids=first)
        collection.add_texts(last, ids=last)
        assert "godfather_nearest" in str(how_it_searches())
        nearest = {
            each: collection.similarity_search_by_vector(vectors.of[each].tolist(), 1)[0].page_content
            for each in ("7", "299", "300", "499")
        }

    assert all(each == found for each, found in nearest.items())
