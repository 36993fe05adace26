"""Whoever can write to the database can still not run code: what is stored builds messages and data, nothing else."""

import contextlib
import functools
import json
import pickle
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ormsgpack
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde import jsonplus
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from sqlalchemy import select, update

from langmem_plugin import ConversationSaver, PhoneMemory, SessionManager, Settings
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from langmem_plugin.conversation.storage import codec
from langmem_plugin.conversation.storage.session_repair import examine, rebuild
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import DamagedSession, NotSerializable, TypeNotAllowed
from tests.conftest import Clock

pytestmark = pytest.mark.slow

ERIN = "+972501234567"
CONFIG: Any = {"configurable": {"thread_id": ERIN}}

Typed = tuple[str, bytes]


def extension(code: int, *parts: Any) -> Typed:
    return "msgpack", ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(parts)))


def inside_a_message(code: int, *parts: Any) -> Typed:
    harm = ormsgpack.Ext(code, ormsgpack.packb(parts))
    message = ("langchain_core.messages.human", "HumanMessage", {"content": "hi", "additional_kwargs": {"x": harm}})
    return extension(jsonplus.EXT_PYDANTIC_V2, *message, "model_validate_json")


class Reduced:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> Any:
        import os

        return os.system, (self.command,)


HARM: dict[str, Callable[[str], Typed]] = {
    "a function of one argument": lambda do: extension(jsonplus.EXT_CONSTRUCTOR_SINGLE_ARG, "os", "system", do),
    "eval": lambda do: extension(
        jsonplus.EXT_CONSTRUCTOR_SINGLE_ARG, "builtins", "eval", f"__import__('os').system({do!r})"
    ),
    "positional arguments": lambda do: extension(jsonplus.EXT_CONSTRUCTOR_POS_ARGS, "subprocess", "getoutput", [do]),
    "keyword arguments": lambda do: extension(
        jsonplus.EXT_CONSTRUCTOR_KW_ARGS, "subprocess", "run", {"args": do, "shell": True}
    ),
    "a method": lambda do: extension(
        jsonplus.EXT_METHOD_SINGLE_ARG, "builtins", "eval", f"__import__('os').system({do!r})", "__call__"
    ),
    "a method of what is allowed": lambda do: extension(
        jsonplus.EXT_METHOD_SINGLE_ARG, "langchain_core.messages.human", "HumanMessage", do, "__init__"
    ),
    "a pydantic model": lambda do: extension(
        jsonplus.EXT_PYDANTIC_V2, "subprocess", "Popen", {"args": do, "shell": True}, "model_validate_json"
    ),
    "an old pydantic model": lambda do: extension(
        jsonplus.EXT_PYDANTIC_V1, "subprocess", "Popen", {"args": do, "shell": True}
    ),
    "inside a message": lambda do: inside_a_message(jsonplus.EXT_CONSTRUCTOR_SINGLE_ARG, "os", "system", do),
    "inside a delta": lambda do: (
        "msgpack",
        ormsgpack.packb(
            ormsgpack.Ext(
                jsonplus.EXT_DELTA_SNAPSHOT, extension(jsonplus.EXT_CONSTRUCTOR_SINGLE_ARG, "os", "system", do)[1]
            )
        ),
    ),
    "JSON": lambda do: (
        "json",
        json.dumps({"lc": 2, "type": "constructor", "id": ["os", "system"], "args": [do]}).encode(),
    ),
    "JSON of langchain": lambda do: (
        "json",
        json.dumps({"lc": 1, "type": "constructor", "id": ["subprocess", "getoutput"], "kwargs": {"cmd": do}}).encode(),
    ),
    "JSON of langchain's own": lambda do: (
        "json",
        json.dumps(
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain_core", "prompts", "prompt", "PromptTemplate"],
                "kwargs": {"template": do, "input_variables": []},
            }
        ).encode(),
    ),
    "pickle": lambda do: ("pickle", pickle.dumps(Reduced(do))),
}


class Shop(MessagesState):
    notes: str
    seen: list[str]


@functools.lru_cache(1)
def shop(saver: Any) -> Any:
    """Asks before it answers, so that there is a pending write; its notes are a row of their own."""

    def answer(state: Shop) -> Any:
        if "buy" in state["messages"][-1].text:
            interrupt("Sure?")
        return {"messages": AIMessage("ok"), "notes": f"{len(state['messages'])}" * 900, "seen": ["a", "b"]}

    return StateGraph(Shop).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)


def poison(saver: ConversationSaver, phone: str, where: str, harm: Typed) -> None:
    """Writes the payload in place of every one of its kind, with a checksum that fits."""
    table = metadata.tables["langmem_" + where.partition(".")[0]]
    with saver.database.write() as connection:
        for row in connection.execute(select(table).where(table.c.thread == phone)).mappings().all():
            name, stored = codec.decompress(row["payload"])
            match where:
                case "message" | "value":
                    name, stored = harm
                case "pending":
                    writes = [[*write[:3], ["p", *harm]] for write in ormsgpack.unpackb(stored)]
                    stored = ormsgpack.packb(writes)
                case "checkpoint":
                    name, stored = harm
                case "checkpoint.body":
                    stored = ormsgpack.packb([harm, *ormsgpack.unpackb(stored)[1:]])
                case "checkpoint.metadata":
                    body, _, held = ormsgpack.unpackb(stored)
                    stored = ormsgpack.packb([body, harm, held])
                case "checkpoint.channel":
                    body, facts, held = ormsgpack.unpackb(stored)
                    stored = ormsgpack.packb([body, facts, held | {"seen": ["p", *harm]}])
            key = [column == row[column.name] for column in table.primary_key]
            connection.execute(update(table).where(*key).values(payload=codec.compress(name, stored)))


PLACES = ["message", "value", "pending", "checkpoint", "checkpoint.body", "checkpoint.metadata", "checkpoint.channel"]


@pytest.fixture
def database_url(tmp_path, migrated_file):
    shutil.copy(migrated_file, tmp_path / "langmem.db")
    return f"sqlite:///{tmp_path}/langmem.db"


def opened(url: str, clock: Any, **arguments: Any) -> PhoneMemory:
    settings = Settings(search_past_sessions=False, **arguments)
    return PhoneMemory(url, settings=settings, embeddings=DeterministicFakeEmbedding(size=8), now=clock)


@pytest.fixture(scope="module")
def talked(tmp_path_factory, migrated_file):
    """A file in which one person for each payload has talked, and phone → session id of these people."""
    file = tmp_path_factory.mktemp("talked") / "langmem.db"
    shutil.copy(migrated_file, file)
    found = {}
    with opened(f"sqlite:///{file}", Clock()) as memory:
        for number in range(len(HARM)):
            phone = f"+97250123{number:04}"
            assert memory.reply(shop(memory.saver), phone, "hello") == "ok"
            assert memory.reply(shop(memory.saver), phone, "buy") == "Sure?"
            found[phone] = memory.sessions.get_session(phone).session_id
    return file, found


@pytest.fixture(params=PLACES)
def poisoned(request, talked, database_url, clock, tmp_path):
    """Phone → session id of people whose conversations were poisoned there, one for each payload."""
    flag = tmp_path / "executed"
    file, found = talked
    shutil.copy(file, tmp_path / "langmem.db")
    with ConversationSaver(database_url, now=clock) as saver:
        for phone, (name, harm) in zip(found, HARM.items(), strict=True):
            poison(saver, phone, request.param, harm(f"echo {name} >> {flag}"))
    yield found
    assert not flag.exists()


READINGS: dict[str, Callable[[PhoneMemory, Any, str], Any]] = {
    "got": lambda memory, config, _: memory.saver.get_tuple(config),
    "listed": lambda memory, config, _: list(memory.saver.list(config)),
    "gone back in": lambda memory, config, _: list(shop(memory.saver).get_state_history(config)),
    "a delta": lambda memory, config, _: memory.saver.get_delta_channel_history(config=config, channels=["seen"]),
    "resumed": lambda memory, config, _: shop(memory.saver).invoke(Command(resume="yes"), config),
    "shown": lambda memory, _, session_id: memory.sessions.messages(session_id),
    "searched": lambda memory, *_: memory.index_past_sessions(),
    "examined": lambda memory, *_: examine(memory.saver),
    "pruned": lambda memory, config, _: memory.saver.prune([config["configurable"]["thread_id"]]),
    "rebuilt": lambda memory, _, session_id: rebuild(memory.saver, session_id),
}


@pytest.mark.spec("P-10", "C-15")
def test_nothing_in_the_database_runs_however_it_is_read(poisoned, database_url, clock):
    for read in READINGS.values():
        with opened(database_url, clock) as memory:
            for phone, session_id in poisoned.items():
                config = {"configurable": {"thread_id": phone, "langmem_session": session_id}}
                with contextlib.suppress(DamagedSession):
                    read(memory, config, session_id)


@pytest.mark.spec("P-10", "C-15")
def test_a_person_whose_conversation_was_poisoned_is_answered(poisoned, database_url, clock):
    with opened(database_url, clock) as memory:
        for phone in poisoned:
            assert memory.reply(shop(memory.saver), phone, "hello again") == "ok"
            assert memory.reply(shop(memory.saver), phone, "and again") == "ok"
        assert {each.session_id for each in examine(memory.saver)} == set(poisoned.values())


# Classes of one's own


@dataclass
class Price:
    amount: int


class Priced(MessagesState):
    price: Any


def priced(saver: Any) -> Any:
    def answer(state: Priced) -> Any:
        found = ToolMessage("found", tool_call_id="c", artifact=[Price(len(state["messages"]))])
        return {"price": Price(len(state["messages"])), "messages": [found, AIMessage("ok")]}

    return StateGraph(Priced).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)


NAME = f"{__name__}.Price"


@pytest.mark.spec("C-13", "P-10")
def test_a_class_that_is_not_allowed_is_refused_when_it_is_written_by_its_name(database_url, clock):
    with opened(database_url, clock) as memory:
        graph = priced(memory.saver)
        with pytest.raises(NotSerializable, match=NAME) as refused:
            graph.invoke({"messages": [HumanMessage("hello")]}, CONFIG)

        assert f'with_allowlist([("{__name__}", "Price")])' in str(refused.value)
        assert memory.reply(graph, ERIN, "hello again") == ENGLISH.not_storable
        state = priced(memory.saver).get_state(CONFIG).values
        assert [each.text for each in state["messages"]] == ["hello", "hello again"]


@pytest.mark.spec("C-15", "P-10")
def test_what_was_stored_before_can_be_read_once_its_class_is_named(database_url, clock):
    with ConversationSaver(database_url, serde=JsonPlusSerializer(allowed_msgpack_modules=True), now=clock) as saver:
        priced(saver).invoke({"messages": [HumanMessage("hello")]}, CONFIG)
        before = priced(saver).get_state(CONFIG).values
        session_id = SessionManager(saver).get_session(ERIN).session_id

    with opened(database_url, clock) as memory:
        with pytest.raises(TypeNotAllowed, match=NAME) as refused:
            priced(memory.saver).get_state(CONFIG)
        assert (refused.value.module, refused.value.name) == (__name__, "Price")
        [damage] = {each.why for each in examine(memory.saver)}
        assert NAME in damage
        with pytest.raises(TypeNotAllowed):
            rebuild(memory.saver, session_id)

    with opened(database_url, clock, allowed_types=(NAME,)) as memory:
        assert priced(memory.saver).get_state(CONFIG).values == before
        assert before["price"] == Price(1)
        assert memory.reply(priced(memory.saver), ERIN, "and now?") == "ok"
        assert memory.sessions.get_session(ERIN).session_id == session_id
        assert examine(memory.saver) == []


@pytest.mark.spec("C-15", "C-4")
def test_a_person_is_answered_though_their_conversation_holds_what_is_not_allowed_and_it_can_be_restored(
    database_url, clock
):
    permissive = JsonPlusSerializer(allowed_msgpack_modules=True)
    with ConversationSaver(database_url, serde=permissive, now=clock) as saver:
        priced(saver).invoke({"messages": [HumanMessage("hello")]}, CONFIG)
        session_id = SessionManager(saver).get_session(ERIN).session_id

    with ConversationSaver(database_url, now=clock) as saver:
        shop(saver).invoke({"messages": [HumanMessage("again")]}, CONFIG)
        values = shop(saver).get_state(CONFIG).values
        assert [each.text for each in values["messages"]] == ["again", "ok"]

        saver.with_allowlist([(__name__, "Price")])
        SessionManager(saver).restore(session_id)
        assert priced(saver).get_state(CONFIG).values["price"] == Price(1)


@pytest.mark.spec("C-9", "C-15")
def test_turns_sessions_and_graphs_of_one_checkpointer_allow_the_same(database_url, clock):
    with ConversationSaver(database_url, now=clock) as saver:
        graph = priced(saver.with_allowlist([(__name__, "Price")]))
        for _ in range(2):
            with saver.turn(ERIN) as config:
                graph.invoke({"messages": [HumanMessage("hello")]}, config)

        [session] = SessionManager(saver).sessions(ERIN)
        assert session.message_counter == 6
        assert graph.get_state(CONFIG).values["price"] == Price(4)
