"""A migration that is killed is finished by the next run, and nothing is there twice or by halves."""

import itertools
import os
import signal

import pytest

from langmem_plugin import ConversationSaver, SessionManager
from langmem_plugin.conversation.storage.session_repair import examine
from langmem_plugin.conversation.turns import turn_queue
from langmem_plugin.portability import source_database
from langmem_plugin.portability.sources.langgraph_saver import StockThreads
from langmem_plugin.portability.thread_migration import ThreadMigration
from tests.conversation.conftest import history
from tests.portability.stock import echo, say, stock_saver

pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here"),
]

PHONES = [f"+97250123456{number}" for number in range(4)]


def migrate(file, database_url):
    with ConversationSaver(database_url, silence=None) as saver, source_database.opened(file) as connection:
        return ThreadMigration(saver).run(StockThreads(connection, saver.serde))


def killed_at(step, file, database_url):
    """A child of this process migrates, and is killed as it is to store this step; whether it was."""
    pid = os.fork()
    if not pid:
        steps = itertools.count(1)
        stored = ThreadMigration._stored

        def counted(self, *arguments):
            if next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return stored(self, *arguments)

        ThreadMigration._stored = counted
        try:
            migrate(file, database_url)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.spec("U-9", "C-5")
def test_however_often_it_is_killed_each_thread_is_there_once_and_whole(database_url, tmp_path, monkeypatch):
    monkeypatch.setattr(turn_queue, "SILENT_SECONDS", 0.2)  # of a holder that is known to be dead
    file = str(tmp_path / "checkpoints.sqlite")
    with stock_saver(file) as stock:
        for phone in PHONES:
            say(echo(stock), phone, "hello", "what is the price", "order it")
        before = {phone: history(stock, phone) for phone in PHONES}

    kills = [killed_at(step, file, database_url) for step in (1, 14, 40)]
    report = migrate(file, database_url)

    assert kills == [True, True, False]
    assert (report.stored["session"], report.there_already["session"]) == (0, 4)
    with ConversationSaver(database_url, silence=None) as saver:
        assert len(SessionManager(saver).sessions()) == 4
        assert {phone: history(saver, phone) for phone in PHONES} == before
        assert examine(saver) == []
