"""A person with something of everything, and an empty memory beside it."""

import base64
import shutil
from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.memory.find.past_messages import PastMessage

ANNA, ANNAS_TELEGRAM, BEN = "+972501234567", "telegram:55", "+972507654321"
PNG = b"\x89PNG\r\n\x1a\n" + b"anna" * 20


def new_memory(url, offline_model, clock, **settings):
    chosen = Settings(sweep_every=None, extraction="off", search_past_sessions=False, default_region="IL", **settings)
    return PhoneMemory(url, settings=chosen, embeddings=offline_model, now=clock)


@pytest.fixture
def memory(database_url, offline_model, clock):
    with new_memory(database_url, offline_model, clock) as made:
        yield made


@pytest.fixture
def empty(request, tmp_path, offline_model, clock, database_url):
    """Another empty database on the same engine."""
    if database_url.startswith("sqlite"):
        (tmp_path / "other").mkdir()
        shutil.copy(request.getfixturevalue("migrated_file"), tmp_path / "other/langmem.db")
        with new_memory(f"sqlite:///{tmp_path}/other/langmem.db", offline_model, clock) as made:
            yield made
        return
    url = request.getfixturevalue("postgresql_server").copy(f"other_{abs(hash(str(tmp_path)))}")
    with url as other, new_memory(other, offline_model, clock) as made:
        yield made


def fill(memory, clock, phone=ANNA, telegram=ANNAS_TELEGRAM, name="Anna"):
    """Something of everything."""
    people, service, sessions = memory.people, memory.service, memory.sessions
    people.link(phone, telegram)
    people.set_time_zone(phone, "Europe/Madrid")
    people.set_language(phone, "es")
    people.set_name(phone, f"{name} Levi")
    memory.consent.set(phone, extraction=True, personal=True, sensitive=False)
    lives = service.remember(phone, f"{name} lives in Haifa", quote="I live in Haifa", said_at=clock())
    clock.forward(hours=1)
    service.remember(phone, f"{name} lives in Eilat", tags=["home"], metadata={"n": [1, {"a": None}]})
    service.remember(phone, f"{name} may like tea", status="pending")
    gone = service.remember(phone, f"{name} has a boat")
    service.forget(phone, gone.id)
    service.note_access(phone, {lives.id: 0.5, service.list_memories(phone)[0].id: 0.9}, "cited", session_id="s")
    home = service.categories.create(phone, "Home", color="#aa00ff", description=f"where {name} lives")
    service.categories.create(phone, "boats", parent_id=home.category_id)
    service.instructions.add(phone, "answer in rhymes", priority=3, condition=None)
    service.instructions.add(phone, "be brief", expires_at=clock() + timedelta(days=2))
    service.history.add(phone, [PastMessage("old-1", "elsewhere", name, f"{name} once sailed to Cyprus", clock())])
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(PNG).decode()}"}}
    sessions.add_message(phone, "user", "hello", client_name=name)
    sessions.record(phone, HumanMessage([{"type": "text", "text": "look"}, picture]))
    call = {"name": "look", "args": {"at": {"x": 1.5}}, "id": "call-1", "type": "tool_call"}
    sessions.record(phone, AIMessage("", tool_calls=[call]))
    sessions.record(phone, ToolMessage("a cat", tool_call_id="call-1", name="look", artifact={"raw": [1, 2]}))
    memory.saver.end_session(phone)
    clock.forward(hours=30)
    sessions.add_message(phone, "user", "שלום 👋")
    sessions.add_message(phone, "assistant", "hi again")
    return memory.export(phone)


def same(one, other):
    """All but when they were made, as a dictionary to compare."""
    left, right = (each.model_dump(exclude={"exported_at"}) for each in (one, other))
    for name in left:
        assert left[name] == right[name], name
    return True
