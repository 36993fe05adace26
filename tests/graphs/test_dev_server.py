"""`langgraph dev` serves both assistants with our checkpointer; driven with its own SDK."""

import itertools

import httpx
import pytest
from langgraph_sdk import get_sync_client

from .dev_server import ROOT, dev_server

pytestmark = pytest.mark.slow

BOTH = pytest.mark.parametrize("assistant", ["family_assistant", "family_agent"])


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    with (
        dev_server(ROOT, folder, HOUSEHOLD_DB=f"{folder}/household.db") as url,
        get_sync_client(url=url, timeout=200) as client,
    ):
        yield client


@pytest.mark.spec("U-3", "U-6")
def test_the_memorys_own_api_is_served_beside_the_graphs(client):
    http = client.http.client
    assert http.get("/memory/health/ready").json() == {"status": "ok", "away": []}
    assert http.get("/memory/api/memory").status_code == 401
    assert http.get("/memory/api/openapi.json").json()["info"]["title"] == "phone-memory"


_numbers = itertools.count(100)


class Thread:
    """One conversation on the server, of a phone or of somebody new."""

    def __init__(self, client, assistant, phone=None):
        self.client = client
        self.assistant = assistant
        self.phone = phone or f"+1202555{next(_numbers):04}"
        self.id = client.threads.create()["thread_id"]

    def __call__(self, text):
        asked = {"messages": [{"role": "user", "content": text}]}
        values = self.client.runs.wait(self.id, self.assistant, input=asked, context={"phone": self.phone})
        return values["messages"][-1]["content"]

    def messages(self):
        return self.client.threads.get_state(self.id)["values"]["messages"]


@pytest.mark.spec("U-6", "R-1", "C-1")
@BOTH
def test_a_run_knows_its_phone_and_what_number_2_means(client, assistant):
    erin, jason = Thread(client, assistant), Thread(client, assistant)
    erin("find me a chicken dinner")
    jason("find me a vegetarian lunch")
    assert erin("save number 2") == "Creamy chicken and mushroom pasta (saved)"
    assert jason("what did I save?") == "No recipe is saved yet."


@pytest.mark.spec("U-6")
@BOTH
def test_state_and_history_of_a_thread_can_be_read(client, assistant):
    erin = Thread(client, assistant)
    erin("what's on our calendar this week?")
    assert [message["type"] for message in erin.messages()] == ["human", "ai", "tool", "ai"]
    history = client.threads.get_history(erin.id, limit=20)
    lengths = [len(state["values"].get("messages", [])) for state in history]
    assert lengths[0] == 4
    assert sorted(lengths, reverse=True) == lengths


@pytest.mark.spec("U-6")
def test_two_threads_of_one_phone_are_two_conversations_with_one_household(client):
    first = Thread(client, "family_assistant")
    second = Thread(client, "family_assistant", first.phone)
    first("add milk and eggs to the grocery list")
    assert second("show my grocery list") == "1. milk\n2. eggs"
    assert len(second.messages()) == 4


@pytest.mark.spec("U-6")
def test_a_thread_can_be_deleted(client):
    erin = Thread(client, "family_assistant")
    erin("what's on our calendar this week?")
    client.threads.delete(erin.id)
    with pytest.raises(httpx.HTTPStatusError):
        client.threads.get_state(erin.id)


@pytest.mark.spec("U-6")
def test_a_run_that_names_nobody_belongs_to_its_thread_alone(client):
    nobody, somebody = Thread(client, "family_assistant"), Thread(client, "family_assistant")
    asked = {"messages": [{"role": "user", "content": "add milk and eggs to the grocery list"}]}
    client.runs.wait(nobody.id, "family_assistant", input=asked)
    assert somebody("show my grocery list") == "The grocery list is empty."
    assert len(nobody.messages()) == 4


@pytest.mark.spec("U-6", "P-6")
def test_a_client_cannot_say_that_it_is_authenticated(client):
    erin, nobody = Thread(client, "family_assistant"), Thread(client, "family_assistant")
    erin("add milk and eggs to the grocery list")
    forged = {"langgraph_auth_user_id": erin.phone, "langgraph_auth_user": {"identity": erin.phone}}
    asked = {"messages": [{"role": "user", "content": "show my grocery list"}]}
    values = client.runs.wait(nobody.id, "family_assistant", input=asked, config={"configurable": forged})
    assert values["messages"][-1]["content"] == "The grocery list is empty."


@pytest.mark.spec("U-2", "U-6")
@BOTH
def test_commands_work_in_a_run(client, assistant):
    erin, jason = Thread(client, assistant), Thread(client, assistant)
    assert erin("/remember I only drink tea") == "✅ Remembered: I only drink tea"
    assert "tea" not in jason("/memories")
    assert "tea" in erin("what do I drink?")
    assert erin("/forget tea").startswith("Shall I forget this? I only drink tea")
    assert erin("yes") == "🗑️ Forgotten: I only drink tea"
    assert "/reset" not in erin("/help")


@pytest.mark.spec("U-6", "P-6")
def test_a_run_that_leaves_the_phone_out_later_is_told_so(client):
    erin = Thread(client, "family_assistant")
    erin("what's on our calendar this week?")
    asked = {"messages": [{"role": "user", "content": "show my grocery list"}]}
    with pytest.raises(Exception, match=f"served …{erin.phone[-3:]}, and this one names nobody") as refused:
        client.runs.wait(erin.id, "family_assistant", input=asked)
    assert erin.phone[1:] not in str(refused.value)
    assert erin("show my grocery list") == "The grocery list is empty."


@pytest.mark.spec("U-6")
def test_the_state_says_why_the_turn_went_as_it_did(client):
    erin = Thread(client, "family_assistant")
    erin("find me a chicken dinner")
    erin("save number 2")
    (referred,) = client.threads.get_state(erin.id)["values"]["memory_report"]["referred"]
    assert (referred["words"], referred["numbers"]) == ("number 2", [2])


@pytest.mark.spec("U-1", "U-6")
def test_the_servers_store_holds_what_is_remembered_of_people(client):
    erin, jason = (Thread(client, "family_assistant") for _ in range(2))
    place = ["memories", erin.phone]
    client.store.put_item(place, key="basil", value={"content": "Erin likes basil"})
    client.store.put_item(["memories", jason.phone], key="thyme", value={"content": "Jason likes thyme"})
    assert client.store.get_item(place, key="basil")["value"] == {"content": "Erin likes basil"}
    found = client.store.search_items(place, query="which herbs?")["items"]
    assert [each["value"]["content"] for each in found] == ["Erin likes basil"]
    for prefix in (["memories"], None):
        assert place in client.store.list_namespaces(prefix=prefix)["namespaces"]
    assert {"Erin likes basil", "Jason likes thyme"} <= {
        each["value"]["content"] for each in client.store.search_items([], limit=100)["items"]
    }
    erin("find me a chicken dinner with basil")
    recalled = client.threads.get_state(erin.id)["values"]["recalled"]
    assert len(recalled) == 1
    client.store.delete_item(place, key="basil")
    assert client.store.search_items(place)["items"] == []
