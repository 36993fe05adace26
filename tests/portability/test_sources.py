"""What other products kept is taken over: once, whoever it is of, weighed against what is known."""

import json
from datetime import timedelta

import pytest
from langchain_core.messages import HumanMessage

from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from langmem_plugin.portability.imported_records import ImportedSession
from langmem_plugin.portability.sources import denidin, jarvis, onyx
from tests.portability.conftest import ANNA, BEN

CHAT = "972501234567@c.us"


def _write(path, record):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(record if isinstance(record, str) else json.dumps(record), encoding="utf-8")


def _message(session, number, role="user", content=None, **other):
    minute = f"2026-01-18T10:{number:02}:00+00:00"
    return {
        "message_id": f"{session}-m{number}",
        "session_id": session,
        "order_num": number,
        "role": role,
        "content": content or f"text {number}",
        "sender": CHAT if role == "user" else "assistant",
        "recipient": "assistant" if role == "user" else CHAT,
        "timestamp": minute,
        "received_at": minute,
        "was_received": True,
        **other,
    }


@pytest.fixture
def folder(tmp_path):
    """One session as they are written now, one as they were, one whose file is broken, one that was lost."""
    base = tmp_path / "sessions"
    now = {
        "session_id": "s-new",
        "whatsapp_chat": CHAT,
        "message_ids": ["s-new-m2", "s-new-m10"],
        "message_counter": 10,
    }
    times = {"created_at": "2026-01-18T09:59:00+00:00", "last_active": "2026-01-18T10:30:00+00:00", "total_tokens": 0}
    _write(base / "s-new.json", {**now, **times, "client_name": "Anna"})
    for number, role in ((10, "assistant"), (2, "user"), (1, "user")):  # the first was pruned from the session
        _write(base / f"messages/s-new-m{number}.json", _message("s-new", number, role))
    _write(
        base / "expired/c1.json", {"chat_id": "c1", "phone_number": "0507654321", "created_at": "2026-01-17T08:00:00"}
    )
    old = _message("", 1, message_id="o1")
    del old["session_id"]
    _write(base / "messages/o1.json", {**old, "chat_id": "c1"})
    _write(base / "broken.json", '{"session_id": "s-b')
    _write(base / "messages/lost.json", _message("s-lost", 1, content="still here"))
    _write(base / "messages/bad.json", {**_message("s-new", 3), "timestamp": "yesterday"})
    return base


def _said(memory, phone):
    return [
        [each.content for each in memory.sessions.messages(one.session_id)] for one in memory.sessions.sessions(phone)
    ]


@pytest.mark.spec("P-3")
def test_denidins_sessions_are_taken_over_with_their_dates_and_once(memory, folder):
    report = memory.importer.run(denidin.records(folder))
    assert report.stored["session"] == 3
    assert _said(memory, CHAT) == [["text 1", "text 2", "text 10"], ["still here"]]
    assert _said(memory, BEN) == [["text 1"]]
    newest = memory.sessions.sessions(CHAT)[0]
    assert (newest.session_id, newest.client_name, newest.created_at.hour) == ("s-new", "Anna", 9)
    assert newest.ended_at is not None
    assert [(each.place, "instant" in each.reason) for each in report.skipped] == [
        ("broken.json", False),
        ("messages/bad.json", True),
    ]
    again = memory.importer.run(denidin.records(folder))
    assert not +again.stored
    assert again.there_already["session"] == 3
    assert again.skipped == report.skipped


@pytest.mark.spec("P-3")
def test_jarviss_memory_is_taken_over_by_its_keys(memory, tmp_path):
    entry = {"created_at": "2025-12-10T13:00:00", "updated_at": "2025-12-11T13:00:00"}
    held = {"email_preference": {"value": "short emails", **entry}, "assistant_name": {"value": "David", **entry}}
    _write(tmp_path / "memory.json", {**held, "old": "plain text", "empty": {"value": " "}, "odd": ["a"]})
    report = memory.importer.run(jarvis.records(tmp_path / "memory.json"), phone=ANNA)
    keyed = {each["key"]: each for each in KeyValueMemory(memory.service, ANNA).load_memory()["memory"]}
    assert keyed["email_preference"]["value"] == "short emails"
    assert keyed["email_preference"]["created_at"] == "2025-12-10T13:00:00+00:00"
    assert set(keyed) == {"email_preference", "assistant_name", "old"}
    assert report.doubted == []
    assert [each.place for each in report.skipped] == ["memory.json record 4", "memory.json record 5"]
    assert not +memory.importer.run(jarvis.records(tmp_path / "memory.json"), phone=ANNA).stored
    assert jarvis.recognises(tmp_path / "memory.json") is False  # an entry of it is a list


ONYX = {
    "export_date": "2026-02-01T00:00:00Z",
    "user_id": "u-17",
    "format_version": "1.0",
    "categories": [{"id": "c-1", "name": "work"}],
    "standing_instructions": [
        {"id": "i1", "instruction": "be brief", "priority": 5, "is_active": True},
        {"id": "i2", "instruction": "say sir", "condition_expression": "$.user.role == 'boss'", "priority": 2},
        {"id": "i3", "instruction": "too much", "priority": 40},
    ],
}


def _fact(number, text, **other):
    return {
        "id": f"m{number}",
        "fact": text,
        "fact_type": "personal",
        "source_type": "extracted_from_chat",
        "source_id": "chat-1",
        "confidence": "0.90",
        "created_at": f"2026-01-{number:02}T08:00:00Z",
        **other,
    }


@pytest.mark.spec("P-3")
def test_onyxs_export_is_weighed_as_whatever_is_remembered(memory, tmp_path):
    facts = [
        _fact(1, "I live in Haifa", category="c-1", tags=["home"], access_count=4, is_private=True),
        _fact(2, "i live in haifa."),
        _fact(3, "I live in Eilat"),
        _fact(4, "I have a dog", source_id=None),
        _fact(5, "Remind me to call Dana in an hour"),
        _fact(6, ""),
        _fact(7, "My boat is red", expires_at="2026-01-30T00:00:00Z"),
        _fact(8, "My car is blue", is_deleted=True),
        _fact(9, "I am allergic to nuts", confidence="lots"),
    ]
    _write(tmp_path / "onyx.json", {**ONYX, "memories": facts})
    report = memory.importer.run(onyx.records(tmp_path / "onyx.json"))
    held = {each.text: each for each in memory.service.list_memories("u-17")}
    assert held.keys() == {"I live in Eilat", "I have a dog", "Remind me to call Dana in an hour"}
    kept = {each.text: each for each in memory.export("u-17").memories}
    haifa = kept["I live in Haifa"]
    assert (haifa.category, haifa.tags, haifa.access_count, haifa.private) == ("work", ("home",), 4, True)
    assert (haifa.confidence, haifa.status, haifa.superseded_by) == (0.9, "superseded", held["I live in Eilat"].id)
    assert kept.keys() - held.keys() == {"I live in Haifa", "My boat is red"}  # the boat's time is over
    assert [each.place for each in report.doubted if "says what memory" in each.reason] == ["onyx.json memories 2"]
    assert [each.place for each in report.skipped if "memories" in each.place] == [
        "onyx.json memories 6",
        "onyx.json memories 8",
        "onyx.json memories 9",
    ]
    held = {each.text: each.condition for each in memory.instructions.list_instructions("u-17")}
    assert held == {"be brief": None, "if $.user.role == 'boss' then say sir": None}
    assert not +memory.importer.run(onyx.records(tmp_path / "onyx.json")).stored


@pytest.mark.spec("P-3", "C-4")
def test_a_talk_of_years_ago_is_archived_from_the_day_it_comes_in(memory, clock):
    long_ago = clock() - timedelta(days=700)
    talk = ImportedSession(
        phone=ANNA,
        messages=[HumanMessage("the boiler leaks", id="m1")],
        began_at=long_ago,
        ended_at=long_ago,
        source_id="chat:m1",
        place="chat.txt:1",
    )
    memory.importer.run([talk])
    memory.housekeeping.sweep()
    [kept] = memory.sessions.sessions(ANNA)
    assert kept.last_active == long_ago
    clock.forward(days=31)
    memory.housekeeping.sweep()
    assert memory.sessions.sessions(ANNA) == []
