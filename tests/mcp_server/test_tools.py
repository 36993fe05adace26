"""Every tool, by the SDK's own client over HTTP: what it gives, what it changes, and what it refuses."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin.memory.find.recall_and_visibility import share
from tests.mcp_server.conftest import ANNA

pytestmark = pytest.mark.both_engines

TOOLS = {
    "remember_fact": "adds",
    "update_fact": "replaces",
    "forget_fact": "replaces",
    "restore_fact": "adds",
    "recall_facts": "reads",
    "list_facts": "reads",
    "explain_fact": "reads",
    "confirm_fact": "adds",
    "decline_fact": "replaces",
    "search_conversations": "reads",
    "list_instructions": "reads",
    "add_instruction": "adds",
    "switch_instruction": "replaces",
    "remove_instruction": "replaces",
}


@pytest.mark.spec("U-1", "P-6")
def test_every_tool_says_what_it_does_what_it_takes_and_gives_and_none_takes_a_person(anna):
    listed = anna.listed().tools

    assert {each.name for each in listed} == set(TOOLS)
    for each in listed:
        kind = TOOLS[each.name]
        assert each.description.strip()
        assert each.annotations.read_only_hint == (kind == "reads")
        assert each.annotations.destructive_hint == {"reads": None, "adds": False, "replaces": True}[kind]
        assert each.output_schema["type"] == "object"
        assert each.input_schema["additionalProperties"] is False
        assert not {"owner", "phone", "user_id", "person", "who"} & set(each.input_schema["properties"])
    assert "nobody's order" in anna.client.instructions


@pytest.mark.spec("P-2", "M-5")
def test_what_the_person_has_forbidden_is_not_remembered(anna, memory):
    memory.consent.set(ANNA, extraction=True, sensitive=False)
    assert anna("remember_fact", text="Likes tea")["outcome"] == "stored"
    assert "has forbidden" in anna.refused("remember_fact", text="Has diabetes")

    memory.consent.set(ANNA, extraction=False)
    assert "/remember" in anna.refused("remember_fact", text="Likes cake")
    assert [each["text"] for each in anna("list_facts")["facts"]] == ["Likes tea"]


@pytest.mark.spec("M-5", "W-6")
def test_a_fact_is_remembered_found_changed_explained_forgotten_and_taken_back(anna):
    made = anna("remember_fact", text="My sister lives in Haifa")
    assert made["outcome"] == "stored"
    fact_id = made["fact"]["id"]
    assert anna("remember_fact", text="My sister lives in Haifa")["outcome"] == "duplicate"

    [found] = anna("recall_facts", query="where does my sister live?")["found"]
    assert (found["fact"]["id"], found["fact"]["state"], found["fact"]["is_shared"]) == (fact_id, "active", False)
    assert 0.5 <= found["relevance"] <= 1

    changed = anna("update_fact", fact_id=fact_id, text="My older sister lives in Haifa")
    assert changed["outcome"] == "changed"
    assert anna("list_facts") == {"facts": [changed["fact"]], "total": 1}
    explained = anna("explain_fact", fact_id=fact_id)
    assert explained["fact"]["text"] == "My older sister lives in Haifa"

    assert anna("forget_fact", fact_id=fact_id)["state"] == "forgotten"
    assert anna("recall_facts", query="where does my sister live?") == {"found": []}
    assert "no such fact" in anna.refused("explain_fact", fact_id=fact_id)
    assert anna("restore_fact", fact_id=fact_id)["state"] == "active"
    assert anna("list_facts")["total"] == 1


@pytest.mark.spec("W-6")
def test_what_is_corrected_is_replaced_and_comes_back_only_when_it_is_said_anew(anna, clock):
    old = anna("remember_fact", text="I live in Haifa")["fact"]["id"]
    clock.forward(days=1)
    new = anna("remember_fact", text="I live in Eilat")
    assert (new["outcome"], new["replaced"]) == ("superseded", [old])
    assert [each["id"] for each in anna("explain_fact", fact_id=new["fact"]["id"])["instead_of"]] == [old]

    clock.forward(days=1)
    told = anna.refused("remember_fact", text="I live in Haifa")
    assert "said_again=true" in told
    assert "What holds now: I live in Eilat" in told

    assert anna("remember_fact", text="I live in Haifa", said_again=True)["outcome"] == "superseded"
    assert [each["text"] for each in anna("list_facts")["facts"]] == ["I live in Haifa"]


@pytest.mark.spec("W-5")
def test_what_waits_for_the_persons_word_is_confirmed_or_declined(anna, memory):
    for text in ("I am allergic to nuts", "I own a boat"):
        memory.service.remember(ANNA, text, status="pending")
    boat, nuts = anna("list_facts", state="waiting")["facts"]
    assert {boat["state"], nuts["state"]} == {"pending"}

    by_text = {each["text"]: each["id"] for each in (boat, nuts)}
    assert anna("confirm_fact", fact_id=by_text["I am allergic to nuts"])["state"] == "active"
    assert anna("decline_fact", fact_id=by_text["I own a boat"])["state"] == "forgotten"
    assert "no such fact" in anna.refused("confirm_fact", fact_id=by_text["I own a boat"])
    assert [each["text"] for each in anna("list_facts")["facts"]] == ["I am allergic to nuts"]


@pytest.mark.spec("I-4")
def test_instructions_are_given_listed_switched_off_and_removed(anna, memory, clock):
    made = anna("add_instruction", text="Always answer in Spanish", priority=4)["instruction"]
    assert (made["priority"], made["is_on"], made["condition"]) == (4, True, None)
    assert anna("add_instruction", text="always answer in Spanish")["outcome"] == "duplicate"
    conditional = anna("add_instruction", text="if time after 22:00 then be brief")["instruction"]
    assert (conditional["text"], conditional["condition"]) == ("be brief", "time after 22:00")
    ended = anna("add_instruction", text="Call me Captain until tomorrow")["instruction"]
    assert ended["expires_at"] is not None

    assert anna("switch_instruction", instruction_id=made["id"], on=False)["is_on"] is False
    assert made["text"] not in [each.text for each in memory.instructions.list_instructions(ANNA)]
    assert anna("remove_instruction", instruction_id=conditional["id"])["id"] == conditional["id"]
    left = anna("list_instructions")["instructions"]
    assert {each["id"] for each in left} == {made["id"], ended["id"]}
    assert "no such instruction" in anna.refused("remove_instruction", instruction_id=conditional["id"])
    assert "no such instruction" in anna.refused("switch_instruction", instruction_id="x", on=True)


@pytest.mark.spec("M-11")
def test_what_was_said_is_found_with_whose_words_and_when(anna, memory, clock):
    memory.sessions.record(ANNA, HumanMessage("The boiler in the cellar leaks again"))
    memory.sessions.record(ANNA, AIMessage("I recommend the plumber Katz"))
    clock.forward(hours=2)
    memory.index_past_sessions()

    found = anna("search_conversations", query="what did I say about the boiler?", limit=1)["messages"]

    assert [(each["by"], each["text"]) for each in found] == [("the person", "The boiler in the cellar leaks again")]
    assert found[0]["session_id"] == memory.sessions.sessions(ANNA)[0].session_id


@pytest.mark.spec("M-16")
def test_what_is_shared_is_found_and_cannot_be_changed(anna, memory):
    made = share(memory.service, "The office closes at five on Fridays", with_clients=True)
    share(memory.service, "The office pays its rent late")

    [found] = anna("recall_facts", query="when does the office close?")["found"]
    assert found["fact"]["is_shared"]
    assert "no such fact" in anna.refused("forget_fact", fact_id=made.id)
    assert "no such fact" in anna.refused("update_fact", fact_id=made.id, text="never")
    assert anna("list_facts")["facts"] == []


@pytest.mark.spec("C-13")
def test_wrong_arguments_are_told_in_a_sentence_and_change_nothing(anna):
    assert "text: Field required" in anna.refused("remember_fact")
    assert "at most 4000 characters" in anna.refused("remember_fact", text="x" * 4_001)
    assert "needs a text" in anna.refused("remember_fact", text="  \n ")
    assert "limit: " in anna.refused("recall_facts", query="tea", limit=0)
    assert "limit: " in anna.refused("list_facts", limit=10**30)
    assert "offset: " in anna.refused("list_facts", offset=-1)
    assert "state: " in anna.refused("list_facts", state="forgotten")
    assert "priority: " in anna.refused("add_instruction", text="be brief", priority=11)
    assert "Unknown tool" in anna.refused("drop_tables")
    assert anna("list_facts") == {"facts": [], "total": 0}
    assert anna("list_instructions") == {"instructions": []}
