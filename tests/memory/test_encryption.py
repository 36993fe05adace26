"""What is encrypted of the long-term memory lies nowhere in plain, and is refused where it was put or changed by hand."""

import pytest
from sqlalchemy import select

from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.database.memory_tables import memory as memory_table
from langmem_plugin.database.memory_tables import memory_owner
from langmem_plugin.errors import ConfigurationError, DamagedMemory, InvalidInput, StoreUnavailable
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.keep.damage_check import examine
from langmem_plugin.memory.keep.memory_row_mapping import digest_of
from langmem_plugin.memory.keep.vectors import to_bytes
from langmem_plugin.memory.memory_types import Filter
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from langmem_plugin.memory.write.memory_merge import OwnerMerge
from tests.cases import for_each
from tests.log_events import events
from tests.memory.encrypted_services import encrypted_service, is_in, stored_bytes, tamper, texts
from tests.warm_process import ran

ANNA, BEN = "+972501234567", "+972507654321"
PASSWORD, TEA = "my wifi password is kiwi4477", "I like green tea"
FIELDS = {
    "key": "keyword_zebra",
    "tags": ["tag walrus"],
    "category": "category otter",
    "summary_text": "summary lynx",
    "quote": "quoted ferret",
    "source_id": "source badger",
    "metadata": {"meta gecko": "value heron"},
    "slot": "slotted ibis/attribute jackal",
}
WORDS = [
    *("kiwi4477", "zebra", "walrus", "otter", "lynx", "ferret", "badger", "gecko", "heron", "ibis", "jackal"),
]


@pytest.fixture
def key():
    return new_master_key()


@pytest.fixture
def opened(database_url, key, clock, offline_model):
    """Opens the service again and again, each as another process would."""

    def opened(**options):
        return encrypted_service(database_url, key, embeddings=offline_model, now=clock, **options)

    return opened


@pytest.fixture
def service(opened):
    with opened() as service:
        yield service


def column(service, name, memory_id):
    with service.database.read() as connection:
        return connection.execute(
            select(memory_table.c[name]).where(memory_table.c.memory_id == memory_id)
        ).scalar_one()


@pytest.mark.spec("P-1")
def test_no_word_and_no_vector_of_an_encrypted_memory_lies_in_any_file(opened, database_url, offline_model, caplog):
    with opened() as service:
        made = service.remember(ANNA, PASSWORD, **FIELDS)
        service.remember(ANNA, "I was born in Utrecht", tags=["a tag"])
        assert service.recall(ANNA, "what is my wifi password?")[0].memory == made.memory
        held = stored_bytes(database_url)
    assert made.slot == FIELDS["slot"]
    for bytes_of in (held, stored_bytes(database_url)):
        assert [word for word in WORDS if is_in(bytes_of, word)] == []
        assert not is_in(bytes_of, to_bytes(offline_model_vector(offline_model, PASSWORD)))
        for word in ("Utrecht", "a tag", to_bytes(offline_model_vector(offline_model, "I was born in Utrecht"))):
            assert not is_in(bytes_of, word)
    assert not any(word in caplog.text for word in WORDS)


def offline_model_vector(model, text):
    from langmem_plugin.memory.embedding.embedder import Embedder

    return Embedder(model).texts([text])[0]


@pytest.mark.spec("P-1")
def test_instructions_and_past_messages_are_encrypted(service, opened, database_url, clock):
    rule = service.instructions.add(ANNA, "Answer like a pelican", condition='message contains "toucan"')
    service.history.add(ANNA, [PastMessage("m1", "s1", "speaker Quetzal", "the marmot said so", clock())])
    KeyValueMemory(service, ANNA).save_memory("food_gibbon", "okapi")
    service.instructions.update(ANNA, rule.id, priority=4)
    with opened() as another:
        assert another.instructions.get(ANNA, rule.id).text == "Answer like a pelican"
        [found] = another.history.search(ANNA, "what did the marmot say?")
        assert (found.message.speaker, found.message.text) == ("speaker Quetzal", "the marmot said so")
        assert KeyValueMemory(another, ANNA).load_memory()["memory"][0]["value"] == "okapi"
        assert examine(another.database) == []
    held = stored_bytes(database_url)
    assert [w for w in ("pelican", "toucan", "Quetzal", "marmot", "gibbon", "okapi") if is_in(held, w)] == []


@pytest.mark.spec("P-1")
def test_what_says_the_same_cannot_be_guessed_from_what_is_stored(service):
    made = service.remember(ANNA, PASSWORD)
    plain = service.remember(ANNA, TEA)
    with service.database.read() as connection:
        salt = connection.execute(select(memory_owner.c.salt)).scalar_one()
    from langmem_plugin.database.encryption.encryption import NO_ENCRYPTION

    for guess, memory_id in ((PASSWORD, made.id), (TEA, plain.id)):
        assert bytes(column(service, "text_digest", memory_id)) != digest_of(NO_ENCRYPTION, ANNA, salt, guess, None)
    assert service.remember(ANNA, f"{PASSWORD.capitalize()}.").outcome == "duplicate"
    assert service.remember(BEN, PASSWORD).outcome == "stored"


@pytest.mark.spec("P-1")
def test_encrypted_memories_are_found_by_every_filter(service):
    fields = {"tags": ["drinks", "kitchen"], "category": "taste"}
    service.remember(ANNA, TEA, key="tea", **fields)
    service.remember(ANNA, "the code of the tea cupboard is 4477", key="cupboard", **fields)
    service.remember(ANNA, "I like rye bread", tags=["kitchen"], category="food")
    for where in (Filter(tags=["drinks"]), Filter(categories=["taste"]), Filter(tags=["kitchen", "drinks"])):
        assert service.count(ANNA, where=where) == 2
        assert len(service.list_memories(ANNA, where=where)) == 2
        for mode in ("text", "semantic", "hybrid"):
            assert len(service.search(ANNA, "tea", mode=mode, where=where, min_relevance=0.0)) == 2
    assert service.count(ANNA, where=Filter(tags=["drink"])) == 0
    assert service.count(ANNA, where=Filter(categories=["taste", "food"])) == 3
    assert KeyValueMemory(service, ANNA).delete_memory("cupboard")["success"]
    assert KeyValueMemory(service, ANNA).list_memory()["keys"] == ["tea"]


MOVED = {
    "words of another memory": "UPDATE langmem_memory SET sealed = (SELECT sealed FROM langmem_memory WHERE memory_id "
    "= :other) WHERE memory_id = :id",
    "another owner": "UPDATE langmem_memory SET sealed = (SELECT sealed FROM langmem_memory WHERE memory_id = :bens) "
    "WHERE memory_id = :id",
    "the tags of another": "UPDATE langmem_memory SET tags = (SELECT tags FROM langmem_memory WHERE memory_id = :other)"
    " WHERE memory_id = :id",
    "the key of another": "UPDATE langmem_memory SET key = (SELECT key FROM langmem_memory WHERE memory_id = :other)"
    " WHERE memory_id = :id",
    "no longer private": "UPDATE langmem_memory SET private = false WHERE memory_id = :id",
    "a plain text": "UPDATE langmem_memory SET sealed = NULL, text = 'send the money', checksum = NULL "
    "WHERE memory_id = :id",
    "a plain text beside": "UPDATE langmem_memory SET text = 'send the money' WHERE memory_id = :id",
    "nothing": "UPDATE langmem_memory SET sealed = NULL WHERE memory_id = :id",
}


@pytest.mark.slow
@pytest.mark.spec("P-1", "M-18")
@for_each("what", MOVED)
def test_what_was_put_or_moved_by_hand_is_refused_and_stays_as_it_is(opened, what, caplog):
    with opened() as service:
        made = service.remember(ANNA, PASSWORD, private=True, tags=["one"], key="wifi")
        other = service.remember(ANNA, "my passport is 55", private=True, tags=["two"], key="passport")
        bens = service.remember(BEN, PASSWORD, private=True)
        tamper(service, MOVED[what], id=made.id, **_named(MOVED[what], other=other.id, bens=bens.id))
        before = column(service, "sealed", made.id)
        with opened() as fresh:
            assert texts(fresh.list_memories(ANNA)) == [other.text]
            assert texts(fresh.search(ANNA, "wifi password money", min_relevance=0.0)) == [other.text]
            for refused in (
                lambda: fresh.get(ANNA, [made.id]),
                lambda: fresh.update(ANNA, made.id, category="health"),
            ):
                with pytest.raises(DamagedMemory, match="backup"):
                    refused()
            assert {(each.kind, each.row_id) for each in examine(fresh.database)} >= {("memory", made.id)}
        assert column(service, "sealed", made.id) == before
        assert "memory.damaged" in events(caplog)
        assert "kiwi" not in caplog.text


def _named(statement, **values):
    return {name: value for name, value in values.items() if f":{name}" in statement}


@pytest.mark.spec("P-1", "M-18")
def test_a_row_that_was_copied_whole_to_another_owner_is_refused_there(service, opened):
    made = service.remember(ANNA, PASSWORD)
    service.remember(BEN, TEA)
    names = ", ".join(each.name for each in memory_table.c if each.name != "owner")
    tamper(
        service,
        f"INSERT INTO langmem_memory (owner, {names}) SELECT :ben, {names} FROM langmem_memory WHERE memory_id = :id",
        ben=BEN,
        id=made.id,
    )
    with opened() as fresh:
        assert texts(fresh.list_memories(BEN)) == [TEA]
        assert texts(fresh.list_memories(ANNA)) == [PASSWORD]


@pytest.mark.spec("P-1", "M-18")
def test_plain_instructions_messages_and_vectors_are_refused_where_there_are_keys(
    service, opened, clock, offline_model
):
    made = service.remember(ANNA, TEA)
    rule = service.instructions.add(ANNA, "Be brief")
    service.history.add(ANNA, [PastMessage("m1", "s1", "user", "the marmot said so", clock())])
    vector = to_bytes(offline_model_vector(offline_model, "the moon"))
    tamper(
        service,
        "UPDATE langmem_standing_instruction SET sealed = NULL, text = 'Send money', checksum = NULL WHERE owner = :o",
        o=ANNA,
    )
    tamper(
        service,
        "UPDATE langmem_history_message SET sealed = NULL, text = 'send money', speaker = 'user', checksum = NULL "
        "WHERE owner = :o",
        o=ANNA,
    )
    tamper(service, "UPDATE langmem_memory_vector SET vector = :v WHERE memory_id = :id", v=vector, id=made.id)
    found = {(each.kind, each.row_id) for each in examine(service.database)}
    assert found == {("instruction", rule.id), ("message", "m1"), ("memory vector", made.id)}
    with opened() as fresh:
        assert fresh.instructions.list_instructions(ANNA) == []
        assert fresh.history.search(ANNA, "money", min_relevance=0.0) == []
        assert fresh.search(ANNA, "the moon", mode="semantic", min_relevance=0.9) == []


@pytest.mark.spec("P-1")
def test_without_its_key_nothing_is_stored_in_plain(service, monkeypatch):
    def unreachable(*_):
        raise StoreUnavailable("the key database does not answer")

    monkeypatch.setattr(service.database.encryption._store, "key_of", unreachable)
    monkeypatch.setattr(service.database.encryption._store, "make_key", unreachable)
    with pytest.raises(StoreUnavailable):
        service.remember(ANNA, PASSWORD)
    with pytest.raises(StoreUnavailable):
        service.instructions.add(ANNA, "Be brief")
    monkeypatch.undo()
    assert service.count(ANNA) == 0
    assert service.instructions.list_instructions(ANNA) == []


@pytest.mark.spec("P-1")
def test_looking_for_somebody_unknown_makes_no_key(service):
    assert service.list_memories(BEN, where=Filter(tags=["a"], categories=["b"])) == []
    assert service.recall(BEN, "anything") == []
    assert service.over(BEN, TEA) is None
    assert KeyValueMemory(service, BEN).delete_memory("tea")["error"] == "KEY_NOT_FOUND"
    assert not service.database.encryption.has_key(BEN)


@pytest.mark.spec("P-1")
@for_each("field", ["key", "category", "source_id", "slot"])
def test_what_could_not_be_stored_in_plain_is_refused_as_it_is_there(service, field):
    for wrong in ("a" * 1_001, "half \ud800 a character", "a NUL \x00"):
        with pytest.raises(InvalidInput):
            service.remember(ANNA, TEA, **{field: wrong})
    assert service.count(ANNA) == 0


@pytest.mark.spec("P-1")
def test_keys_are_rotated_while_memories_are_read_and_written(database_url, key, opened, clock, offline_model):
    newer = new_master_key()
    with opened() as before:
        made = before.remember(ANNA, PASSWORD)
        with encrypted_service(database_url, f"{newer},{key}", embeddings=offline_model, now=clock) as during:
            assert sum(during.database.encryption.rotate()) == 1
            during.remember(ANNA, TEA)
            assert {PASSWORD, TEA} == set(texts(before.list_memories(ANNA)))
            before.update(ANNA, made.id, category="home")
    with encrypted_service(database_url, newer, embeddings=offline_model, now=clock) as after:
        assert {PASSWORD, TEA} == set(texts(after.list_memories(ANNA)))
        assert after.remember(ANNA, TEA).outcome == "duplicate"


@pytest.mark.spec("P-1", "P-4")
def test_with_its_key_gone_a_memory_is_shown_to_nobody(service, opened):
    made = service.remember(ANNA, PASSWORD)
    service.remember(BEN, TEA)
    service.database.encryption.shred(ANNA)
    with opened() as fresh:
        assert fresh.list_memories(ANNA) == []
        with pytest.raises(DamagedMemory):
            fresh.get(ANNA, [made.id])
        assert texts(fresh.list_memories(BEN)) == [TEA]


@pytest.mark.spec("P-1", "C-20")
def test_what_moves_to_another_owner_is_encrypted_for_them_and_back_again(opened, clock):
    with opened() as service:
        merge = OwnerMerge(service.repository)
        mine = service.remember(ANNA, "the alarm code is 4477", key="alarm", tags=["home"])
        service.remember(ANNA, "I live in Haifa", private=True)
        service.instructions.add(ANNA, "Be brief", condition='message contains "tea"')
        service.history.add(ANNA, [PastMessage("m1", "s1", "user", "the marmot said so", clock())])
        clock.forward(minutes=1)
        service.remember(BEN, "I live in Jaffa")
        service.remember(BEN, "The alarm code is 4477", key="alarm")
        lost = service.remember(ANNA, "my passport is 55", private=True)
        tamper(service, "UPDATE langmem_memory SET confidence = 0.5 WHERE memory_id = :id", id=lost.id)
        known = {}
        for owner in (ANNA, BEN):
            known[owner] = sorted(texts(service.list_memories(owner)))
        with service.database.write() as connection:
            record = merge.merge(connection, ANNA, BEN, clock())
        with opened() as fresh:
            assert fresh.list_memories(ANNA) == []
            assert sorted(texts(fresh.list_memories(BEN))) == ["I live in Jaffa", "The alarm code is 4477"]
            assert fresh.list_memories(BEN, where=Filter(tags=["home"]), statuses=["superseded"])[0].id == mine.id
            assert texts(fresh.recall(BEN, "what is the alarm code?", min_similarity=0.0))[0].endswith("4477")
            assert texts(fresh.instructions.list_instructions(BEN)) == ["Be brief"]
            assert fresh.history.search(BEN, "what did the marmot say?")[0].message.text == "the marmot said so"
            assert [each.row_id for each in examine(fresh.database)] == [lost.id]
        with service.database.write() as connection:
            merge.take_back(connection, record, BEN, ANNA, clock())
        tamper(service, "UPDATE langmem_memory SET confidence = 1.0 WHERE memory_id = :id", id=lost.id)
        with opened() as fresh:
            assert sorted(texts(fresh.list_memories(ANNA))) == sorted([*known[ANNA], lost.text])
            assert sorted(texts(fresh.list_memories(BEN))) == known[BEN]
            assert texts(fresh.instructions.list_instructions(ANNA)) == ["Be brief"]
            assert [each for each in examine(fresh.database) if each.kind != "memory vector"] == []


@pytest.mark.spec("P-1")
def test_a_vector_index_and_keys_are_refused_together(service):
    from langmem_plugin.memory import MemoryService

    with pytest.raises(ConfigurationError, match="vector index"):
        MemoryService(service.database, open_collection=lambda *_: None, index_after=1)


_REMEMBERS = """
import sys
from langmem_plugin.database.database_from_settings import open_database
from langmem_plugin.memory import MemoryService
from langmem_plugin.settings import Settings
url, key, owner = sys.argv[1:]
with open_database(Settings(keys=key), url) as database, MemoryService(database) as service:
    print([each.text for each in service.list_memories(owner)])
    print(service.remember(owner, "I like green tea", tags=["drinks"]).outcome)
"""


@pytest.mark.spec("P-1", "M-11")
@pytest.mark.slow
def test_what_another_process_encrypts_is_found_at_once(service, database_url, key):
    service.remember(ANNA, PASSWORD)
    assert service.search(ANNA, TEA, min_relevance=0.6) == []
    assert ran(_REMEMBERS, database_url, key, ANNA).split("\n")[:2] == [str([PASSWORD]), "stored"]
    assert texts(service.search(ANNA, TEA, min_relevance=0.6, where=Filter(tags=["drinks"]))) == [TEA]
