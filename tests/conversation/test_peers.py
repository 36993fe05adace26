"""What the stock savers are tested for elsewhere: history filters, caching, streams, encryption, pruning, copies, threads."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import CachePolicy, Command, interrupt
from sqlalchemy import select

from langmem_plugin import ConversationSaver
from langmem_plugin.database.conversation_tables import message as message_table
from langmem_plugin.database.conversation_tables import value as value_table
from tests.cases import for_each
from tests.conversation.conftest import facts, history, lossless

MOM, DAD = "+972501234567", "+972507654321"


def of(phone: str = MOM, **more: Any) -> Any:
    return {"configurable": {"thread_id": phone, "checkpoint_ns": "", **more}}


def echo(saver):
    def answer(state: MessagesState):
        return {"messages": AIMessage(f"You said {state['messages'][-1].text}.", id=f"a{len(state['messages'])}")}

    return StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)


def say(graph, text, phone=MOM, **config):
    given = {"messages": [HumanMessage(text, id=text)]}
    return [each.text for each in graph.invoke(given, {"configurable": {"thread_id": phone}, **config})["messages"]]


def rows(saver, table=message_table, phone=MOM) -> int:
    with saver.database.read() as connection:
        return len(connection.execute(select(table.c.row).where(table.c.thread == phone)).all())


def raw_bytes(saver) -> bytes:
    """Everything there is on disk, or what a dump of the tables would hold."""
    if saver.database.path:
        return b"".join(path.read_bytes() for path in saver.database.path.parent.iterdir() if path.is_file())
    with saver.database.read() as connection:
        tables = ("langmem_session", "langmem_message", "langmem_value", "langmem_checkpoint", "langmem_pending")
        found = [connection.exec_driver_sql(f"SELECT * FROM {table}").all() for table in tables]
    return b"".join(
        part if isinstance(part, bytes) else str(part).encode() for table in found for row in table for part in row
    )


# History


@pytest.mark.spec("C-2")
def test_history_is_filtered_limited_and_cut_off_as_asked(saver):
    graph = echo(saver)
    for text in ("one", "two"):
        say(graph, text, metadata={"channel": "sms", "turn": text})
    states = list(graph.get_state_history(of()))

    ids = [state.config["configurable"]["checkpoint_id"] for state in states]
    assert ids == sorted(ids, reverse=True)
    assert [s.config for s in graph.get_state_history(of(), limit=2)] == [s.config for s in states[:2]]
    assert [s.config for s in graph.get_state_history(of(), before=states[2].config)] == [s.config for s in states[3:]]
    by_source = list(graph.get_state_history(of(), filter={"source": "input"}))
    assert [state.metadata["turn"] for state in by_source] == ["two", "one"]
    assert len(list(graph.get_state_history(of(), filter={"turn": "one", "channel": "sms"}))) == 3
    assert list(graph.get_state_history(of(), filter={"turn": "three"})) == []
    assert len(list(graph.get_state_history(of(), filter={"channel": "sms"}, limit=4, before=states[0].config))) == 4
    assert list(graph.get_state_history(of(), limit=0)) == []


@pytest.mark.spec("C-1")
def test_a_list_without_a_config_shows_every_thread_and_one_with_a_config_only_its_own(saver):
    graph = echo(saver)
    say(graph, "hers", MOM)
    say(graph, "his", DAD)
    assert {each.config["configurable"]["thread_id"] for each in saver.list(None)} == {MOM, DAD}
    assert {each.config["configurable"]["thread_id"] for each in saver.list(of(DAD))} == {DAD}
    assert len(list(saver.list(None, limit=4))) == 4


# Graph features that lean on the saver


@pytest.mark.spec("C-2")
def test_a_cached_node_is_not_run_again(saver):
    runs = []

    def cook(state: MessagesState):
        runs.append(state["messages"][-1].text)
        return {"messages": AIMessage("Cooked.", id=f"c{len(state['messages'])}")}

    policy = CachePolicy(key_func=lambda state: state["messages"][-1].text)
    graph = StateGraph(MessagesState).add_node(cook, cache_policy=policy).add_edge(START, "cook")
    graph = graph.compile(checkpointer=saver, cache=InMemoryCache())
    assert say(graph, "soup") == say(graph, "soup", DAD) == ["soup", "Cooked."]
    assert runs == ["soup"]
    assert [each.text for each in graph.get_state(of(DAD)).values["messages"]] == ["soup", "Cooked."]


@pytest.mark.spec("C-2", "C-19")
def test_a_stream_that_stopped_to_ask_goes_on_after_a_restart(fresh):
    def build(saver):
        def ask(state: MessagesState):
            return {"messages": AIMessage(f"So {interrupt('sure?')}.", id="a1")}

        graph = (
            StateGraph(MessagesState).add_node(ask).add_node("end", lambda _: {"messages": AIMessage("Bye.", id="a2")})
        )
        return graph.add_edge(START, "ask").add_edge("ask", "end").compile(checkpointer=saver)

    asked = list(build(fresh()).stream({"messages": [HumanMessage("buy", id="h")]}, of(), stream_mode="updates"))
    assert asked[-1]["__interrupt__"][0].value == "sure?"
    answered = list(build(fresh()).stream(Command(resume="yes"), of(), stream_mode="updates"))
    assert [list(update) for update in answered] == [["ask"], ["end"]]
    assert [m.text for m in build(fresh()).get_state(of()).values["messages"]] == ["buy", "So yes.", "Bye."]


# Serializers

STRICT = """
import sys, logging
from dataclasses import dataclass
from typing import Any
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import START, StateGraph, MessagesState
from langmem_plugin import ConversationSaver, NotSerializable

@dataclass
class Price:
    amount: int

class Shop(MessagesState):
    price: Price

class Undeclared(MessagesState):
    price: Any

saver = ConversationSaver(sys.argv[1])
config = {"configurable": {"thread_id": "+972501234567"}}
def build(schema, saver):
    def work(state):
        return {"price": Price(3), "messages": ToolMessage("3", tool_call_id="c", artifact=("a", 1), id="t")}
    return StateGraph(schema).add_node("work", work).add_edge(START, "work").compile(checkpointer=saver)

def seen():
    graph = build(Shop, saver)
    graph.invoke({"messages": []}, config)
    declared = graph.get_state(config).values
    return declared["price"], declared["messages"][-1].artifact

logging.disable()
try:
    build(Undeclared, saver).invoke({"messages": []}, config)
except NotSerializable as error:
    print("__main__.Price" in str(error))
print(seen() == (Price(3), ("a", 1)))
saver.close()
"""


@pytest.mark.slow
@pytest.mark.spec("C-2")
def test_under_strict_msgpack_the_types_a_graph_declares_come_back_and_others_are_refused():
    environment = {**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"}
    done = subprocess.run(
        [sys.executable, "-c", STRICT, "sqlite://"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["True", "True"], done.stderr


class Sealed:
    """A cipher of the kind an EncryptedSerializer takes."""

    def __init__(self) -> None:
        self.box = AESGCM(AESGCM.generate_key(128))

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        nonce = os.urandom(12)
        return "aes", nonce + self.box.encrypt(nonce, plaintext, None)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        assert ciphername == "aes"
        return self.box.decrypt(ciphertext[:12], ciphertext[12:], None)


@pytest.mark.spec("C-2")
def test_with_an_encrypting_serializer_no_word_reaches_the_disk(fresh):
    serde = EncryptedSerializer(Sealed())
    saver = fresh(serde=serde)
    graph = echo(saver)
    say(graph, "rosebud", DAD)
    say(graph, "rosebud" * 200, DAD, metadata={"topic": "marzipan"})

    restarted = echo(fresh(serde=serde))
    said = [each.text for each in restarted.get_state(of(DAD)).values["messages"]]
    assert said[:2] == ["rosebud", "You said rosebud."]
    kept = raw_bytes(saver)
    assert b"marzipan" not in kept
    # The id of a message is no secret: here it is the text itself.
    with saver.database.read() as connection:
        payloads = connection.execute(select(message_table.c.payload)).scalars().all()
    assert all(b"rosebud" not in payload for payload in payloads)
    assert b"You said" not in kept


# Deleting, pruning, copying: rows are shared, so what goes must not take along what stays


def runs_of(phone, texts, saver):
    graph = echo(saver)
    for text in texts:
        say(graph, text, phone, metadata={"run_id": text})
    return graph


@pytest.mark.spec("C-2", "P-4")
@for_each("warm", [True, False], ids=["warm", "after a restart"])
@for_each("doomed", [["two"], ["one"], ["three"], ["one", "two", "three"]])
def test_deleting_runs_leaves_the_others_whole_and_nothing_of_their_own(fresh, doomed, warm):
    saver = fresh()
    runs_of(MOM, ["one", "two", "three"], saver)
    expected = [
        each for each in history(saver, MOM) if dict(each["metadata"][1])["str", "run_id"][1].strip("'") not in doomed
    ]

    saver.delete_for_runs(doomed)

    left = saver if warm else fresh()
    assert [each["values"] for each in history(left, MOM)] == [each["values"] for each in expected]
    if len(doomed) == 3:
        assert rows(saver) == rows(saver, value_table) == 0
        assert b"You said" not in raw_bytes(saver)
    if doomed == ["three"]:
        assert rows(saver) == 4


@pytest.mark.spec("C-5")
def test_a_message_sent_again_after_its_run_was_deleted_is_stored_again(fresh):
    saver, other = fresh(), fresh()
    graph = runs_of(MOM, ["one", "two"], saver)
    other.delete_for_runs(["two"])  # as `multitask_strategy="rollback"` does, here from another process
    say(graph, "two")
    assert [m.text for m in echo(fresh()).get_state(of()).values["messages"]] == [
        "one",
        "You said one.",
        "two",
        "You said two.",
    ]

    saver.delete_for_runs(["one", "two"])
    say(graph, "two")
    assert "two" in [m.text for m in echo(fresh()).get_state(of()).values["messages"]]


@pytest.mark.spec("C-2")
def test_pruning_keeps_the_newest_checkpoint_readable_and_drops_what_only_older_ones_held(fresh):
    saver = fresh()
    graph = runs_of(MOM, ["one", "two"], saver)
    graph.update_state(of(), {"messages": [HumanMessage("edited", id="one")]})
    newest = facts(saver.get_tuple(of()))
    assert rows(saver) == 5

    saver.prune([MOM])

    for each in (saver, fresh()):
        assert facts(each.get_tuple(of()))["values"] == newest["values"]
        assert len(list(each.list(of()))) == 1
    assert rows(saver) == 4
    assert say(echo(fresh()), "three")[0] == "edited"


@pytest.mark.spec("C-2", "P-4")
def test_deleting_a_thread_leaves_no_byte_of_it(saver):
    graph = echo(saver)
    say(graph, "sesame", MOM)
    say(graph, "bread", DAD)
    saver.delete_thread(MOM)
    assert graph.get_state(of(MOM)).values == {}
    assert say(graph, "butter", DAD)[0] == "bread"
    saver.database.engine.dispose()
    assert rows(saver) == 0
    if saver.database.path:
        assert b"sesame" not in Path(saver.database.path).read_bytes()


@pytest.mark.spec("C-2")
def test_a_copy_shares_nothing_with_its_original(fresh):
    saver = fresh()
    runs_of(MOM, ["one", "two"], saver)
    original = history(saver, MOM)

    saver.copy_thread(MOM, DAD)
    assert history(fresh(), DAD) == original
    say(echo(saver), "three", DAD)
    assert history(fresh(), MOM) == original
    saver.delete_thread(MOM)
    assert [m.text for m in echo(fresh()).get_state(of(DAD)).values["messages"]][::2] == ["one", "two", "three"]


# Calls of one run come from several threads, in any order


@pytest.mark.spec("C-2", "C-9")
@for_each("attempt", range(3))
def test_calls_of_one_run_may_come_from_several_threads_in_any_order(fresh, attempt):
    stock, ours = lossless(), fresh()
    shared = [HumanMessage(f"m{number}", id=f"m{number}") for number in range(4)]
    ids = [str(uuid6()) for _ in range(6)]
    parents: list[str | None] = [None, *ids[:-1]]

    def calls(saver):
        version = None
        for number, (made, parent) in enumerate(zip(ids, parents, strict=True)):
            version = saver.get_next_version(version, None)
            body = {**empty_checkpoint(), "id": made, "ts": "now"}
            said = [*shared, *(AIMessage(f"step {step}", id=f"s{step}") for step in range(number))]
            body |= {"channel_values": {"messages": said}, "channel_versions": {"messages": version}}
            yield (
                saver.put,
                (of(checkpoint_id=parent) if parent else of(), body, {"step": number}, {"messages": version}),
            )
            for task in range(3):
                result = ToolMessage("done", tool_call_id=str(task), id=f"t{number}.{task}", artifact=(task, "x" * 600))
                yield (
                    saver.put_writes,
                    (of(checkpoint_id=made), [("messages", [result]), ("n", task)], f"task{task}", f"~{task}"),
                )

    for call, arguments in calls(stock):
        call(*arguments)
    todo = list(calls(ours))
    todo = todo[::-1] if attempt == 0 else todo[attempt:] + todo[:attempt]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda each: each[0](*each[1]), todo))

    for saver in (ours, fresh()):
        assert history(saver, MOM) == history(stock, MOM)


@pytest.mark.spec("C-2")
def test_a_saver_alone_opens_creates_and_closes_its_database(database_url):
    with ConversationSaver(database_url) as saver:
        say(echo(saver), "hello")
    with ConversationSaver(database_url) as saver:
        assert say(echo(saver), "again") == ["hello", "You said hello.", "again", "You said again."]
