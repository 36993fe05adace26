"""LangGraph's contract of a store, over people's memories, on each engine."""

import asyncio
import json
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, MatchCondition, PutOp, SearchOp

from langmem_plugin import InvalidInput, PhoneMemory
from langmem_plugin.settings import Settings
from tests.cases import for_each

ERIN, JASON = "+972501234567", "+972507654321"
OF_ERIN, OF_JASON = ("memories", ERIN), ("memories", JASON)


@pytest.fixture
def memory(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock, settings=Settings(extraction="off")) as opened:
        yield opened


@pytest.fixture
def store(memory):
    return memory.store


@pytest.mark.spec("U-1")
def test_an_item_comes_back_as_it_was_put(store, clock):
    value = {"text": "½ שלום \ud83d\x00", "n": 1.5, "deep": {"list": [None, True, {"x": []}]}, "": ""}
    store.put(("docs", "v1"), "a/b", value)
    item = store.get(("docs", "v1"), "a/b")
    assert (item.value, item.key, item.namespace) == (value, "a/b", ("docs", "v1"))
    assert item.created_at == item.updated_at == clock()
    clock.forward(minutes=1)
    store.put(("docs", "v1"), "a/b", {"text": "new"})
    item = store.get(("docs", "v1"), "a/b")
    assert item.value == {"text": "new"}
    assert item.updated_at - item.created_at == timedelta(minutes=1)
    store.delete(("docs", "v1"), "a/b")
    assert store.get(("docs", "v1"), "a/b") is None
    store.delete(("docs", "v1"), "never there")


@pytest.mark.spec("U-1")
def test_equal_keys_and_values_in_other_namespaces_are_other_items(store):
    places = [("docs",), ("docs", "a"), ("a", "docs"), OF_ERIN, (ERIN, "memories"), ("prefs", ERIN), OF_JASON]
    for number, place in enumerate(places):
        store.put(place, "k", {"content": "the same", "number": number})
    assert [store.get(place, "k").value["number"] for place in places] == list(range(len(places)))
    store.delete(OF_ERIN, "k")
    assert [store.get(place, "k") is None for place in places] == [place == OF_ERIN for place in places]


@pytest.mark.spec("U-1", "M-6")
def test_one_fact_is_found_corrected_and_forgotten_through_every_door(memory, store):
    told = memory.service.remember(ERIN, "I'm allergic to peanuts")
    assert store.get(OF_ERIN, told.id).value == {"content": "I'm allergic to peanuts"}
    store.put(OF_ERIN, told.id, {"content": "I'm allergic to walnuts"})
    assert [each.memory.text for each in memory.service.search(ERIN, "allergic")] == ["I'm allergic to walnuts"]
    store.put(OF_ERIN, "email_preference", {"content": "short emails"})
    assert memory.key_value(ERIN).load_memory()["memory"][0]["value"] == "short emails"
    [found] = memory.service.search(ERIN, "short emails", limit=1)
    memory.service.update(ERIN, found.memory.id, text="long emails")
    assert store.get(OF_ERIN, "email_preference").value == {"content": "long emails"}
    [kept] = memory.service.get(ERIN, [found.memory.id])
    assert json.loads(kept.metadata["store"]["value"]) == {"content": "long emails"}
    assert "short" not in str(kept.metadata)
    memory.command(ERIN, "/forget long emails")
    assert store.get(OF_ERIN, "email_preference") is None
    memory.service.erase(ERIN)
    assert store.search(OF_ERIN) == []


@pytest.mark.spec("U-1", "P-6")
def test_an_identifier_counts_in_any_spelling_and_periods_are_escaped(memory, store):
    spelled = store.namespace("memories", "972501234567@c.us")
    assert spelled == ("memories", "972501234567%40c%2Eus")
    store.put(spelled, "k", {"content": "tea"})
    assert store.get(OF_ERIN, "k").value == {"content": "tea"}
    assert store.get(spelled, "k").namespace == spelled
    assert [each.namespace for each in store.search(spelled)] == [OF_ERIN]
    memory.people.link(ERIN, "telegram:42")
    assert store.get(("memories", "telegram:42"), "k").value == {"content": "tea"}
    with pytest.raises(InvalidNamespaceError):
        store.get(("memories", "972501234567@c.us"), "k")


@pytest.mark.spec("U-1", "P-6")
def test_nobody_finds_what_is_in_the_namespace_of_another(store):
    store.put(OF_ERIN, "k", {"content": "my card ends in 42"})
    assert store.search(OF_JASON, query="card") == []
    assert store.get(OF_JASON, "k") is None
    assert [each.namespace for each in store.search(("memories",), query="card")] == [OF_ERIN]  # an operator's view


@pytest.mark.spec("U-1")
def test_search_ranks_by_meaning_and_words_and_filters_by_fields(store):
    for key, text, minutes in (("soup", "chicken soup", 40), ("tart", "apple tart", 60), ("salad", "tuna salad", 10)):
        store.put(("recipes", ERIN), key, {"text": text, "minutes": minutes, "tags": ["a", key], "by": {"who": "mom"}})
    found = store.search(("recipes",), query="something warm with chicken")
    assert found[0].key == "soup"
    assert found[0].score > (found[1].score or 0)
    assert len(found) == 3
    for wanted, keys in (
        ({"minutes": {"$lt": 50}}, {"soup", "salad"}),
        ({"minutes": {"$gte": 40, "$lte": 60}}, {"soup", "tart"}),
        ({"minutes": {"$ne": 10}, "text": "apple tart"}, {"tart"}),
        ({"tags": ["a", "soup"]}, {"soup"}),
        ({"by": {"who": "mom"}, "minutes": {"$eq": 10}}, {"salad"}),
        ({"nothing": {"$gt": 1}}, set()),
        ({"nothing": None}, {"soup", "tart", "salad"}),
    ):
        assert {each.key for each in store.search(("recipes",), filter=wanted)} == keys
    with pytest.raises(InvalidInput, match=r"\$near"):
        store.search(("recipes",), filter={"minutes": {"$near": 1}})


@pytest.mark.spec("U-1")
def test_without_a_query_the_newest_come_first_page_by_page(store, clock):
    for number in range(5):
        clock.forward(seconds=1)
        store.put(("log",), str(number), {"n": number})
    assert [each.key for each in store.search(("log",), limit=2)] == ["4", "3"]
    assert [each.key for each in store.search(("log",), limit=2, offset=4)] == ["0"]
    assert store.search(("lo",)) == []


@pytest.mark.spec("U-1")
def test_what_is_not_indexed_is_found_by_its_key_alone(store):
    store.put(("recipes",), "soup", {"text": "chicken", "note": "bring wine"}, index=["text"])
    store.put(("recipes",), "tart", {"text": "apple"}, index=False)
    assert store.search(("recipes",), query="wine")[0].score != 1.0
    [chicken, *_] = store.search(("recipes",), query="chicken")
    assert chicken.key == "soup"
    assert store.get(("recipes",), "tart").value == {"text": "apple"}
    assert store.search(("recipes",), query="tart", limit=1)[0].key == "tart"


@pytest.mark.spec("U-1")
def test_a_time_to_live_is_refused(store):
    with pytest.raises(NotImplementedError):
        store.put(("cache",), "k", {"n": 1}, ttl=10)


@pytest.mark.spec("U-1")
def test_namespaces_are_listed_by_prefix_suffix_and_depth(store):
    for place in (("a", "b", "c"), ("a", "b", "d", "e"), ("a", "c"), ("b", ERIN), OF_ERIN):
        store.put(place, "k", {"n": 1})
    assert store.list_namespaces() == sorted([("a", "b", "c"), ("a", "b", "d", "e"), ("a", "c"), ("b", ERIN), OF_ERIN])
    assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == [("a", "b", "c"), ("a", "b", "d")]
    assert store.list_namespaces(suffix=("c",)) == [("a", "b", "c"), ("a", "c")]
    assert store.list_namespaces(prefix=("a", "*", "d")) == [("a", "b", "d", "e")]
    assert store.list_namespaces(suffix=("e", "k")) == []
    assert store.list_namespaces(prefix=("memories",)) == [OF_ERIN]
    assert store.list_namespaces(limit=1, offset=1) == [("a", "b", "d", "e")]
    store.delete(("a", "c"), "k")
    assert store.list_namespaces(suffix=("c",)) == [("a", "b", "c")]


@pytest.mark.spec("U-1")
def test_a_batch_reads_what_was_there_before_and_keeps_the_last_write(store):
    store.put(("a",), "k", {"n": 0})
    results = store.batch(
        [
            PutOp(("a",), "k", {"n": 1}),
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"n": 2}),
            PutOp(("a",), "other", {"n": 3}),
            SearchOp(("a",)),
            ListNamespacesOp((MatchCondition("prefix", ("a",)),)),
            PutOp(("a",), "other", None),
        ]
    )
    assert results[1].value == {"n": 0}
    assert [each.value for each in results[4]] == [{"n": 0}]
    assert results[5] == [("a",)]
    assert store.get(("a",), "k").value == {"n": 2}
    assert store.get(("a",), "other") is None


@pytest.mark.spec("U-1")
def test_the_asynchronous_methods_do_the_same(store):
    async def used():
        await store.aput(("a",), "k", {"text": "tea"})
        found = await store.asearch(("a",), query="tea")
        await store.adelete(("a",), "k")
        return found, await store.aget(("a",), "k"), await store.alist_namespaces()

    found, gone, namespaces = asyncio.run(used())
    assert (found[0].value, gone, namespaces) == ({"text": "tea"}, None, [])


@pytest.mark.spec("U-1")
@for_each("value", [{"x": object()}, {"x": float("nan")}, {1: "a"}, {"x": (1, 2)}])
def test_what_json_does_not_hold_is_refused_and_nothing_is_stored(store, value):
    with pytest.raises(InvalidInput, match="JSON"):
        store.put(("a",), "k", value)
    assert store.get(("a",), "k") is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_LABEL = st.text(st.characters(exclude_characters=".\x00", exclude_categories=["Cs"]), min_size=1, max_size=6)


@pytest.mark.slow
@pytest.mark.spec("U-1")
@settings(max_examples=10)
@given(
    puts=st.dictionaries(
        st.tuples(
            st.lists(_LABEL | st.sampled_from([ERIN, "*", "memories"]), min_size=1, max_size=3)
            .map(tuple)
            .filter(lambda place: place[0] != "langgraph"),
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=6),
        ),
        st.dictionaries(st.text(max_size=5), _JSON, max_size=3),
        max_size=4,
    )
)
def test_whatever_is_put_is_there_and_nothing_else(offline_model, puts):
    with PhoneMemory("sqlite://", embeddings=offline_model, settings=Settings(extraction="off")) as memory:
        for (place, key), value in puts.items():
            memory.store.put(place, key, value)
        assert {each: memory.store.get(*each).value for each in puts} == puts
        assert len(memory.store.search((), limit=50)) == len(puts)
        assert set(memory.store.list_namespaces()) == {place for place, _ in puts}


@pytest.mark.spec("U-1", "C-9")
def test_a_graph_uses_it_as_its_store(memory, clock):
    from langgraph.graph import START, StateGraph

    from langmem_plugin import MemoryState

    def node(state, *, store):
        store.put(OF_ERIN, "drink", {"content": "mint tea"})
        return {"messages": AIMessage(str(len(store.search(OF_ERIN))))}

    graph = StateGraph(MemoryState).add_node("node", node).add_edge(START, "node")
    graph = graph.compile(checkpointer=memory.saver, store=memory.store)
    assert memory.reply(graph, ERIN, "hello") == "1"
    assert memory.service.search(ERIN, "mint tea")[0].memory.key == "drink"
