"""Whatever a file holds, its source names what is bad and goes on; nothing but the file as a whole is refused."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.portability.imported_records import ImportedSession
from langmem_plugin.portability.sources import SOURCES, denidin, jarvis, mem0, onyx
from tests.portability.conftest import ANNA

_odd = ["1e400", "-5", "0501234567", "2026-01-01T00:00:00", "0001-01-01T00:00:00+14:00", "user", "s1", "{a,b}", "\x00"]
_leaf = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(_odd) | st.text(max_size=6)
_any = st.recursive(
    _leaf, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=4), part), max_leaves=6
)


def _records(names):
    return st.lists(st.dictionaries(st.sampled_from(names.split()), _any) | _any, max_size=3) | _any


_facts = _records("id fact fact_type confidence source_type category tags access_count expires_at created_at")
_orders = _records("id instruction priority condition_expression is_active expires_at created_at")
_sessions = _records("session_id chat_id whatsapp_chat phone_number created_at last_active client_name")
_messages = _records("session_id chat_id message_id order_num role content sender recipient timestamp received_at")


@pytest.mark.spec("P-3")
@settings(max_examples=25)
@given(facts=_facts, orders=_orders, sessions=_sessions, messages=_messages, entries=_any)
def test_no_file_ends_an_import_but_as_a_whole(tmp_path_factory, facts, orders, sessions, messages, entries):
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "messages").mkdir()
    for name, held in (("", sessions), ("messages/", messages)):
        for number, each in enumerate(held if isinstance(held, list) else [held]):
            (folder / f"{name}{number}.json").write_text(json.dumps(each))
    assert all(record.place for record in denidin.records(folder))
    whole = {
        "user_id": "u",
        "export_date": "",
        "memories": facts,
        "standing_instructions": orders,
        "categories": entries,
    }
    for source, held in ((onyx, whole), (jarvis, entries)):
        (folder / "held.json").write_text(json.dumps(held))
        source.recognises(folder / "held.json")
        try:
            assert all(record.place for record in source.records(folder / "held.json"))
        except UnreadableImport:
            assert source is jarvis or not isinstance(facts, list)


@pytest.mark.spec("P-3")
def test_each_format_is_recognised_by_its_own_source_alone(tmp_path):
    (tmp_path / "sessions/messages").mkdir(parents=True)
    (tmp_path / "memory.json").write_text('{"name": {"value": "Anna"}}')
    (tmp_path / "onyx.json").write_text('{"memories": [], "user_id": "u", "export_date": "x"}')
    (tmp_path / "onyx.csv").write_text("id,fact,fact_type\n")
    (tmp_path / "mem0.json").write_text('{"results": [{"id": "1", "memory": "Likes tea", "hash": "h"}]}')
    (tmp_path / "text.txt").write_text("hello")
    for name, wanted in (
        ("sessions", "denidin"),
        ("memory.json", "jarvis"),
        ("mem0.json", "mem0"),
        ("onyx.json", "onyx"),
        ("onyx.csv", "onyx"),
    ):
        assert [each for each, source in SOURCES.items() if source.recognises(tmp_path / name)] == [wanted]
    assert not any(source.recognises(tmp_path / "text.txt") for source in SOURCES.values())


@pytest.mark.spec("P-3")
def test_records_that_cannot_be_stored_are_named_and_the_others_are_stored(memory, tmp_path):
    rows = [
        "id,user_id,fact,fact_type,source_type,tags,created_at,source_id",
        '1,u-1,I have a dog,personal,manual,"{pets,""big dogs""}",2026-01-01',
    ]
    rows += [
        f"2,u-1,I like tea,preference,manual,,,{'x' * 2_000}",
        "3,u-1,,personal,manual,,",
        "4,,I have a cat,personal,manual,,yesterday",
    ]
    (tmp_path / "onyx.csv").write_text("\n".join(rows))
    report = memory.importer.run(onyx.records(tmp_path / "onyx.csv"))
    assert [each.place for each in report.skipped] == ["onyx.csv:4", "onyx.csv:5", "onyx.csv:3"]
    assert [(each.text, each.tags) for each in memory.service.list_memories("u-1")] == [
        ("I have a dog", ("pets", "big dogs"))
    ]


@pytest.mark.spec("P-3")
def test_records_of_several_people_never_become_one_persons(memory, tmp_path):
    rows = [
        "user_id,fact,fact_type,source_type",
        "u-1,I have a dog,personal,manual",
        "u-2,I have a cat,personal,manual",
    ]
    (tmp_path / "onyx.csv").write_text("\n".join(rows))
    report = memory.importer.run(onyx.records(tmp_path / "onyx.csv"), phone=ANNA)
    assert [each.text for each in memory.service.list_memories(ANNA)] == ["I have a dog"]
    assert ["another person's" in each.reason for each in report.skipped] == [True]
    with pytest.raises(InvalidInput):
        memory.importer.run([], phone=" ")
    assert "name the phone" in memory.importer.run(jarvis.records(_memory_json(tmp_path))).skipped[0].reason


def _memory_json(folder):
    (folder / "memory.json").write_text('{"name": {"value": "Anna", "created_at": "2026-01-01"}}')
    return folder / "memory.json"


@pytest.mark.spec("P-3", "W-5")
def test_what_the_assistant_said_itself_is_asked_about(memory, tmp_path):
    said = {"memory": "You have a red boat", "id": "1", "hash": "h", "user_id": ANNA, "role": "assistant"}
    (tmp_path / "mem0.json").write_text(json.dumps([said, said | {"id": "2", "memory": "I sail", "role": "user"}]))
    report = memory.importer.run(mem0.records(tmp_path / "mem0.json"))
    assert [each.text for each in memory.service.list_memories(ANNA)] == ["I sail"]
    assert [each.text for each in memory.confirmations.waiting(ANNA)] == ["You have a red boat"]
    assert ["pending" in each.reason for each in report.doubted] == [True]


@pytest.mark.spec("P-3")
def test_messages_of_one_session_with_one_id_are_all_stored(memory, clock):
    messages = [HumanMessage("hi"), AIMessage("again", id="x"), AIMessage("twice", id="x")]
    times = {"began_at": clock(), "ended_at": clock()}
    memory.importer.run([ImportedSession(phone=ANNA, messages=messages, **times, source_id="s", place="1")])
    [session] = memory.export(ANNA).sessions
    assert len({each.message_id for each in session.messages}) == 3


@pytest.mark.spec("P-3", "C-5")
def test_a_session_that_has_grown_is_completed(memory, clock):
    messages = [HumanMessage("hi", id="m1"), AIMessage("hello", id="m2"), HumanMessage("a table", id="m3")]
    times = {"began_at": clock(), "ended_at": clock()}
    for many, stored in ((2, 2), (3, 1), (3, 0)):
        record = ImportedSession(phone=ANNA, messages=messages[:many], **times, source_id="s", place="1")
        assert memory.importer.run([record]).stored["message"] == stored
    said = [message.text for each in memory.export(ANNA).sessions for message in each.messages]
    assert sorted(said) == ["a table", "hello", "hi"]


@pytest.mark.spec("U-9", "W-6")
def test_facts_in_any_order_end_as_they_were_said_and_a_later_run_changes_nothing(memory, tmp_path):
    said = [("I live in Haifa", 1), ("I live in Haifa", 9), ("I live in Eilat", 5)]
    held = [
        {"id": str(number), "memory": text, "hash": "h", "user_id": ANNA, "created_at": f"2026-01-0{day}T10:00:00Z"}
        for number, (text, day) in enumerate(said)
    ]
    (tmp_path / "mem0.json").write_text(json.dumps(held))
    assert memory.importer.run(mem0.records(tmp_path / "mem0.json")).stored["memory"] == 3
    assert [each.text for each in memory.service.list_memories(ANNA)] == ["I live in Haifa"]
    assert not +memory.importer.run(mem0.records(tmp_path / "mem0.json")).stored
    assert [each.text for each in memory.service.list_memories(ANNA)] == ["I live in Haifa"]
