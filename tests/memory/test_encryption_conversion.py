"""What was stored before there were keys is encrypted in place, in parts, and found as before."""

import pytest

from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.database.opening import note_encrypted
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.keep import stored_tables
from langmem_plugin.memory.keep.stored_tables import examine
from langmem_plugin.memory.models import Filter
from tests.memory.encrypted_services import encrypted_service, is_in, stored_bytes, tamper, texts

ANNA = "+972501234567"
PASSWORD, TEA, FIELD = "my wifi password is kiwi4477", "I like green tea", "I was born in Utrecht"


@pytest.fixture
def key():
    return new_master_key()


@pytest.fixture
def plain(database_url, clock, offline_model):
    with MemoryService(database_url, embeddings=offline_model, now=clock) as service:
        service.remember(ANNA, PASSWORD, tags=["walrus"], key="zebra", category="otter", quote="ferret")
        service.remember(ANNA, TEA, tags=["drinks"])
        service.remember(ANNA, FIELD, private=True)
        service.forget(ANNA, service.remember(ANNA, "I own a gecko").id)
        service.instructions.add(ANNA, "Answer like a pelican")
        service.history.add(ANNA, [PastMessage("m1", "s1", "Quetzal", "the marmot said so", clock())])
        yield service


def converted(database_url, key, *, most=None):
    """How many rows were changed, in at most so many transactions."""
    with encrypted_service(database_url, key, converting=True) as service:
        changed = 0
        for number, many in enumerate(stored_tables.encrypt_stored(service.database), 1):
            changed += many
            if number == most:
                return changed
        with service.database.write() as connection:
            note_encrypted(connection, service.database.encryption)
        return changed


@pytest.mark.spec("P-1")
def test_what_was_stored_in_plain_is_encrypted_and_found_as_before(plain, database_url, key, clock, offline_model):
    before = [plain.list_memories(ANNA), plain.list_memories(ANNA, statuses=["forgotten"])]
    hits = plain.search(ANNA, "what is my wifi password?", min_relevance=0.0)
    plain.close()
    plain.database.close()
    assert converted(database_url, key) == 6
    assert converted(database_url, key) == 0
    with encrypted_service(database_url, key, embeddings=offline_model, now=clock) as service:
        assert [service.list_memories(ANNA), service.list_memories(ANNA, statuses=["forgotten"])] == before
        assert service.search(ANNA, "what is my wifi password?", min_relevance=0.0) == hits
        assert service.remember(ANNA, TEA).outcome == service.remember(ANNA, PASSWORD, key="zebra").outcome
        assert texts(service.list_memories(ANNA, where=Filter(tags=["walrus"]))) == [PASSWORD]
        assert texts(service.instructions.list_instructions(ANNA)) == ["Answer like a pelican"]
        assert service.history.search(ANNA, "the marmot")[0].message.speaker == "Quetzal"
        assert examine(service.database) == []
    held = stored_bytes(database_url)
    words = ("kiwi", "walrus", "zebra", "otter", "ferret", "Utrecht", "green tea", "gecko", "pelican", "Quetzal")
    assert [each for each in (*words, "marmot") if is_in(held, each)] == []


@pytest.mark.spec("P-1")
def test_what_was_stopped_goes_on_and_a_damaged_row_stays_as_it_is(
    plain, database_url, key, clock, offline_model, monkeypatch
):
    tamper(plain, "UPDATE langmem_memory SET text = 'damaged ibis' WHERE text = :text", text=TEA)
    left = [PASSWORD, FIELD]
    plain.close()
    plain.database.close()
    monkeypatch.setattr(stored_tables, "_AT_ONCE", 1)
    assert converted(database_url, key, most=2) <= 2
    assert converted(database_url, key) >= 3
    with encrypted_service(database_url, key, embeddings=offline_model, now=clock) as service:
        assert sorted(texts(service.list_memories(ANNA))) == sorted(left)
        assert [each.kind for each in examine(service.database)] == ["memory", "memory vector"]
    assert is_in(stored_bytes(database_url), "damaged ibis")
