"""A guest that behaves: constructed as the stock savers are, a user's own keys untouched, clear about wrong use."""

import asyncio
import itertools
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import select

from langmem_plugin import ConversationSaver, InvalidInput, SessionManager, Silence, StoreUnavailable
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import message
from tests.cases import for_each
from tests.conversation.test_peers import Sealed

MOM = "+972501234567"
OWN = {"session_id": "s-1", "phone": "desk", "automated": True, "user": 7, "langmem": "mine"}


def of(thread=MOM, **more):
    return {"configurable": {"thread_id": thread, **more}}


def echo(saver):
    def answer(state: MessagesState, config):
        seen.append({key: part for key, part in config["configurable"].items() if key in OWN})
        return {"messages": AIMessage(f"You said {state['messages'][-1].text}.", id="a")}

    seen = []
    graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)
    return graph, seen


def say(saver, text, config):
    graph, _ = echo(saver)
    return [each.text for each in graph.invoke({"messages": [HumanMessage(text, id=text)]}, config)["messages"]]


@pytest.mark.spec("C-2")
def test_a_users_own_keys_pass_through_as_with_a_stock_saver(saver):
    found = []
    for each in (saver, InMemorySaver()):
        graph, seen = echo(each)
        graph.invoke({"messages": [HumanMessage("hello", id="h")]}, of(**OWN))
        history = list(each.list(of()))
        filtered = list(each.list(of(), filter={"session_id": "s-1", "automated": True}))
        metadata = [{key: part for key, part in one.metadata.items() if key != "run_id"} for one in history]
        keys = [set(one.config["configurable"]) for one in history]
        found.append((seen, metadata, keys, len(filtered)))
    assert found[0] == found[1]
    assert found[0][0] == [OWN]


@pytest.mark.spec("C-2")
def test_no_random_id_is_drawn_that_a_seeded_test_would_miss(saver, clock, monkeypatch):
    drawn = []
    for each in (InMemorySaver(), saver):
        ids = itertools.count(1)
        monkeypatch.setattr(uuid, "uuid4", lambda ids=ids: uuid.UUID(int=next(ids)))
        for _ in range(2):
            say(each, "hello", of())
            clock.forward(hours=1)
        drawn.append(next(ids))
    assert drawn[0] == drawn[1]


@pytest.mark.spec("C-2")
def test_a_serializer_that_is_set_later_is_the_one_that_is_used(saver, database):
    saver.serde = EncryptedSerializer(Sealed())
    assert say(saver, "rosebud", of())[0] == "rosebud"
    with database.read() as connection:
        assert b"rosebud" not in b"".join(connection.execute(select(message.c.payload)).scalars())


@pytest.mark.spec("C-2", "P-4")
def test_our_own_keys_stay_out_of_the_metadata(saver):
    with saver.turn(MOM) as config:
        say(saver, "hello", {"configurable": {**config["configurable"], "langmem_phone": MOM}})
    ours = {key for each in saver.list(of()) for key in each.metadata if key.startswith("langmem_")}
    assert ours == set()


@pytest.mark.spec("C-2")
def test_what_is_asked_for_without_a_trace_leaves_none(saver):
    assert say(saver, "hello", of(langmem_automated=True)) == ["hello", "You said hello."]
    assert saver.get_tuple(of()) is None


# Opening


@pytest.mark.spec("C-2")
@for_each("form", [str, Path, lambda path: f"sqlite:///{path}"], ids=["text", "path", "url"])
def test_it_opens_what_the_stock_savers_open(tmp_path, form):
    with ConversationSaver.from_conn_string(form(tmp_path / "my talks.db"), silence=None) as saver:
        saver.setup()
        say(saver, "hello", of())
    with ConversationSaver(tmp_path / "my talks.db") as saver:
        assert say(saver, "again", of())[0] == "hello"


@pytest.mark.spec("C-2")
def test_it_opens_in_memory_and_in_asynchronous_code():
    async def talk():
        async with ConversationSaver.from_conn_string(":memory:") as saver:
            await saver.setup()
            graph, _ = echo(saver)
            return await graph.ainvoke({"messages": "hello"}, of())

    assert len(asyncio.run(talk())["messages"]) == 2


WRONG = {
    "silence": ["30", 1800, timedelta(0), timedelta(minutes=-1)],
    "region": ["Israel", "il", 972],
    "now": [lambda: datetime(2026, 1, 1), datetime(2026, 1, 1), lambda: 0],  # noqa: DTZ001
    "turn_timeout": [120],
    "media": [5],
    "executor": [4],
    "count_tokens": [100],
}


@pytest.mark.spec("C-2")
@for_each(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_an_argument_that_cannot_be_used_is_refused_at_once(tmp_path, name, value):
    with pytest.raises(InvalidInput, match=r"pass|give"):
        ConversationSaver(tmp_path / "talks.db", **{name: value})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spec("C-2")
@for_each("wrong", [None, 5, ["sqlite://"]])
def test_a_database_that_is_none_is_refused(wrong):
    with pytest.raises(InvalidInput, match="give"):
        ConversationSaver(wrong)
    with pytest.raises(InvalidInput, match="give"):
        ConversationSaver.from_conn_string(wrong)


# Silence


@pytest.mark.spec("C-3")
def test_without_silence_a_conversation_never_ends(fresh, clock):
    saver = fresh(silence=None)
    say(saver, "hello", of())
    clock.forward(days=4_000)
    assert SessionManager(saver).expire() == (0, 0)
    assert saver.sessions.silence.since(clock()) < clock()
    assert say(saver, "again", of())[0] == "hello"


@pytest.mark.spec("C-3")
@for_each("silence", [timedelta(hours=2), Silence(timedelta(hours=2)), timedelta.max])
def test_a_silence_may_be_a_plain_timedelta(fresh, clock, silence):
    saver = fresh(silence=silence)
    say(saver, "hello", of())
    clock.forward(hours=2, seconds=-1)
    assert say(saver, "again", of())[0] == "hello"
    assert sum(saver.sessions.silent_ended()) == 0
    clock.forward(hours=2)
    assert say(saver, "later", of())[0] == ("hello" if silence == timedelta.max else "later")


# After the end

NOTHING = of(checkpoint_ns="", checkpoint_id="1")
USES = {
    "get_tuple": (of(),),
    "put": (NOTHING, {"id": "2", "channel_values": {}}, {}, {}),
    "put_writes": (NOTHING, [("a", 1)], "task"),
    "delete_thread": (MOM,),
    "delete_for_runs": (["run"],),
    "copy_thread": (MOM, "other"),
    "prune": ([MOM],),
}
ALONE = {
    "list": (of(),),
    "current_session": (MOM,),
    "end_session": (MOM,),
    "session_of": (of(),),
}


@pytest.mark.spec("C-2")
def test_what_is_closed_says_so_whatever_is_asked_of_it(database_url):
    with Database(database_url) as database, ThreadPoolExecutor() as executor:
        for saver in (ConversationSaver(database), ConversationSaver(database, executor=executor)):
            saver.close()
            saver.close()
            for name, given in {**USES, **ALONE}.items():
                with pytest.raises(StoreUnavailable, match="closed"):
                    getattr(saver, name)(*given)
            for name, given in USES.items():
                with pytest.raises(StoreUnavailable, match="closed"):
                    asyncio.run(getattr(saver, f"a{name}")(*given))
            with pytest.raises(StoreUnavailable, match="closed"), saver.turn(MOM):
                pass
            with pytest.raises(StoreUnavailable, match="closed"):
                asyncio.run(_first(saver.alist(of())))
            graph, _ = echo(saver)
            with pytest.raises(StoreUnavailable, match="closed"):
                asyncio.run(graph.ainvoke({"messages": "hello"}, of()))


@pytest.mark.spec("C-2")
def test_an_executor_that_was_shut_down_is_a_clear_error(database):
    executor = ThreadPoolExecutor(1)
    with ConversationSaver(database, executor=executor) as saver:
        executor.shutdown()
        with pytest.raises(StoreUnavailable, match="shut down"):
            asyncio.run(saver.aget_tuple(of()))
        assert saver.get_tuple(of()) is None


async def _first(found):
    return await anext(found)
