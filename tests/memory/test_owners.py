"""Every verb that takes an owner takes any form of any identifier of theirs, and nobody's is refused."""

import contextlib

import pytest

from langmem_plugin.database.owners_and_erasures import owner_key
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.find import recall_and_visibility as visibility
from langmem_plugin.memory.find.message_search import PastMessage
from langmem_plugin.memory.instructions.conditions import Situation
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from tests.cases import for_each

PHONE = "+972501234567"
FORMS = [PHONE, "972501234567@c.us", "whatsapp:+972501234567", "+972-50-123-4567", "00972501234567", "tel:972501234567"]
COW = "My cow is called Bella"

WRITING = {
    "remember": lambda service, who: service.remember(who, COW),
    "remember_many": lambda service, who: service.remember_many(who, [(COW, {})]),
    "create_memory": lambda service, who: service.create_memory("s", COW, owner=who),
    "save_memory": lambda service, who: KeyValueMemory(service, who).save_memory("cow", "Bella"),
    "supersede": lambda service, who: service.supersede(who, _first(service), COW),
    "update": lambda service, who: service.update(who, _first(service), text=COW),
    "restore": lambda service, who: [service.forget(who, _first(service)), service.restore(who, _first(service))],
    "take_in": lambda service, who: service.take_in(who, service.get(PHONE, [_first(service)])),
    "note_access": lambda service, who: service.note_access(who, {_first(service): 0.9}, "cited"),
    "note_viewed": lambda service, who: service.note_viewed(who, [_first(service)]),
    "instructions.add": lambda service, who: service.instructions.add(who, "Answer briefly"),
    "instructions.take": lambda service, who: service.instructions.take(who, "Answer briefly"),
    "categories.create": lambda service, who: service.categories.create(who, "Animals"),
    "history.add": lambda service, who: service.history.add(
        who, [PastMessage("m", "s", "human", "Bella is my cow", service.now())]
    ),
}
READING = {
    "recall": lambda service, who: service.recall(who, "cow"),
    "search": lambda service, who: service.search(who, "cow"),
    "foremost": lambda service, who: service.foremost(who),
    "get": lambda service, who: service.get(who, [_first(service)]),
    "list_memories": lambda service, who: service.list_memories(who),
    "count": lambda service, who: service.count(who),
    "related": lambda service, who: service.related(who, COW),
    "over": lambda service, who: service.over(who, COW) or "nothing",
    "load_memory": lambda service, who: KeyValueMemory(service, who).load_memory()["memory"],
    "get_memories_by_session": lambda service, who: service.get_memories_by_session("s", owner=who),
    "query_similar_memories": lambda service, who: service.query_similar_memories("cow", owner=who),
    "get_all_sessions": lambda service, who: service.get_all_sessions(owner=who),
    "get_collection_size": lambda service, who: service.get_collection_size("s", owner=who),
    "instructions.list_instructions": lambda service, who: service.instructions.list_instructions(who),
    "instructions.applicable": lambda service, who: service.instructions.applicable(who, Situation("", service.now())),
    "categories.list_categories": lambda service, who: service.categories.list_categories(who),
    "categories.counts": lambda service, who: service.categories.counts(who),
    "history.search": lambda service, who: service.history.search(who, "cow"),
    "history.count": lambda service, who: service.history.count(who),
}


def _first(service):
    return service.list_memories(PHONE, statuses=("active", "forgotten"))[0].id


@pytest.fixture
def known(memory):
    """A person of whom there is something of each kind."""
    memory.remember(PHONE, "My cow is brown", key="cow", category="Animals", session_id="s")
    memory.instructions.add(PHONE, "Call her Bella")
    memory.categories.create(PHONE, "Cattle")
    memory.history.add(PHONE, [PastMessage("old", "s", "human", "My cow is brown", memory.now())])
    return memory


@pytest.mark.slow
@pytest.mark.spec("C-20", "M-2")
@for_each("verb", WRITING.values(), ids=WRITING)
def test_what_is_written_under_any_form_is_one_owners(known, verb):
    for form in FORMS[1:4]:
        with contextlib.suppress(InvalidInput):  # a category of this name is there already, by another form
            verb(known, form)
    with known.database.read() as connection:
        assert {each.owner for each in known.repository.all_of(connection, OwnerKey(PHONE))} == {PHONE}
        for form in FORMS[1:]:
            assert not list(known.repository.all_of(connection, OwnerKey(form)))
    for reading in READING.values():
        assert reading(known, FORMS[2]) == reading(known, PHONE)


@pytest.mark.slow
@pytest.mark.spec("C-20", "M-2")
@for_each("verb", READING.values(), ids=READING)
def test_what_is_read_by_any_form_is_the_owners(known, verb):
    found = verb(known, PHONE)
    assert found
    for form in FORMS:
        assert verb(known, form) == found


@pytest.mark.spec("C-20", "M-2")
@for_each("nobody", ["", " ", "+", "whatsapp:", "@c.us", "None", 0, True])
def test_nobody_owns_nothing(known, nobody):
    for verb in (WRITING | READING).values():
        with pytest.raises(InvalidInput, match=r"names nobody|no id of a Telegram"):
            verb(known, nobody)
    assert known.count(PHONE) == 1


@pytest.mark.spec("C-20")
def test_a_number_that_is_no_text_is_telegrams_in_every_verb(memory):
    memory.remember(4242, COW)
    assert [each.text for each in memory.list_memories("telegram:4242")] == [COW]
    assert memory.list_memories("tg:4242")[0].owner == "telegram:4242"


@pytest.mark.spec("P-6")
def test_an_owners_key_stays_as_it_is(memory):
    assert owner_key(memory.database, visibility.SHARED) is visibility.SHARED
    visibility.share(memory, "The shop closes at noon")
    assert memory.count(visibility.SHARED) == 1
    with pytest.raises(InvalidInput):
        memory.remember(str(visibility.SHARED), "forged")
