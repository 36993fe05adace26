"""An erasure can be undone also after an upgrade: whatever a later version adds to a table or takes from it."""

import pytest

from langmem_plugin import ConversationSaver
from langmem_plugin.database.personal_tables import personal_tables
from tests.privacy.conftest import ANNA, ANNAS, ANNAS_OTHER, ANNAS_TELEGRAM, live, opened, rows
from tests.privacy.test_erasure import _NOT_PUT_BACK
from tests.warm_process import ran

pytestmark = [pytest.mark.slow, pytest.mark.spec("P-4", "A-4")]

_ANOTHER_VERSION = """
import sys
from sqlalchemy import Column, Text
from langmem_plugin.database.personal_tables import personal_tables
url, verb, who, column = sys.argv[1:]
for table, _ in personal_tables():
    table.append_column(Column(column, Text, nullable=False, server_default="as before"))
from langmem_plugin import PhoneMemory, Settings
with PhoneMemory(url, settings=Settings(sweep_every=None, extraction="off", search_past_sessions=False)) as memory:
    print(getattr(memory, verb)(who).state)
"""

_HELD_OF_A_TABLE_THAT_IS_GONE = """
INSERT INTO langmem_held_row (erasure_id, place, of_table, payload)
SELECT erasure_id, 1000000, 'langmem_gone', payload FROM langmem_held_row ORDER BY place LIMIT 1
"""


def another_version(url, verb, column):
    """Whose tables have one column more."""
    return ran(_ANOTHER_VERSION, url, verb, ANNA, column).strip()


def alter(url, change):
    with ConversationSaver(url) as saver, saver.database.write() as connection:
        for table, _ in personal_tables():
            connection.exec_driver_sql(f"ALTER TABLE {table.name} {change}")


def test_what_was_erased_before_an_upgrade_comes_back_into_every_table(database_url, offline_model, clock):
    with opened(database_url, offline_model, clock) as memory:
        live(memory, clock, ANNA, ANNAS_TELEGRAM, ANNAS_OTHER)
        before = rows(memory, ANNAS)
    alter(database_url, "ADD COLUMN gone_later TEXT NOT NULL DEFAULT 'as before'")
    assert another_version(database_url, "erase", "gone_later") == "held"
    alter(database_url, "DROP COLUMN gone_later")
    with ConversationSaver(database_url) as saver, saver.database.write() as connection:
        connection.exec_driver_sql(_HELD_OF_A_TABLE_THAT_IS_GONE)
    alter(database_url, "ADD COLUMN added_later TEXT NOT NULL DEFAULT 'as before'")
    assert another_version(database_url, "restore_erased", "added_later") == "restored"
    with opened(database_url, offline_model, clock) as memory:
        after = rows(memory, ANNAS)
    for name in before.keys() - _NOT_PUT_BACK - {"langmem_session", "langmem_memory_owner"}:
        assert after[name] == before[name], name
    assert before.keys() - after.keys() <= _NOT_PUT_BACK
