"""Two people become one without losing anything, and two again: memories, instructions, what was said, conversations."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import func, select, update

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.storage.session_repair import examine
from langmem_plugin.database.conversation_tables import session, turn
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.database.memory_tables import history_message, memory_access, memory_owner
from langmem_plugin.database.memory_tables import memory as memory_table
from langmem_plugin.database.personal_tables import personal_tables
from langmem_plugin.errors import UnknownSession
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from tests.agent.test_exactly_once import Echo, die, killed, take_places_away, until_stored
from tests.chat_graph import chat_graph
from tests.people.conftest import ANNA, ANNAS_TELEGRAM, BEN
from tests.waiting import until

pytestmark = pytest.mark.slow


def _found(memory, who, question):
    return {each.memory.text for each in memory.service.search(memory.people.resolve(who), question)}


def _heard(memory, who, question):
    return [each.message.text for each in memory.service.history.search(memory.people.resolve(who), question)]


def _talk(memory, who, *said):
    for at, text in enumerate(said):
        memory.sessions.add_message(who, "assistant" if at % 2 else "user", text)
    return memory.sessions.get_session(who).session_id


def _echo(memory):
    def agent(state):
        return {"messages": AIMessage(f"heard {len(state['messages'])}")}

    return StateGraph(MessagesState).add_node(agent).add_edge(START, "agent").compile(checkpointer=memory.saver)


def _tell(memory, graph, who, text):
    with memory.turn(who) as config:
        return [each.text for each in graph.invoke({"messages": text}, config)["messages"]]


@pytest.mark.spec("C-20", "P-1")
@pytest.mark.both_engines
@pytest.mark.parametrize("keys", [None, new_master_key()], ids=["plain", "encrypted"])
def test_what_was_set_and_said_of_consent_moves_and_goes_back_readable(database_url, clock, offline_model, keys):
    settings = Settings(keys=keys, sweep_every=None)
    with PhoneMemory(database_url, embeddings=offline_model, settings=settings, now=clock) as memory:
        memory.service.remember(ANNA, "Anna has a boat")
        memory.consent.switch_on(ANNAS_TELEGRAM, text="yes, remember me", version=1)
        memory.people.set_name(ANNAS_TELEGRAM, "Anna Levi")
        memory.people.set_name(BEN, "Ben Levi")
        merged = memory.people.merge(ANNA, ANNAS_TELEGRAM)
        assert memory.people.merge(ANNA, BEN)
        assert memory.people.name(BEN) == "Anna Levi"  # the one they had already
        assert memory.consent.word_of(ANNA).text == "yes, remember me"
        memory.people.unlink(merged)
        assert (memory.people.name(ANNA), memory.people.name(ANNAS_TELEGRAM)) == (None, "Anna Levi")
        assert memory.consent.word_of(ANNAS_TELEGRAM).text == "yes, remember me"


@pytest.mark.spec("C-20")
def test_memories_of_both_are_recalled_searched_and_listed_as_one_persons(memory, texts):
    boat = memory.service.remember(ANNAS_TELEGRAM, "Anna has a boat in Haifa")
    memory.service.note_access(ANNAS_TELEGRAM, {boat.id: 0.9}, "cited", session_id="s")
    memory.service.remember(ANNA, "Anna is allergic to nuts")
    for who in (ANNA, ANNAS_TELEGRAM):  # what both have cached before
        _found(memory, who, "boat nuts")
    merged = memory.people.merge(ANNA, 4242)
    for who in (ANNA, 4242):
        assert _found(memory, who, "where is her boat?") == {"Anna has a boat in Haifa"}
        assert texts(who) == ["Anna has a boat in Haifa", "Anna is allergic to nuts"]
    assert memory.service.get(ANNA, [boat.id])[0].access_count == 1
    assert memory.service.get(ANNA, [boat.id])[0].model_dump() == boat.memory.model_dump() | {
        "owner": ANNA,
        "access_count": 1,
        "last_accessed": memory.service.now(),
    }
    with memory.database.read() as connection:
        assert connection.execute(select(memory_access.c.owner, memory_access.c.memory_id)).all() == [(ANNA, boat.id)]
    assert memory.service.list_memories(ANNAS_TELEGRAM) == memory.service.list_memories(ANNA)
    assert memory.service.remember(ANNA, "anna has a BOAT in Haifa").id == boat.id  # its digest is keyed anew

    memory.people.unlink(merged)
    assert texts(4242) == ["Anna has a boat in Haifa"]
    assert texts(ANNA) == ["Anna is allergic to nuts"]
    assert _found(memory, ANNA, "boat") == set()
    assert _found(memory, 4242, "boat") == {"Anna has a boat in Haifa"}
    assert memory.service.remember(ANNAS_TELEGRAM, "Anna has a boat in Haifa").id == boat.id
    memory.people.unlink(merged)  # once more does nothing
    assert (texts(ANNA), texts(4242)) == (["Anna is allergic to nuts"], ["Anna has a boat in Haifa"])


@pytest.mark.spec("C-20")
def test_the_same_text_on_both_sides_is_remembered_once_and_twice_again_after_undo(memory, texts):
    memory.service.remember(ANNA, "Anna has a boat")
    memory.service.remember(ANNAS_TELEGRAM, "anna has  a boat")
    memory.service.remember(ANNA, "Anna sails", status="pending")
    memory.service.remember(ANNAS_TELEGRAM, "Anna sails")
    merged = memory.people.merge(ANNA, 4242)
    assert texts(ANNA) == ["Anna has a boat", "Anna sails"]
    assert texts(ANNA, ["pending"]) == []
    assert texts(ANNA, ["superseded"]) == ["Anna sails", "anna has  a boat"]
    memory.people.unlink(merged)
    assert (texts(ANNA), texts(4242)) == (["Anna has a boat"], ["Anna sails", "anna has  a boat"])
    assert texts(ANNA, ["pending"]) == ["Anna sails"]


@pytest.mark.spec("C-20")
def test_of_two_values_under_one_key_the_newer_holds_until_undo(memory, clock):
    one, another = KeyValueMemory(memory.service, ANNA), KeyValueMemory(memory.service, ANNAS_TELEGRAM)
    another.save_memory("home_city", "Haifa")
    clock.forward(minutes=1)
    one.save_memory("home_city", "Jaffa")
    another.save_memory("favourite_food", "hummus")
    one.save_memory("car", "red")
    merged = memory.people.merge(ANNA, 4242)
    held = {each["key"]: each["value"] for each in one.load_memory()["memory"]}
    assert held == {"home_city": "Jaffa", "favourite_food": "hummus", "car": "red"}
    assert one.load_memory()["count"] == 3
    memory.people.unlink(merged)
    assert {each["key"]: each["value"] for each in one.load_memory()["memory"]} == {"home_city": "Jaffa", "car": "red"}
    assert another.load_memory()["count"] == 2


@pytest.mark.spec("C-20")
def test_what_came_after_a_merge_stays(memory, texts):
    memory.service.remember(ANNAS_TELEGRAM, "Anna has a boat")
    merged = memory.people.merge(ANNA, 4242)
    memory.service.remember(memory.people.resolve(4242), "Anna sold it")
    memory.people.unlink(merged)
    assert (texts(ANNA), texts(4242)) == (["Anna sold it"], ["Anna has a boat"])


@pytest.mark.spec("C-20")
def test_instructions_of_both_apply_and_what_both_gave_applies_once(memory):
    rules = memory.instructions
    for number in range(120):
        rules.add(ANNA, f"rule {number}", priority=5)
        rules.add(ANNAS_TELEGRAM, f"law {number}", priority=1 + number % 5)
    rules.add(ANNAS_TELEGRAM, "rule 7", priority=9)
    merged = memory.people.merge(ANNA, 4242)
    active = rules.list_instructions(ANNA)
    assert len(active) == 240
    assert [each.text for each in active].count("rule 7") == 1
    assert len(rules.list_instructions(ANNA, active_only=False)) == 241
    memory.people.unlink(merged)
    assert len(rules.list_instructions(ANNA)) == 120
    assert len(rules.list_instructions(ANNAS_TELEGRAM)) == 121


@pytest.mark.spec("C-20")
def test_a_dropped_collection_stays_marked(memory):
    for owner, name in ((ANNAS_TELEGRAM, "old trip"), (ANNAS_TELEGRAM, "both"), (ANNA, "both")):
        memory.service.create_memory(name, f"said in {name}", owner=owner)
        memory.service.delete_collection(name, owner=owner)
    merged = memory.people.merge(ANNA, 4242)
    assert memory.service.collection_dropped_at("old trip", owner=ANNA)
    assert memory.service.collection_dropped_at("both", owner=ANNA)
    memory.people.unlink(merged)
    assert memory.service.collection_dropped_at("old trip", owner=ANNA) is None
    assert memory.service.collection_dropped_at("old trip", owner=ANNAS_TELEGRAM)
    assert memory.service.collection_dropped_at("both", owner=ANNA)


@pytest.mark.spec("C-20")
def test_conversations_move_whole_and_the_one_active_last_goes_on(memory, clock, said):
    graph = _echo(memory)
    _tell(memory, graph, ANNA, "hello from the phone")
    clock.forward(hours=1)
    _tell(memory, graph, ANNA, "hello again")
    clock.forward(minutes=5)
    _tell(memory, graph, 4242, "hello from Telegram")
    ids = {each.session_id for who in (ANNA, "tg:4242") for each in memory.sessions.sessions(who)}
    merged = memory.people.merge(ANNA, 4242)
    for who in (ANNA, "tg:4242"):
        assert said(who) == {
            ("hello from the phone", "heard 1"): False,
            ("hello again", "heard 1"): False,
            ("hello from Telegram", "heard 1"): True,
        }
        assert {each.session_id for each in memory.sessions.sessions(who)} == ids
    assert _tell(memory, graph, ANNA, "and now?") == ["hello from Telegram", "heard 1", "and now?", "heard 3"]
    assert _tell(memory, graph, 4242, "still me")[-1] == "heard 5"
    assert list(examine(memory.saver)) == []

    memory.people.unlink(merged)
    assert said("tg:4242") == {("hello from Telegram", "heard 1", "and now?", "heard 3", "still me", "heard 5"): True}
    assert said(ANNA) == {("hello from the phone", "heard 1"): False, ("hello again", "heard 1"): True}
    assert _tell(memory, graph, ANNA, "me?")[0] == "hello again"
    assert _tell(memory, graph, 4242, "me?")[0] == "hello from Telegram"
    assert list(examine(memory.saver)) == []


@pytest.mark.spec("C-20")
def test_conversations_that_began_at_one_instant_all_move(memory, said, monkeypatch):
    monkeypatch.setattr(session_rows, "time", SimpleNamespace(time_ns=lambda: 1_700_000_000_000_000_000))
    for who, text in ((ANNA, "one"), (4242, "another"), (1, "a third")):
        _talk(memory, who, text)
    merges = [memory.people.merge(ANNA, 4242), memory.people.merge(ANNA, 1)]
    assert sorted(said(ANNA)) == [("a third",), ("another",), ("one",)]
    assert sum(said(ANNA).values()) == 1
    for each in merges:
        memory.people.unlink(each)
    assert (said(ANNA), said(4242), said(1)) == ({("one",): True}, {("another",): True}, {("a third",): True})


@pytest.mark.spec("C-20")
def test_what_was_said_is_found_by_both_and_goes_with_its_session(memory, clock):
    _talk(memory, ANNA, "the boiler leaks")
    telegram = _talk(memory, 4242, "the boiler is hot")
    clock.forward(hours=2)
    memory.index_past_sessions()
    assert len(_heard(memory, ANNA, "boiler")) == 1
    merged = memory.people.merge(ANNA, 4242)
    for who in (ANNA, 4242):
        assert set(_heard(memory, who, "boiler")) == {"the boiler leaks", "the boiler is hot"}
    assert memory.index_past_sessions() == 0
    memory.people.unlink(merged)
    assert (_heard(memory, ANNA, "boiler"), _heard(memory, 4242, "boiler")) == (
        ["the boiler leaks"],
        ["the boiler is hot"],
    )
    memory.people.merge(ANNA, 4242)
    memory.sessions.purge(telegram)
    assert _heard(memory, 4242, "boiler") == ["the boiler leaks"]


@pytest.mark.spec("C-20")
def test_the_same_ids_on_two_phones_are_kept_apart(memory):
    now = memory.service.now()
    for owner, text in ((ANNA, "the boiler leaks"), (ANNAS_TELEGRAM, "the boiler is hot")):
        memory.service.history.add(owner, [PastMessage("1", "s", "user", text, now)])
        memory.service.history.add(owner, [PastMessage("s/1", "s", "user", f"{text} again", now)])
    merged = memory.people.merge(ANNA, 4242)
    assert len(_heard(memory, ANNA, "boiler")) == 4
    memory.people.unlink(merged)
    for owner, text in ((ANNA, "the boiler leaks"), (ANNAS_TELEGRAM, "the boiler is hot")):
        assert sorted(_heard(memory, owner, "boiler")) == [text, f"{text} again"]
    with memory.database.read() as connection:
        ids = connection.execute(select(history_message.c.owner, history_message.c.message_id)).all()
    assert sorted(ids) == [(owner, each) for owner in (ANNA, ANNAS_TELEGRAM) for each in ("1", "s/1")]


@pytest.mark.spec("C-20")
def test_merges_on_merges_are_undone_in_any_order(memory, texts):
    people = {"user:1": "one", "user:2": "two", "user:3": "three"}
    for order in ((0, 1), (1, 0)):
        for owner, text in people.items():
            memory.service.remember(owner, text)
        merges = [memory.people.merge("user:2", "user:3"), memory.people.merge("user:1", "user:2")]
        assert texts("user:3") == ["one", "three", "two"]
        assert memory.people.resolve("user:3") == "user:1"
        for each in order:
            memory.people.unlink(merges[each])
        assert {owner: texts(owner) for owner in people} == {owner: [text] for owner, text in people.items()}
        assert all(memory.people.identifiers(each) == [each] for each in people)


@pytest.mark.spec("C-20")
def test_an_unlink_gives_back_what_came_with_the_link(memory, texts):
    memory.service.remember(ANNAS_TELEGRAM, "Anna has a boat")
    assert memory.people.link(ANNA, 4242) == ANNAS_TELEGRAM
    memory.service.remember(ANNA, "a new life")
    memory.people.unlink(4242)
    assert (texts(ANNA), texts(4242)) == (["a new life"], ["Anna has a boat"])


@pytest.mark.spec("C-20")
def test_erasure_by_either_identifier_leaves_nothing_of_the_person(memory, texts):
    for who in (ANNA, 4242):
        memory.service.remember(memory.people.resolve(who), f"a fact of {who}")
        _talk(memory, who, "hello")
    memory.service.remember(BEN, "Ben sails")
    memory.people.merge(ANNA, 4242)
    memory.erase("tg:4242", now=True)
    with memory.database.read() as connection:
        for table, columns in personal_tables():
            for column in columns:
                assert set(connection.execute(select(column)).scalars()) <= {BEN}, table.name
    assert texts(BEN) == ["Ben sails"]


@pytest.mark.spec("C-20")
def test_a_damaged_memory_stays_under_its_key_stops_nothing_and_is_erased_with_its_person(memory, texts):
    memory.service.remember(ANNAS_TELEGRAM, "Anna has a boat")
    broken = memory.service.remember(ANNAS_TELEGRAM, "Anna owes Ben ten shekels")
    with memory.database.write() as connection:
        damage = update(memory_table).where(memory_table.c.memory_id == broken.id)
        connection.execute(damage.values(text="Anna owes Ben a thousand shekels"))
    merged = memory.people.merge(ANNA, 4242)
    assert texts(ANNA) == ["Anna has a boat"]
    memory.people.unlink(merged)
    assert texts(4242) == ["Anna has a boat"]
    with memory.database.write() as connection:
        connection.execute(damage.values(text="Anna owes Ben ten shekels"))
    assert len(texts(4242)) == 2
    with memory.database.write() as connection:
        connection.execute(damage.values(text="Anna owes Ben a thousand shekels"))
    memory.people.merge(ANNA, 4242)
    memory.erase(ANNA, now=True)
    with memory.database.read() as connection:
        assert connection.execute(select(memory_table.c.text)).all() == []


@pytest.mark.spec("C-20", "C-6")
def test_a_merge_waits_for_the_turn_that_runs(memory, said):
    graph = _echo(memory)
    with ThreadPoolExecutor() as pool:
        with memory.turn(4242) as config:
            merging = pool.submit(memory.people.merge, ANNA, 4242)
            graph.invoke({"messages": "in the middle"}, config)
            assert not merging.done()
        merging.result(timeout=60)
    assert said(ANNA) == {("in the middle", "heard 1"): True}


@pytest.mark.spec("C-20", "C-6")
def test_who_waits_while_their_identifier_is_linked_goes_on_in_the_persons_conversation(memory, said):
    graph = _echo(memory)
    _tell(memory, graph, ANNA, "one")

    async def told_async(text):
        async with memory.turn(4242) as config:
            return [each.text for each in (await graph.ainvoke({"messages": text}, config))["messages"]]

    with ThreadPoolExecutor() as pool:
        with memory.turn(4242):
            merging = pool.submit(memory.people.merge, ANNA, 4242)
            until(lambda: _waiting(memory) == 3)  # its turns of both
            waiting = [
                pool.submit(_tell, memory, graph, "tg:4242", "two"),
                pool.submit(lambda: asyncio.run(told_async("three"))),
            ]
            until(lambda: _waiting(memory) == 5)
        merging.result(timeout=60)
        assert {each.result(timeout=60)[0] for each in waiting} == {"one"}
    assert len(max(said(ANNA), key=len)) == 6
    with memory.database.read() as connection:
        assert set(connection.execute(select(session.c.thread)).scalars()) == {ANNA}


def _waiting(memory):
    with memory.database.read() as connection:
        return connection.execute(select(func.count()).select_from(turn)).scalar_one()


@pytest.mark.spec("C-20", "C-21")
def test_a_message_that_waited_for_a_merge_is_answered_once_also_after_it_is_undone(memory):
    echo = Echo(memory)
    memory.reply(echo.graph, ANNA, "one", message_id="1")
    with ThreadPoolExecutor() as pool:
        with memory.turn(4242):
            merging = pool.submit(memory.people.merge, ANNA, 4242)
            until(lambda: _waiting(memory) == 3)  # its turns of both
            waiting = pool.submit(memory.reply, echo.graph, 4242, "two", message_id="2")
            until(lambda: _waiting(memory) == 4)
        assert waiting.result(timeout=60) == "heard two"
    memory.people.unlink(merging.result(timeout=60))

    assert memory.reply(echo.graph, 4242, "three", message_id="3") == "heard three"
    assert echo.heard == ["one", "two", "three"]


@pytest.mark.spec("C-20", "C-21", "C-5")
def test_a_message_that_was_cut_short_before_a_merge_is_answered_once_after_it(memory, clock, tmp_path):
    done, sent = tmp_path / "done", []

    def order(what: str) -> str:
        """Order it."""
        done.write_text(done.read_text() + what if done.exists() else what)
        return "ordered"

    def graph(dies):
        def agent(state):
            last = state["messages"][-1]
            if last.type == "human" and last.text == "order":
                return {"messages": AIMessage("", tool_calls=[{"name": "order", "args": {"what": "x"}, "id": "1"}])}
            if dies:
                until_stored(memory, ANNAS_TELEGRAM, "ordered")
                die()
            return {"messages": AIMessage(f"heard {last.text}")}

        return chat_graph(memory, agent, [order])

    memory.reply(graph(dies=False), ANNA, "hello", message_id="1")
    clock.forward(minutes=1)
    killed(lambda: memory.reply(graph(dies=True), 4242, "order", message_id="2"))
    take_places_away(memory)
    merge = memory.people.merge(ANNA, 4242)

    assert memory.reply(graph(dies=False), 4242, "order", message_id="2", send=sent.append) == "heard ordered"
    assert memory.reply(graph(dies=False), 4242, "order", message_id="2", send=sent.append).repeated
    memory.people.unlink(merge)
    memory.reply(graph(dies=False), 4242, "bye", message_id="3", send=sent.append)
    assert sent == ["heard ordered", "heard bye"]
    assert done.read_text() == "x"


@pytest.mark.spec("C-20")
def test_a_merge_that_fails_in_the_middle_changes_nothing(memory, texts, said, monkeypatch):
    memory.service.remember(ANNAS_TELEGRAM, "Anna has a boat")
    _talk(memory, 4242, "hello")

    def crash(*_):
        raise RuntimeError("the power is gone")

    with monkeypatch.context() as patched:
        patched.setattr("langmem_plugin.people.links.add", crash)
        with pytest.raises(RuntimeError):
            memory.people.merge(ANNA, 4242)
    assert (texts(4242), texts(ANNA)) == (["Anna has a boat"], [])
    assert said(4242) == {("hello",): True}
    assert memory.people.resolve(4242) == ANNAS_TELEGRAM
    memory.people.merge(ANNA, 4242)
    assert texts(ANNA) == ["Anna has a boat"]


@pytest.mark.spec("C-20", "P-6")
def test_two_who_merge_the_same_people_at_once_make_one_person(memory, database_url, offline_model, texts):
    for each in range(4):
        memory.service.remember(f"user:{each}", f"fact {each}")
    with PhoneMemory(database_url, embeddings=offline_model, now=memory.service.now) as another:
        begin = threading.Barrier(6)

        def link(people, one, other):
            begin.wait(60)
            return people.link(f"user:{one}", f"user:{other}")

        pairs = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 0), (2, 0)]
        with ThreadPoolExecutor(6) as pool:
            merges = [
                pool.submit(link, (memory.people, another.people)[at % 2], *pair) for at, pair in enumerate(pairs)
            ]
            assert sum(each.result(timeout=120) is not None for each in merges) == 3
        assert texts("user:3") == [f"fact {each}" for each in range(4)]
        assert len(another.people.identifiers("user:0")) == 4
    with memory.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(memory_owner)).scalar_one() == 1


@pytest.mark.spec("C-20")
def test_another_process_notices_that_a_conversation_moved_and_came_back(memory, database_url, offline_model, clock):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as another:
        graph, theirs = _echo(memory), _echo(another)
        _tell(another, theirs, 4242, "one")
        merged = memory.people.merge(ANNA, 4242)
        assert _tell(another, theirs, 4242, "two") == ["one", "heard 1", "two", "heard 3"]
        assert _tell(memory, graph, ANNA, "three")[-1] == "heard 5"
        memory.people.unlink(merged)
        assert _tell(another, theirs, 4242, "four")[-1] == "heard 7"
        assert _tell(memory, graph, 4242, "five")[:3] == ["one", "heard 1", "two"]
        assert _tell(another, theirs, ANNA, "me") == ["me", "heard 1"]
        assert list(examine(another.saver)) == []


@pytest.mark.spec("C-20")
def test_a_run_without_a_turn_whose_conversation_moved_writes_nothing_elsewhere(memory, said):
    def agent(_state):
        memory.people.merge(ANNA, 4242)
        return {"messages": AIMessage("merged")}

    graph = StateGraph(MessagesState).add_node(agent).add_edge(START, "agent").compile(checkpointer=memory.saver)
    _talk(memory, 4242, "hello")
    with pytest.raises(UnknownSession):
        graph.invoke({"messages": "merge us"}, {"configurable": {"thread_id": ANNAS_TELEGRAM}}, durability="sync")
    assert list(said(ANNA)) == [("hello", "merge us")]
