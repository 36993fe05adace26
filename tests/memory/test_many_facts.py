"""Many facts told together become what they become when they are told one after another."""

import random
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import event, text

from langmem_plugin.errors import StorageFull
from langmem_plugin.insight.recommendations import Recommendations
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import PastMessage
from tests.cases import for_each

ERIN = "+972501234567"
FORMS = (
    "I live in {place}",
    "I moved to {place}",
    "My sister {name} lives in {place}",
    "{name} no longer drinks {food}",
    "{name} drinks {food} at breakfast",
    "My {name} project is done with {food}",
    "The piano lesson of {name} is at {hour} o'clock in {place}",
    "The piano lesson of {name} was moved to {hour} o'clock",
    "{name} lent me her old {food} machine",
    "{name} gave away her old {food} machine",
)
WORDS = {
    "place": ["Leeds", "York", "Haifa"],
    "name": ["Anna", "Ben", "Chloe"],
    "food": ["coffee", "tea"],
    "hour": ["three", "4"],
}


def told(count, clock, *, seed):
    chance, found = random.Random(seed), []
    for number in range(count):
        fact = chance.choice(FORMS).format(**{name: chance.choice(each) for name, each in WORDS.items()})
        late = timedelta(days=-9) if chance.random() < 0.1 else timedelta()
        found.append((fact, {"said_at": clock() + timedelta(minutes=number) + late}))
    return found


def known(memory):
    held = memory.list_memories(ERIN, statuses=("active", "superseded"), limit=None)
    ids = {each.id: each.text for each in held}
    return sorted((each.text, each.status, each.said_at, ids.get(each.superseded_by)) for each in held)


@pytest.mark.spec("W-6")
@pytest.mark.parametrize("seed", range(3))
def test_many_facts_become_what_they_become_one_after_another(database_url, clock, offline_model, seed):
    facts = told(90, clock, seed=seed)
    clock.forward(days=1)
    with (
        MemoryService(database_url, embeddings=offline_model, now=clock) as one,
        MemoryService("sqlite://", embeddings=offline_model, now=clock) as many,
    ):
        alone = [one.remember(ERIN, text, **fields) for text, fields in facts]
        together = [made for at in range(0, 90, 40) for made in many.remember_many(ERIN, facts[at : at + 40])]
        assert [(each.text, each.outcome) for each in alone] == [(each.text, each.outcome) for each in together]
        assert known(one) == known(many)
        assert {each.outcome for each in alone} >= {"stored", "duplicate", "superseded"}


@pytest.mark.spec("W-6")
def test_many_facts_that_were_given_up_are_neither_found_nor_hide_what_they_replaced(memory, clock, monkeypatch):
    memory.remember_many(ERIN, [("Anna drinks tea at breakfast", {}), ("I live in Leeds", {})])
    assert memory.search(ERIN, "Leeds", mode="text")
    clock.forward(days=1)

    def full(*_):
        raise StorageFull("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(memory.retention, "keep_within", full)
        with pytest.raises(StorageFull):
            memory.remember_many(ERIN, [("I moved to York", {}), ("Anna no longer drinks tea", {})])
    found = {
        word: [each.memory.text for each in memory.search(ERIN, word, mode="text")] for word in ("Leeds", "tea", "York")
    }
    assert found == {"Leeds": ["I live in Leeds"], "tea": ["Anna drinks tea at breakfast"], "York": []}
    made = memory.remember_many(ERIN, [("I moved to York", {}), ("Anna no longer drinks tea", {})])
    assert [each.outcome for each in made] == ["superseded", "superseded"]


@pytest.mark.spec("M-10", "W-6")
@for_each(
    ("table", "read"),
    [
        ("memory", lambda memory, _: memory.search(ERIN, "note 7")),
        ("memory", lambda memory, _: Recommendations(memory).of(ERIN)),
        (
            "memory",
            lambda memory, connection: memory.repository.query_similar_by_embedding(
                connection, ERIN, memory.embedder.query("note 7"), valid_at=memory.now(), limit=3
            ),
        ),
        ("history", lambda memory, _: memory.history.search(ERIN, "note 7")),
    ],
)
def test_postgresql_reads_each_vector_once_before_it_has_statistics(
    postgresql_server, offline_model, clock, table, read
):
    vectors = np.random.default_rng(1).standard_normal((300, 384))
    talk = [PastMessage(f"m{at}", "s", "person", f"note {at}", clock()) for at in range(300)]
    with postgresql_server.copy("just_filled") as url:
        with MemoryService(url, embeddings=offline_model, now=clock) as memory:
            memory.remember_many(ERIN, [(each.text, {}) for each in talk], embeddings=vectors.tolist())
            memory.history.add(ERIN, talk)
        with (
            MemoryService(url, embeddings=offline_model, now=clock) as memory,
            memory.database.together(),
            memory.database.write() as connection,
        ):
            read(memory, connection)
            counted = text("SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = :table")
            fetched = connection.execute(counted, {"table": f"langmem_{table}_vector"}).scalar()
    assert 300 <= fetched <= 3 * 300  # all of each to compare it, and its checksum


@pytest.mark.spec("M-10", "W-6")
def test_a_statement_takes_few_parameters_however_many_memories_it_is_about(memory, clock):
    given = []

    def note(_connection, _cursor, _statement, parameters, _context, executemany):
        given.extend(map(len, parameters if executemany else [parameters]))

    event.listen(memory.database.engine, "before_cursor_execute", note)
    made = memory.remember_many(ERIN, [(f"note {number}", {}) for number in range(300)])
    memory.history.add(ERIN, [PastMessage(f"m{at}", "s", "person", f"talk {at}", clock()) for at in range(300)])
    ids = [each.id for each in made]
    with memory.database.write() as connection:
        assert memory.repository.ids_there(connection, ERIN, ids) == set(ids)
        assert memory.repository.set_status(connection, ERIN, ids, "archived", now=clock()) == 300
        assert memory.repository.remove(connection, ERIN, ids) == 300

    assert given
    assert max(given) < 50
