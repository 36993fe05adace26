"""One person in two businesses is two people, and the database itself keeps them apart."""

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, StateGraph
from sqlalchemy import inspect, text

from langmem_plugin import MemoryState, PhoneMemory, Settings
from langmem_plugin.database import Database
from langmem_plugin.database.tenant_locations import database_of, media_of, vector_index_of
from langmem_plugin.errors import ConfigurationError
from tests.cases import for_each
from tests.people.conftest import ANNA, ANNAS_TELEGRAM, redeemed

PICTURE = {"type": "image", "base64": "aGVsbG8=", "mime_type": "image/png"}


def _tell(memory, who, message):
    def agent(state):
        return {"messages": AIMessage(f"heard {len(state['messages'])}")}

    graph = StateGraph(MemoryState).add_node(agent).add_edge(START, "agent").compile(checkpointer=memory.saver)
    with memory.turn(who) as config:
        return graph.invoke({"messages": [message]}, config)["messages"][-1].text


@pytest.mark.spec("C-20", "P-6")
def test_two_tenants_on_one_url_share_nothing(database_url, offline_model):
    opened = [
        PhoneMemory(database_url, tenant="acme", embeddings=offline_model),
        PhoneMemory(settings=Settings(database=database_url, tenant="globex"), embeddings=offline_model),
        PhoneMemory(database_url, embeddings=offline_model),
    ]
    acme, globex, nobodys = opened
    try:
        acme.service.remember(ANNA, "Anna has a boat")
        acme.instructions.add(ANNA, "answer briefly")
        acme.people.link(ANNA, 4242)
        code = acme.people.link_code(ANNA)
        assert _tell(acme, ANNA, HumanMessage([PICTURE])) == "heard 1"
        assert _tell(acme, 4242, HumanMessage("again")) == "heard 3"
        for other in (globex, nobodys):
            assert other.service.list_memories(ANNA) == other.instructions.list_instructions(ANNA) == []
            assert other.sessions.sessions() == []
            assert other.people.resolve(4242) == ANNAS_TELEGRAM
            assert not redeemed(other, 4242, code)
            assert _tell(other, ANNA, HumanMessage("hello")) == "heard 1"
            other.service.erase(ANNA)
            other.saver.delete_thread(ANNA)
        assert len(acme.service.list_memories(ANNA)) == len(acme.sessions.sessions(ANNA)) == 1
        places = {(str(each.database.url), each.database.schema) for each in opened}
        assert len(places) == len({str(each.media.place) for each in opened} - {"database"} or places) == 3
    finally:
        for each in opened:
            each.close()
    with PhoneMemory(database_url, tenant="acme", embeddings=offline_model) as again:
        assert [each.text for each in again.service.list_memories(ANNA)] == ["Anna has a boat"]


@pytest.mark.spec("C-20")
def test_a_tenants_tables_lie_in_a_schema_or_a_file_of_its_own(database_url, tmp_path, offline_model):
    with PhoneMemory(database_url, tenant="acme", embeddings=offline_model) as acme:
        acme.service.remember(ANNA, "Anna has a boat")
    if database_url.startswith("sqlite"):
        own = f"sqlite:///{tmp_path}/langmem.acme.db"
        for url, many in ((own, 1), (database_url, 0)):
            with Database(url) as one, one.read() as connection:
                assert connection.execute(text("SELECT count(*) FROM langmem_memory")).scalar() == many
        return
    with Database(database_url) as whole, whole.read() as connection:
        assert "langmem_acme" in inspect(connection).get_schema_names()
        counted = text(
            "SELECT (SELECT count(*) FROM langmem_acme.langmem_memory), (SELECT count(*) FROM langmem_memory)"
        )
        assert connection.execute(counted).one() == (1, 0)


@pytest.mark.spec("C-20", "P-6")
@for_each(
    "name",
    ["", "Acme", "a-b", "1a", "_a", "a" * 32, "a.b", "../a", "a b", "acmé", "a\n", "index", "acme_index", 7, "a\0"],
)
def test_a_name_that_could_lead_elsewhere_is_refused(name, tmp_path):
    with pytest.raises(ConfigurationError, match="tenant"):
        PhoneMemory(f"sqlite:///{tmp_path}/langmem.db", tenant=name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spec("C-20")
def test_the_tenant_is_a_setting_of_the_environment_too(monkeypatch, tmp_path):
    monkeypatch.setenv("LANGMEM_TENANT", "acme")
    settings = Settings(media=tmp_path / "pictures", vector_index=f"chroma:{tmp_path}/vectors")
    assert settings.tenant == "acme"
    assert media_of(settings) == tmp_path / "pictures.acme"
    assert vector_index_of(settings) == (f"chroma:{tmp_path}/vectors.acme", "")
    assert database_of(settings, "sqlite:////data/langmem.db") == (Path("/data/langmem.acme.db"), None)
    assert database_of(settings, "sqlite://") == ("sqlite://", None)
    url = "postgresql://ann:s%40cret@host/name"
    assert database_of(settings, url) == (url, "langmem_acme")
    assert database_of(settings, f"{url}?schema=shop") == (f"{url}?schema=shop", "shop_acme")
    monkeypatch.setenv("LANGMEM_TENANT", "Acme!")
    with pytest.raises(ConfigurationError):
        Settings()
