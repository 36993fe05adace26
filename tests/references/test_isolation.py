"""What a resolution gives is its caller's own, also where two people were shown the very same things."""

import copy
import gc
import json
import tracemalloc
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from langmem_plugin.references import clear_cache, resolve
from tests.cases import for_each

from .scenes import SCENES


@dataclass
class Price:
    amount: int


class Dish(BaseModel):
    id: str
    title: str
    tags: list[str]


def shown(artifact: Any = None) -> list[BaseMessage]:
    """A search as everybody does it: anew at each call, the same every time."""
    items = [{"id": f"r{number}", "title": f"dish {number}", "tags": ["hot"]} for number in (1, 2, 3)]
    call = {"name": "search_dishes", "args": {"with": ["leek"]}, "id": "c"}
    result = ToolMessage(json.dumps(items), tool_call_id="c", name="search_dishes", artifact=artifact)
    return [HumanMessage("show me dishes"), AIMessage("", tool_calls=[call]), result, AIMessage("Here they are.")]


def spoilt(value: Any) -> None:
    """Adds a mark to everything in the value that can be changed."""
    match value:
        case dict():
            for part in value.values():
                spoilt(part)
            value["spoilt"] = True
        case list():
            for part in value:
                spoilt(part)
            value.append("spoilt")
        case Price():
            value.amount = -1
        case Dish():
            spoilt(value.tags)


@pytest.mark.spec("P-6", "R-4")
@given(
    st.sampled_from(sorted(SCENES)),
    st.sampled_from(["save number 2", "all of them", "that one", "what about next week?"]),
)
def test_who_changes_what_they_were_given_changes_nobody_elses(scene, utterance):
    expected = copy.deepcopy(resolve(utterance, copy.deepcopy(SCENES[scene])))
    hers = resolve(utterance, copy.deepcopy(SCENES[scene]))
    for item in [*hers.items, *hers.candidates, *([hers.previous_call.arguments] if hers.previous_call else [])]:
        spoilt(item)

    assert resolve(utterance, copy.deepcopy(SCENES[scene])) == expected


ARTIFACTS = {
    "dicts": lambda: [{"id": f"a{number}", "title": f"dish {number}", "tags": ["hot"]} for number in range(4)],
    "models": lambda: [Dish(id=f"a{number}", title=f"dish {number}", tags=["hot"]) for number in range(4)],
    "dataclasses in dicts": lambda: [{"id": f"a{number}", "title": "dish", "price": Price(2)} for number in range(4)],
    "sets": lambda: [{"id": f"a{number}", "title": f"dish {number}", "tags": {"hot"}} for number in range(4)],
    "bytes": lambda: [{"id": f"a{number}", "title": f"dish {number}", "of": bytearray(b"x")} for number in range(4)],
}


@pytest.mark.spec("P-6", "R-4")
@for_each("kind", ARTIFACTS)
def test_a_tools_own_data_are_read_once_and_changed_by_nobody_else(kind):
    clear_cache()
    hers, his = shown(ARTIFACTS[kind]()), shown(ARTIFACTS[kind]())

    first = resolve("save number 2", hers)
    spoilt(hers[2].artifact)
    spoilt(hers[1].tool_calls[0]["args"])
    for item in first.items:
        spoilt(item)
        if isinstance(item.get("tags"), set):
            item["tags"].add("spoilt")
        if isinstance(item.get("of"), bytearray):
            item["of"].extend(b"spoilt")

    second = resolve("save number 2", his)
    assert second.item()["id"] == "a1"
    assert "spoilt" not in str(second)
    assert "-1" not in str(second)
    assert his == shown(ARTIFACTS[kind]())


@pytest.mark.spec("R-4")
def test_one_item_meant_twice_is_one_item():
    found = resolve("number 2 and the second one", shown())

    assert [item["id"] for item in found.items] == ["r2"]


@pytest.mark.spec("R-4")
def test_numbers_that_python_hashes_alike_are_told_apart():
    def of(number: Any) -> str:
        return resolve("save number 1", shown([{"id": number, "title": f"dish {place}"} for place in range(9)])).item()[
            "id"
        ]

    assert [of(number) for number in (-1, -2, 1, True, 2**61, 0, 1.0)] == [-1, -2, 1, True, 2**61, 0, 1.0]
    assert type(of(True)) is bool


@pytest.mark.spec("C-16")
def test_what_is_remembered_of_conversations_is_bounded_in_bytes():
    clear_cache()
    resolve("number 2", shown())  # loads the tables of words
    tracemalloc.start()
    try:
        for number in range(40):
            long = [{"id": f"r{place}", "title": f"{number}".ljust(1_000_000, "x")} for place in range(2)]
            resolve("number 2", shown(long))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        clear_cache()

    assert held < 25_000_000


def keyed_by(text):
    return [each for each in gc.get_objects() if type(each) in (dict, OrderedDict) and text in each]


@pytest.mark.slow
@pytest.mark.spec("R-1")
def test_no_utterance_is_left_in_memory_once_the_cache_is_cleared():
    said = f"save the one for {shown.__name__}"
    resolve(said, shown())
    assert keyed_by(said)
    clear_cache()
    assert not keyed_by(said)
