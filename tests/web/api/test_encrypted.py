"""The same over memories that are encrypted: what is listed, filtered and handed over."""

import pytest

from langmem_plugin import Settings
from langmem_plugin.database.encryption.master_keys import new_master_key


@pytest.mark.spec("U-3", "P-1")
@pytest.mark.parametrize("settings", [Settings(keys=new_master_key())])
def test_tags_and_filters_work_on_what_is_encrypted(anna, ben, memory):
    one = anna.remember("The gate code is 4711", tags=["Home", "codes"], is_private=True, category="Keys")
    anna.remember("Tea is served at five", tags=["home"])
    ben.remember("Ben likes jam", tags=["home"], is_private=True)

    def listed(query):
        return [each["id"] for each in anna("GET", f"memory?{query}")["memories"]]

    assert (
        listed("tag=codes") == listed("private=true") == listed("category=keys") == listed("search=gate") == [one["id"]]
    )
    assert len(listed("tag=home")) == 2
    assert anna.response("GET", "memory/export").json()["memories"][0]["tags"] == ["home", "codes"]
    with memory.database.read() as connection:
        stored = connection.exec_driver_sql("SELECT text, tags FROM langmem_memory").all()
    assert "4711" not in str(stored)
    assert "codes" not in str(stored)
