"""The published contract of a checkpointer, whole, on both engines."""

import asyncio

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from langmem_plugin import ConversationSaver


@pytest.mark.spec("C-1", "C-2")
def test_every_capability_of_the_published_contract_holds(database_url):
    @checkpointer_test(name="ConversationSaver")
    async def saver():
        with ConversationSaver(database_url) as opened:
            yield opened

    report = asyncio.run(validate(saver))

    results = report.results
    assert {name for name, result in results.items() if result.detected} == {each.value for each in Capability}
    assert [failure for result in results.values() for failure in result.failures] == []
    assert sum(result.tests_passed for result in results.values()) == 81
