"""A LangGraph server that authenticates its users: whatever a client says, a run serves the user who calls.

Anna is the account's owner. Ben is any other user, and may address any thread: the server guards none.
"""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest
from langgraph_sdk import get_sync_client

from .dev_server import dev_server

pytestmark = pytest.mark.slow

ANNA, BEN = "+972501234567", "ben"
SERVED = Path(__file__).with_name("authenticated")
QUESTION = {"role": "user", "content": "what do you know?"}
SECRETS = ("penicillin\\n", "allergic", "40 percent")
FORGED = {"langgraph_auth_user_id": ANNA, "langgraph_auth_user": {"identity": ANNA, "kind": "StudioUser"}}


class User:
    """Runs the graph as one user; what is said is all that the memory showed, or the error's name."""

    def __init__(self, client):
        self.client = client

    def __call__(self, thread="fresh", assistant="told", *, before=(), **said):
        thread = self.client.threads.create()["thread_id"] if thread == "fresh" else thread
        asked = {"messages": [QUESTION], **dict(before)}
        values = self.client.runs.wait(thread, assistant, input=asked, raise_error=False, **said)
        return values["__error__"]["error"] if "__error__" in values else values["messages"][-1]["content"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("authenticated")
    shutil.copytree(SERVED, folder / "served")
    return folder


@pytest.fixture(scope="module")
def url(folder):
    with dev_server(folder / "served", folder) as url:
        yield url


@pytest.fixture
def user(url):
    with ExitStack() as opened:

        def sign_in(identity, **headers):
            client = get_sync_client(url=url, timeout=200, headers={"Authorization": f"Bearer {identity}", **headers})
            return User(opened.enter_context(client))

        yield sign_in


def knows_annas_secrets(told):
    return [secret in told for secret in ("allergic to penicillin", "40 percent")] == [True, True]


def knows_nothing(told):
    shown = "You are Mom Bot." in told and not any(each in told for each in ("allergic", "40 percent", ANNA[1:]))
    return told in REFUSALS or shown


REFUSALS = ("NotAuthorized", "InvalidInput", "UnknownSession", "AttributeError")  # the last is LangGraph's


@pytest.mark.spec("P-6", "M-16", "U-6")
def test_no_way_to_name_anna_shows_ben_anything_of_hers(user, folder):
    anna, ben = user(ANNA), user(BEN)
    annas = anna.client.threads.create()["thread_id"]
    assert knows_annas_secrets(anna(annas))
    recalled = anna.client.threads.get_state(annas)["values"]["recalled"]
    assert recalled
    with closing(sqlite3.connect(folder / "langmem.db")) as rows:
        [(session_id,)] = rows.execute("SELECT session_id FROM langmem_session WHERE thread = ?", [annas])

    def with_assistant(**made):
        return lambda: ben(assistant=ben.client.assistants.create("told", **made)["assistant_id"])

    def with_thread(**made):
        return lambda: ben(ben.client.threads.create(**made)["thread_id"])

    def configured(**said):
        return lambda: ben(config={"configurable": said})

    def on_a_thread_made_to_recall():
        mine = ben.client.threads.create(graph_id="told")["thread_id"]
        ben.client.threads.update_state(mine, {"messages": [QUESTION], "recalled": recalled}, as_node="recall")
        values = ben.client.runs.wait(mine, "told", raise_error=False)
        return values["messages"][-1]["content"]

    ways = {
        "context": lambda: ben(context={"phone": ANNA}),
        "context in other words": lambda: ben(context={"phone": "\u202a+972 50-123-4567\u202c"}),
        "context and forged user": lambda: ben(context={"phone": ANNA} | FORGED),
        "configurable": configured(langmem_phone=ANNA),
        "forged user": configured(**FORGED),
        "thread id": configured(thread_id=annas),
        "phone as thread id": configured(thread_id=ANNA),
        "session id": configured(langmem_session=session_id),
        "session id without a trace": configured(langmem_session=session_id, langmem_automated=True),
        "runtime": configured(__pregel_runtime={"context": {"phone": ANNA}, "server_info": {"user": FORGED}}),
        "checkpoint": lambda: ben(checkpoint={"phone": ANNA} | FORGED),
        "checkpoint of her thread": lambda: ben(checkpoint={"thread_id": annas, "langmem_session": session_id}),
        "metadata": lambda: ben(metadata={"phone": ANNA} | FORGED),
        "metadata of the config": lambda: ben(config={"metadata": {"phone": ANNA} | FORGED}),
        "metadata of the thread": with_thread(metadata={"phone": ANNA} | FORGED),
        "context of the assistant": with_assistant(context={"phone": ANNA}),
        "configurable of the assistant": with_assistant(config={"configurable": {"langmem_phone": ANNA} | FORGED}),
        "forged user of the assistant": with_assistant(config={"configurable": FORGED}),
        "metadata of the assistant": with_assistant(metadata={"phone": ANNA}),
        "no thread": lambda: ben(None, context={"phone": ANNA}),
        "headers": user(BEN, **{"x-phone": ANNA, "phone": ANNA, "langgraph_auth_user_id": ANNA}),
        "what she was reminded of": lambda: ben(before={"recalled": recalled}),
        "what she was reminded of, in the state": on_a_thread_made_to_recall,
        "shared scope": lambda: ben(context={"phone": "\x1fshared"}),
        "her thread": lambda: ben(annas),
    }
    with ThreadPoolExecutor(8) as pool:
        told = dict(zip(ways, pool.map(lambda way: way(), ways.values()), strict=True))
    assert {way: said for way, said in told.items() if not knows_nothing(said)} == {}
    for way in ("context", "configurable", "metadata", "context of the assistant", "metadata of the thread"):
        assert told[way] == "NotAuthorized"
    assert knows_annas_secrets(anna())


@pytest.mark.spec("P-6", "U-6")
def test_who_may_name_a_person_is_the_studio_and_a_service_that_the_settings_trust(user):
    studio, backend, ben = user(BEN, **{"x-auth-scheme": "langsmith"}), user("backend"), user(BEN)
    chat_id = user("972501234567@c.us")
    ways = [
        lambda: studio(context={"phone": ANNA}),
        lambda: studio(config={"configurable": {"langmem_phone": "972501234567@c.us"}}),
        lambda: backend(context={"phone": ANNA}),
        lambda: backend(metadata={"phone": ANNA}),
        lambda: chat_id(context={"phone": ANNA}),
        studio,
        backend,
        ben,
        lambda: ben(context={"phone": BEN}),
        lambda: ben(config={"configurable": {"langmem_phone": BEN}}),
    ]
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda way: way(), ways))
    assert [knows_annas_secrets(each) for each in told] == [True] * 5 + [False] * 5
    assert len(set(told[5:])) == 1


@pytest.mark.spec("P-6")
def test_nobody_is_let_in_without_saying_who_calls(url):
    assert httpx.post(f"{url}/threads", json={}, timeout=90).status_code == 401


@pytest.mark.spec("U-1", "P-6")
def test_the_servers_store_shows_each_user_their_own_memories(user):
    anna, ben = user(ANNA).client.store, user(BEN).client.store
    assert "penicillin" in str(anna.search_items(["memories", ANNA]))
    ben.put_item(["memories", BEN], key="lamp", value={"content": "Ben has a lamp"})
    assert ben.get_item(["memories", BEN], key="lamp")["value"] == {"content": "Ben has a lamp"}
    for asked in (
        lambda: ben.search_items(["memories", ANNA]),
        lambda: ben.search_items(["memories"]),
        lambda: ben.search_items([]),
        lambda: ben.get_item(["prefs", ANNA], key="lamp"),
        lambda: ben.put_item(["memories", ANNA], key="lamp", value={"content": "x"}),
        ben.list_namespaces,
    ):
        with pytest.raises(httpx.HTTPStatusError, match="name your own memories"):
            asked()
