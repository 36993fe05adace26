"""Memories of LangGraph's stores and of mem0 exports, as records with whose they are and when they were made."""

import json
import sqlite3
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import pytest
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

from langmem_plugin.errors import UnreadableImport
from langmem_plugin.portability.imported_records import ImportedMemory, Remark
from langmem_plugin.portability.sources import langgraph_store, mem0
from tests.cases import for_each

ERIN, DAN = "+972501234567", "+972509999999"


@pytest.fixture(params=["sqlite", "postgresql"])
def source(request, tmp_path):
    if request.param == "sqlite":
        yield str(tmp_path / "store.sqlite")
        return
    with request.getfixturevalue("postgresql_server").copy("stock_store") as url:
        yield url


@contextmanager
def stock_store(where):
    if "://" in where:
        with PostgresStore.from_conn_string(where) as store:
            store.setup()
            yield store
        return
    with SqliteStore.from_conn_string(where) as store:
        store.setup()
        yield store


def of_store(where, owner_at=0):
    found = list(langgraph_store.records(where, owner_at=owner_at))
    memories = [each for each in found if isinstance(each, ImportedMemory)]
    return memories, [(each.place, each.reason) for each in found if isinstance(each, Remark)]


@pytest.mark.spec("U-9")
def test_items_of_a_store_are_memories_of_who_is_named_in_the_namespace(source):
    with stock_store(source) as store:
        store.put((ERIN, "memories"), "a", {"text": "Erin likes tea"})
        store.put((ERIN, "memories"), "b", {"kind": "Memory", "content": {"content": "ארין גרה בחיפה"}})
        store.put((ERIN, "profile"), "c", {"name": "Erin", "city": "Haifa", "pets": ["Rex", "Max"], "none": None})
        store.put((DAN, "memories"), "a", {"memory": "Dan no come carne"}, ttl=60 * 24)
        for number in range(600):
            store.put(("user-7", "memories"), f"{number:04}", {"text": f"fact {number}"})

    memories, bad = of_store(source)

    assert bad == []
    assert len(memories) == 604
    assert len({each.source_id for each in memories}) == 604
    mine = {" ".join(sorted(each.text.split(", "))) for each in memories if each.phone == ERIN}
    assert mine == {"Erin likes tea", "ארין גרה בחיפה", "Max city: Haifa name: Erin pets: Rex"}
    assert {each.phone for each in memories} == {ERIN, DAN, "user-7"}
    [dans] = [each for each in memories if each.phone == DAN]
    assert (dans.fields["expires_at"] - dans.fields["updated_at"]).total_seconds() == pytest.approx(86_400, abs=5)
    assert abs((datetime.now(UTC) - dans.fields["created_at"]).total_seconds()) < 300
    assert dans.fields["metadata"]["langgraph_store"] == {
        "namespace": [DAN, "memories"],
        "key": "a",
        "value": {"memory": "Dan no come carne"},
    }


@pytest.mark.spec("U-9")
def test_a_place_says_whose_a_namespace_is(source):
    with stock_store(source) as store:
        store.put(("app", ERIN, "facts"), "a", {"text": "of Erin"})
        store.put(("app", DAN, "facts", "work"), "b", {"text": "of Dan"})
        store.put(("shop",), "c", {"text": "nobody's"})
        store.put(("app", DAN), "d", {"empty": ""})

    memories, bad = of_store(source, 1)

    assert {(each.phone, each.text) for each in memories} == {(ERIN, "of Erin"), (DAN, "of Dan")}
    assert {reason for _, reason in bad} == {
        "its namespace names no owner there: see --owner-at",
        "its value holds no text",
    }
    assert {each.phone for each in of_store(source, None)[0]} == {None}


@pytest.mark.spec("U-9", "C-13")
def test_damaged_items_are_named_and_the_others_read(tmp_path):
    file = str(tmp_path / "store.sqlite")
    with stock_store(file) as store:
        for key in "abcde":
            store.put((ERIN,), key, {"text": f"fact {key}"})
    values = {"a": "{ broken", "b": "[1]", "c": "[" * 100_000, "d": json.dumps({"text": "x" * 1_000_001})}
    with closing(sqlite3.connect(file)) as connection:
        for key, value in values.items():
            connection.execute("UPDATE store SET value = ? WHERE key = ?", (value, key))
        connection.commit()

    memories, bad = of_store(file)

    assert [each.text for each in memories] == ["fact e"]
    assert [place for place, _ in bad] == [f"store {ERIN!r} key {key!r}" for key in "abcd"]


def mem0_record(number, **changes):
    return {
        "id": f"9d1c{number:04}-0000-4000-8000-000000000000",
        "memory": f"Likes dish {number}",
        "hash": f"{number:032x}",
        "metadata": {"source": "chat"},
        "categories": ["food"],
        "created_at": "2024-07-01T10:00:00.123456-07:00",
        "updated_at": None,
        "user_id": ERIN,
    } | changes


def _as_javascript(item):
    return {{"created_at": "createdAt", "user_id": "userId"}.get(name, name): value for name, value in item.items()}


def of_mem0(file):
    found = list(mem0.records(file))
    memories = [each for each in found if isinstance(each, ImportedMemory)]
    return memories, [(each.place, each.reason) for each in found if isinstance(each, Remark)]


@pytest.mark.spec("U-9")
@for_each(
    "written",
    [
        lambda items: json.dumps({"results": items, "relations": []}),
        json.dumps,
        lambda items: json.dumps({"memories": items}),
        lambda items: json.dumps({"results": [_as_javascript(each) for each in items]}),
    ],
    ids=["results", "list", "memories", "javascript"],
)
def test_each_form_of_a_mem0_export_is_read(written, tmp_path):
    file = tmp_path / "mem0.json"
    items = [mem0_record(1), mem0_record(2, user_id="erin"), mem0_record(3, metadata=None, categories=None)]
    file.write_text(written(items), encoding="utf-8")

    memories, bad = of_mem0(file)

    assert bad == []
    assert mem0.recognises(file)
    assert [(each.phone, each.text) for each in memories] == [
        (ERIN, "Likes dish 1"),
        ("erin", "Likes dish 2"),
        (ERIN, "Likes dish 3"),
    ]
    assert memories[0].source_id == "mem0:9d1c0001-0000-4000-8000-000000000000"
    assert memories[0].fields["created_at"] == datetime(2024, 7, 1, 17, 0, 0, 123456, tzinfo=UTC)
    assert memories[0].fields["tags"] == ("food",)
    assert memories[0].fields["metadata"] == {"source": "chat", "mem0": {"hash": f"{1:032x}"}}
    assert "updated_at" not in memories[0].fields


@pytest.mark.spec("U-9", "C-13")
def test_bad_records_of_mem0_are_named_by_their_number_and_skipped(tmp_path):
    file = tmp_path / "mem0.json"
    broken = [
        mem0_record(1),
        "a text",
        mem0_record(3, memory=" "),
        mem0_record(4, id=None),
        mem0_record(5, created_at="yesterday"),
        mem0_record(6, metadata=["x"]),
        mem0_record(7, user_id=None, agent_id="helper"),
        mem0_record(8, categories="food", created_at=12),
        mem0_record(9, created_at="0001-01-01T00:00:00+14:00"),
        mem0_record(10, user_id=["a"]),
        mem0_record(11, categories=5),
        mem0_record(12, id="\ud800"),
    ]
    file.write_text(json.dumps({"results": broken}), encoding="utf-8")

    memories, bad = of_mem0(file)

    assert [each.text for each in memories] == ["Likes dish 1", "Likes dish 8", "Likes dish 11"]
    assert [place for place, _ in bad] == [f"mem0.json record {number}" for number in (*range(2, 8), 9, 10, 12)]


@pytest.mark.spec("U-9", "C-13")
@for_each(
    "content", [b"", b"hello", b'{"a": 1}', b'"x"', b"\xff\xfe\x00", b"[" * 100_000, b"12", b'{"id": 1}\n{"id": 2}']
)
def test_what_is_no_mem0_export_is_refused(content, tmp_path):
    file = tmp_path / "mem0.json"
    file.write_bytes(content)
    with pytest.raises(UnreadableImport):
        of_mem0(file)
    assert not mem0.recognises(file)
