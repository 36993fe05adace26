"""One damaged row, in whatever table: it is reported and passed over, and everybody else's work goes on."""

import shutil

import pytest
from sqlalchemy import LargeBinary, String, literal_column, text, update

from langmem_plugin.conversation.storage.session_repair import examine, examine_beside
from langmem_plugin.database.memory_tables import Rows, extraction_job
from langmem_plugin.database.memory_tables import memory as memory_table
from langmem_plugin.database.personal_tables import personal_tables, rows_of
from langmem_plugin.database.schema import Checked, Instant, Json
from langmem_plugin.memory.keep.damage_check import examine as examine_memories
from tests.cases import for_each
from tests.privacy.conftest import (
    ANNA,
    ANNAS,
    ANNAS_OTHER,
    ANNAS_TELEGRAM,
    BEN,
    BENS_OTHER,
    BENS_TELEGRAM,
    FACTS,
    graph_of,
    live,
    opened,
)

pytestmark = [pytest.mark.slow, pytest.mark.spec("C-15", "M-18", "W-4")]


def _kind(column):
    """Which damage fits: wrong words, bytes, JSON, instants or numbers; None for what says whose and which row it is."""
    if column.primary_key or column.foreign_keys or (column.name == "session_id" and column.unique):
        return None
    if isinstance(column.type, (Json, Rows)):
        return "JSON"
    if isinstance(column.type, Instant):
        return "instant"
    if isinstance(column.type, LargeBinary):
        return "bytes"
    is_text = isinstance(getattr(column.type, "impl", column.type), String)
    return "text" if is_text else "number" if column.table is extraction_job else None


_ON_SQLITE = {
    "JSON": "'[[1,'",
    "bytes": "x'00ff'",
    "text": "CAST(x'ff41fe' AS TEXT)",
    "instant": "'soon'",
    "number": "'many'",
}
_ON_A_SERVER = {"JSON": "'5'", "bytes": "decode('00ff', 'hex')", "text": "'\ufffd'"}  # the rest it refuses itself
_REFUSED_BY_A_SERVER = {memory_table.c.fact_type, memory_table.c.source_type}  # it keeps them to their types
_CASES = [
    (table, kind)
    for table, columns in personal_tables()
    for kind in dict.fromkeys(_kind(each) for each in table.columns if each not in columns)
    if kind is not None
]


def damage(memory, table, kind):
    """All that Anna has in the table, in every column of the kind."""
    how = (_ON_SQLITE if memory.database.is_sqlite else _ON_A_SERVER)[kind]
    columns = dict(personal_tables())[table]
    beyond = {*columns} if memory.database.is_sqlite else {*columns} | _REFUSED_BY_A_SERVER
    values = {each.name: literal_column(how) for each in table.columns if each not in beyond and _kind(each) == kind}
    with memory.database.write() as connection:
        if memory.database.is_sqlite:
            connection.execute(text("PRAGMA ignore_check_constraints = ON"))
        connection.execute(table.update().where(rows_of(columns, ANNAS)).values(values))


def goes_on(memory, clock):
    """What is done for everybody at once, and then what Ben does himself."""
    memory.housekeeping.sweep()
    memory.extraction.work_through()
    memory.index_past_sessions()
    assert len(memory.people.identifiers(BEN)) > 1
    assert BEN in [each.whatsapp_chat for each in memory.sessions.sessions(limit=100)]
    memory.insight.analytics()
    memory.insight.performance()
    for doctor in (examine, examine_beside):
        doctor(memory.saver)
    examine_memories(memory.database)
    graph = graph_of(memory)
    memory.reply(graph, BEN, "/privacy on", message_id="on")
    assert memory.reply(graph, BEN, "/memories", message_id="list").count("\n") > 1
    assert memory.reply(graph, BEN, "My dentist is Dr. Levi", message_id="new") == "I heard My dentist is Dr. Levi"
    clock.forward(hours=1)
    memory.extraction.work_through()
    assert any("Levi" in each.text for each in memory.service.list_memories(BEN))
    assert memory.service.recall(BEN, "who plays the oboe?")
    assert FACTS[BEN][0] in memory.export(BEN).to_json()
    memory.erase(BEN)
    memory.restore_erased(BEN)
    clock.forward(days=400)
    memory.housekeeping.sweep()
    memory.erase(BEN, now=True)


def lived(memory, clock):
    for who, telegram, other in ((BEN, BENS_TELEGRAM, BENS_OTHER), (ANNA, ANNAS_TELEGRAM, ANNAS_OTHER)):
        live(memory, clock, who, telegram, other)
    with memory.database.write() as connection:  # what is read from him is whole
        connection.execute(update(extraction_job).where(extraction_job.c.thread == BEN).values(facts=[]))


_LIKE = {"extraction": "rules", "search_past_sessions": True}


@pytest.fixture(scope="module")
def template(tmp_path_factory, offline_model):
    from tests.conftest import Clock

    folder = tmp_path_factory.mktemp("lived")
    clock = Clock()
    with opened(f"sqlite:///{folder}/langmem.db", offline_model, clock) as memory:
        lived(memory, clock)
    return folder


@for_each(("table", "kind"), _CASES, ids=str)
def test_a_damaged_row_of_one_person_keeps_nobody_else_waiting(template, tmp_path, offline_model, table, kind, clock):
    shutil.copytree(template, tmp_path / "copy")
    clock.forward(hours=10)
    with opened(f"sqlite:///{tmp_path}/copy/langmem.db", offline_model, clock, **_LIKE) as memory:
        damage(memory, table, kind)
        goes_on(memory, clock)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_on_a_server_rows_that_are_damaged_in_every_table_keep_nobody_waiting(database_url, offline_model, clock):
    with opened(database_url, offline_model, clock) as memory:
        lived(memory, clock)
    clock.forward(hours=10)
    with opened(database_url, offline_model, clock, **_LIKE) as memory:
        for table, kind in _CASES:
            if kind in _ON_A_SERVER:
                damage(memory, table, kind)
        goes_on(memory, clock)


def test_a_damaged_value_is_reported_once(template, tmp_path, offline_model, clock, caplog):
    shutil.copytree(template, tmp_path / "copy")
    clock.forward(hours=10)
    with opened(f"sqlite:///{tmp_path}/copy/langmem.db", offline_model, clock, **_LIKE) as memory:
        damage(memory, extraction_job, "JSON")
        Checked.told.clear()
        for _ in range(3):
            memory.extraction.work_through()
            memory.extract(ANNA)
    told = [each.column for each in caplog.records if getattr(each, "event", "") == "row.damaged"]
    assert sorted(told) == ["langmem_extraction_job.facts", "langmem_extraction_job.taken"]
