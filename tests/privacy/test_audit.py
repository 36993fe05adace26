"""What was done is noted with who and when and without contents, in the transaction that does it, and can be proven."""

import json
import platform
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, insert, select, update

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.database.audit_trail import acting, record
from langmem_plugin.database.upkeep_tables import audit
from langmem_plugin.privacy import audit_entries
from langmem_plugin.privacy.audit import AuditFiles, AuditLog
from langmem_plugin.privacy.audit_chain import Mark, chained, read_line
from tests.cases import for_each
from tests.privacy.conftest import ANNA, ANNAS_OTHER, FACTS, graph_of, opened


@pytest.fixture
def memory(database_url, clock, offline_model, tmp_path):
    with opened(database_url, offline_model, clock, audit_log=tmp_path / "log" / "audit.jsonl") as made:
        yield made


@pytest.fixture
def file(tmp_path):
    return tmp_path / "log" / "audit.jsonl"


def done(memory):
    return [(each.actor, each.action) for each in memory.audit.newest(1_000)]


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
    memory.people.undo(merged)
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
    assert memory.audit.verify().holds


@pytest.mark.spec("P-5")
def test_an_entry_holds_no_contents_and_nobody(memory, file):
    memory.service.remember(ANNA, FACTS[ANNA][0])
    memory.reply(graph_of(memory), ANNA, "a secret thing", message_id="1")
    memory.audit.settle()
    lines = file.read_text()
    for each in (ANNA, ANNA[1:], FACTS[ANNA][0], "peanuts", "secret thing"):
        assert each not in lines
    entries = [json.loads(line) for line in lines.splitlines()]
    assert {each["owner"] for each in entries} == {entries[0]["owner"]}
    assert entries[0]["content"] is not None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


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


def _ten(memory):
    for number in range(10):
        memory.service.remember(ANNA, f"fact number {number} of many")
    assert memory.audit.settle() == 10


_TAMPERING = {
    "changed": (4, update(audit).where(audit.c.position == 4).values(actor="nobody"), "changed"),
    "another's": (4, update(audit).where(audit.c.position == 4).values(owner=b"x" * 16), "changed"),
    "removed": (4, delete(audit).where(audit.c.position == 4), "removed"),
    "first removed": (1, delete(audit).where(audit.c.position == 1), "removed"),
    "last removed": (10, delete(audit).where(audit.c.position == 10), "removed"),
}


@pytest.mark.spec("P-5")
@for_each("how", _TAMPERING)
def test_the_first_entry_that_was_touched_in_the_table_is_named(memory, how):
    _ten(memory)
    position, statement, what = _TAMPERING[how]
    with memory.database.write() as connection:
        connection.execute(statement)
    flaw = memory.audit.verify().flaw
    assert (flaw.position, flaw.what, flaw.where) == (position, what, "the table")


@pytest.mark.spec("P-5")
def test_an_entry_that_was_put_in_between_is_named(memory):
    _ten(memory)
    with memory.database.write() as connection:
        for position in range(10, 4, -1):
            moved = update(audit).where(audit.c.position == position)
            connection.execute(moved.values(position=position + 1))
        values = {
            "at": datetime.now(UTC),
            "actor": "system",
            "action": "memory.stored",
            "position": 5,
            "hash": b"x" * 32,
        }
        connection.execute(insert(audit).values(values))
    flaw = memory.audit.verify().flaw
    assert (flaw.position, flaw.what, flaw.where) == (5, "inserted", "the table")


@pytest.mark.spec("P-5")
def test_a_table_that_was_chained_anew_is_found_by_the_files(memory):
    _ten(memory)
    with memory.database.write() as connection:
        connection.execute(update(audit).where(audit.c.position == 4).values(actor="nobody"))
        connection.execute(update(audit).values(position=None, hash=None))
        audit_entries.set_mark(connection, "head", audit_entries.Mark(), datetime.now(UTC))
    audit_entries.chain_waiting(memory.database, datetime.now(UTC))
    flaw = memory.audit.verify().flaw
    assert (flaw.position, flaw.what) == (4, "changed")


@pytest.mark.spec("P-5")
@for_each(
    ("lines", "position", "what"),
    [
        (lambda found: [*found[:3], found[3].replace("memory.stored", "memory.purged"), *found[4:]], 4, "changed"),
        (lambda found: [*found[:3], *found[4:]], 4, "removed"),
        (lambda found: [*found[:4], found[3], *found[4:]], 4, "inserted"),
        (lambda found: found[:-2], 9, "removed"),
        (lambda found: [*found[:3], "{ broken\n", *found[4:]], 4, "unreadable"),
    ],
)
def test_the_first_line_that_was_touched_in_the_files_is_named(memory, file, lines, position, what):
    _ten(memory)
    file.write_text("".join(lines(file.read_text().splitlines(keepends=True))))
    for _ in range(2):  # it is not mended by being looked at
        memory.service.remember(ANNA, "one more")
        memory.audit.settle()
        flaw = memory.audit.verify().flaw
        assert (flaw.position, flaw.where) == (position, "the files")
    assert flaw.what in {what, "removed"}


@pytest.mark.spec("P-5")
def test_what_is_older_than_ninety_days_goes_and_the_rest_is_still_proven(memory, clock, file):
    _ten(memory)
    clock.instant = datetime.now(UTC) + timedelta(days=91)
    memory.audit.settle()
    with memory.database.read() as connection:
        assert connection.execute(select(audit)).all() == []
    memory.service.remember(ANNA, "something new")
    proof = memory.audit.verify()
    assert (proof.holds, proof.entries, proof.in_files) == (True, 1, 11)
    with memory.database.write() as connection:
        connection.execute(delete(audit))
    assert memory.audit.verify().flaw.position == 11


@pytest.mark.spec("P-5")
def test_files_begin_anew_by_size_and_day_and_old_ones_go(memory, tmp_path):
    files = AuditFiles(tmp_path / "small.jsonl", largest=500)
    log = AuditLog(memory.database, files, now=lambda: datetime.now(UTC))
    for number in range(6):
        memory.service.remember(ANNA, f"fact number {number} of many")
        log.settle()
    names = sorted(path.name for path in tmp_path.glob("small*.jsonl"))
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    assert names[:2] == [f"small.{day}.2.jsonl", f"small.{day}.jsonl"]
    assert len(names) > 2
    assert log.verify().holds
    assert log.verify().in_files == 6
    later = AuditLog(memory.database, files, now=lambda: datetime.now(UTC) + timedelta(days=92))
    later.settle()
    assert [path.name for path in tmp_path.glob("small*.jsonl")] == ["small.jsonl"]
    assert later.verify().holds


@pytest.mark.spec("P-5", "C-5")
def test_a_line_that_a_killed_process_left_half_is_written_again(memory, file):
    _ten(memory)
    with file.open("a") as half:
        half.write('{"position": 11, "at": "20')
    memory.service.remember(ANNA, "one more")
    memory.audit.settle()
    assert memory.audit.verify().holds
    assert memory.audit.verify().in_files == 11


@pytest.mark.spec("P-5")
def test_many_who_note_and_chain_at_once_make_one_chain(memory, database_url, clock, offline_model, tmp_path):
    log_file = tmp_path / "log" / "audit.jsonl"
    with opened(database_url, offline_model, clock, audit_log=log_file) as other, ThreadPoolExecutor(4) as pool:

        def work(who, name):
            for number in range(8):
                who.service.remember(f"user:{name}", f"fact {number}")
                who.audit.settle()

        for each in [pool.submit(work, who, name) for name, who in enumerate((memory, other, memory, other))]:
            each.result(60)
        memory.audit.settle()
        proof = other.audit.verify()
    assert (proof.holds, proof.entries, proof.in_files) == (True, 32, 32)


@pytest.mark.spec("P-5")
def test_the_file_lies_beside_the_database_of_its_tenant(tmp_path, offline_model):
    url = f"sqlite:///{tmp_path}/langmem.db"
    for tenant in (None, "shop"):
        with PhoneMemory(url, tenant=tenant, settings=Settings(sweep_every=None), embeddings=offline_model) as memory:
            memory.service.remember(ANNA, "Anna sails")
            memory.audit.settle()
    assert {path.name for path in tmp_path.glob("*.jsonl")} == {"langmem-audit.jsonl", "langmem.shop-audit.jsonl"}


def _eleven(memory):
    for number in range(11):
        memory.service.remember(ANNA, f"Anna knows {number} songs")
    memory.audit.settle()
    assert memory.audit.verify().holds


@pytest.mark.spec("P-5")
def test_first_lines_that_were_cut_are_noticed(memory, file):
    _eleven(memory)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[3:]))
    flaw = memory.audit.verify().flaw
    assert (flaw.position, flaw.what, flaw.where) == (1, "removed", "the files")


@pytest.mark.spec("P-5")
@for_each("how", ["behind the last", "in a file before", "a word in a line", "an empty line"])
def test_lines_that_were_added_are_noticed_and_what_is_noted_later_is_written_all_the_same(memory, file, how):
    _eleven(memory)
    lines = file.read_text().splitlines(keepends=True)
    last = read_line(lines[-1])
    forged = list(chained([last, last], Mark(last.position, last.hash)))
    added = "".join(f"{each.as_line()}\n" for each in forged)
    if how == "behind the last":
        file.write_text("".join(lines) + added)
    elif how == "in a file before":
        file.with_name("audit.2026-01-01.jsonl").write_text(added)
    elif how == "a word in a line":
        file.write_text("".join(lines).replace('"actor":', '"note": "all was well", "actor":', 1))
    else:
        file.write_text("".join(lines) + "\n")
    assert memory.audit.verify().flaw.where == "the files"
    memory.service.remember(ANNA, "Anna sails")
    memory.audit.settle()
    assert not memory.audit.verify().holds
    written = [entry.action for each in file.read_text().splitlines() if (entry := read_line(each)) is not None]
    assert written.count("memory.stored") >= (11 if how == "a word in a line" else 12)


@pytest.mark.spec("P-5")
def test_a_tail_that_was_cut_is_noticed_on_a_machine_of_another_name_and_in_another_folder(
    memory, file, database_url, clock, offline_model, monkeypatch
):
    _eleven(memory)
    monkeypatch.setattr(platform, "node", lambda: "another-machine")
    moved = file.parent.parent / "moved"
    file.parent.rename(moved)
    lines = (moved / file.name).read_text().splitlines(keepends=True)
    (moved / file.name).write_text("".join(lines[:-4]))
    with opened(database_url, offline_model, clock, audit_log=moved / file.name) as again:
        flaw = again.audit.verify().flaw
    assert (flaw.position, flaw.what, flaw.where) == (len(lines) - 3, "removed", "the files")
