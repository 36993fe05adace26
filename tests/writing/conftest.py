"""A PhoneMemory on each engine, whose background work does not run by itself."""

import pytest

from langmem_plugin import PhoneMemory


@pytest.fixture
def memory(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as opened:
        yield opened


@pytest.fixture
def unsure(memory):
    """Stores what waits for a person's word."""

    def store(text, owner="+972501234567", **fields):
        return memory.service.remember(owner, text, status="pending", confidence=0.6, **fields)

    return store
