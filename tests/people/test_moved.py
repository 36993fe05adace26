"""A number that changes hands, a group that gets another id: the new one is the person, the old one is nobody."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from langmem_plugin.errors import InvalidInput
from langmem_plugin.people.access_tokens import AccessTokens

ANNA, NEW, BEN = "+972501234567", "+447911123456", "+972507654321"
GROUP, SUPERGROUP = -1234, -1001234567890


def _echo(memory, meanwhile=lambda: None):
    def answer(state):
        meanwhile()
        return {"messages": AIMessage(f"re: {state['messages'][-1].content}")}

    return StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=memory.saver)


def _lives(memory, who):
    memory.reply(_echo(memory), who, "hello", message_id="m1")
    memory.service.remember(who, "Has a boat")
    memory.instructions.add(who, "Answer briefly")
    memory.people.set_time_zone(who, "Asia/Tokyo")
    memory.people.set_name(who, "Anna Levi")
    memory.consent.switch_on(who)


def _has_nothing(memory, who):
    assert memory.service.list_memories(who, statuses=("active", "pending", "superseded", "archived")) == []
    assert memory.instructions.list_instructions(who, active_only=False) == []
    assert memory.sessions.sessions(who) == []
    assert not memory.consent.of(who).extraction.allowed
    assert not memory.exporter.holdings(who).is_something


@pytest.mark.spec("C-20", "P-6")
def test_a_number_that_changed_hands_leaves_nothing_to_who_gets_it(memory, texts, said):
    _lives(memory, ANNA)
    memory.people.link(ANNA, 4242)
    tokens = AccessTokens(memory.database, now=memory.service.now)
    token, _ = tokens.new(ANNA)
    assert memory.people.moved(ANNA, NEW)

    _has_nothing(memory, ANNA)
    assert memory.people.identifiers(ANNA) == [ANNA]
    assert memory.people.identifiers(NEW) == memory.people.identifiers(4242) == [NEW, "telegram:4242"]
    assert texts(NEW) == texts(4242) == ["Has a boat"]
    assert list(said(NEW)) == [("hello", "re: hello")]
    assert memory.people.time_zone(NEW).key == "Asia/Tokyo"
    assert (memory.people.name(NEW), memory.people.name(ANNA)) == ("Anna Levi", None)
    assert memory.people.time_zone(ANNA).key == "Asia/Jerusalem"
    assert memory.people.resolve(tokens.access_by(token, "person").identifier) == NEW
    assert "person.moved" in [each.action for each in memory.audit.newest(50)]

    assert not memory.people.moved(ANNA, NEW)  # once more
    memory.service.remember(ANNA, "Another person altogether")
    assert texts(NEW) == ["Has a boat"]
    assert not memory.reply(_echo(memory), ANNA, "hello", message_id="m1").repeated


@pytest.mark.spec("C-20")
def test_one_of_several_identifiers_moves_alone(memory, texts):
    memory.service.remember(ANNA, "Has a boat")
    memory.people.link(ANNA, 4242)
    assert memory.people.moved(4242, 5151)
    assert memory.people.identifiers(ANNA) == [ANNA, "telegram:5151"]
    assert texts(4242) == []
    assert texts(5151) == ["Has a boat"]
    assert memory.people.moved(ANNA, 5151)  # the key goes to what is linked already
    assert memory.people.identifiers(5151) == ["telegram:5151"]
    assert texts(ANNA) == []
    assert texts(5151) == ["Has a boat"]


@pytest.mark.spec("C-20")
def test_who_wrote_from_the_new_number_before_is_one_with_them(memory, texts):
    for who, fact in ((ANNA, "Has a boat"), (NEW, "Has a cow"), (BEN, "Has a dog")):
        _lives(memory, who)
        memory.service.remember(who, fact)
    memory.people.link(NEW, 4242)
    assert memory.people.moved(ANNA, 4242)
    assert texts(NEW) == texts(4242) == ["Has a boat", "Has a cow"]
    _has_nothing(memory, ANNA)
    assert memory.people.moved(4242, BEN)  # an identifier, to who is known already
    assert texts(BEN) == ["Has a boat", "Has a cow", "Has a dog"]
    assert texts(4242) == []


@pytest.mark.spec("C-20")
def test_a_group_that_became_a_supergroup_goes_on(memory, said):
    memory.reply(_echo(memory), GROUP, "hello", message_id="m1", sender=ANNA)
    memory.service.remember(GROUP, "Meets on Mondays")
    assert memory.people.moved(GROUP, SUPERGROUP)
    assert [each.text for each in memory.service.list_memories(SUPERGROUP)] == ["Meets on Mondays"]
    assert list(said(SUPERGROUP))
    assert not memory.exporter.holdings(GROUP).is_something
    assert not memory.people.moved(GROUP, SUPERGROUP)
    for one, other in ((ANNA, SUPERGROUP), (SUPERGROUP, ANNA), (ANNA, "972501234567@c.us"), ("+", ANNA)):
        with pytest.raises(InvalidInput):
            memory.people.moved(one, other)


@pytest.mark.spec("C-20", "C-9")
def test_a_turn_that_runs_meanwhile_ends_first(memory, said):
    runs, goes_on = threading.Event(), threading.Event()

    def meanwhile():
        runs.set()
        assert goes_on.wait(60)

    with ThreadPoolExecutor(2) as pool:
        reply = pool.submit(memory.reply, _echo(memory, meanwhile), ANNA, "hello", message_id="m1")
        assert runs.wait(60)
        moved = pool.submit(memory.people.moved, ANNA, NEW)
        assert not moved.done()
        goes_on.set()
        assert str(reply.result(60)) == "re: hello"
        assert moved.result(60)
    assert list(said(NEW)) == [("hello", "re: hello")]
    assert said(ANNA) == {}
