"""With encryption an erasure reaches what nobody can delete from any more: copies made before it."""

import shutil

import pytest

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.database.encryption.master_keys import new_master_key
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


def _place(who):
    from langmem_plugin.database.encryption import Place

    return Place("langmem_memory", "text", who, ("1",))
