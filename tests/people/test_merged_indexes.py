"""People with a vector index each: after a merge one index holds all, and after undo each their own."""

import pytest

from langmem_plugin import Settings
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.database import Database
from langmem_plugin.memory import MemoryService
from langmem_plugin.people import People
from langmem_plugin.people.person_settings import PersonSettings
from tests.memory.index.conftest import InProcess
from tests.people.conftest import ANNA, ANNAS_TELEGRAM

pytestmark = pytest.mark.slow


@pytest.mark.spec("C-20")
def test_the_indexes_of_two_people_become_one_and_two_again(database_url, tmp_path, offline_model, clock):
    store = InProcess(database_url, tmp_path)
    with (
        Database(database_url) as database,
        ConversationSaver(database, now=clock) as saver,
        MemoryService(
            database, embeddings=offline_model, now=clock, open_collection=store, index_after=10, owner_limit=100
        ) as service,
    ):
        people = People(database, saver, service, person_settings=PersonSettings(database, Settings()), now=clock)
        hers = [service.remember(ANNA, f"Anna paid {each} shekels for lamps").id for each in range(12)]
        telegrams = [service.remember(ANNAS_TELEGRAM, f"the boat number {each} is in Haifa").id for each in range(12)]
        assert service.reindex(ANNA)
        assert service.reindex(ANNAS_TELEGRAM)
        merged = people.merge(ANNA, 4242)
        assert store.held() == {*hers}  # what the other's index held is gone with it
        found = service.search(ANNA, "boat number 7", limit=1)
        assert [each.memory.text for each in found] == ["the boat number 7 is in Haifa"]
        assert service.reindex(ANNA)
        assert store.held() == {*hers, *telegrams}
        assert service.index.large_owners() == [ANNA]

        people.unlink(merged)
        assert not store.held() & {*telegrams}
        assert service.search(ANNA, "boat number 7", limit=1) == []
        assert service.reindex(ANNAS_TELEGRAM)
        assert service.reindex(ANNA)
        assert store.held() == {*hers, *telegrams}
        assert [each.memory.id for each in service.search(ANNAS_TELEGRAM, "boat number 7", limit=1)] == [telegrams[7]]
