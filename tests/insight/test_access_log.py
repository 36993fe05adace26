"""That somebody looked at a memory, or edited it, is logged; it makes nothing more likely to be recalled."""

from collections import Counter

import pytest
from sqlalchemy import select

from langmem_plugin.database.memory_tables import memory_access
from langmem_plugin.errors import MemoryNotFound, StoreUnavailable
from tests.log_events import events

ERIN, MOM = "+972501234567", "+972509999999"


@pytest.fixture
def fact(memory):
    return memory.service.remember(ERIN, "Erin is allergic to peanuts")


def _logged(memory):
    with memory.database.read() as connection:
        rows = connection.execute(select(memory_access.c.memory_id, memory_access.c.kind)).all()
    return Counter((row.memory_id, row.kind) for row in rows)


@pytest.mark.spec("A-1")
def test_who_looks_at_one_memory_is_logged_and_a_list_is_no_look(memory, fact):
    memory.service.list_memories(ERIN)
    memory.service.search(ERIN, "peanuts")
    memory.command(ERIN, "/memories")
    assert _logged(memory) == {}
    memory.provenance.why(ERIN, fact.id)
    assert _logged(memory) == {(fact.id, "viewed"): 1}


@pytest.mark.spec("A-1")
def test_a_look_is_no_use(memory, fact, clock):
    memory.service.note_access(ERIN, {fact.id: 0.9}, "cited")
    clock.forward(hours=1)
    why = memory.provenance.why(ERIN, fact.id)
    again = memory.provenance.why(ERIN, fact.id)
    assert (again.memory.access_count, again.memory.last_accessed) == (1, why.last_use.at)
    assert again.last_use.kind == "cited"


@pytest.mark.spec("A-1")
def test_an_edit_is_logged_and_a_persons_word_on_a_memory_is_none(memory, fact):
    service = memory.service
    service.update(ERIN, fact.id, category="health")
    new = service.supersede(ERIN, fact.id, "Erin is allergic to walnuts")
    waiting = service.remember(ERIN, "Erin may move to Oslo", status="pending")
    memory.confirmations.confirm(ERIN, waiting.id)
    service.forget(ERIN, new.id)
    assert _logged(memory) == {(fact.id, "edited"): 2}
    with pytest.raises(MemoryNotFound):
        service.update(ERIN, "none", category="health")
    assert _logged(memory) == {(fact.id, "edited"): 2}


@pytest.mark.spec("A-1")
def test_the_newest_hundred_of_the_looks_at_a_memory_are_kept(memory, fact, clock):
    memory.service.note_access(ERIN, {fact.id: 0.9}, "injected")
    for _ in range(105):
        clock.forward(seconds=1)
        memory.service.note_viewed(ERIN, [fact.id])
    assert _logged(memory) == {(fact.id, "viewed"): 100}


@pytest.mark.spec("A-1", "C-1")
def test_nobody_looks_at_what_is_anothers_or_not_there(memory, fact):
    memory.service.note_viewed(MOM, [fact.id, "none"])
    memory.service.note_viewed(ERIN, [])
    assert _logged(memory) == {}


@pytest.mark.spec("A-1")
def test_a_look_that_cannot_be_logged_is_shown_all_the_same(memory, fact, monkeypatch, caplog):
    def down(**_):
        raise StoreUnavailable("down")

    monkeypatch.setattr(memory.database, "write", down)
    assert memory.provenance.why(ERIN, fact.id).memory.text == "Erin is allergic to peanuts"
    assert "use.not_logged" in events(caplog)
