"""What storage has changed by itself is never told as a memory: it is left out, reported once, and found by doctor."""

import random
import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import text

from langmem_plugin.errors import DamagedMemory, LangMemError
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.find.recall_and_visibility import ReplyMemory
from langmem_plugin.memory.keep.damage_check import examine
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from tests.cases import for_each
from tests.log_events import events
from tests.waiting import until

pytestmark = pytest.mark.slow

ANNA = "+972501234567"
DOSE, PARKING = "the dose is 5 mg at 8 pm", "I park on level 3"


@pytest.fixture
def facts(memory):
    return [
        memory.remember(
            ANNA, DOSE, key="dose", tags=["health"], category="health", metadata={"mg": 5}, summary_text="a dose"
        ),
        memory.remember(ANNA, PARKING),
    ]


@pytest.fixture
def fresh(database_url, clock, offline_model):
    """Another process, which has read nothing yet."""
    with MemoryService(database_url, embeddings=offline_model, now=clock) as service:
        yield service


def damage(memory, statement, **values):
    with memory.database.write() as connection:
        assert connection.execute(text(statement), values).rowcount == 1


def texts(found):
    return [getattr(each, "memory", each).text for each in found]


ANYWHERE = {
    "a digit of the text": "UPDATE langmem_memory SET text = 'the dose is 9 mg at 8 pm' WHERE memory_id = :id",
    "no text": "UPDATE langmem_memory SET text = '' WHERE memory_id = :id",
    "summary": "UPDATE langmem_memory SET summary_text = 'a nose' WHERE memory_id = :id",
    "key": "UPDATE langmem_memory SET key = 'nose' WHERE memory_id = :id",
    "no key": "UPDATE langmem_memory SET key = NULL WHERE memory_id = :id",
    "category": "UPDATE langmem_memory SET category = 'wealth' WHERE memory_id = :id",
    "tags": "UPDATE langmem_memory SET tags = '\nwealth\n' WHERE memory_id = :id",
    "type": "UPDATE langmem_memory SET fact_type = 'note' WHERE memory_id = :id",
    "metadata": """UPDATE langmem_memory SET metadata = '{"mg": 9}' WHERE memory_id = :id""",
    "confidence": "UPDATE langmem_memory SET confidence = 0.25 WHERE memory_id = :id",
    "creation": "UPDATE langmem_memory SET created_at = created_at + 1 WHERE memory_id = :id",
    "an impossible instant": "UPDATE langmem_memory SET last_accessed = 9223372036854775807 WHERE memory_id = :id",
}
IN_SQLITE = {
    "bytes that are no text": "UPDATE langmem_memory SET text = CAST(x'746865ff20646f7365' AS TEXT) WHERE memory_id = :id",
    "a number for a text": "UPDATE langmem_memory SET text = 5 WHERE memory_id = :id",
    "a text for an instant": "UPDATE langmem_memory SET created_at = 'yesterday' WHERE memory_id = :id",
    "a text for a count": "UPDATE langmem_memory SET access_count = 'often' WHERE memory_id = :id",
    "metadata that is no JSON": "UPDATE langmem_memory SET metadata = '{' WHERE memory_id = :id",
    "tags that are no text": "UPDATE langmem_memory SET tags = x'00' WHERE memory_id = :id",
}


@pytest.mark.spec("M-18")
@for_each("where", [*ANYWHERE, *IN_SQLITE])
def test_a_damaged_memory_is_left_out_reported_once_and_the_others_are_there(memory, facts, fresh, where, caplog):
    if where in IN_SQLITE and not memory.database.is_sqlite:
        pytest.skip("PostgreSQL keeps to its types")
    damage(memory, (ANYWHERE | IN_SQLITE)[where], id=facts[0].id)
    everything = {"min_relevance": 0.0}
    for service in (memory, fresh):
        caplog.clear()
        reply_memory = ReplyMemory(service)
        for _ in range(2):
            assert texts(service.list_memories(ANNA)) == [PARKING]
            for mode in ("text", "semantic", "hybrid"):
                assert texts(service.search(ANNA, "the dose and where I park", mode=mode, **everything)) == [PARKING]
            assert texts(service.foremost(ANNA)) == [PARKING]
            assert texts(service.query_similar_memories("what is the dose?", owner=ANNA)) == [PARKING]
            assert KeyValueMemory(service, ANNA).load_memory()["memory"] == []
            found = reply_memory.recall(ANNA, "client", ["what is the dose?"], min_similarity=0.0)
            assert [each.text for each, _ in found] == [PARKING]
            assert texts(reply_memory.told(ANNA, "client", [each.id for each in facts]).memories) == [PARKING]
            for refused in (
                lambda service=service: service.get(ANNA, [each.id for each in facts]),
                lambda service=service: service.update(ANNA, facts[0].id, category="health"),
            ):
                with pytest.raises(DamagedMemory) as raised:
                    refused()
                assert raised.value.row_ids == [facts[0].id]
        reports = [record for record in caplog.records if record.levelname == "ERROR"]
        assert [(each.event, each.row_id) for each in reports] == [("memory.damaged", facts[0].id)]
        assert "dose" not in caplog.text
        assert ANNA not in caplog.text


@pytest.mark.spec("M-18")
def test_a_damaged_memory_can_be_forgotten_and_told_anew(memory, facts):
    damage(memory, ANYWHERE["a digit of the text"], id=facts[0].id)
    told = memory.remember(ANNA, DOSE, key="dose")
    assert told.id != facts[0].id
    assert memory.forget(ANNA, facts[0].id).text == ""
    assert memory.get(ANNA, [facts[0].id]) == []
    assert texts(memory.recall(ANNA, "what is the dose?")) == [DOSE]
    assert examine(memory.database) == []


@pytest.mark.spec("M-18")
def test_above_the_limit_a_damaged_memory_is_archived_in_its_turn(database_url, clock, offline_model):
    with MemoryService(database_url, embeddings=offline_model, now=clock, owner_limit=2) as memory:
        first = memory.remember(ANNA, DOSE)
        damage(memory, ANYWHERE["a digit of the text"], id=first.id)
        for number in range(4):
            clock.forward(minutes=1)
            memory.remember(ANNA, f"note number {number}")
        assert texts(memory.list_memories(ANNA)) == ["note number 3", "note number 2"]
        assert memory.count(ANNA) == 2


@pytest.mark.spec("M-18")
def test_bits_that_flip_in_the_file_are_noticed(tmp_path, clock, offline_model):
    file = tmp_path / "langmem.db"
    with MemoryService(f"sqlite:///{file}", embeddings=offline_model, now=clock) as memory:
        memory.remember(ANNA, DOSE)
        memory.remember(ANNA, PARKING)
    stored = bytearray(file.read_bytes())
    stored[stored.index(b"dose is 5 mg") + len("dose is ")] ^= ord("5") ^ ord("9")
    file.write_bytes(stored)
    with MemoryService(f"sqlite:///{file}", embeddings=offline_model, now=clock) as memory:
        assert texts(memory.list_memories(ANNA)) == [PARKING]
        assert texts(memory.search(ANNA, "the dose and where I park", min_relevance=0.0)) == [PARKING]


@pytest.mark.spec("M-18", "M-4")
@for_each("table", ["langmem_memory_vector", "langmem_history_vector"])
def test_a_damaged_vector_is_made_anew_from_its_text(memory, fresh, facts, clock, table, caplog):
    memory.history.add(ANNA, [PastMessage("m1", "s1", "user", DOSE, clock())])
    row_id = facts[0].id if table == "langmem_memory_vector" else "m1"
    name = "memory_id" if table == "langmem_memory_vector" else "message_id"
    with memory.database.read() as connection:
        stored = connection.execute(text(f"SELECT vector FROM {table} WHERE {name} = :id"), {"id": row_id}).scalar_one()
    turned = bytes([stored[0] ^ 1]) + stored[1:]
    damage(memory, f"UPDATE {table} SET vector = :vector WHERE {name} = :id", vector=turned, id=row_id)

    def found(mode):
        if table == "langmem_memory_vector":
            return texts(fresh.search(ANNA, "how much medicine do I take?", mode=mode, min_relevance=0.3))
        found = fresh.history.search(ANNA, "how much medicine do I take?", mode=mode, min_relevance=0.3)
        return [each.message.text for each in found]

    assert DOSE not in found("semantic")
    assert f"{table.removeprefix('langmem_').replace('history', 'message')}.damaged" in events(caplog)
    until(lambda: examine(memory.database) == [] and found("semantic")[:1] == [DOSE])
    with memory.database.read() as connection:
        assert (
            connection.execute(text(f"SELECT vector FROM {table} WHERE {name} = :id"), {"id": row_id}).scalar_one()
            == stored
        )


@pytest.mark.spec("M-18", "I-2")
def test_a_damaged_instruction_is_not_followed(memory, fresh, caplog):
    made = memory.instructions.add(ANNA, "Give me 5 mg", priority=2)
    memory.instructions.add(ANNA, "Be brief")
    damage(
        memory, "UPDATE langmem_standing_instruction SET text = 'Give me 9 mg' WHERE instruction_id = :id", id=made.id
    )
    for _ in range(2):
        assert texts(fresh.instructions.list_instructions(ANNA)) == ["Be brief"]
        assert texts(ReplyMemory(fresh).told(ANNA, "client", []).instructions) == ["Be brief"]
    with pytest.raises(DamagedMemory):
        fresh.instructions.get(ANNA, made.id)
    assert events(caplog).count("instruction.damaged") == 1
    assert fresh.instructions.remove(ANNA, made.id).text == ""
    assert examine(memory.database) == []


@pytest.mark.spec("M-18", "M-7")
def test_a_damaged_message_of_a_past_session_is_not_found_and_taken_anew_when_the_session_is(memory, fresh, clock):
    said = [PastMessage("m1", "s1", "user", DOSE, clock()), PastMessage("m2", "s1", "user", PARKING, clock())]
    memory.history.add(ANNA, said)
    damage(memory, "UPDATE langmem_history_message SET text = 'the dose is 9 mg at 8 pm' WHERE message_id = 'm1'")
    for _ in range(2):
        found = fresh.history.search(ANNA, "the dose and where I park", min_relevance=0.0)
        assert [each.message.text for each in found] == [PARKING]


@pytest.mark.spec("M-18")
def test_doctor_names_every_damaged_row_and_nothing_of_its_text(memory, facts, clock):
    made = memory.instructions.add(ANNA, "Give me 5 mg")
    memory.history.add(ANNA, [PastMessage("m1", "s1", "user", DOSE, clock())])
    assert examine(memory.database) == []
    damage(memory, ANYWHERE["tags"], id=facts[0].id)
    damage(
        memory, "UPDATE langmem_standing_instruction SET text = 'Give me 9 mg' WHERE instruction_id = :id", id=made.id
    )
    damage(memory, "UPDATE langmem_history_message SET speaker = 'usar' WHERE message_id = 'm1'")
    damage(memory, "UPDATE langmem_memory_vector SET checksum = 5 WHERE memory_id = :id", id=facts[1].id)
    damage(memory, "UPDATE langmem_history_vector SET checksum = 5 WHERE message_id = 'm1'")
    assert {(each.kind, each.row_id) for each in examine(memory.database)} == {
        ("memory", facts[0].id),
        ("instruction", made.id),
        ("message", "m1"),
        ("memory vector", facts[1].id),
        ("message vector", "m1"),
    }


@pytest.mark.spec("M-18")
def test_of_a_file_with_flipped_bits_nothing_else_is_told_than_what_was_stored(tmp_path, clock, offline_model):
    """Any page but those of the tables' own definitions; what cannot be read is named as one of our errors."""
    file = tmp_path / "langmem.db"
    url = f"sqlite:///{file}"
    stored = {f"fact {number}: the dose is {number} mg" for number in range(12)}
    with MemoryService(url, embeddings=offline_model, now=clock) as memory:
        memory.remember_many(ANNA, [(each, {"tags": ["health"], "metadata": {"a": 1}}) for each in sorted(stored)])
        memory.instructions.add(ANNA, "Be brief")
    whole = file.read_bytes()
    with closing(sqlite3.connect(file)) as connection, connection:
        roots = connection.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name LIKE '%memory%'").fetchall()
    chance = random.Random(5)
    outcomes = set()
    for _ in range(25):
        flipped = bytearray(whole)
        page = chance.choice(roots)[0] - 1
        for _ in range(chance.choice([1, 2, 8])):
            flipped[page * 4_096 + chance.randrange(4_096)] ^= 1 << chance.randrange(8)
        file.write_bytes(flipped)
        outcomes.add(_told(url, offline_model, clock, stored))
    assert "whole" in outcomes


def _told(url, offline_model, clock, stored):
    try:
        with MemoryService(url, embeddings=offline_model, now=clock) as memory:
            reply_memory = ReplyMemory(memory)
            found = reply_memory.recall(ANNA, "client", ["what is the dose?"], min_similarity=0.0)
            told = reply_memory.told(ANNA, "client", [each.id for each, _ in found])
            listed = memory.list_memories(ANNA)
    except LangMemError as error:
        return type(error).__name__
    assert {each.text for each in [*told.memories, *listed]} <= stored
    assert {each.text for each in told.instructions} <= {"Be brief"}
    return "whole" if len(listed) == len(stored) else "in part"
