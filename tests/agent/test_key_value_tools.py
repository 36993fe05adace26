"""The six tools of named values: their names, results and error codes, for the person of the run alone."""

import json

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from langmem_plugin import KEY_VALUE_RULES, KeyValueMemory, PhoneMemory, inject_memory_context
from langmem_plugin.settings import Settings
from tests.cases import for_each

pytestmark = pytest.mark.both_engines

ERIN, JASON = "+972501234567", "+972507654321"
NAMES = ["save_memory", "load_memory", "delete_memory", "list_memory", "search_memory", "classify_memory"]


@pytest.fixture
def use(memory, graph_of, scripted):
    """Texts a message to which the model calls one tool, and gives that tool's result."""

    def used(who, name, automated=False, **arguments):
        calls = [{"name": name, "args": arguments, "id": "1"}]
        said = iter([AIMessage("", tool_calls=calls), AIMessage("done")])
        results = []

        def script(messages):
            results.extend(each for each in messages if isinstance(each, ToolMessage))
            return next(said)

        memory.reply(graph_of(scripted(script), memory.key_value_tools()), who, "go on", automated=automated)
        return json.loads(results[-1].content)

    return used


@pytest.mark.spec("M-6", "U-1")
def test_the_tools_have_the_known_names_and_never_take_an_owner(memory):
    tools = memory.key_value_tools()
    assert [each.name for each in tools] == NAMES
    arguments = {name for each in tools for name in each.tool_call_schema.model_json_schema().get("properties", {})}
    assert arguments == {"key", "value", "query", "user_message"}
    assert all(each.description for each in tools)


@pytest.mark.spec("M-6", "U-1")
def test_what_one_tool_saves_the_others_and_every_other_door_find(memory, use):
    saved = use(ERIN, "save_memory", key="email_preference", value="short emails")
    assert saved == {
        "success": True,
        "message": "Memory saved successfully",
        "key": "email_preference",
        "value": "short emails",
        "is_update": False,
    }
    assert use(ERIN, "save_memory", key="email_preference", value="long emails")["is_update"]
    assert use(ERIN, "list_memory") == {"success": True, "keys": ["email_preference"], "count": 1}
    loaded = use(ERIN, "load_memory")
    assert inject_memory_context(loaded["memory"]) == "LONG-TERM MEMORY:\n- email_preference: long emails"
    assert use(ERIN, "search_memory", query="LONG")["results"] == [{"key": "email_preference", "value": "long emails"}]
    assert memory.service.search(ERIN, "which emails do I like?")[0].memory.key == "email_preference"
    assert memory.key_value(ERIN).list_memory()["count"] == 1
    assert use(ERIN, "delete_memory", key="email_preference")["deleted_value"] == "long emails"
    assert memory.service.search(ERIN, "emails") == []


@pytest.mark.spec("M-6", "P-6")
def test_nobody_gets_what_was_saved_for_another(use):
    use(ERIN, "save_memory", key="assistant_name", value="David")
    assert use(JASON, "load_memory")["count"] == 0
    assert use(JASON, "delete_memory", key="assistant_name")["error"] == "KEY_NOT_FOUND"


@pytest.mark.spec("M-6")
@for_each(
    ("name", "arguments", "error"),
    [
        ("save_memory", {"key": " ", "value": "x"}, "INVALID_KEY"),
        ("save_memory", {"key": "k", "value": " "}, "EMPTY_DATA"),
        ("delete_memory", {"key": "nothing"}, "KEY_NOT_FOUND"),
        ("search_memory", {"query": ""}, "EMPTY_DATA"),
        ("classify_memory", {"user_message": ""}, "EMPTY_DATA"),
    ],
)
def test_what_cannot_be_done_is_told_by_its_code(use, name, arguments, error):
    result = use(ERIN, name, **arguments)
    assert (result["success"], result["error"]) == (False, error)


@pytest.mark.spec("M-6", "W-2")
def test_classifying_gives_what_saving_takes(use):
    found = use(ERIN, "classify_memory", user_message="My assistant is David")
    assert found["should_store"]
    assert use(ERIN, "save_memory", key=found["key"], value=found["value"])["success"]


@pytest.mark.spec("W-7", "P-2")
def test_an_automated_message_saves_nothing(memory, use):
    assert use(ERIN, "save_memory", automated=True, key="k", value="v")["error"] == "CONSENT_MISSING"
    assert memory.key_value(ERIN).load_memory()["count"] == 0


@pytest.mark.spec("P-8")
def test_without_a_memory_there_are_no_tools(tmp_path):
    with PhoneMemory(f"sqlite:///{tmp_path}/m.db", settings=Settings(enable_memory_system=False)) as off:
        assert off.key_value_tools() == []


@pytest.mark.spec("M-6")
def test_the_rules_name_the_tools_they_are_about():
    assert all(name in KEY_VALUE_RULES for name in ("save_memory", "load_memory"))
    assert KeyValueMemory.classify_memory("I prefer short emails")["should_store"]
