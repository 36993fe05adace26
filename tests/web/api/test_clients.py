"""Programs that were made from the description: a generated client works, and what is listed is read to its end."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from langmem_plugin.people.access_tokens import AccessTokens
from tests.cases import for_each
from tests.web.api.conftest import ANNA, HEADER
from tests.web.api.serving import serving

GENERATOR = Path(sys.executable).with_name("openapi-python-client")


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Makes the package of a client once; gives its modules by name."""
    folder = tmp_path_factory.mktemp("generated")
    made = {}

    def module(app, name):
        if not made:
            (folder / "openapi.json").write_text(json.dumps(app.openapi()))
            (folder / "config.yml").write_text("post_hooks: []\n")
            command = [GENERATOR, "generate", "--path", folder / "openapi.json", "--config", folder / "config.yml"]
            command += ["--meta", "none", "--output-path", folder / "made_client", "--fail-on-warning"]
            subprocess.run(command, check=True, capture_output=True, cwd=folder)
            sys.path.insert(0, str(folder))
            made["there"] = True
        return importlib.import_module(f"made_client{name}")

    yield module
    sys.path[:] = [each for each in sys.path if each != str(folder)]


@pytest.mark.slow
@pytest.mark.spec("U-3")
def test_a_client_that_is_generated_from_the_description_stores_changes_lists_and_is_told_what_is_wrong(
    memory, generated
):
    app = memory.app()
    token, _ = AccessTokens(memory.database, now=memory.service.now).new_operator()
    with serving(app) as url, generated(app, "").AuthenticatedClient(base_url=url, token=token) as client:
        models = generated(app, ".models")

        def asked(name, **given):
            return generated(app, f".api.{name}").sync_detailed(client=client, langmem_phone=ANNA, **given)

        stored = asked("memories.create_memory", body=models.NewFact(fact="Leo is allergic to peanuts"))
        assert (int(stored.status_code), stored.parsed.success) == (201, True)
        held = stored.parsed.data.memory
        tag = stored.headers["etag"]
        changed = models.ChangedFact(fact="Leo is allergic to nuts")
        assert (
            asked("memories.change_memory", memory_id=held.id, body=changed, if_match=tag).parsed.data.memory.revision
            == 2
        )
        late = asked("memories.change_memory", memory_id=held.id, body=changed, if_match=tag)
        assert (int(late.status_code), late.parsed.success) == (412, False)
        assert "read it again" in late.parsed.detail
        [listed] = asked("memories.list_memories").parsed.data.memories
        assert listed.is_by_operator
        assert int(asked("memories.read_memory", memory_id="nothing").status_code) == 404
        made = asked("instructions.create_instruction", body=models.NewInstruction(instruction="Answer in short"))
        assert made.parsed.data.instruction.priority == 1
        people = generated(app, ".api.people.list_people").sync(client=client)
        assert people.data.total == 1


@pytest.mark.slow
@pytest.mark.spec("U-3")
def test_a_client_by_openapi_generator_stores_changes_lists_and_is_told_what_is_wrong(memory, tmp_path, monkeypatch):
    app = memory.app()
    token, _ = AccessTokens(memory.database, now=memory.service.now).new_operator()
    (tmp_path / "openapi.json").write_text(json.dumps(app.openapi()))
    command = [Path(sys.executable).with_name("openapi-generator-cli"), "generate", "--generator-name", "python"]
    command += ["--input-spec", tmp_path / "openapi.json", "--output", tmp_path, "--package-name", "client_by_java"]
    subprocess.run(command, check=True, capture_output=True)
    monkeypatch.syspath_prepend(tmp_path)
    made = importlib.import_module("client_by_java")
    with serving(app) as url, made.ApiClient(made.Configuration(host=url, access_token=token)) as client:
        memories = made.MemoriesApi(client)
        fact = made.NewFact(fact="Leo is allergic to peanuts")
        stored = memories.create_memory_with_http_info(fact, langmem_phone=ANNA)
        held = stored.data.data.memory
        tag = stored.headers["etag"]
        changed = made.ChangedFact(fact="Leo is allergic to nuts")
        assert memories.change_memory(held.id, changed, langmem_phone=ANNA, if_match=tag).data.memory.revision == 2
        with pytest.raises(made.ApiException) as late:
            memories.change_memory(held.id, changed, langmem_phone=ANNA, if_match=tag)
        assert (late.value.status, "read it again" in late.value.data.detail) == (412, True)
        [listed] = memories.list_memories(langmem_phone=ANNA).data.memories
        assert (listed.fact, listed.is_by_operator) == ("Leo is allergic to nuts", True)
        with pytest.raises(made.exceptions.NotFoundException):
            memories.read_memory("nothing", langmem_phone=ANNA)
        assert made.PeopleApi(client).list_people().data.total == 1


@pytest.mark.spec("U-3", "M-15")
def test_a_list_is_read_to_its_end_by_its_cursors_though_others_write_meanwhile(anna, clock):
    facts = [anna.remember(f"Fact number {number} of the list")["fact"] for number in range(7)]
    anna("POST", "memory", json={"fact": "Something else, before it all"})
    facts.append("Something else, before it all")
    read, path = [], "memory?limit=3"
    while path:
        response = anna.response("GET", path)
        read += [each["fact"] for each in response.json()["data"]["memories"]]
        following = response.links.get("next")
        path = following and following["url"].removeprefix("/api/")
        anna.remember(f"Written while it is read, after {len(read)}")
    assert read == facts[::-1]
    assert anna.refused("GET", "memory?cursor=nothing")["status"] == 404


@pytest.mark.spec("U-3")
def test_everybody_is_read_by_cursors_and_a_stranger_is_not_there(operator, memory):
    people = [f"+97250123456{last}" for last in range(5)]
    for each in people:
        memory.service.remember(each, "Likes tea")
    read, path = [], "people?limit=2&reveal=true"
    while path:
        response = operator.response("GET", path)
        read += [each["key"] for each in response.json()["data"]["people"]]
        following = response.links.get("next")
        path = following and following["url"].removeprefix("/api/")
        assert "97250" not in (path or "")
    assert read == people
    assert operator.refused("GET", "people?cursor=nothing")["status"] == 422
    for place in ("memory", "person", "memory/search?query=tea", "instructions", "sessions", "consent"):
        refused = operator.refused("GET", place, headers={HEADER: "+972509999999"})
        assert (refused["status"], refused["type"].rpartition(":")[2]) == (404, "unknown-person")


@pytest.mark.spec("U-3")
@for_each(("kind", "bound"), [("text", 0), ("text", 1), ("hybrid", 0)])
def test_a_search_by_text_gives_what_has_the_words_whatever_relevance_is_asked_for(anna, kind, bound):
    for fact in ("Call Maya back", "Team lunch at Hanoi Kitchen", "Car is a Skoda"):
        anna.remember(fact)
    found = anna("GET", f"memory/search?query=Maya&min_relevance={bound}&search_type={kind}")["results"]
    texts = [each["memory"]["fact"] for each in found]
    assert texts[0] == "Call Maya back"
    assert (len(texts) == 1) is (kind == "text")


@pytest.mark.spec("U-3")
def test_the_description_is_a_page_that_loads_nothing_and_head_is_answered_as_get(client, anna):
    page = client.get("/api/docs")
    assert page.status_code == 200
    assert "http" not in page.text.replace("http-equiv", "")
    for told in ("POST /api/memory", "Leo is allergic to peanuts", "If-Match", "curl -X PATCH", "search_type"):
        assert told in page.text
    for place in ("/api/docs", "/api/openapi.json", "/console/sign-in"):
        head = client.head(place)
        assert (head.status_code, head.content) == (200, b"")
    assert client.head("/api/memory", headers=anna.headers).headers["x-total-count"] == "0"


@pytest.mark.spec("U-3", "R-4")
def test_a_conversation_is_read_as_a_trace_where_that_is_asked_for(anna, memory):
    memory.sessions.add_message(ANNA, "user", "find dinners")
    call = {"name": "find_dinners", "args": {"query": "chicken"}, "id": "c1"}
    memory.sessions.record(ANNA, AIMessage("", tool_calls=[call]))
    shown = json.dumps([{"id": "r1", "name": "Lemon chicken"}, {"id": "r2", "name": "Chicken curry"}])
    memory.sessions.record(ANNA, ToolMessage(shown, tool_call_id="c1", name="find_dinners"))
    memory.sessions.add_message(ANNA, "user", "tell me more about number 2")
    [session] = memory.sessions.sessions(ANNA)
    plain = anna("GET", f"sessions/{session.session_id}")["messages"]
    assert {each["trace"] for each in plain} == {None}
    traced = [each["trace"] for each in anna("GET", f"sessions/{session.session_id}?trace=true")["messages"]]
    assert traced[1]["calls"] == [{"tool": "find_dinners", "arguments": {"query": "chicken"}}]
    [pointed] = traced[3]["references"]
    assert (pointed["words"], pointed["things"], pointed["reason"]) == ("number 2", ["Chicken curry"], "its number")
    assert traced[3]["shown"] == ["Lemon chicken", "Chicken curry"]
