"""The chat model by name: what is made, and what is said when it cannot be."""

import httpx
import pytest

from langmem_plugin import ConfigurationError, InvalidInput, PhoneMemory
from langmem_plugin.agent.models import chat_model, model_failures
from langmem_plugin.offline import chat_model as chat_model_module
from langmem_plugin.offline.chat_model import OfflineChatModel
from tests.cases import for_each

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _unset(monkeypatch):
    for name in ("LANGMEM_MODEL", "LANGMEM_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_name_it_is_the_offline_model(monkeypatch):
    assert isinstance(chat_model(), OfflineChatModel)
    monkeypatch.setenv("OPENAI_API_KEY", "a key that is there for something else")
    assert isinstance(chat_model(), OfflineChatModel)


@for_each(("name", "level"), [(None, "WARNING"), ("offline", "INFO")])
def test_the_offline_model_says_once_that_it_is_for_trying_out(name, level, caplog):
    chat_model_module._say_once.cache_clear()
    with caplog.at_level("INFO"):
        chat_model(name)
        chat_model(name)

    said = [
        record.levelname
        for record in caplog.records
        if record.getMessage().startswith("model.offline: it is for trying out")
    ]
    assert said == [level]


def test_a_name_from_the_environment_with_a_key_is_that_model(monkeypatch):
    monkeypatch.setenv("LANGMEM_MODEL", "openai:gpt-5-mini")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert chat_model().model_name == "gpt-5-mini"


def test_a_server_of_ones_own_needs_no_key_and_no_provider(monkeypatch):
    from langchain_openai import ChatOpenAI

    monkeypatch.setenv("LANGMEM_BASE_URL", "http://127.0.0.1:9/v1")
    model = chat_model("qwen2.5")
    assert isinstance(model, ChatOpenAI)
    assert model.openai_api_base == "http://127.0.0.1:9/v1"


@for_each(
    ("name", "told"),
    [
        ("openai:gpt-5-mini", "OPENAI_API_KEY"),
        ("cohere:command-r", "langchain-cohere"),
        ("nonsense", "nonsense"),
    ],
)
def test_a_model_that_cannot_be_made_is_a_configuration_error_that_names_the_way_out(name, told):
    with pytest.raises(ConfigurationError, match=told) as raised:
        chat_model(name)
    assert "unset LANGMEM_MODEL for the offline model" in str(raised.value)


def test_a_server_without_a_model_name_is_a_configuration_error(monkeypatch):
    monkeypatch.setenv("LANGMEM_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ConfigurationError, match="LANGMEM_MODEL"):
        chat_model()


def test_a_server_that_is_not_there_raises_what_model_failures_names():
    import openai

    model = chat_model("openai:any", base_url="http://127.0.0.1:9/v1")
    model.max_retries = 0
    with pytest.raises(model_failures()):
        model.invoke("hello")
    assert issubclass(openai.APIConnectionError, model_failures())
    assert not issubclass(httpx.HTTPError, model_failures())


@for_each(
    "given", [{"embeddings": "offline"}, {"extraction_model": "openai:gpt-5-mini"}, {"settings": {"burst": "2s"}}]
)
def test_a_name_in_place_of_an_object_is_refused_before_anything_is_opened(tmp_path, given):
    with pytest.raises(InvalidInput, match=r"takes the object itself: what a name or a file says is for Settings"):
        PhoneMemory(tmp_path / "memory.db", **given)
    assert list(tmp_path.iterdir()) == []
