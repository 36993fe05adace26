"""A person's document: all of it out, all of it in, once."""

import io
import json

import pytest

from langmem_plugin.errors import UnreadableImport
from langmem_plugin.portability.person_export import PersonExport
from tests.portability.conftest import ANNA, BEN, PNG, fill, same


@pytest.mark.spec("P-3")
def test_an_export_imported_into_an_empty_database_is_exported_the_same(memory, empty, clock):
    document = fill(memory, clock)
    assert {each.status for each in document.memories} == {"active", "pending", "superseded", "forgotten"}
    assert [len(each.messages) for each in document.sessions] == [4, 2]
    report = empty.import_person(json.loads(document.to_json()))
    assert report.skipped == report.doubted == []
    assert same(empty.export(ANNA), document)


@pytest.mark.spec("P-3")
def test_a_second_import_stores_nothing(memory, empty, clock):
    document = fill(memory, clock)
    empty.import_person(document)
    before = empty.export(ANNA)
    report = empty.import_person(document)
    assert not +report.stored
    assert report.there_already["memory"] == len(document.memories)
    assert same(empty.export(ANNA), before)
    assert same(memory.export(ANNA), document)
    assert not +memory.import_person(document).stored
