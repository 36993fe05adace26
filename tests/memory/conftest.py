"""The service under test, on each engine in turn."""

import pytest

from langmem_plugin.memory import MemoryService


@pytest.fixture
def memory(database_url, clock, offline_model):
    with MemoryService(database_url, embeddings=offline_model, now=clock) as service:
        yield service
