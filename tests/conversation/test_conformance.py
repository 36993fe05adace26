"""The published contract of a checkpointer, whole, on both engines."""

import asyncio

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from langmem_plugin import ConversationSaver, Settings
from langmem_plugin.database.encryption.master_keys import new_master_key


def _held(opening):
    @checkpointer_test(name="ConversationSaver")
    async def saver():
        with opening() as opened:
            yield opened

    report = asyncio.run(validate(saver))

    results = report.results
    assert {name for name, result in results.items() if result.detected} == {each.value for each in Capability}
    assert [failure for result in results.values() for failure in result.failures] == []
    assert sum(result.tests_passed for result in results.values()) == 81


@pytest.mark.spec("C-1", "C-2")
def test_every_capability_of_the_published_contract_holds(database_url):
    _held(lambda: ConversationSaver(database_url))


@pytest.mark.slow
@pytest.mark.spec("C-1", "C-2", "P-1")
def test_it_holds_where_everything_is_encrypted_too(database_url, tmp_path):
    key_database = f"sqlite:///{tmp_path}/people.keys"
    settings = Settings(keys=new_master_key(), key_database=key_database)
    _held(lambda: ConversationSaver.from_settings(settings, database_url))
