"""`langmem reindex` on a real database and its index."""

import numpy as np
import pytest
from typer.testing import CliRunner

from langmem_plugin.cli import app
from langmem_plugin.database import Database
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.index.stores import opened_stores
from langmem_plugin.memory.index.vector_index import VectorIndex
from tests.log_events import events

ANNA = "+972501234567"

pytestmark = [pytest.mark.both_engines, pytest.mark.spec("U-5", "M-4"), pytest.mark.slow]


@pytest.fixture
def store(database_url, tmp_path):
    return f"chroma:{tmp_path}/index" if database_url.startswith("sqlite") else "pgvector"


@pytest.fixture
def run(database_url, store, monkeypatch):
    monkeypatch.setenv("LANGMEM_VECTOR_INDEX", store)
    monkeypatch.setattr(VectorIndex, "large_owners", lambda _index: [ANNA])

    def invoke(exit_code=0):
        result = CliRunner().invoke(app, ["reindex", "--database", database_url])
        assert result.exit_code == exit_code, result.output
        return result.output

    return invoke


@pytest.fixture
def filled(database_url, offline_model):
    vectors = np.random.default_rng(3).standard_normal((600, 384)).tolist()
    with MemoryService(database_url, embeddings=offline_model) as memory:
        memory.remember_many(ANNA, [(f"note {number}", {}) for number in range(600)], embeddings=vectors)


def test_one_owners_index_is_made_with_progress_and_is_used_from_then_on(
    run, filled, database_url, store, offline_model, caplog, monkeypatch
):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    output = run()
    assert "600/600" in output
    assert "1 of 1 indexes are up to date" in output
    monkeypatch.delenv("FORCE_COLOR")
    assert "1 of 1 indexes are up to date" in run()
    with MemoryService(database_url, embeddings=offline_model) as memory:
        stores = opened_stores(store, memory.database)
        with MemoryService(memory.database, embeddings=offline_model, open_collection=stores) as indexed:
            assert indexed.reindex(ANNA)
            assert indexed.reindex(ANNA) is True
    assert "index.incomplete" not in events(caplog)


def test_texts_of_another_model_are_embedded(run, filled, database_url, offline_model):
    class Other:
        model, dimension = "other", 384
        embed_query, embed_documents = offline_model.embed_query, offline_model.embed_documents

    with MemoryService(database_url, embeddings=Other()) as other:
        other.remember(ANNA, "My assistant is David")
        assert other.reembedding.waiting() == 600
    assert "1 texts embedded by" in run()
    with MemoryService(database_url, embeddings=offline_model) as memory:
        assert memory.reembedding.waiting() == 0


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_folder_that_a_running_service_holds_is_left_to_it(filled, run, database_url, store, offline_model):
    with MemoryService(database_url, embeddings=offline_model) as memory:
        stores = opened_stores(store, memory.database)
        with MemoryService(
            memory.database, embeddings=offline_model, open_collection=stores, always_indexed={ANNA: "anna"}
        ):
            assert "stop it" in run(exit_code=1)


def test_an_index_that_cannot_be_is_said_in_one_line(tmp_path, monkeypatch):
    Database(f"sqlite:///{tmp_path}/a.db").close()
    monkeypatch.setenv("LANGMEM_VECTOR_INDEX", "faiss")
    result = CliRunner().invoke(app, ["reindex", "--database", f"sqlite:///{tmp_path}/a.db"])
    assert (result.exit_code, result.output) == (
        1,
        "langmem: 'faiss' is no vector index: use chroma:FOLDER or pgvector\n",
    )
