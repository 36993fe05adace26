"""The threads of LangGraph's stock savers are taken over with their whole state, and go on where they were."""

import hashlib
import json
import pickle
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from sqlalchemy import create_engine, text

from langmem_plugin import ConversationSaver, PhoneMemory, SessionManager, Settings
from langmem_plugin.conversation.storage.serializer import StrictSerializer
from langmem_plugin.conversation.storage.session_repair import examine
from langmem_plugin.errors import InvalidInput, StoreUnavailable
from langmem_plugin.portability import source_database
from langmem_plugin.portability.sources.langgraph_saver import StockThreads
from langmem_plugin.portability.thread_migration import ThreadMigration
from tests.cases import for_each
from tests.conversation.conftest import history
from tests.portability.stock import ERIN, counting, echo, say, stock_saver, thread, with_subgraph

DAN = "+972509999999"


@pytest.fixture(params=["sqlite", "postgresql"])
def source(request, tmp_path):
    """Where an empty database of the stock saver is to be, on each engine in turn."""
    if request.param == "sqlite":
        yield str(tmp_path / "checkpoints.sqlite")
        return
    with request.getfixturevalue("postgresql_server").copy("stock_saver") as url:
        yield url


def migrated(source, saver, **options):
    with source_database.opened(source) as connection:
        return ThreadMigration(saver, **options).run(StockThreads(connection, saver.serde))


def left_behind(source):
    """All that the database of a stock saver holds."""
    if "://" not in source:
        return hashlib.sha256(Path(source).read_bytes()).hexdigest()
    engine = create_engine(source.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
        found = [connection.execute(text(f"SELECT md5(t::text) FROM {each} t ORDER BY 1")).all() for each in tables]
    engine.dispose()
    return found


@pytest.mark.spec("U-9")
def test_a_migrated_thread_is_the_same_step_by_step(source, database_url):
    with stock_saver(source) as stock:
        graph = echo(stock)
        say(graph, ERIN, "hello", "what is the price", "thanks")
        past = [*graph.get_state_history(thread(ERIN))][-4]
        graph.update_state(past.config, {"messages": [HumanMessage("another way")]})
        graph.invoke(None, {**past.config, "configurable": {**past.config["configurable"]}})
        say(graph, ERIN, "on the other branch", "order it")
        with_inner = with_subgraph(stock)
        say(with_inner, DAN, "hi")
        before = {name: history(stock, name) for name in (ERIN, DAN)}
    untouched = left_behind(source)

    with ConversationSaver(database_url, silence=None) as saver:
        report = migrated(source, saver)
        for name in (ERIN, DAN):
            ours = history(saver, name)
            assert ours == before[name]
        assert {each["namespace"] for each in before[DAN]} > {""}
        assert report.skipped == []
        assert report.stored["session"] == 2
        assert examine(saver) == []
    assert left_behind(source) == untouched


@pytest.mark.spec("U-9")
def test_a_migrated_conversation_goes_on_with_what_was_said_before(source, database_url, offline_model):
    with stock_saver(source) as stock:
        say(echo(stock), ERIN, "hello", "what is the price")

    with PhoneMemory(database_url, embeddings=offline_model) as memory:
        migrated(source, memory.saver)
        graph = echo(memory.saver)
        said = memory.reply(graph, ERIN, "still there?")
        seen = [message.text for message in graph.get_state(thread(ERIN)).values["messages"]]

    assert said.startswith("6: ")
    assert seen[0] == "hello"
    assert len(seen) == 7


@pytest.mark.spec("U-9")
def test_a_question_that_a_graph_waits_with_is_answered_after_the_migration(source, database_url):
    with stock_saver(source) as stock:
        say(echo(stock), ERIN, "hello", "order it")
        say(with_subgraph(stock), DAN, "hi")

    with ConversationSaver(database_url) as saver:
        migrated(source, saver)
        graph = echo(saver)
        assert [each.value for each in graph.get_state(thread(ERIN)).interrupts] == ["Shall I order?"]
        ended = graph.invoke(Command(resume="yes"), thread(ERIN))
        inner = with_subgraph(saver).invoke(Command(resume="sure"), thread(DAN))

    assert ended["messages"][-1].text == "ordered: yes"
    assert inner["messages"][-1].text == "inside: sure"


@pytest.mark.spec("U-9")
def test_a_channel_that_is_rebuilt_from_writes_holds_the_same(source, database_url):
    with stock_saver(source) as stock:
        for number in range(5):
            counting(stock).invoke({"items": [f"given {number}"]}, thread("list"))
        before = [each.values for each in counting(stock).get_state_history(thread("list"))]

    with ConversationSaver(database_url, silence=None) as saver:
        migrated(source, saver)
        assert [each.values for each in counting(saver).get_state_history(thread("list"))] == before
        assert counting(saver).invoke({"items": ["more"]}, thread("list"))["items"][-2:] == ["more", 11]


@pytest.mark.spec("U-9")
def test_a_second_run_stores_nothing_twice_and_takes_what_is_new(source, database_url):
    with stock_saver(source) as stock:
        say(echo(stock), ERIN, "hello")
        with ConversationSaver(database_url, silence=None) as saver:
            migrated(source, saver)
            again = migrated(source, saver)
            say(echo(stock), ERIN, "more")
            say(echo(stock), DAN, "new here")
            grown = migrated(source, saver)
            assert history(saver, ERIN) == history(stock, ERIN)
            assert len(SessionManager(saver).sessions()) == 2

            say(echo(saver), ERIN, "here now")
            said = history(saver, ERIN)
            say(echo(stock), ERIN, "and there too")
            parted = migrated(source, saver)
            assert history(saver, ERIN) == said

    assert (again.stored["session"], again.there_already["session"]) == (0, 1)
    assert (grown.stored["session"], grown.stored["message"], grown.there_already["session"]) == (1, 4, 1)
    assert ["gone on here" in each.reason for each in parted.skipped] == [True]


@pytest.mark.spec("U-9")
def test_a_thread_that_has_grown_keeps_its_session_and_is_searched_whole(source, database_url, offline_model):
    with stock_saver(source) as stock, PhoneMemory(database_url, embeddings=offline_model) as memory:
        memory.past_sessions.close()  # it is told when
        memory.past_sessions.worker.closing.clear()
        found = []
        for said in ("the boiler leaks", "the boat is blue"):
            say(echo(stock), ERIN, said)
            migrated(source, memory.saver)
            memory.saver.end_session(ERIN)
            memory.index_past_sessions()
            found.append(memory.service.history.search(ERIN, "the boiler")[0].message)

        assert found[0] == found[1]
        assert memory.service.history.search(ERIN, "the boat")[0].message.text == "the boat is blue"
        assert [each.message_counter for each in memory.sessions.sessions(ERIN)] == [4]
        assert examine(memory.saver) == []


@pytest.mark.spec("U-9", "C-15")
@for_each(
    "damaged",
    ["thread_id = :who", "thread_id = :who AND checkpoint_id NOT IN (SELECT max(checkpoint_id) FROM checkpoints)"],
)
def test_a_thread_that_has_grown_and_cannot_be_read_any_more_stays_here_as_it_was(damaged, tmp_path, clock):
    file = str(tmp_path / "checkpoints.sqlite")
    with stock_saver(file) as stock, ConversationSaver(f"sqlite:///{tmp_path}/langmem.db", now=clock) as saver:
        say(echo(stock), ERIN, "the boiler leaks")
        migrated(file, saver)
        before = history(saver, ERIN)
        say(echo(stock), ERIN, "the boat is blue")
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(f"UPDATE checkpoints SET checkpoint = x'c1' WHERE {damaged}", {"who": ERIN})
            connection.commit()
        report = migrated(file, saver)

        assert history(saver, ERIN) == before
        assert report.stored["message"] == 0
        assert any("it stays so" in each.reason for each in report.skipped)
        assert examine(saver) == []


@pytest.mark.spec("U-9", "C-3", "C-4")
def test_of_several_threads_of_a_person_the_last_is_current_and_the_others_are_archived(source, database_url):
    with stock_saver(source) as stock:
        say(echo(stock), "thread-1", "first")
        say(echo(stock), "thread-2", "second")
        say(echo(stock), "web/session 3", "a key of its own")

    with ConversationSaver(database_url) as saver:
        report = migrated(source, saver, phone_of={"thread-1": "+972 50-123-4567", "thread-2": ERIN})
        manager = SessionManager(saver)
        found = manager.sessions(ERIN)
        said = [[message.content for message in manager.messages(each.session_id)] for each in found]
        kept = manager.sessions("web/session 3")

    assert report.stored == {"session": 3, "message": 6}
    assert said == [["second", "1: second"], ["first", "1: first"]]
    assert [each.ended_at is None for each in found] == [True, False]
    assert [each.whatsapp_chat for each in kept] == ["web/session 3"]


@pytest.mark.spec("U-9", "C-3")
def test_a_conversation_that_goes_on_here_already_stays_the_current_one(source, database_url, clock):
    with stock_saver(source) as stock:
        say(echo(stock), ERIN, "long ago")

    with ConversationSaver(database_url) as saver:
        say(echo(saver), ERIN, "today")
        migrated(source, saver)
        say(echo(saver), ERIN, "go on")
        current, past = SessionManager(saver).sessions(ERIN)

    assert (current.ended_at, current.message_counter) == (None, 4)
    assert past.ended_at is not None
    assert past.created_at < current.created_at


@pytest.mark.spec("U-9", "C-3")
def test_what_was_silent_for_long_is_over_at_the_next_message(source, database_url, clock):
    with stock_saver(source) as stock:
        say(echo(stock), ERIN, "long ago")

    with ConversationSaver(database_url, now=clock) as saver:
        migrated(source, saver)
        [found] = SessionManager(saver).sessions(ERIN)
        clock.instant = found.last_active + timedelta(minutes=31)
        say(echo(saver), ERIN, "today")
        assert [each.message_counter for each in SessionManager(saver).sessions(ERIN)] == [2, 2]


_ran: list[str] = []


class _Evil:
    def __reduce__(self):
        return (_ran.append, ("pickle",))


def evil(*_arguments, **_named):
    _ran.append("constructed")


def _hostile_payloads():
    module = __name__
    single = ormsgpack.Ext(0, ormsgpack.packb((module, "evil", "x")))
    keywords = ormsgpack.Ext(2, ormsgpack.packb((module, "evil", {"x": 1})))
    method = ormsgpack.Ext(3, ormsgpack.packb((module, "evil", "x", "__call__")))
    modern = ormsgpack.Ext(5, ormsgpack.packb((module, "evil", {}, "model_validate_json")))
    for each in (single, keywords, method, modern):
        yield "msgpack", ormsgpack.packb({"id": "x", "channel_values": {"a": each}})
    yield "pickle", pickle.dumps(_Evil())
    for version in (1, 2):
        held = {"lc": version, "type": "constructor", "id": [*module.split("."), "evil"], "kwargs": {}}
        yield "json", json.dumps(held).encode()
        yield (
            "json",
            json.dumps({"lc": version, "type": "constructor", "id": ["os", "system"], "args": ["true"]}).encode(),
        )
    yield "no such kind", b"x"
    yield "msgpack", b"\xc1 no msgpack"
    yield "json", b"[" * 100_000
    yield None, None


@pytest.mark.slow
@pytest.mark.spec("U-9", "P-10")
@for_each(("kind", "payload"), list(_hostile_payloads()))
def test_a_hostile_payload_runs_nothing_and_is_named(kind, payload, tmp_path):
    file = str(tmp_path / "checkpoints.sqlite")
    with stock_saver(file) as stock:
        say(echo(stock), ERIN, "hello")
        say(echo(stock), DAN, "hello")
    with closing(sqlite3.connect(file)) as connection:
        newest = "(SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ?)"
        connection.execute(
            f"UPDATE checkpoints SET type = ?, checkpoint = ? WHERE checkpoint_id = {newest}", (kind, payload, ERIN)
        )
        connection.execute("UPDATE writes SET type = ?, value = ? WHERE thread_id = ?", (kind, payload or b"", DAN))
        connection.commit()

    _ran.clear()
    with ConversationSaver(f"sqlite:///{tmp_path}/langmem.db") as saver:
        report = migrated(file, saver)
        texts = {each.whatsapp_chat: each.message_counter for each in SessionManager(saver).sessions()}
        assert examine(saver) == []

    assert _ran == []
    assert texts == {ERIN: 1, DAN: 2}
    assert [ERIN in each.place for each in report.skipped].count(True) == 1
    assert all("task" in each.place for each in report.skipped if DAN in each.place)
    if kind is not None:
        assert any(DAN in each.place for each in report.skipped)


@dataclass
class Cart:
    items: int


class WithCart(MessagesState):
    cart: Cart


@pytest.mark.spec("U-9", "P-10")
def test_a_type_of_ones_own_is_named_and_read_where_it_is_allowed(tmp_path):
    file = str(tmp_path / "checkpoints.sqlite")

    def fill(state):
        return {"cart": Cart(2), "messages": AIMessage("filled")}

    with stock_saver(file) as stock:
        say(StateGraph(WithCart).add_node(fill).add_edge(START, "fill").compile(checkpointer=stock), ERIN, "hello")

    name = f"{__name__}.Cart"
    refused = Settings(database=f"sqlite:///{tmp_path}/refused.db")
    with ConversationSaver.from_settings(refused) as saver:
        report = migrated(file, saver)
        assert any(f'allowed_types=["{name}"]' in each.reason for each in report.skipped)
    allowed = Settings(database=f"sqlite:///{tmp_path}/allowed.db", allowed_types=[name])
    with ConversationSaver.from_settings(allowed) as saver:
        report = migrated(file, saver)
        assert report.skipped == []
        assert saver.get_tuple(thread(ERIN)).checkpoint["channel_values"]["cart"] == Cart(2)


@pytest.mark.spec("U-9", "C-13")
def test_what_is_no_database_of_a_stock_saver_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="there is no file"), source_database.opened(str(tmp_path / "none.db")):
        pass
    no_database = tmp_path / "a.txt"
    no_database.write_text("hello")
    with pytest.raises(InvalidInput, match="no SQLite database"), source_database.opened(str(no_database)):
        pass
    with pytest.raises(InvalidInput, match="mysql"), source_database.opened("mysql://user:secret@host/db"):
        pass
    with pytest.raises(StoreUnavailable), source_database.opened("postgresql://user:secret@127.0.0.1:1/db"):
        pass
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE checkpoints (thread_id TEXT, checkpoint BLOB)")
    with source_database.opened(str(other)) as connection, pytest.raises(InvalidInput, match="has no column"):
        StockThreads(connection, StrictSerializer())
