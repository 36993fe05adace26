"""langmem export and import: what they write, what they say, and what they leave alone."""

import json
import re
import resource
import secrets

import pytest
from typer.testing import CliRunner

from langmem_plugin import cli
from langmem_plugin.portability.document_format import PersonExport
from tests.cases import for_each
from tests.portability.conftest import ANNA, BEN, fill, same


@pytest.fixture
def run(database_url, offline_model, monkeypatch):
    """A command; its output, and no traceback whatever happens."""

    def invoke(*arguments, exit_code=0, database=database_url):
        words = [str(each) for each in (*arguments, "--database", database)]
        result = CliRunner().invoke(cli.app, words)
        assert result.exit_code == exit_code, result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.output

    monkeypatch.setattr("langmem_plugin.parts.embedding_model", lambda _: offline_model)
    return invoke


def _told(output, what):
    """How many of a kind are stored, and were there already."""
    stem = what.removesuffix("y")
    lines = [line for line in output.splitlines() if line.startswith(("stored: ", "there already: "))]
    return [int(found[1]) if (found := re.search(rf"(\d+) {stem}", line)) else 0 for line in lines]


@pytest.mark.slow
@pytest.mark.spec("P-3")
@for_each(("form", "name"), [("json", "anna.json"), ("csv", "anna.zip")])
def test_what_was_exported_is_imported_into_another_database_by_the_same_command(
    run, memory, empty, clock, tmp_path, form, name
):
    document = fill(memory, clock)
    to = tmp_path / name
    assert str(to) in run("export", "+972-50-123-4567", "--format", form, "--to", to)
    assert to.stat().st_mode & 0o077 == 0
    other = str(empty.database.engine.url.render_as_string(hide_password=False))
    output = run("import", to, database=other)
    assert _told(output, "memory") == [4, 0]
    assert _told(run("import", to, "--from", "langmem", database=other), "memory") == [0, 4]
    assert same(empty.export(ANNA), document)
    assert "is there already" in run("export", ANNA, "--to", to, "--format", form, exit_code=1)


@pytest.mark.spec("P-3")
def test_without_a_file_the_document_is_the_output(run, memory, clock):
    document = fill(memory, clock)
    assert same(PersonExport.model_validate(json.loads(run("export", ANNA))), document)


@pytest.mark.spec("P-3")
def test_what_another_product_kept_is_recognised_and_the_report_says_why_something_is_left(run, memory, tmp_path):
    held = {"user_id": "u-17", "export_date": "2026-02-01", "memories": [{"fact": "I have a dog"}, {"fact": ""}]}
    (tmp_path / "held.json").write_text(json.dumps(held))
    output = run("import", tmp_path / "held.json", "--phone", BEN)
    assert "held.json memories 2: it has no fact" in output
    assert _told(output, "memory") == [1, 0]
    assert _told(run("import", tmp_path / "held.json", "--phone", BEN), "memory") == [0, 1]
    assert memory.exporter.holdings(BEN).memories == 1


@pytest.mark.spec("P-3")
def test_a_slip_of_the_pen_creates_nothing(run, database_url, tmp_path):
    (tmp_path / "odd.json").write_text("{}")
    before = sorted(tmp_path.rglob("*"))
    nowhere = f"sqlite:///{tmp_path}/new/langmem.db"
    for arguments, says, database in (
        (["export", "+972500000000", "--to", tmp_path / "x.json"], "nothing is stored", database_url),
        (["export", ANNA], "there is no database", nowhere),
        (["export", ANNA, "--format", "csv"], "name a .zip", database_url),
        (["import", tmp_path / "missing.json"], "there is no", nowhere),
        (["import", tmp_path / "odd.json"], "cannot be told", nowhere),
        (["import", tmp_path / "odd.json", "--from", "langmem"], "no person's document", database_url),
        (["import", tmp_path / "odd.json", "--from", "mem99"], "no format that is known", nowhere),
        (["import", tmp_path / "odd.json", "--from", "onyx"], "no export of Onyx", database_url),
        (["import", tmp_path / "odd.json", "--from", "denidin"], "no directory of sessions", database_url),
    ):
        output = run(*arguments, exit_code=1, database=database)
        assert says in output
        assert len(output.strip().splitlines()) == 1
    after = [each for each in sorted(tmp_path.rglob("*")) if "langmem.db" not in each.name]
    assert after == [each for each in before if "langmem.db" not in each.name]


@pytest.mark.spec("P-3", "C-14")
@for_each(("form", "name"), [("json", "anna.json"), ("csv", "anna.zip")])
def test_a_disk_that_becomes_full_is_told_and_nothing_half_written_is_left(run, memory, tmp_path, form, name):
    for _ in range(40):
        memory.sessions.add_message(ANNA, "user", secrets.token_hex(2_000))
    (tmp_path / "out").mkdir()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        told = run("export", ANNA, "--format", form, "--to", tmp_path / "out" / name, exit_code=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert told.startswith("langmem: ")
    assert name in told
    assert [*(tmp_path / "out").iterdir()] == []
