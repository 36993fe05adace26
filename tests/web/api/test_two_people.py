"""Whatever one person's token asks of any route there is, it is given nothing of another's and changes nothing there."""

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin import PhoneMemory
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.privacy.erasure_receipts import ErasureReceipt
from tests.chat_graph import chat_graph
from tests.web.api.conftest import ANNA, BEN, HEADER

ERASED = "+972509999999"
WORD = "zirconium"


@pytest.fixture(scope="module")
def both(tmp_path_factory, offline_model, many_requests):
    """Anna's client, the memory, the routes as they describe themselves, and the ids of all that is Ben's."""
    file = tmp_path_factory.mktemp("two") / "langmem.db"
    with PhoneMemory(f"sqlite:///{file}", embeddings=offline_model) as memory:
        service = memory.service
        facts = [service.remember(BEN, f"Ben hides the {WORD} in room {number}", tags=[WORD]) for number in range(2)]
        facts.append(service.remember(BEN, f"Ben sold the {WORD} mine", status="pending"))
        service.forget(BEN, facts[0].id)
        category = service.categories.create(BEN, WORD)
        order = memory.instructions.add(BEN, f"Always mention {WORD}")
        memory.sessions.record(BEN, HumanMessage(f"the {WORD} is mine"))
        session_id = memory.sessions.sessions(BEN)[0].session_id
        memory.people.link(BEN, f"user:{WORD}")
        service.remember(ERASED, f"who is gone had {WORD}")
        receipt: ErasureReceipt = memory.erase(ERASED)
        tokens = AccessTokens(memory.database)
        graph = chat_graph(memory, lambda _: {"messages": AIMessage("I see.")})
        with TestClient(memory.app(graph=graph), raise_server_exceptions=True) as client:
            described = client.get("/api/openapi.json").json()
            ids = [*(each.id for each in facts), category.category_id, order.id, session_id, receipt.id]
            yield client, memory, tokens, described, [*ids, BEN, f"user:{WORD}", ERASED, WORD]


def _routes(described):
    return [
        (method, path, operation)
        for path, operations in sorted(described["paths"].items())
        for method, operation in sorted(operations.items())
    ]


def _names(described, operation):
    """What the body of a route may have, wherever it says so."""
    found, looking = set(), [operation.get("requestBody", {})]
    while looking:
        each = looking.pop()
        if isinstance(each, dict):
            found |= set(each.get("properties", ()))
            looking += each.values()
            if "$ref" in each:
                looking.append(described["components"]["schemas"][each["$ref"].rpartition("/")[2]])
        elif isinstance(each, list):
            looking += each
    return sorted(found)


def _all_of_ben(memory):
    everything = ("pending", "active", "superseded", "archived", "forgotten")
    listed = memory.service.list_memories(BEN, statuses=everything, include_expired=True)
    return (
        [each.model_dump() for each in listed],
        memory.instructions.list_instructions(BEN, active_only=False),
        [each.content for each in memory.sessions.messages(memory.sessions.sessions(BEN)[0].session_id)],
        memory.sessions.sessions(BEN),
        memory.service.categories.list_categories(BEN),
        memory.people.identifiers(BEN),
        memory.consent.of(BEN),
        memory.people.time_zone(BEN),
        memory.erasure.can_restore(ERASED).state,
    )


@pytest.mark.slow
@pytest.mark.spec("U-3", "P-6", "C-1")
@settings(max_examples=60)
@given(data=st.data())
def test_no_route_gives_or_changes_what_is_anothers(both, data):
    client, memory, tokens, described, theirs = both
    values = st.sampled_from([*theirs, "delete", "tag", "private", True, 1, None])
    method, path, operation = data.draw(st.sampled_from(_routes(described)))
    for each in operation.get("parameters", ()):
        if each["in"] == "path":
            path = path.replace("{" + each["name"] + "}", data.draw(st.sampled_from(theirs)))
    query = {
        each["name"]: data.draw(values)
        for each in operation.get("parameters", ())
        if each["in"] == "query" and data.draw(st.booleans())
    }
    names = _names(described, operation)
    body = {name: data.draw(values | st.lists(values, max_size=2)) for name in names if data.draw(st.booleans())}
    if "ids" in body:
        body["ids"] = theirs[:4]
    token, _ = tokens.new(ANNA)  # an erasure takes those that there were
    headers = {"authorization": f"Bearer {token}"}
    if data.draw(st.integers(0, 9)) == 0:
        headers[HEADER] = BEN
    before = _all_of_ben(memory)

    response = client.request(method, path, params=query, json=body if names else None, headers=headers)

    assert response.status_code < 500, response.text
    for words in ("Ben hides", "Ben sold", "Always mention", "is mine", "who is gone", "Traceback"):
        assert words not in response.text
    assert _all_of_ben(memory) == before


@pytest.mark.slow
@pytest.mark.spec("U-3", "P-6", "C-1")
def test_what_is_anothers_is_not_there_by_its_id_on_any_route(both):
    """Never 403: that something is there is not told either."""
    client, memory, tokens, described, theirs = both
    headers = {"authorization": f"Bearer {tokens.new(ANNA)[0]}"}
    before = _all_of_ben(memory)
    by_id = [(method, path) for method, path, _ in _routes(described) if "{" in path]
    assert len(by_id) > 8
    for method, path in by_id:
        for each in theirs:
            at = f"{path.partition('{')[0]}{each}{path.partition('}')[2]}"
            response = client.request(method, at, json={}, headers=headers)
            assert response.status_code == 404, (method, path, response.text)
        assert _all_of_ben(memory) == before


@pytest.mark.spec("U-3", "P-6")
def test_every_route_asks_for_a_token(both):
    client, _, _, described, _ = both
    asked = [(method, path) for method, path, _ in _routes(described)]
    assert len(asked) > 30
    for method, path in asked:
        status = client.request(method, path, headers={"authorization": "Bearer x"}).status_code
        assert status in {401, 429}
