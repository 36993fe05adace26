"""The configuration file, the environment over it, and a memory that is switched off in whole or in part."""

import asyncio
import json
import logging
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin import ConfigurationError, PhoneMemory, SessionManager, Settings
from langmem_plugin.config_file import settings_of
from tests.cases import for_each
from tests.chat_graph import chat_graph
from tests.log_events import events
from tests.stated import stated

GODFATHER, CLIENT = "+972501234567", "+972509999999"
SEED = {
    "feature_flags": {"enable_memory_system": False},
    "godfather_phone": "972501234567@c.us",
    "memory": {
        "session": {
            "storage_dir": "data/sessions",
            "max_tokens_by_role": {"client": 4000, "godfather": 100000},
            "session_timeout_hours": 24,
        },
        "longterm": {
            "enabled": True,
            "storage_dir": "data/memory",
            "collection_name": "godfather_memory",
            "embedding_model": "text-embedding-3-small",
            "top_k_results": 5,
            "min_similarity": 0.7,
        },
    },
}


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LANGMEM_DATABASE"):
        monkeypatch.delenv(name, raising=False)


def _file(**changes):
    """The seed's file with values changed by path: memory__session__storage_dir=…; None takes one out."""
    said = json.loads(json.dumps(SEED))
    for path, value in changes.items():
        *above, last = path.split("__")
        place = said
        for name in above:
            place = place.setdefault(name, {})
        if value is None:
            del place[last]
        else:
            place[last] = value
    Path("config.json").write_text(json.dumps(said), encoding="utf-8")
    return "config.json"


OFFLINE = {"feature_flags__enable_memory_system": True, "memory__longterm__embedding_model": "offline"}


def _graph(memory, seen=None):
    def agent(state):
        prompt = memory.prompt(state, "You are DeniDin.")
        if seen is not None:
            seen.append(prompt)
        return {"messages": AIMessage(f"heard {len(prompt) - 1}")}

    return chat_graph(memory, agent)


@pytest.mark.spec("U-8")
def test_the_file_of_the_specification_means_what_it_says():
    assert settings_of(_file()) == Settings(
        enable_memory_system=False,
        godfather_phone="972501234567@c.us",
        database="sqlite:///data/sessions/langmem.db",
        max_tokens={"client": 4_000, "godfather": 100_000},
        session_timeout=timedelta(hours=24),
        longterm=True,
        vector_index="chroma:data/memory#godfather_memory",
        embedding_model="text-embedding-3-small",
        recall_limit=5,
        min_similarity=0.7,
    )


@pytest.mark.spec("U-8", "C-3")
def test_what_the_file_leaves_out_has_the_defaults_of_the_specification(caplog):
    Path("config.json").write_text("{}")

    settings = settings_of("config.json")

    assert settings == Settings(enable_memory_system=False, session_timeout=timedelta(hours=24))
    assert (settings.recall_limit, settings.min_similarity) == (None, None)  # the tokens alone decide
    assert settings.max_tokens == {"client": 4_000, "godfather": 100_000}
    assert _errors(caplog) == []


@pytest.mark.spec("U-8", "P-8")
@for_each("content", ["{ broken", "[]", "null", "", None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_means_the_defaults_and_a_memory_that_is_off(content, caplog):
    if content is not None:
        Path("config.json").write_bytes(content if isinstance(content, bytes) else content.encode())

    with PhoneMemory.from_config("config.json") as memory:
        assert memory.settings == Settings(enable_memory_system=False, session_timeout=timedelta(hours=24))
        assert memory.reply(_graph(memory), CLIENT, "/remember I like tea") == "Memory system is disabled"
        assert memory.reply(_graph(memory), CLIENT, "hello") == "heard 1"

    [error] = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert (error.event, error.path) == ("config.unreadable", "config.json")


@pytest.mark.spec("U-8")
@for_each(
    ("path", "value", "field", "default"),
    [
        ("memory__session__session_timeout_hours", "soon", "session_timeout", timedelta(hours=24)),
        ("memory__session__session_timeout_hours", -1, "session_timeout", timedelta(hours=24)),
        ("memory__session__session_timeout_hours", True, "session_timeout", timedelta(hours=24)),
        (
            "memory__session__max_tokens_by_role",
            {"client": "many"},
            "max_tokens",
            {"client": 4_000, "godfather": 100_000},
        ),
        ("memory__session__max_tokens_by_role", [4_000], "max_tokens", {"client": 4_000, "godfather": 100_000}),
        ("memory__session__storage_dir", 7, "database", "sqlite:///data/langmem.db"),
        ("memory__session__storage_dir", " ", "database", "sqlite:///data/langmem.db"),
        ("memory__session__storage_dir", "a\0b", "database", "sqlite:///data/langmem.db"),
        ("memory__longterm__top_k_results", 0, "recall_limit", None),
        ("memory__longterm__min_similarity", 7, "min_similarity", None),
        ("feature_flags__enable_memory_system", "perhaps", "enable_memory_system", False),
        ("feature_flags", [], "enable_memory_system", False),
    ],
)
def test_a_single_value_that_cannot_be_used_has_its_default_and_is_an_error(path, value, field, default, caplog):
    settings = settings_of(_file(**OFFLINE | {path: value}) if "__" in path else _file(**{path: value}))

    assert getattr(settings, field) == default
    assert settings.godfather_phone == "972501234567@c.us"
    assert "config.value_ignored" in events(caplog)


@pytest.mark.spec("U-8")
def test_half_a_table_of_limits_keeps_the_other_half():
    limits = {"client": 100}
    assert settings_of(_file(memory__session__max_tokens_by_role=limits)).max_tokens == {
        "client": 100,
        "godfather": 100_000,
    }


@pytest.mark.spec("U-8")
def test_our_own_settings_have_a_section_and_the_environment_wins(monkeypatch, caplog):
    monkeypatch.setenv("LANGMEM_RECALL_LIMIT", "9")
    monkeypatch.setenv("LANGMEM_ENABLE_MEMORY_SYSTEM", "true")
    path = _file(langmem={"recall_tokens": 500, "database": "sqlite:///own.db", "recall_limit": 7, "colour": "red"})

    settings = settings_of(path)

    assert (settings.recall_tokens, settings.database) == (500, "sqlite:///own.db")
    assert (settings.recall_limit, settings.enable_memory_system) == (9, True)
    assert _errors(caplog) == ["langmem.colour"]


@pytest.mark.spec("U-8")
def test_what_our_section_says_wins_wherever_it_stands():
    said = {"langmem": {"recall_limit": 7}, "memory": {"longterm": {"top_k_results": 3}}}
    Path("config.json").write_text(json.dumps(said))
    assert settings_of("config.json").recall_limit == 7


def _errors(caplog):
    """The keys of the file whose values are an ERROR in the log."""
    return [each.field for each in caplog.records if each.event == "config.value_ignored"]


@pytest.mark.spec("U-8")
@for_each(
    ("path", "key"),
    [
        ("memry", "memry"),
        ("memory__sesion", "memory.sesion"),
        ("feature_flags__enable_memory", "feature_flags.enable_memory"),
        ("memory__longterm__top_k", "memory.longterm.top_k"),
        ("langmem__recal_tokens", "langmem.recal_tokens"),
        ("memory__session__max_tokens_by_role__clent", "memory.session.max_tokens_by_role.clent"),
        ("memory__\x1b[2J", "memory.\x1b[2J"),
    ],
)
def test_a_key_that_nobody_knows_is_an_error(path, key, caplog):
    settings = settings_of(_file(**OFFLINE | {"langmem": {"recall_tokens": 500}, path: {"client": 5}}))

    assert _errors(caplog) == [key]
    assert (settings.recall_tokens, settings.enable_memory_system) == (500, True)
    assert settings.max_tokens == {"client": 4_000, "godfather": 100_000}
    assert "\x1b" not in caplog.text


@pytest.mark.spec("U-8")
@for_each("value", [[], "x", None, 5, True])
@for_each("path", ["memory", "memory__session", "memory__longterm", "langmem", "feature_flags"])
def test_a_section_that_is_no_object_is_an_error_and_the_rest_is_used(path, value, caplog):
    name = _file(**OFFLINE)
    said = json.loads(Path(name).read_text())
    *above, last = path.split("__")
    place = said
    for each in above:
        place = place[each]
    place[last] = value
    Path(name).write_text(json.dumps(said))

    settings = settings_of(name)

    assert _errors(caplog) == [path.replace("__", ".")]
    assert settings.godfather_phone == "972501234567@c.us"
    assert settings.enable_memory_system is (path != "feature_flags")


@pytest.mark.spec("U-8")
@for_each("value", ["false", "true", "yes", 1, [], None])
@for_each("path", ["feature_flags__enable_memory_system", "langmem__enable_memory_system"])
def test_nothing_but_true_switches_something_on(path, value, caplog):
    said = {"godfather_phone": "+972501234567", "feature_flags": {"enable_memory_system": False}, "langmem": {}}
    section, name = path.split("__")
    said[section][name] = value
    Path("config.json").write_text(json.dumps(said))

    assert settings_of("config.json").enable_memory_system is False
    assert _errors(caplog) == [f"{section}.{name}"]


@pytest.mark.spec("U-8")
@for_each(
    ("name", "value"),
    [
        ("recall_limit", "7"),
        ("recall_limit", True),
        ("min_similarity", "0.7"),
        ("burst", True),
        ("owner_limit", None),
        ("archive_days", "soon"),
        ("session_timeout", "soon"),
        ("time_zone", "Asia/Nowhere"),
        ("language", 5),
        ("database", 5),
        ("archive_days", 10**30),
        ("sweep_every", 0),
    ],
)
def test_a_value_of_another_type_is_an_error_and_has_its_default(name, value, caplog):
    settings = settings_of(_file(**OFFLINE, langmem={name: value, "recall_tokens": 500}))

    assert _errors(caplog) == [f"langmem.{name}"]
    assert settings.recall_tokens == 500


@pytest.mark.spec("U-8")
def test_one_limit_that_is_wrong_leaves_the_other_as_it_is_given(caplog):
    limits = {"client": "100", "godfather": 77}
    assert settings_of(_file(memory__session__max_tokens_by_role=limits)).max_tokens == {
        "client": 4_000,
        "godfather": 77,
    }
    assert _errors(caplog) == ["memory.session.max_tokens_by_role.client"]


@pytest.mark.spec("U-8")
@for_each("blank", ["", "  ", "\t"])
def test_a_blank_phone_is_an_error_and_nobody_is_the_godfather(blank, caplog):
    with PhoneMemory.from_config(_file(**OFFLINE | {"godfather_phone": blank})) as memory:
        assert memory.settings.godfather_phone is None
        assert memory.person.role(GODFATHER) == "client"
    assert _errors(caplog) == ["godfather_phone"]


@pytest.mark.spec("U-8")
def test_a_file_that_begins_with_a_byte_order_mark_is_read(caplog):
    path = Path(_file(**OFFLINE))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    assert settings_of(path).godfather_phone == "972501234567@c.us"
    assert _errors(caplog) == []


@pytest.mark.spec("U-8")
def test_a_file_of_5_000_brackets_is_one_that_cannot_be_read(caplog):
    Path("config.json").write_text("[" * 5_000 * 20)
    assert settings_of("config.json").enable_memory_system is False
    assert "config.unreadable" in events(caplog)


@pytest.mark.spec("U-8")
@for_each(
    ("name", "value", "told"),
    [
        ("RECALL_LIMIT", "many", '"many": input should be a valid integer'),
        ("SESSION_TIMEOUT", "soon", '"soon": a duration such as 45s, 30m, 24h, 7d'),
        ("SESSION_TIMEOUT", "0", "greater than 0"),
        ("ARCHIVE_DAYS", "lots", '"lots": input should be a valid integer'),
        ("ENABLE_MEMORY_SYSTEM", "maybe", '"maybe": input should be a valid boolean'),
        ("ALLOWED_TYPES", "cart", '"cart": it is written as JSON, such as ["a list"]'),
        ("MAX_TOKENS", "5", '"5": input should be a valid dictionary'),
        ("TIME_ZONE", "Asia/Nowhere", "there is no such time zone"),
        ("TIME_ZONE", "America", "there is no such time zone"),
        ("TIME_ZONE", "../etc/passwd", "there is no such time zone"),
        ("LANGUAGE", "fr", "'en', 'he' or 'es'"),
        ("RECALL_LIMIT", "\x1b[2J" * 20, "\\u001b"),
    ],
)
def test_a_wrong_environment_variable_is_one_line_at_the_start(name, value, told, monkeypatch):
    monkeypatch.setenv(f"LANGMEM_{name}", value)
    for start in (
        lambda: PhoneMemory("sqlite://"),
        Settings,
        lambda: settings_of(_file()),
        lambda: SessionManager("sqlite://"),
    ):
        with pytest.raises(ConfigurationError) as raised:
            start()
        assert told in str(raised.value)
        assert str(raised.value).startswith(f"LANGMEM_{name} holds ")
        assert str(raised.value).isprintable()


@pytest.mark.spec("U-8")
def test_a_secret_of_the_environment_is_never_told(monkeypatch):
    monkeypatch.setenv("LANGMEM_TRUSTED_CALLERS", "s3cret")
    with pytest.raises(ConfigurationError) as raised:
        Settings()
    assert "LANGMEM_TRUSTED_CALLERS" in str(raised.value)
    assert "s3cret" not in str(raised.value)

    monkeypatch.delenv("LANGMEM_TRUSTED_CALLERS")
    monkeypatch.setenv("LANGMEM_DATABASE", "mysql://erin:s3cret@db/x")
    with pytest.raises(ConfigurationError) as raised:
        PhoneMemory()
    assert "s3cret" not in str(raised.value)


@pytest.mark.spec("U-8")
def test_a_variable_that_nobody_knows_is_a_warning_that_names_the_one_that_was_meant(monkeypatch, caplog):
    monkeypatch.setenv("LANGMEM_SESSION_TIMOUT", "24h")
    monkeypatch.setenv("LANGMEM_MODEL", "openai:x")
    Settings()
    [found] = [each for each in caplog.records if each.levelno == logging.WARNING]
    assert (found.event, found.variable, found.nearest) == (
        "environment.unknown",
        "LANGMEM_SESSION_TIMOUT",
        "LANGMEM_SESSION_TIMEOUT",
    )


@pytest.mark.spec("U-8", "C-3")
@for_each(
    ("written", "meant"),
    [
        ("30m", timedelta(minutes=30)),
        ("24h", timedelta(hours=24)),
        ("45s", timedelta(seconds=45)),
        ("7d", timedelta(days=7)),
        ("1h30m", timedelta(minutes=90)),
        (" 90 ", timedelta(seconds=90)),
        ("PT30M", timedelta(minutes=30)),
        ("00:30:00", timedelta(minutes=30)),
        ("never", None),
        ("None", None),
    ],
)
def test_a_duration_is_written_as_people_do(written, meant, monkeypatch):
    assert settings_of(_file(langmem={"session_timeout": written})).session_timeout == meant
    monkeypatch.setenv("LANGMEM_SESSION_TIMEOUT", written)
    assert Settings().session_timeout == meant


@pytest.mark.spec("U-8", "C-4")
@for_each("never", ["never", "NONE", " never "])
def test_never_means_for_ever(never, monkeypatch):
    for name in ("ARCHIVE_DAYS", "INTERRUPT_TIMEOUT", "BURST", "SWEEP_EVERY"):
        monkeypatch.setenv(f"LANGMEM_{name}", never)
    found = Settings()
    assert (found.archive_days, found.interrupt_timeout, found.burst, found.sweep_every) == (None, None, None, None)


@pytest.mark.spec("P-8")
def test_switched_off_it_makes_no_file_and_asks_nothing_and_replies_work(caplog):
    with PhoneMemory.from_config(_file()) as memory:
        seen = []
        graph = _graph(memory, seen)

        assert memory.reply(graph, CLIENT, "hello") == "heard 1"
        assert memory.reply(graph, CLIENT, "do you remember me?") == "heard 1"
        with memory.turn(CLIENT) as config:
            assert graph.invoke({"messages": [HumanMessage("hello")]}, config)["messages"][-1].text == "heard 1"
        for command in ("/remember I like tea", "/memories", "/forget tea", "/search tea"):
            assert memory.reply(graph, CLIENT, command) == "Memory system is disabled"
        assert memory.reply(graph, CLIENT, "/reset").startswith("🔄")
        assert "/remember" not in memory.reply(graph, CLIENT, "/help")
        assert memory.recall({"messages": [HumanMessage("tea")]}, phone=CLIENT) == []
        assert memory.tools() == []
        assert memory.index_past_sessions() == 0
        assert memory.saver.get_tuple({"configurable": {"thread_id": CLIENT}}) is None
        assert [message.text for message in seen[-1]] == ["You are DeniDin.", "hello"]

    assert [path.name for path in Path().iterdir()] == ["config.json"]
    assert CLIENT not in caplog.text


@pytest.mark.spec("P-8")
@for_each("durability", ["sync", "async", "exit"])
def test_switched_off_it_keeps_nothing_of_plain_runs_either(durability):
    with PhoneMemory.from_config(_file()) as memory:
        graph = _graph(memory)
        config = {"configurable": {"thread_id": CLIENT}}

        def heard(said):
            return said["messages"][-1].text

        assert heard(graph.invoke({"messages": "hello"}, config, durability=durability)) == "heard 1"
        assert heard(asyncio.run(graph.ainvoke({"messages": "hello"}, config, durability=durability))) == "heard 1"
        graph.update_state(config, {"messages": "hello"})
        memory.sessions.add_message(CLIENT, "user", "hello")
        with memory.saver.turn(CLIENT) as turn:
            assert heard(graph.invoke({"messages": "hello"}, turn)) == "heard 1"

        assert graph.get_state(config).values == {}
        assert [*graph.get_state_history(config)] == []
        assert asyncio.run(_all(memory.saver.alist(None))) == []
        assert memory.sessions.sessions() == []
        assert memory.sessions.get_conversation_history(CLIENT) == []
        assert memory.reply(graph, CLIENT, "/remember I like tea") == "Memory system is disabled"
        with memory.database.read() as connection:
            for table in ("message", "checkpoint", "value", "pending", "media", "memory"):
                assert connection.exec_driver_sql(f"SELECT count(*) FROM langmem_{table}").scalar() == 0, table


async def _all(found):
    return [each async for each in found]


@pytest.mark.spec("P-8")
def test_switched_on_it_remembers_and_recalls_as_the_specification_says():
    changes = OFFLINE | {"memory__longterm__storage_dir": None}
    with PhoneMemory.from_config(_file(**changes)) as memory:
        seen = []
        graph = _graph(memory, seen)
        fact = "TestCorp owes me ₪5000 from invoice INV-001"
        assert memory.reply(graph, GODFATHER, f"/remember {fact}") == f"✅ Remembered: {fact}"

        assert memory.reply(graph, "972501234567@c.us", "What's the status with TestCorp?") == "heard 1"
        assert memory.reply(graph, GODFATHER, "and now?") == "heard 3"

        assert fact in stated(seen[0])
        assert memory.person.role(GODFATHER) == "godfather"
        assert memory.person.role(CLIENT) == "client"

    assert Path("data/sessions/langmem.db").exists()
    assert Path("data/sessions").stat().st_mode & 0o777 == 0o700


@pytest.mark.spec("U-8", "M-4")
def test_the_collection_of_the_specification_is_there_from_the_start():
    with PhoneMemory.from_config(_file(**OFFLINE)) as memory:
        memory.command(GODFATHER, "/remember TestCorp owes me ₪5000")
        assert memory.service.index.names == {GODFATHER: "godfather_memory"}
        assert "₪5000" in memory.service.recall(GODFATHER, "What about TestCorp?")[0].memory.text

    assert Path("data/memory/chroma.sqlite3").exists()
    assert Path("data/memory").stat().st_mode & 0o777 == 0o700


@pytest.mark.spec("P-8", "U-8")
def test_without_the_longterm_memory_there_are_conversations_and_nothing_else():
    path = _file(
        **OFFLINE | {"memory__longterm__enabled": False, "memory__longterm__embedding_model": "text-embedding-3-small"}
    )
    with PhoneMemory.from_config(path) as memory:
        seen = []
        graph = _graph(memory, seen)

        assert memory.reply(graph, CLIENT, "hello") == "heard 1"
        assert memory.reply(graph, CLIENT, "again") == "heard 3"
        assert memory.reply(graph, CLIENT, "/remember I like tea") == "Memory system is disabled"

        assert seen[-1][0].text == "You are DeniDin."
    assert not Path("data/memory").exists()


@pytest.mark.slow
@pytest.mark.spec("U-8")
def test_a_paid_embedding_model_without_its_key_is_refused_at_the_start_and_the_offline_one_named():
    with pytest.raises(ConfigurationError, match=r"OPENAI_API_KEY.*offline"):
        PhoneMemory.from_config(_file(feature_flags__enable_memory_system=True))


@pytest.mark.spec("U-8")
def test_an_embedding_model_is_taken_by_name(monkeypatch):
    from langmem_plugin.agent.models import embedding_model

    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert embedding_model("text-embedding-3-small").model == "text-embedding-3-small"
    assert embedding_model("openai:text-embedding-3-large").model == "text-embedding-3-large"
    assert embedding_model("offline").dimension == 384
    with pytest.raises(ConfigurationError, match="cannot be used"):
        embedding_model("nobody:knows-it")


@pytest.mark.spec("M-2")
def test_a_memory_that_cannot_be_made_leaves_nothing_open(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = Settings(database=f"sqlite:///{tmp_path}/langmem.db", embedding_model="openai:text-embedding-3-small")
    before = threading.enumerate()
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY") as raised:
        PhoneMemory(settings=settings)
    open_files = [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.exists()]
    assert not [each for each in open_files if each.startswith(str(tmp_path))]
    begun = [each.name for each in threading.enumerate() if each not in before]
    assert not [each for each in begun if each.startswith("langmem")]
    assert raised.tb is not None  # until here it keeps alive what was being made


@pytest.mark.spec("U-8")
@for_each(
    ("given", "told"),
    [
        ({"session_timeout": "2 hourz"}, r"session_timeout='2 hourz': a duration such as 45s, 30m, 24h"),
        ({"recall_limit": "many"}, r"recall_limit='many': .*integer"),
        ({"sesion_timeout": "2h"}, r"no setting is called sesion_timeout \(did you mean session_timeout\?\)"),
        ({"database": 5}, r"database=…: .*string"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_what_is_expected(given, told):
    with pytest.raises(ConfigurationError, match=told):
        Settings(**given)
