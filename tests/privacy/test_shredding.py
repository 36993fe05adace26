"""With encryption an erasure reaches what nobody can delete from any more: copies made before it."""

import shutil
import sqlite3

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import empty_checkpoint

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.conversation.storage.codec import decompress
from langmem_plugin.conversation.storage.session_repair import examine
from langmem_plugin.database.encryption import encryption
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.errors import DamagedSession, DecryptionRefused
from langmem_plugin.memory.keep.damage_check import examine as examine_memories
from langmem_plugin.privacy import erasure
from tests.memory.encrypted_services import is_in, stored_bytes
from tests.privacy.conftest import ANNA, ANNAS_OTHER, ANNAS_TELEGRAM, BEN, graph_of, live, opened

pytestmark = pytest.mark.slow


@pytest.fixture
def keys():
    return new_master_key()


def _opened(folder, model, clock, keys):
    settings = Settings(keys=keys, sweep_every=None, search_past_sessions=False, extraction="off")
    return PhoneMemory(f"sqlite:///{folder}/langmem.db", settings=settings, embeddings=model, now=clock)


@pytest.mark.spec("P-4", "P-1")
def test_the_key_goes_with_the_person_and_nobody_elses(tmp_path, offline_model, clock, keys, monkeypatch):
    monkeypatch.setattr(erasure, "FRESH_SECONDS", 0.0)
    with _opened(tmp_path, offline_model, clock, keys) as memory:
        sealed = {who: memory.database.encryption.cipher.encrypt(_place(who), b"a secret") for who in (ANNA, BEN)}
        memory.service.remember(ANNA, "Anna sails")
        backup = shutil.copy(tmp_path / "langmem.db.keys", tmp_path / "before.keys")
        assert (tmp_path / "before.keys").read_bytes()
        memory.erase(ANNA)
        assert memory.database.encryption.cipher.decrypt(_place(ANNA), sealed[ANNA]) == b"a secret"  # may come back
        memory.erase(ANNA, now=True)
        with pytest.raises(Exception, match="its owner was erased"):
            memory.database.encryption.cipher.decrypt(_place(ANNA), sealed[ANNA])
        assert memory.database.encryption.cipher.decrypt(_place(BEN), sealed[BEN]) == b"a secret"
    assert backup


@pytest.mark.spec("P-4", "P-1")
def test_the_key_of_who_has_begun_anew_stays_and_the_receipt_says_so(tmp_path, offline_model, clock, keys, monkeypatch):
    monkeypatch.setattr(erasure, "FRESH_SECONDS", 0.0)
    with _opened(tmp_path, offline_model, clock, keys) as memory:
        sealed = memory.database.encryption.cipher.encrypt(_place(ANNA), b"a secret")
        memory.service.remember(ANNA, "Anna sails")
        receipt = memory.erase(ANNA)
        memory.service.remember(ANNA, "Anna is back")
        clock.forward(days=31)
        assert memory.housekeeping.sweep()["erasures_finished"] == 1
        assert memory.database.encryption.cipher.decrypt(_place(ANNA), sealed) == b"a secret"
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


SALARY = "515007318264"  # shorter, the hexadecimal digits of what is encrypted would hold it by chance


@pytest.mark.spec("P-1")
def test_with_keys_no_table_and_no_file_holds_a_word_of_what_was_said_told_or_known(
    database_url, offline_model, clock, keys, tmp_path
):
    with opened(database_url, offline_model, clock, keys=keys) as memory:
        live(memory, clock, ANNA, ANNAS_TELEGRAM, ANNAS_OTHER)
        memory.reply(graph_of(memory), ANNA, "/remember I have diabetes", message_id="d")
        memory.reply(graph_of(memory), ANNA, "from now on remind me of my insulin", message_id="i")
        memory.service.remember(ANNA, f"my salary is {SALARY}", status="pending", tags=["wages"], category="payslip")
        memory.command(ANNA, "/reset")
        memory.index_past_sessions()
        assert examine(memory.saver) == examine_memories(memory.database) == []
    held = stored_bytes(database_url)
    words = ("diabetes", "insulin", SALARY, "wages", "payslip", "peanuts", "Eulalia", "cellar", "junior")
    assert [each for each in words if is_in(held, each)] == []
    if database_url.startswith("sqlite"):
        texts = [cell for row in everything_in(database_url) for cell in row]
        assert not [each for each in words for cell in texts if each.encode() in unpacked(cell)]


def everything_in(url):
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        yield from connection.execute(f'SELECT * FROM "{table}"')
    connection.close()


def unpacked(cell):
    """A packed value is compressed: its words would not be seen in its bytes."""
    raw = cell if isinstance(cell, bytes) else str(cell).encode()
    try:
        return raw + decompress(raw)[1]
    except (DamagedSession, ValueError, IndexError):
        return raw


@pytest.mark.spec("P-4", "P-1")
def test_who_writes_in_another_process_right_after_the_erasure_can_be_read(
    tmp_path, offline_model, clock, keys, monkeypatch
):
    for module in (erasure, encryption):
        monkeypatch.setattr(module, "FRESH_SECONDS", 3.0)
    with (
        _opened(tmp_path, offline_model, clock, keys) as memory,
        _opened(tmp_path, offline_model, clock, keys) as another,
    ):
        another.service.remember(ANNA, "Anna sails")  # from here on it has her key in hand
        memory.erase(ANNA, now=True)
        another.service.remember(ANNA, "Anna is back")
        assert [each.text for each in memory.service.list_memories(ANNA)] == ["Anna is back"]
        assert examine_memories(memory.database) == []
