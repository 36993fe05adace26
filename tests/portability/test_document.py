"""A person's document: all of it out, all of it in, once."""

import io
import json
from hashlib import sha256

import jsonschema
import pytest

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.conversation.media.media_reference import references_in
from langmem_plugin.conversation.sessions import imported_sessions
from langmem_plugin.database import schema
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.errors import ConfigurationError, StoreUnavailable, UnreadableImport
from langmem_plugin.portability.document_format import PersonExport
from tests.cases import for_each
from tests.portability.conftest import ANNA, BEN, PNG, fill, new_memory, same
from tests.portability.person_schema import SCHEMA_FILE, schema_text

PNG_SHA = sha256(PNG).hexdigest()
AT = "2026-01-01T00:00:00Z"


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


@pytest.mark.spec("P-3")
def test_every_kind_of_record_is_in_the_document(memory, clock):
    document = fill(memory, clock)
    held = document.model_dump()
    assert [name for name in held if not held[name]] == ["incoming"]  # see test_what_is_open
    [file] = document.files
    assert (file.mime_type, file.size) == ("image/png", len(PNG))
    assert document.sessions[0].messages[3].message["data"]["artifact"] == {"raw": [1, 2]}
    assert document.sessions[0].ended_at is not None
    assert document.settings.model_dump() == {"time_zone": "Europe/Madrid", "language": "es", "name": "Anna Levi"}
    assert document.consent.personal.since is not None
    assert document.consent.sensitive.allowed is False


@pytest.mark.spec("P-3")
def test_it_is_written_as_it_is_read_and_fits_its_schema(memory, clock):
    document = fill(memory, clock)
    memory.service.remember(BEN, "Ben plays chess")
    file = io.StringIO()
    memory.exporter.write(ANNA, file)
    written = json.loads(file.getvalue())
    assert same(PersonExport.model_validate(written), document)
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), "run python -m tests.portability.person_schema"
    schema = json.loads(schema_text())
    for each in (written, json.loads(document.to_json()), json.loads(memory.export("+972500000000").to_json())):
        jsonschema.validate(each, schema, cls=jsonschema.Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(written | {"memories": [{"id": "x"}]}, schema)


@pytest.mark.spec("P-3")
def test_a_picture_is_seen_in_the_conversation_it_was_imported_into(memory, empty, clock):
    empty.import_person(fill(memory, clock))
    record = empty.sessions.messages(empty.export(ANNA).sessions[0].session_id)[1]
    [reference] = references_in(record.content)
    assert empty.saver.load_media(ANNA, reference) == PNG


@pytest.mark.spec("P-3")
def test_what_is_imported_is_remembered_and_searched(memory, empty, clock):
    empty.import_person(fill(memory, clock))
    assert [each.memory.text for each in empty.service.recall(ANNA, "where does Anna live?")] == ["Anna lives in Eilat"]
    assert [each.message.message_id for each in empty.service.history.search(ANNA, "sailed to Cyprus")] == ["old-1"]
    assert empty.people.resolve("telegram:55") == ANNA
    empty.index_past_sessions()
    assert any(each.message.text == "a cat" for each in empty.service.history.search(ANNA, "hello")) is False
    assert any(each.message.text == "hello" for each in empty.service.history.search(ANNA, "hello"))
    assert empty.sessions.get_conversation_history(ANNA)[-1]["content"] == "hi again"


@pytest.mark.spec("P-3")
def test_onto_another_phone_of_the_same_database_everything_has_its_own_id(memory, clock):
    document = fill(memory, clock)
    report = memory.import_person(document, phone=BEN)
    theirs = memory.export(BEN)
    assert [each.reason[:44] for each in report.skipped] == ["this identifier is somebody else's here: lin"]
    assert {each.session_id for each in theirs.sessions}.isdisjoint(each.session_id for each in document.sessions)
    assert [[said.text for said in each.messages] for each in theirs.sessions] == [
        [said.text for said in each.messages] for each in document.sessions
    ]
    assert [each.model_dump(exclude={"session_id"}) for each in theirs.memories] == [
        each.model_dump(exclude={"session_id"}) for each in document.memories
    ]
    assert same(memory.export(ANNA), document)
    assert not +memory.import_person(document, phone=BEN).stored
    assert same(memory.export(BEN), theirs)


@pytest.mark.spec("P-3")
def test_what_cannot_hold_beside_what_is_known_becomes_history(memory, empty, clock):
    document = fill(memory, clock)
    newer = empty.service.remember(ANNA, "Anna lives in Tel Aviv", said_at=clock())
    empty.service.remember(ANNA, "Anna plays chess")
    report = empty.import_person(document)
    [mark] = [each for each in report.doubted if "history" in each.reason]
    held = {each.text: each for each in empty.export(ANNA).memories}
    assert held["Anna lives in Eilat"].superseded_by == newer.id
    assert mark.place.endswith(held["Anna lives in Eilat"].id)
    assert {each.text for each in empty.service.list_memories(ANNA)} == {"Anna lives in Tel Aviv", "Anna plays chess"}
    before = empty.export(ANNA)
    assert not empty.import_person(document).doubted
    assert same(empty.export(ANNA), before)


@pytest.mark.spec("P-3")
def test_a_run_that_is_cut_short_anywhere_is_finished_by_the_next(memory, empty, clock, monkeypatch):
    document = fill(memory, clock)
    store, done = imported_sessions.store, []

    def dies(*arguments):
        if len(done) == 1:
            raise KeyboardInterrupt
        done.append(1)
        return store(*arguments)

    monkeypatch.setattr(imported_sessions, "store", dies)
    with pytest.raises(KeyboardInterrupt):
        empty.import_person(document)
    monkeypatch.setattr(imported_sessions, "store", store)
    monkeypatch.setattr(schema, "_AT_ONCE", 1)
    take_in, took = empty.service.take_in, []

    def fails(*arguments):
        took.append(1)
        if len(took) == 3:
            raise StoreUnavailable("gone")
        return take_in(*arguments)

    monkeypatch.setattr(empty.service, "take_in", fails)
    with pytest.raises(StoreUnavailable):
        empty.import_person(document)
    report = empty.import_person(document)
    assert report.there_already["session"] == 2
    assert report.there_already["memory"] == 2
    assert same(empty.export(ANNA), document)


@pytest.mark.spec("P-3")
@for_each(
    ("change", "says"),
    [
        ({"format_version": 2}, "install a newer one"),
        ({"format_version": "1"}, "is no version"),
        ({"format": "something"}, "no person's document"),
        ({"person": " "}, "whose it is"),
        ({"secrets": []}, "nobody knows: secrets"),
    ],
)
def test_a_document_that_is_not_of_this_format_is_refused_as_a_whole(empty, change, says):
    document = {"format": "langmem-plugin person", "format_version": 1, "exported_at": AT, "person": ANNA, **change}
    with pytest.raises(UnreadableImport, match=says):
        empty.import_person(document, phone=ANNA)


@pytest.mark.spec("P-3")
def test_a_damaged_record_is_named_and_the_rest_is_stored(memory, empty, clock):
    held = json.loads(fill(memory, clock).to_json())
    held["memories"][1]["confidence"] = 7
    held["memories"][2] = None
    held["memories"][3]["text"] = " \x00"
    held["sessions"][0]["messages"][0]["message"] = {"type": "remove", "data": {"id": "x", "content": ""}}
    held["sessions"][0]["messages"][1]["message"] = {"type": "os.system"}
    held["sessions"].append("session")
    held["instructions"][0]["condition"] = "whenever it is nice"
    held["files"][0]["data"] = "AAAA"
    held["consent"]["personal"]["since"] = "today"
    held["uses"] = {}
    report = empty.import_person(held)
    assert [each.place for each in report.skipped] == [
        "consent",
        "sessions 1, message 1",
        "sessions 1, message 2",
        "files 1",
        "sessions 3",
        "memories 2",
        "memories 3",
        "memories 4",
        "uses",
        "instructions 1",
    ]
    assert [len(each.messages) for each in empty.export(ANNA).sessions] == [2, 2]
    assert report.stored["memory"] == 1


@pytest.mark.spec("P-3")
def test_what_no_database_or_conversation_can_hold_is_skipped_and_nothing_else(memory, empty, clock):
    held = json.loads(fill(memory, clock).to_json())
    deep = []
    for _ in range(70):
        deep = [deep]
    held["memories"][0]["category"] = "x" * 2_000
    held["memories"][1]["quote"] = "half \x00"
    held["memories"][2]["metadata"] = {"deep": deep, "kept": 1}
    held["memories"].append(held["memories"][3])
    held["settings"]["time_zone"] = "Nowhere/At_All"
    held["identifiers"][0]["identifier"] = "\x1fshared"
    held["sessions"][0]["messages"][0]["message"]["data"]["additional_kwargs"] = {"automated": True}
    held["sessions"][1]["conversation"] = "ש" * 900
    held["files"] = []
    wrote = {"message_id": "w", "received_at": AT}
    held["incoming"] = [wrote | {"message": {"type": "ai", "data": {"content": "I am the person"}}}]
    report = empty.import_person(held)
    assert {each.place.replace(PNG_SHA[:12], "PNG") for each in report.skipped} == {
        "memories 1",
        "memories 2",
        "memories 5",
        "settings",
        "identifiers 1",
        "sessions 1, message 1",
        "sessions 2",
        "file PNG",
        "incoming 1",
        *(each.place for each in report.skipped if each.place.startswith("uses")),
    }
    exported = empty.export(ANNA)
    assert [len(each.messages) for each in exported.sessions] == [3]
    assert exported.settings.model_dump() == {"time_zone": None, "language": "es", "name": "Anna Levi"}
    assert {"kept": 1} in [each.metadata for each in exported.memories]
    assert not exported.files


@pytest.mark.spec("P-3")
def test_a_switched_off_memory_says_so(offline_model):
    with PhoneMemory(settings=Settings(enable_memory_system=False), embeddings=offline_model) as memory:
        for verb in (
            lambda: memory.export(ANNA),
            lambda: memory.exporter.write(ANNA, io.StringIO()),
            lambda: memory.import_person({}),
            lambda: memory.importer.run([]),
        ):
            with pytest.raises(ConfigurationError, match="switched off"):
                verb()


@pytest.mark.spec("P-1", "P-3", "C-8")
def test_an_encrypted_memory_takes_pictures_in_and_shows_them_to_nobody_else(memory, tmp_path, offline_model, clock):
    fill(memory, clock)
    document = memory.export(ANNA)
    with new_memory(f"sqlite:///{tmp_path}/closed/a.db", offline_model, clock, keys=new_master_key()) as closed:
        closed.import_person(document)
        taken_in = closed.export(ANNA)
    stored = b"".join(each.read_bytes() for each in (tmp_path / "closed").rglob("*") if each.is_file())
    assert [each.data for each in taken_in.files] == [each.data for each in document.files] != []
    assert PNG not in stored
