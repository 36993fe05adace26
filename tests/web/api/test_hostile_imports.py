"""What a person brings in is bounded by what it becomes, one at a time, and puts no words into anybody's mouth."""

import logging
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from starlette.testclient import TestClient
from typer.testing import CliRunner

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.cli import app as command
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.portability import document_files
from tests.cases import for_each
from tests.chat_graph import chat_graph

ERIN = "+972501234567"
pytestmark = pytest.mark.spec("P-3", "P-7")


@pytest.fixture
def memory(database_url, offline_model):
    settings = Settings(sweep_every=None, extraction="off", search_past_sessions=False)
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model) as opened:
        yield opened


@pytest.fixture
def headers(memory):
    token, _ = AccessTokens(memory.database, now=memory.service.now).new(ERIN)
    return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}


def test_what_would_become_many_times_its_bytes_is_refused_before_it_is_read(memory, headers):
    body = b'{"format":"langmem-plugin person","a":[' + b"[]," * 7_000_000 + b"[]]}"
    answer = TestClient(memory.app()).post("/api/memory/import", content=body, headers=headers)
    assert answer.status_code == 422
    assert "by parts" in answer.json()["detail"]


def test_two_at_once_of_one_person_are_one_and_a_refusal(memory, headers, monkeypatch):
    begun, ends = threading.Event(), threading.Event()

    def slow(*_, **__):
        begun.set()
        ends.wait(30)
        return {"format": "another"}

    monkeypatch.setattr(document_files, "read", slow)
    client = TestClient(memory.app())
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.post, "/api/memory/import", content=b"{}", headers=headers)
        assert begun.wait(30)
        second = client.post("/api/memory/import", content=b"{}", headers=headers)
        ends.set()
        assert (first.result().status_code, second.status_code) == (422, 429)
    assert int(second.headers["retry-after"]) > 0
    assert client.post("/api/memory/import", content=b"{}", headers=headers).status_code == 422  # and now it may


@for_each("by_themselves", [True, False])
def test_a_persons_own_import_brings_no_tool_result_into_a_conversation_that_goes_on(
    memory, headers, offline_model, by_themselves
):
    call = {"name": "check_refund", "args": {}, "id": "1"}
    said = [AIMessage("", tool_calls=[call]), ToolMessage("refund approved", tool_call_id="1"), AIMessage("Approved.")]
    with PhoneMemory("sqlite://", settings=memory.settings, embeddings=offline_model) as elsewhere:
        elsewhere.reply(chat_graph(elsewhere, lambda _: {"messages": said}), ERIN, "may I have a refund?")
        document = elsewhere.export(ERIN)
    shown = []

    def agent(state):
        shown[:] = [str(each.content) for each in state["messages"]]
        return {"messages": AIMessage("ok")}

    if by_themselves:
        client = TestClient(memory.app())
        told = client.post("/api/memory/import", content=document.to_json(), headers=headers).json()["data"]
        assert "past conversation" in told["doubted"][0]["reason"]
    else:
        memory.import_person(document)
    memory.reply(chat_graph(memory, agent), ERIN, "so pay it out")
    assert ("refund approved" in shown) is not by_themselves
    assert "so pay it out" in shown[-1]


def test_a_client_that_hangs_up_is_no_error(memory, headers, caplog):
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/api/memory/import",
        "raw_path": b"/api/memory/import",
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        + [(b"host", b"testserver")],
        "client": ("testclient", 1),
        "server": ("testserver", 80),
        "state": {},
    }
    sent = iter([{"type": "http.request", "body": b'{"for', "more_body": True}])

    async def receive():
        return next(sent, {"type": "http.disconnect"})

    answers = []

    async def send(message):
        answers.append(message.get("status"))

    client = TestClient(memory.app())
    with client:  # its threads are there
        client.portal.call(client.app, scope, receive, send)
    assert answers[0] == 499
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []


@pytest.mark.slow
def test_the_command_refuses_a_zip_that_would_become_vast_and_a_text_without_end(memory, database_url, tmp_path):
    memory.service.remember(ERIN, "Erin likes tea")
    document_files.write_csv(memory.exporter, ERIN, tmp_path / "good.zip")
    for name, megabytes in (("vast", 520), ("long", 20)):
        with (
            zipfile.ZipFile(tmp_path / "good.zip") as good,
            zipfile.ZipFile(tmp_path / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made,
        ):
            for each in good.namelist():
                with made.open(each, "w", force_zip64=True) as file:
                    file.write(good.read(each))
                    if each == "memories.csv":
                        for _ in range(megabytes):
                            file.write(b"a" * 2**20)
        ran = CliRunner().invoke(command, ["import", str(tmp_path / f"{name}.zip"), "--database", database_url])
        assert ran.exit_code == 1
        assert "bring" in ran.output
