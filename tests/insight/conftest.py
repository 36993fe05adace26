"""A PhoneMemory on each engine, in which nothing runs by itself but the counting, and that not within a test."""

import pytest

from langmem_plugin import PhoneMemory, Settings

QUIET = Settings(sweep_every=None, search_past_sessions=False, extraction="off")


@pytest.fixture
def opened(database_url, clock, offline_model):
    """Opens it with settings of one's own; more than once it is as in several processes."""
    memories = []

    def open_one(**settings):
        memory = PhoneMemory(
            database_url, settings=QUIET.model_copy(update=settings), embeddings=offline_model, now=clock
        )
        memory.insight._flusher.every = 3_600.0
        memories.append(memory)
        return memory

    yield open_one
    for each in memories:
        each.close()


@pytest.fixture
def memory(opened):
    return opened()
