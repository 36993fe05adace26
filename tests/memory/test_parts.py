"""The parts of the service do their work without it: each takes what it needs."""

import pytest

from langmem_plugin.database import Database
from langmem_plugin.errors import MemoryNotFound
from langmem_plugin.memory.instructions.standing_instructions import StandingInstructions
from langmem_plugin.memory.keep.changes_and_checksums import Damages
from langmem_plugin.memory.keep.memory_repository import MemoryRepository, NewMemory
from langmem_plugin.memory.keep.retention import Retention
from langmem_plugin.memory.keep.usage_and_verdicts import UsageLog
from langmem_plugin.memory.keep.vectors import StoredVectors, unit

pytestmark = pytest.mark.spec("M-2")

ANNA = "+972501234567"


@pytest.fixture
def database(database_url):
    with Database(database_url) as opened:
        yield opened


@pytest.fixture
def repository():
    damages = Damages()
    return MemoryRepository(StoredVectors("three numbers", damages), damages)


def stored(database, repository, clock, *texts):
    with database.write() as connection:
        news = [NewMemory(text, unit([1.0, number, 0.0]), {}) for number, text in enumerate(texts)]
        return [repository.create_memory(connection, ANNA, new, now=clock()) for new in news]


def test_the_repository_needs_no_embedding_model_and_no_cache(database, repository, clock):
    first, second = stored(database, repository, clock, "My assistant is David", "I park on level 3")
    with database.read() as connection:
        assert repository.same(connection, ANNA, "my  assistant is DAVID.", now=clock()) == [first]
    with database.read() as connection:
        nearest = repository.query_similar_by_embedding(
            connection, ANNA, unit([1.0, 1.0, 0.0]), valid_at=clock(), limit=1
        )
        assert [each.text for each, _ in nearest] == [second.text]
        assert repository.by_ids(connection, ANNA, [second.id, first.id]) == [second, first]


def test_retention_keeps_an_owner_within_a_limit_and_erases_them(database, repository, clock):
    retention = Retention(database, repository, None, owner_limit=2, now=clock)
    first, *_ = stored(database, repository, clock, "one", "two", "three")
    with database.write() as connection:
        retention.keep_within(connection, ANNA)
    with database.read() as connection:
        [archived] = repository.page(connection, ANNA, statuses=["archived"], valid_at=None, limit=9)
    assert archived.id == first.id
    assert retention.erase(ANNA) == 3


def test_uses_are_counted_and_what_is_gone_is_left_alone(database, repository, clock):
    instructions = StandingInstructions(database, Damages(), now=clock)
    uses = UsageLog(database, repository, instructions, used=lambda *_: None, now=clock)
    [memory] = stored(database, repository, clock, "My assistant is David")
    uses.note_access(ANNA, {memory.id: 0.9, "no such id": None}, "cited")
    with database.write() as connection:
        assert repository.by_ids(connection, ANNA, [memory.id])[0].access_count == 1
        with pytest.raises(MemoryNotFound):
            repository.change(connection, ANNA, "no such id", {"text": "two"}, now=clock())
