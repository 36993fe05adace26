"""What is handed out belongs to its reader alone, and what is kept of one phone is never taken for another's."""

import itertools
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import empty_checkpoint
from pydantic import BaseModel

from langmem_plugin import ConversationSaver
from langmem_plugin.lru_cache import LruCache
from tests.conversation.conftest import exact

MOM, DAD = "+972501234567", "+972507654321"
CALL = {"name": "find", "args": {"q": ["leek"]}, "id": "c", "type": "tool_call"}
SAID: list[BaseMessage] = [
    HumanMessage([{"type": "text", "text": "hi"}], id="h"),
    AIMessage("", id="a", tool_calls=[CALL], usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}),
    ToolMessage(
        "1", id="t", tool_call_id="c", artifact={"rows": [[1], {"n": {2, 3}}], "at": Document(page_content="x")}
    ),
    AIMessage("two", id="b", mood={"good": [True]}),
]


def of(phone: str = MOM) -> Any:
    return {"configurable": {"thread_id": phone, "checkpoint_ns": ""}}


def put(saver: Any, phone: str, checkpoint_id: str, messages: list[BaseMessage], parent: str | None = None) -> None:
    version = saver.get_next_version(None if parent is None else "1", None)
    config = of(phone)
    config["configurable"] |= {"checkpoint_id": parent} if parent else {}
    body = {
        **empty_checkpoint(),
        "id": checkpoint_id,
        "ts": "now",
        "channel_values": {"messages": messages},
        "channel_versions": {"messages": version},
    }
    saver.put(config, body, {"source": "loop", "step": 1, "parents": {}}, {"messages": version})


def got(saver: Any, phone: str = MOM, checkpoint_id: str | None = None) -> list[BaseMessage]:
    config = of(phone)
    config["configurable"] |= {"checkpoint_id": checkpoint_id} if checkpoint_id else {}
    return saver.get_tuple(config).checkpoint["channel_values"]["messages"]


def changeable(value: Any) -> Iterator[Any]:
    """Everything in a value that somebody could change, the value included."""
    match value:
        case BaseModel():
            yield value
            parts: Any = [value.__dict__, value.__pydantic_extra__, value.__pydantic_fields_set__]
        case dict():
            yield value
            parts = value.values()
        case list() | set():
            yield value
            parts = value
        case _:
            parts = ()
    for part in parts:
        yield from changeable(part)


@pytest.mark.spec("C-2", "P-6")
def test_no_two_readers_hold_anything_that_the_other_could_change(saver):
    put(saver, MOM, "1", SAID)
    with ThreadPoolExecutor(4) as pool:
        readings = [SAID, *pool.map(lambda _: got(saver), range(6)), got(saver)]

    assert all(exact(reading) == exact(got(saver)) for reading in readings[1:])
    held = [{id(part) for part in changeable(reading)} for reading in readings]
    assert [len(one & other) for one, other in itertools.combinations(held, 2)] == [0] * 28


@pytest.mark.spec("C-2", "P-6")
def test_a_part_that_was_kept_of_what_was_read_is_nobody_elses(saver):
    put(saver, MOM, "1", SAID)
    read = got(saver)
    arguments, rows, extra = read[1].tool_calls[0]["args"], read[2].artifact["rows"], read[3].__pydantic_extra__
    del read  # nobody holds the messages any more

    again = got(saver)
    arguments["q"].append("mine")
    rows.clear()
    extra["mood"]["good"].append("mine")

    assert exact(again) == exact(got(saver))
    assert "mine" not in str(again)


@pytest.mark.spec("C-1", "P-6")
def test_two_phones_whose_checkpoints_are_named_and_written_alike_keep_their_own(saver, fresh, monkeypatch):
    instant = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: instant)  # their sessions have one number, too
    said = [HumanMessage(f"message {number}", id=f"{number}") for number in range(80)]
    orders = {MOM: said[::2] + said[1::2], DAD: said[1::2] + said[::2]}

    for phone in orders:
        put(saver, phone, "0", said)
    for phone, order in orders.items():
        put(saver, phone, "1", order, parent="0")
    for phone, order in orders.items():
        put(saver, phone, "2", [*order, AIMessage("and on", id="last")], parent="1")

    for reader in (saver, fresh()):
        for phone, order in [*orders.items(), *orders.items()]:
            assert [message.id for message in got(reader, phone, "1")] == [message.id for message in order]
            assert [message.id for message in got(reader, phone)] == [*(message.id for message in order), "last"]


@pytest.mark.slow
@pytest.mark.spec("C-16")
def test_what_is_kept_decoded_is_bounded_in_bytes(clock):
    with ConversationSaver("sqlite://", now=clock) as saver:
        tracemalloc.start()
        try:
            for number in range(40):
                text = f"{number}".ljust(1_000_000)
                put(saver, f"+97250123{number:04}", "1", [HumanMessage(text, id="h")])
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert held < 25_000_000


def test_a_cache_holds_no_more_than_its_limit_and_lets_the_least_used_go():
    cache: LruCache[str, str] = LruCache(limit=100)
    for key in "abcd":
        cache.put(key, key.upper(), 30)

    assert [cache.get(key) for key in "abcd"] == [None, "B", "C", "D"]
    cache.get("b")
    cache.put("e", "E", 60)
    assert [cache.get(key) for key in "bcde"] == ["B", None, None, "E"]
    cache.put("f", "F", 101)
    assert [cache.get(key) for key in "bef"] == ["B", "E", None]
    cache.put("b", "B again", 10)
    cache.drop("e")
    assert [cache.get(key) for key in "be"] == ["B again", None]
