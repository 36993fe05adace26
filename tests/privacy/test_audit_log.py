"""What was done is noted with who and when and without contents, in the transaction that does it."""

import io
import json
import stat
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.database.audit_recording import acting, record
from langmem_plugin.database.operations_tables import audit
from langmem_plugin.errors import StorageFull
from langmem_plugin.portability.document_files import write_csv, write_json
from tests.privacy.conftest import ANNA, ANNAS_OTHER, FACTS, graph_of, opened


@pytest.fixture
def memory(database_url, clock, offline_model, tmp_path):
    with opened(database_url, offline_model, clock, audit_log=tmp_path / "log" / "audit.jsonl") as made:
        yield made


@pytest.fixture
def file(tmp_path):
    return tmp_path / "log" / "audit.jsonl"


def _day_file(file, at):
    return file.with_name(f"{file.stem}.{at.date()}{file.suffix}")


def _note(memory, instants):
    with memory.database.write() as connection:
        noted = [{"at": each, "actor": "system", "action": "memory.stored"} for each in instants]
        connection.execute(insert(audit), noted)


def done(memory):
    return [(each.actor, each.action) for each in memory.audit.newest(1_000)]


@pytest.mark.spec("P-5", "P-3")
def test_every_way_to_take_all_of_a_person_out_or_in_is_noted(memory, tmp_path):
    memory.service.remember(ANNA, FACTS[ANNA][0])
    document = memory.export(ANNA)
    memory.exporter.write(ANNA, io.StringIO())
    write_json(memory.exporter, ANNA, tmp_path / "anna.json")
    write_csv(memory.exporter, ANNA, tmp_path / "anna.zip")
    memory.import_person(document)
    memory.importer.run([], phone=ANNA)
    noted = [what for _, what in done(memory) if what.startswith("data.")]
    assert noted == ["data.exported"] * 4 + ["data.imported"] * 2


@pytest.mark.spec("P-5")
def test_what_is_done_is_noted_with_who_did_it(memory, clock):
    fact = memory.service.remember(ANNA, FACTS[ANNA][0])
    memory.service.update(ANNA, fact.id, confidence=0.5)
    memory.service.forget(ANNA, fact.id)
    memory.service.restore(ANNA, fact.id)
    memory.command(ANNA, "/remember I sail")
    memory.consent.switch_on(ANNA, text="yes please", version=1)
    memory.consent.switch_off(ANNA)
    rule = memory.instructions.add(ANNA, "answer in short")
    memory.instructions.remove(ANNA, rule.id)
    memory.service.remember(ANNAS_OTHER, "Anna dives")
    merged = memory.people.merge(ANNA, ANNAS_OTHER)
    memory.people.unlink(merged)
    memory.reply(graph_of(memory), ANNA, "hello", message_id="1")
    clock.forward(hours=2)
    memory.sessions.expire()
    memory.sessions.purge(memory.sessions.sessions(ANNA)[0].session_id)
    memory.erase(ANNA)
    memory.restore_erased(ANNA)
    memory.erase(ANNA, now=True)
    expected = [
        ("program", "memory.stored"),
        ("program", "memory.changed"),
        ("program", "memory.forgotten"),
        ("program", "memory.restored"),
        ("person", "session.created"),  # a command belongs to its session
        ("person", "memory.stored"),
        ("program", "consent.given"),
        ("program", "consent.given"),  # personal facts too
        ("program", "consent.withdrawn"),
        ("program", "consent.withdrawn"),
        ("program", "instruction.added"),
        ("program", "instruction.removed"),
        ("program", "memory.stored"),
        ("program", "person.merged"),
        ("program", "person.parted"),
        ("program", "session.expired"),
        ("program", "session.deleted"),
        ("program", "erasure.asked"),
        ("program", "erasure.restored"),
        ("program", "erasure.asked"),
        ("program", "erasure.done"),
    ]
    assert done(memory) == expected


@pytest.mark.spec("P-5")
def test_an_entry_holds_no_contents_and_nobody(memory, file):
    memory.service.remember(ANNA, FACTS[ANNA][0])
    memory.reply(graph_of(memory), ANNA, "a secret thing", message_id="1")
    memory.audit.settle()
    written = sorted(file.parent.iterdir())  # two, where midnight came between
    lines = "".join(each.read_text() for each in written)
    for each in (ANNA, ANNA[1:], FACTS[ANNA][0], "peanuts", "secret thing"):
        assert each not in lines
    entries = [json.loads(line) for line in lines.splitlines()]
    assert {each["owner"] for each in entries} == {entries[0]["owner"]}
    assert entries[0]["content"] is not None
    assert {stat.S_IMODE(each.stat().st_mode) for each in written} == {0o600}


@pytest.mark.spec("P-5")
def test_hashes_of_two_databases_have_nothing_in_common(memory, tmp_path, offline_model):
    memory.service.remember(ANNA, "Anna sails")
    with PhoneMemory(f"sqlite:///{tmp_path}/another.db", embeddings=offline_model) as other:
        other.service.remember(ANNA, "Anna sails")
        assert other.audit.newest(1)[0].owner != memory.audit.newest(1)[0].owner


@pytest.mark.spec("P-5")
def test_what_is_undone_is_not_noted(memory):
    def fails():
        with memory.database.write() as connection:
            record(connection, "memory.stored", owner=ANNA)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert done(memory) == []


@pytest.mark.spec("P-5", "C-17")
def test_a_turn_of_a_session_that_goes_on_notes_nothing(memory):
    graph = graph_of(memory)
    memory.reply(graph, ANNA, "one", message_id="1")
    before = done(memory)
    for number in range(5):
        memory.reply(graph, ANNA, "more", message_id=str(number + 2))
    assert done(memory) == before == [("person", "session.created")]


@pytest.mark.spec("P-5")
def test_a_tool_is_named_where_a_person_spoke(memory):
    with acting("person"), acting("tool", within=True), acting("program"):
        memory.service.remember(ANNA, "Anna sails")
    assert done(memory) == [("tool", "memory.stored")]


@pytest.mark.spec("P-5")
def test_what_is_older_than_ninety_days_goes_from_the_table_and_the_files(memory, clock, file):
    memory.service.remember(ANNA, "Anna sails")
    assert memory.audit.settle() == 1
    today = memory.audit.newest(1)[0].at
    old, kept = file.with_name("audit.2025-12-31.jsonl"), file.with_name("audit.notes.jsonl")
    for each in (old, kept):
        each.write_text("{}\n")
    clock.instant = today + timedelta(days=89)
    memory.audit.settle()
    assert [_day_file(file, today).exists(), old.exists(), kept.exists()] == [True, False, True]
    clock.instant = today + timedelta(days=92)
    memory.audit.settle()
    assert done(memory) == []
    assert list(file.parent.iterdir()) == [kept]


@pytest.mark.spec("P-5")
def test_each_day_has_a_file_of_its_own(memory, file):
    days = [datetime(2026, 3, day, 23, 59, tzinfo=UTC) for day in (1, 1, 2)]
    _note(memory, days)
    assert memory.audit.settle() == 3
    assert [len(_day_file(file, each).read_text().splitlines()) for each in days] == [2, 2, 1]
    assert memory.audit.settle() == 0


@pytest.mark.spec("P-5", "C-5")
def test_behind_a_line_that_a_killed_process_left_half_the_next_ones_are_whole(memory, file):
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    _note(memory, [noon])
    memory.audit.settle()
    with _day_file(file, noon).open("a") as half:
        half.write('{"entry": 2, "at": "20')
    _note(memory, [noon])
    memory.audit.settle()
    first, _, second = _day_file(file, noon).read_text().splitlines()
    assert json.loads(second)["entry"] == json.loads(first)["entry"] + 1


@pytest.mark.spec("P-5", "C-14")
def test_what_no_file_takes_is_written_once_one_does(memory, file):
    file.parent.write_text("a file where the folder would be")
    memory.service.remember(ANNA, "Anna sails")
    with pytest.raises(StorageFull, match="cannot be written"):
        memory.audit.settle()
    file.parent.unlink()
    assert memory.audit.settle() == 1


@pytest.mark.spec("P-5")
def test_the_file_lies_beside_the_database_of_its_tenant(tmp_path, offline_model):
    url = f"sqlite:///{tmp_path}/langmem.db"
    for tenant in (None, "shop"):
        with PhoneMemory(url, tenant=tenant, settings=Settings(sweep_every=None), embeddings=offline_model) as memory:
            memory.service.remember(ANNA, "Anna sails")
            memory.audit.settle()
    names = {path.name.partition("-audit.2")[0] for path in tmp_path.glob("*-audit.2???-??-??.jsonl")}
    assert names == {"langmem", "langmem.shop"}
