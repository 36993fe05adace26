"""With encryption an erasure reaches what nobody can delete from any more: copies made before it."""

import shutil
import sqlite3

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import empty_checkpoint

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.errors import DecryptionRefused
from langmem_plugin.privacy import erasure
from tests.privacy.conftest import ANNA, BEN

pytestmark = pytest.mark.slow


@pytest.fixture
def keys():
    return new_master_key()


def _opened(folder, model, clock, keys):
    settings = Settings(keys=keys, encrypt="everything", sweep_every=None, search_past_sessions=False, extraction="off")
    return PhoneMemory(f"sqlite:///{folder}/langmem.db", settings=settings, embeddings=model, now=clock)


@pytest.mark.spec("P-4", "P-1")
def test_the_key_goes_with_the_person_and_nobody_elses(tmp_path, offline_model, clock, keys, monkeypatch):
    monkeypatch.setattr(erasure, "FRESH_SECONDS", 0.0)
    with _opened(tmp_path, offline_model, clock, keys) as memory:
        sealed = {who: memory.database.encryption.private.encrypt(_place(who), b"a secret") for who in (ANNA, BEN)}
        memory.service.remember(ANNA, "Anna sails")
        backup = shutil.copy(tmp_path / "langmem.db.keys", tmp_path / "before.keys")
        assert (tmp_path / "before.keys").read_bytes()
        memory.erase(ANNA)
        assert memory.database.encryption.private.decrypt(_place(ANNA), sealed[ANNA]) == b"a secret"  # may come back
        memory.erase(ANNA, now=True)
        with pytest.raises(Exception, match="its owner was erased"):
            memory.database.encryption.private.decrypt(_place(ANNA), sealed[ANNA])
        assert memory.database.encryption.private.decrypt(_place(BEN), sealed[BEN]) == b"a secret"
    assert backup


@pytest.mark.spec("P-4", "P-1")
def test_the_key_of_who_has_begun_anew_stays_and_the_receipt_says_so(tmp_path, offline_model, clock, keys, monkeypatch):
    monkeypatch.setattr(erasure, "FRESH_SECONDS", 0.0)
    with _opened(tmp_path, offline_model, clock, keys) as memory:
        sealed = memory.database.encryption.private.encrypt(_place(ANNA), b"a secret")
        memory.service.remember(ANNA, "Anna sails")
        receipt = memory.erase(ANNA)
        memory.service.remember(ANNA, "Anna is back")
        clock.forward(days=31)
        assert memory.housekeeping.sweep().erasures_finished == 1
        assert memory.database.encryption.private.decrypt(_place(ANNA), sealed) == b"a secret"
        assert "begun anew" in memory.erasure.receipt(receipt.id).remains[0]
        assert [each.text for each in memory.service.list_memories(ANNA)] == ["Anna is back"]


@pytest.mark.spec("P-4", "P-1")
def test_a_backup_that_is_restored_after_the_erasure_opens_for_everybody_else_alone(
    tmp_path, offline_model, clock, keys, monkeypatch
):
    monkeypatch.setattr(erasure, "FRESH_SECONDS", 0.0)
    backup = tmp_path / "backup.db"
    with _opened(tmp_path, offline_model, clock, keys) as memory:
        for who, name in ((ANNA, "Anna"), (BEN, "Ben")):
            memory.service.remember(who, f"{name} sails on Fridays")
            memory.instructions.add(who, f"Call me {name}")
            memory.saver.put(*_said(who, f"{name} was here"))
        with sqlite3.connect(tmp_path / "langmem.db") as source, sqlite3.connect(backup) as copy:
            source.backup(copy)
        memory.erase(ANNA, now=True)
    for left in tmp_path.glob("langmem.db-*"):
        left.unlink()
    shutil.move(backup, tmp_path / "langmem.db")
    for held in tmp_path.iterdir():
        if held.is_file():
            assert b"sails on Fridays" not in held.read_bytes()
    with _opened(tmp_path, offline_model, clock, keys) as memory:
        assert memory.service.list_memories(ANNA) == []
        assert memory.service.search(ANNA, "sails") == []
        assert memory.instructions.list_instructions(ANNA) == []
        with pytest.raises(DecryptionRefused, match="its owner was erased"):
            memory.saver.get_tuple({"configurable": {"thread_id": ANNA}})
        assert [each.text for each in memory.service.list_memories(BEN)] == ["Ben sails on Fridays"]
        assert [each.text for each in memory.instructions.list_instructions(BEN)] == ["Call me Ben"]
        found = memory.saver.get_tuple({"configurable": {"thread_id": BEN}})
        assert found.checkpoint["channel_values"]["messages"][0].text == "Ben was here"


def _said(who, text):
    version = "00000000000000000000000000000001.0"
    checkpoint = empty_checkpoint() | {
        "channel_values": {"messages": [HumanMessage(text, id="1")]},
        "channel_versions": {"messages": version},
    }
    metadata = {"source": "input", "step": -1, "parents": {}}
    return {"configurable": {"thread_id": who, "checkpoint_ns": ""}}, checkpoint, metadata, {"messages": version}


def _place(who):
    from langmem_plugin.database.encryption import Place

    return Place("langmem_memory", "text", who, ("1",))
