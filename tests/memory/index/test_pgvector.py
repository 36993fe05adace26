"""Vector collections in PostgreSQL beside other installations of the same server."""

import numpy as np
import pytest
from sqlalchemy import inspect

from langmem_plugin.database import Database
from langmem_plugin.memory.index.store_contract import VectorsById
from langmem_plugin.memory.index.vector_stores import pgvector


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
            collection.add_texts([str(schema)])
            held[schema] = [each.page_content for each in collection.similarity_search_by_vector([1, 0], 5)]
            with database.read() as connection:
                assert inspect(connection).get_table_names(f"{schema or 'langmem'}_index") == ["godfather"]

    assert held == {"one": ["one"], "other": ["other"], None: ["None"]}
