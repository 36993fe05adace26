"""Who was erased does not come back by an import that is run again."""

import pytest
from typer.testing import CliRunner

from langmem_plugin import ConversationSaver, PhoneMemory, SessionManager, Settings
from langmem_plugin.cli import app
from langmem_plugin.portability import source_database
from langmem_plugin.portability.sources.langgraph_saver import StockThreads
from langmem_plugin.portability.thread_migration import ThreadMigration
from tests.cases import for_each
from tests.portability.stock import echo, say, stock_saver

ERIN, JASON = "+972501234567", "+972501111111"
pytestmark = pytest.mark.spec("P-4", "U-9")


def opened(url, model):
    return PhoneMemory(url, settings=Settings(sweep_every=None, extraction="off"), embeddings=model)


def chats(url):
    with ConversationSaver(url) as saver:
        return {each.whatsapp_chat for each in SessionManager(saver).sessions()}


@for_each("now", [True, False])
def test_a_migration_run_again_leaves_out_who_was_erased_until_that_is_undone(
    tmp_path, database_url, offline_model, now
):
    file = str(tmp_path / "stock.sqlite")
    with stock_saver(file) as stock:
        for who in (ERIN, JASON):
            say(echo(stock), who, f"a secret of {who}")
    run = ["import", file, "--database", database_url, "--create"]
    assert CliRunner().invoke(app, run).exit_code == 0
    with opened(database_url, offline_model) as memory:
        memory.erase(ERIN, now=now)
    again = CliRunner().invoke(app, run)
    assert again.output.count("they asked to be erased") == 1
    assert f"thread '{ERIN}': they asked to be erased" in again.output
    assert chats(database_url) == {JASON}
    if not now:
        with opened(database_url, offline_model) as memory:
            memory.restore_erased(ERIN)
        with ConversationSaver(database_url) as saver, source_database.opened(file) as connection:
            report = ThreadMigration(saver).run(StockThreads(connection, saver.serde))
        assert (report.skipped, report.there_already["session"]) == ([], 2)


def test_records_of_other_products_leave_out_who_was_erased(tmp_path, database_url, offline_model):
    file = tmp_path / "mem0.json"
    file.write_text(
        f'[{{"id": "1", "memory": "Erin likes tea", "user_id": "{ERIN}"}},'
        f' {{"id": "2", "memory": "Erin has a dog", "user_id": "{ERIN}"}},'
        f' {{"id": "3", "memory": "Jason likes jam", "user_id": "{JASON}"}}]'
    )
    with opened(database_url, offline_model) as memory:
        memory.service.remember(ERIN, "Erin likes tea")
        memory.erase(ERIN, now=True)
    run = ["import", str(file), "--from", "mem0", "--database", database_url]
    assert CliRunner().invoke(app, run).output.count("they asked to be erased") == 2
    with opened(database_url, offline_model) as memory:
        assert memory.service.list_memories(ERIN) == []
        assert len(memory.service.list_memories(JASON, statuses=["active", "pending"])) == 1
