"""The document as tables: nothing is lost, and no spreadsheet takes a text for a formula."""

import csv
import json
import zipfile
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langmem_plugin.errors import InvalidInput
from langmem_plugin.portability import document_files
from langmem_plugin.portability.document_format import PersonExport
from tests.portability.conftest import ANNA, fill, same


@pytest.mark.spec("P-3")
def test_tables_are_read_back_as_the_document_they_were_written_from(memory, empty, clock, tmp_path):
    document, name = fill(memory, clock), "anna.zip"
    document_files.write_csv(memory.exporter, ANNA, tmp_path / name)
    assert document_files.recognises(tmp_path / name)
    report = empty.import_person(document_files.read(tmp_path / name))
    assert report.skipped == []
    assert same(empty.export(ANNA), document)
    assert (tmp_path / name).stat().st_mode & 0o077 == 0
    with pytest.raises(InvalidInput, match="is there already"):
        document_files.write_csv(memory.exporter, ANNA, tmp_path / name)
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


@pytest.mark.spec("P-3")
def test_no_cell_is_a_formula(memory, tmp_path):
    for text in ('=HYPERLINK("http://x")', "+1", "-2", "@SUM(A1)", "\t=1+1", "'quoted"):
        memory.service.instructions.add(ANNA, f"{text} please") if text.strip()[0] != "=" else None
        memory.service.remember(ANNA, f"{text} is what I said", key=f"{text}key" if text[0] != "\t" else None)
        memory.sessions.add_message(ANNA, "user", text, client_name=text)
    document = memory.export(ANNA)
    document_files.write_csv(memory.exporter, ANNA, tmp_path / "out.zip")
    for table in zipfile.Path(tmp_path / "out.zip").iterdir():
        with table.open(encoding="utf-8-sig", newline="") as file:
            assert not [cell for row in csv.reader(file) for cell in row if cell.startswith(tuple("=+-@\t\r"))]
    assert same(PersonExport.model_validate(document_files.read(tmp_path / "out.zip")), document)


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**40) | _texts | st.floats(allow_nan=False, allow_infinity=False),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(_texts, part, max_size=3),
    max_leaves=6,
)
_at = "2026-01-01T00:00:00Z"


@pytest.mark.spec("P-3")
@settings(max_examples=25)
@given(text=_texts.filter(bool), quote=st.none() | _texts, held=st.dictionaries(_texts, _json, max_size=3), told=_texts)
def test_whatever_a_cell_holds_is_read_back(tmp_path_factory, text, quote, held, told):
    memory = {
        "id": "m",
        "text": text,
        "quote": quote,
        "metadata": held,
        "created_at": _at,
        "updated_at": _at,
        "tags": [told],
    }
    said = {
        "role": "user",
        "text": told,
        "said_at": _at,
        "stored_at": _at,
        "tokens": 1,
        "message": held,
        "message_id": quote,
    }
    session = {
        "session_id": "s",
        "created_at": _at,
        "last_active": _at,
        "files": [],
        "messages": [said, said],
        "client_name": told,
    }
    document = PersonExport.model_validate(
        {
            "exported_at": _at,
            "person": ANNA,
            "memories": [memory],
            "sessions": [session],
        }
    )
    file = tmp_path_factory.mktemp("tables") / "held.zip"
    parts = [(name, getattr(document, name)) for name in PersonExport.model_fields]
    exporter = SimpleNamespace(
        parts=lambda _: [(name, str(part) if name == "exported_at" else part) for name, part in parts]
    )
    document_files.write_csv(exporter, ANNA, file)
    assert PersonExport.model_validate(document_files.read(file)) == document


@pytest.mark.spec("P-3")
def test_a_row_that_is_damaged_is_named_and_the_others_are_stored(memory, empty, clock, tmp_path):
    fill(memory, clock)
    document_files.write_csv(memory.exporter, ANNA, tmp_path / "out.zip")
    with zipfile.ZipFile(tmp_path / "out.zip") as made:
        tables = {name: made.read(name) for name in made.namelist()}
    rows = tables["memories.csv"].decode("utf-8-sig").splitlines(keepends=True)
    rows[2] = "x,,maybe\r\n"
    rows[3] = rows[3].rstrip("\r\n") + ",one,cell,more\r\n"
    with zipfile.ZipFile(tmp_path / "damaged.zip", "w") as damaged:
        for name, content in (tables | {"memories.csv": "".join(rows).encode("utf-8-sig")}).items():
            damaged.writestr(name, content)
    report = empty.import_person(document_files.read(tmp_path / "damaged.zip"))
    assert [each.place for each in report.skipped][:2] == ["memories 2", "memories 3"]
    assert report.stored["memory"] == 2


@pytest.mark.spec("P-3")
def test_a_zip_of_something_else_is_no_document(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.writestr("../document.csv", "x")
    assert not document_files.recognises(tmp_path / "a.zip")
    (tmp_path / "b.json").write_text(json.dumps({"memories": []}))
    assert not document_files.recognises(tmp_path / "b.json")
