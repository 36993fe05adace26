"""Names that mean the same to one person: learnt from what they say, or added, and taken for each other in a search."""

from datetime import timedelta
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.database.encryption.conversion import encrypted_rows
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.database.opening import open_database
from langmem_plugin.errors import AliasNotFound, InvalidInput
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.find.recall import SHARED, explain_for, recall_for, search_for, share
from langmem_plugin.memory.keep.aliases import MOST_ALIASES, abbreviates, namings
from langmem_plugin.memory.write.key_value import KeyValueMemory
from tests.cases import for_each
from tests.chat_graph import chat_graph

ANNA, BEN, TELEGRAM = "+972501234567", "+972507654321", "telegram:4242777"
_SAID = (Path(__file__).parent / "alias_statements.tsv").read_text("utf-8")
STATEMENTS = [line.split("\t") for line in _SAID.splitlines()]
QUIET = Settings(sweep_every=None, search_past_sessions=False, extract_after=0)


def names(aliases):
    return [(each.alias, each.name) for each in aliases]


def texts(found):
    return [each.memory.text for each in found]


@pytest.mark.spec("M-7")
@for_each(("text", "before", "alias", "name"), STATEMENTS)
def test_what_is_said_of_names_is_learnt_and_nothing_else(text, before, alias, name):
    assert names(namings(text, before)) == ([(alias, name)] if alias else [])


@pytest.mark.spec("M-7")
def test_an_abbreviation_leaves_out_enough_not_to_be_another_name():
    for short, full in [("k8s", "Kubernetes"), ("Dr. L", "Dr. Levi"), ("DJ", "David Jones"), ("Ben", "Benjamin")]:
        assert abbreviates(short, full)
        assert not abbreviates(full, short)
    for one, other in [("Dan", "Dana"), ("k9s", "Kubernetes"), ("Dr. L", "Dr. Cohen"), ("", "Levi"), ("Levi", "Levi")]:
        assert not abbreviates(one, other)


@pytest.mark.spec("M-7")
def test_a_name_that_was_added_finds_what_is_known_under_the_other(memory):
    memory.remember(ANNA, "Dr. Levi moved to Haifa")
    memory.remember(ANNA, "Dr. Cohen moved to Eilat")
    memory.aliases.add(ANNA, "Eagle", "Dr. Levi")
    [first, *_] = memory.search(ANNA, "Eagle", mode="text", min_relevance=0.0)
    assert first.memory.text == "Dr. Levi moved to Haifa"
    assert first.explanation.aliases == ("Eagle = Dr. Levi",)
    assert memory.search(BEN, "Eagle", min_relevance=0.0) == []
    memory.remember(ANNA, "Eagle has a new phone")
    both = memory.search(ANNA, "Dr. Levi", mode="text")
    assert {"Eagle has a new phone", "Dr. Levi moved to Haifa"} <= set(texts(both))


@pytest.mark.spec("M-7")
def test_what_a_person_tells_to_remember_of_a_name_is_learnt_while_it_holds(memory):
    made = memory.remember(ANNA, "Dr. L is Dr. Levi")
    memory.remember(ANNA, "Dr. Levi moved to Haifa")
    [learnt] = memory.aliases.list_aliases(ANNA)
    assert (learnt.alias, learnt.name, learnt.learnt_from, learnt.source) == ("Dr. L", "Dr. Levi", made.id, "memory")
    assert any(each.explanation.aliases for each in memory.search(ANNA, "where did Dr. L move?"))
    memory.forget(ANNA, made.id)
    assert memory.aliases.list_aliases(ANNA) == []
    assert not any(each.explanation.aliases for each in memory.search(ANNA, "where did Dr. L move?"))
    memory.take_back(ANNA, made.id)
    assert names(memory.aliases.list_aliases(ANNA)) == [("Dr. L", "Dr. Levi")]
    memory.update(ANNA, made.id, text="Dr. L is Dr. Lopez")
    assert names(memory.aliases.list_aliases(ANNA)) == [("Dr. L", "Dr. Lopez")]


@pytest.mark.spec("M-7")
def test_what_waits_or_has_expired_counts_not(memory, clock):
    memory.remember(ANNA, "k8s is short for Kubernetes", status="pending")
    memory.remember(ANNA, "Dr. L is Dr. Levi", expires_at=clock() + timedelta(days=1))
    assert names(memory.aliases.list_aliases(ANNA)) == [("Dr. L", "Dr. Levi")]
    assert memory.aliases.groups(ANNA) == (("Dr. Levi", "Dr. L"),)
    clock.forward(days=2)
    assert memory.aliases.groups(ANNA) == ()


@pytest.mark.spec("M-7", "P-3")
def test_a_removed_alias_is_not_learnt_again_and_a_forgotten_one_leaves_no_row(memory):
    [made] = memory.aliases.learn(ANNA, "k8s, I mean Kubernetes", message_id="m1")
    assert memory.aliases.learn(ANNA, "k8s, I mean Kubernetes", message_id="m2") == []
    memory.aliases.remove(ANNA, made.id)
    assert memory.aliases.list_aliases(ANNA) == []
    assert memory.aliases.learn(ANNA, "k8s is short for Kubernetes", message_id="m3") == []
    assert names(memory.aliases.list_aliases(ANNA, include_removed=True)) == [("k8s", "Kubernetes")]
    memory.aliases.add(ANNA, "K8S", "kubernetes")
    assert names(memory.aliases.list_aliases(ANNA)) == [("k8s", "Kubernetes")]
    with pytest.raises(AliasNotFound):
        memory.aliases.remove(BEN, made.id)
    memory.aliases.learn(ANNA, "Dr. L is Dr. Levi", message_id="m4")
    told = memory.remember(ANNA, "Dr. Levi treats my back")
    memory.forget(ANNA, told.id)
    assert names(memory.aliases.list_aliases(ANNA, include_removed=True)) == [("k8s", "Kubernetes")]


@pytest.mark.spec("M-7")
@for_each(("alias", "name"), [("", "Levi"), ("the", "Levi"), ("Levi", "levi"), ("x" * 61, "Levi"), ("?!", "L")])
def test_what_is_no_name_is_refused(memory, alias, name):
    with pytest.raises(InvalidInput):
        memory.aliases.add(ANNA, alias, name)


@pytest.mark.spec("M-19")
def test_a_person_has_at_most_so_many(memory):
    for number in range(MOST_ALIASES):
        memory.aliases.add(ANNA, f"nick{number}", "Nicholas")
    with pytest.raises(InvalidInput, match="remove one"):
        memory.aliases.add(ANNA, "one more", "Nicholas")
    assert memory.aliases.learn(ANNA, "k8s is short for Kubernetes", message_id="m") == []
    assert len(memory.aliases.list_aliases(ANNA)) == MOST_ALIASES


def said(memory, clock, *lines):
    messages = [PastMessage(f"m{at}", f"s{at}", by, text, clock()) for at, (by, text) in enumerate(lines)]
    memory.history.add(ANNA, messages)


@pytest.mark.spec("M-7")
def test_what_was_said_is_found_under_the_other_name_and_tells_why(memory, clock):
    said(
        memory,
        clock,
        ("user", "Dr. Levi moved his practice to Haifa"),
        ("user", "Dr. Cohen moved her practice to Eilat"),
        ("user", "The cluster of Kubernetes fell over again"),
    )
    memory.aliases.add(ANNA, "Eagle", "Dr. Levi")
    memory.aliases.learn(ANNA, "k8s is short for Kubernetes", message_id="m9")
    for question, text, label in [
        ("what did I say about Eagle?", "Dr. Levi moved his practice to Haifa", "Eagle = Dr. Levi"),
        ("k8s", "The cluster of Kubernetes fell over again", "k8s = Kubernetes"),
    ]:
        for mode in ("text", "hybrid"):
            [first, *_] = memory.history.search(ANNA, question, mode=mode, min_relevance=0.2)
            assert (first.message.text, first.aliases) == (text, (label,)), (question, mode)
    assert memory.history.search(ANNA, "Dr. Cohen", mode="text")[0].aliases == ()


@pytest.mark.spec("M-7")
def test_who_is_named_by_another_name_is_known_as_the_one_who_said_it(memory, clock):
    said(memory, clock, ("Daniel", "I like pears"), ("Miriam", "I like pears"), ("Ruth", "I like apples"))
    memory.aliases.add(ANNA, "Dani", "Daniel")
    assert memory.history.search(ANNA, "what did Dani say of pears?")[0].message.speaker == "Daniel"
    assert memory.history.search(ANNA, "what did Miriam say of pears?")[0].message.speaker == "Miriam"


@pytest.mark.spec("M-7", "M-16")
def test_a_persons_names_find_what_is_shared_and_shared_names_what_is_theirs(memory):
    memory.aliases.add(ANNA, "Eagle", "Dr. Levi")
    memory.aliases.add(SHARED, "k8s", "Kubernetes")
    share(memory, "Dr. Levi is in the office on Mondays", with_clients=True)
    memory.remember(ANNA, "Kubernetes keeps me awake")
    found = recall_for(memory, ANNA, "client", ["when is Eagle in the office?"])
    assert texts(found) == ["Dr. Levi is in the office on Mondays"]
    assert found[0].explanation.aliases == ("Eagle = Dr. Levi",)
    assert search_for(memory, ANNA, "client", "Eagle", mode="text")[0].memory.owner == SHARED
    assert explain_for(memory, ANNA, "client", "Eagle")[0].explanation.aliases == ("Eagle = Dr. Levi",)
    assert texts(search_for(memory, ANNA, "godfather", "k8s", mode="text")) == ["Kubernetes keeps me awake"]
    assert search_for(memory, ANNA, "client", "k8s", mode="text") == []  # perhaps from what is not for them
    assert search_for(memory, BEN, "client", "Eagle", mode="text") == []


@pytest.mark.spec("M-7")
def test_a_name_that_somebody_has_is_not_taken_for_one_that_sounds_like_it(memory):
    memory.remember(ANNA, "Sofia likes tea")
    memory.remember(ANNA, "Sophia likes coffee")
    assert texts(memory.search(ANNA, "Sofia", mode="text")) == ["Sofia likes tea"]


@pytest.mark.spec("M-7", "U-1", "P-4")
def test_aliases_go_with_the_person_by_merge_export_and_erasure(database_url, clock, offline_model, tmp_path):
    with PhoneMemory(database_url, settings=QUIET, embeddings=offline_model, now=clock) as memory:
        aliases = memory.service.aliases
        made = memory.service.remember(TELEGRAM, "Dr. L is Dr. Levi")
        aliases.add(TELEGRAM, "Eagle", "Kubernetes")
        merge = memory.people.link(ANNA, TELEGRAM)
        assert sorted(names(aliases.list_aliases(ANNA))) == [("Dr. L", "Dr. Levi"), ("Eagle", "Kubernetes")]
        document = memory.export(ANNA)
        assert {each.alias for each in document.aliases} == {"Dr. L", "Eagle"}
        memory.people.undo(merge)
        assert sorted(names(aliases.list_aliases(TELEGRAM))) == [("Dr. L", "Dr. Levi"), ("Eagle", "Kubernetes")]
        assert aliases.list_aliases(ANNA) == []
        memory.service.forget(TELEGRAM, made.id)
        assert names(aliases.list_aliases(TELEGRAM)) == [("Eagle", "Kubernetes")]
        memory.erase(TELEGRAM)
        assert aliases.list_aliases(TELEGRAM, include_removed=True) == []
        memory.restore_erased(TELEGRAM)
        assert names(aliases.list_aliases(TELEGRAM)) == [("Eagle", "Kubernetes")]
        memory.erase(TELEGRAM, now=True)
        report = memory.import_person(document, phone=BEN)
        assert report.stored["alias"] == 2
        assert memory.import_person(document, phone=BEN).there_already["alias"] == 2
        assert sorted(names(aliases.list_aliases(BEN))) == [("Dr. L", "Dr. Levi"), ("Eagle", "Kubernetes")]


@pytest.mark.spec("M-7", "P-3", "P-5")
def test_an_older_export_brings_no_name_back_that_was_removed_corrected_or_forgotten_since(
    database_url, clock, offline_model
):
    with PhoneMemory(database_url, settings=QUIET, embeddings=offline_model, now=clock) as memory:
        service, aliases = memory.service, memory.service.aliases
        told = service.remember(ANNA, "Dr. L is Dr. Levi")
        gone = service.remember(ANNA, "BD is short for Big Dog")
        service.remember(ANNA, "PJ is short for Paul Jonas")
        loan = service.remember(ANNA, "Moshe Zuchmir owes me 50")
        aliases.learn(ANNA, "Moishe is short for Moshe Zuchmir", message_id="m1")
        aliases.learn(ANNA, "k8s is short for Kubernetes", message_id="m2")
        removed = aliases.add(ANNA, "Eagle", "Dr. Cohen")
        older = memory.export(ANNA)
        assert len(older.aliases) == 6
        clock.forward(minutes=1)
        service.update(ANNA, told.id, text="Dr. L is Dr. Lopez")
        service.forget(ANNA, gone.id)
        service.forget(ANNA, loan.id)
        aliases.remove(ANNA, removed.id)
        left = [("Dr. L", "Dr. Lopez"), ("PJ", "Paul Jonas"), ("k8s", "Kubernetes")]
        assert sorted(names(aliases.list_aliases(ANNA))) == left
        report = memory.import_person(older)
        assert "alias" not in report.stored
        assert report.there_already["alias"] == 6
        assert sorted(names(aliases.list_aliases(ANNA))) == left
        assert not {"Moishe", "Dr. Levi"} & {word for each in aliases.groups(ANNA) for word in each}
        aliases.learn(ANNA, "Moishe is short for Moshe Zuchmir", message_id="m3")  # said again: it counts again
        newer = memory.export(ANNA)
        memory.erase(ANNA, now=True)
        memory.import_person(newer)
        assert sorted(names(aliases.list_aliases(ANNA))) == sorted([*left, ("Moishe", "Moshe Zuchmir")])


@pytest.mark.spec("P-1")
def test_aliases_are_encrypted_wherever_there_are_keys(database_url, clock, offline_model):
    keyed = Settings(keys=new_master_key(), sweep_every=None, search_past_sessions=False)
    with PhoneMemory(database_url, settings=keyed, embeddings=offline_model, now=clock) as memory:
        memory.service.aliases.add(ANNA, "Eagle", "Dr. Levi")
        with memory.database.read() as connection:
            stored = connection.exec_driver_sql("SELECT alias, name FROM langmem_name_alias").one()
        assert not {"Eagle", "Dr. Levi"} & set(stored)
        memory.service.remember(ANNA, "Dr. Levi moved to Haifa")
        assert texts(memory.service.search(ANNA, "Eagle", mode="text")) == ["Dr. Levi moved to Haifa"]
        merge = memory.people.merge(BEN, ANNA)
        assert names(memory.service.aliases.list_aliases(BEN)) == [("Eagle", "Dr. Levi")]
        memory.people.undo(merge)
        assert names(memory.service.aliases.list_aliases(ANNA)) == [("Eagle", "Dr. Levi")]


@pytest.mark.spec("P-1")
def test_what_was_stored_before_there_were_keys_is_encrypted_with_the_rest(database_url, clock, offline_model):
    with PhoneMemory(database_url, settings=QUIET, embeddings=offline_model, now=clock) as memory:
        memory.service.aliases.add(ANNA, "Eagle", "Dr. Levi")
    with open_database(Settings(keys=new_master_key()), database_url, converting=True) as database:
        assert sum(encrypted_rows(database)) == 1
        with database.read() as connection:
            stored = connection.exec_driver_sql("SELECT alias, name FROM langmem_name_alias").one()
        assert not {"Eagle", "Dr. Levi"} & set(stored)
        with MemoryService(database, embeddings=offline_model, now=clock) as service:
            assert names(service.aliases.list_aliases(ANNA)) == [("Eagle", "Dr. Levi")]


@pytest.mark.spec("M-7", "P-2")
def test_names_are_learnt_from_what_people_text_once_they_agreed(database_url, clock, offline_model):
    with PhoneMemory(database_url, settings=QUIET, embeddings=offline_model, now=clock) as memory:
        graph = chat_graph(memory, lambda _: {"messages": AIMessage("All right.")})
        memory.reply(graph, ANNA, "Dr. L is Dr. Levi")
        memory.extract(ANNA)
        memory.consent.switch_on(ANNA, text="yes", version=1)
        clock.forward(minutes=1)
        for text in ("My brother Daniel is a doctor", "Everyone calls him Dani", "k8s, I mean Kubernetes"):
            memory.reply(graph, ANNA, text)
        memory.reply(graph, ANNA, "Beth is short for Elizabeth", forwarded=True)
        memory.extract(ANNA)
        learnt = memory.service.aliases.list_aliases(ANNA)
        assert sorted(names(learnt)) == [("Dani", "Daniel"), ("k8s", "Kubernetes")]
        assert {each.source for each in learnt} == {"message"}


@pytest.mark.spec("M-7", "W-6")
def test_a_name_goes_with_what_it_was_learnt_from_whatever_door_changes_that(memory):
    kept = memory.remember(ANNA, "BD is short for Big Dog", key="nick")
    assert names(memory.aliases.list_aliases(ANNA)) == [("BD", "Big Dog")]
    KeyValueMemory(memory, ANNA).save_memory("nick", "I like pears")
    assert memory.get(ANNA, [kept.id])[0].text != "BD is short for Big Dog"
    assert memory.aliases.list_aliases(ANNA) == []


@pytest.mark.spec("M-7", "W-6")
def test_dropping_a_sessions_memories_drops_the_names_that_messages_told_of_them(memory):
    memory.create_memory("s1", "Moshe Zuchmir owes me 50", owner=ANNA)
    memory.aliases.learn(ANNA, "Moishe is short for Moshe Zuchmir", message_id="m1")
    assert names(memory.aliases.list_aliases(ANNA)) == [("Moishe", "Moshe Zuchmir")]
    memory.delete_collection("s1", owner=ANNA)
    assert memory.aliases.list_aliases(ANNA) == []
