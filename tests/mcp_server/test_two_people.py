"""Two connections of two people: whatever is asked over one, it is never given a byte of the other."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from langmem_plugin import PhoneMemory
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from langmem_plugin.people.access_tokens import AccessTokens
from tests.cases import for_each
from tests.mcp_server.conftest import ANNA, BEN, calling_by_http, serving

BENS_WORD = "zirconium"
PLACES = ("text", "query", "fact_id", "instruction_id", "state", "owner", "phone", "user_id", "limit")
TOOLS = (
    "remember_fact",
    "update_fact",
    "forget_fact",
    "restore_fact",
    "recall_facts",
    "list_facts",
    "explain_fact",
    "confirm_fact",
    "decline_fact",
    "search_conversations",
    "list_instructions",
    "add_instruction",
    "switch_instruction",
    "remove_instruction",
)


@pytest.fixture(scope="module")
def both(tmp_path_factory, offline_model):
    """Anna's connection, the memory, and the ids of all that is Ben's."""
    file = tmp_path_factory.mktemp("two") / "langmem.db"
    with PhoneMemory(f"sqlite:///{file}", embeddings=offline_model) as memory, serving(memory) as url:
        service = memory.service
        facts = [service.remember(BEN, f"Ben hides the {BENS_WORD} under the stairs {number}") for number in range(3)]
        facts.append(service.remember(BEN, f"Ben sold the {BENS_WORD} mine", status="pending"))
        service.forget(BEN, facts[0].id)
        KeyValueMemory(service, BEN).save_memory("metal", BENS_WORD)
        order = memory.instructions.add(BEN, f"Always mention {BENS_WORD}")
        memory.sessions.record(BEN, HumanMessage(f"the {BENS_WORD} is mine"))
        session_id = memory.sessions.sessions(BEN)[0].session_id
        token, _ = AccessTokens(memory.database).new(ANNA)
        with calling_by_http(url, token) as anna:
            yield anna, memory, [*(each.id for each in facts), order.id, session_id, BEN]


@pytest.mark.slow
@pytest.mark.spec("P-6", "C-1")
@settings(max_examples=25)
@given(data=st.data())
def test_nothing_that_is_asked_over_ones_connection_gives_or_changes_what_is_the_others(both, data):
    anna, memory, bens = both
    given_values = st.one_of(
        st.sampled_from(bens), st.just(BENS_WORD), st.text(max_size=20), st.booleans(), st.integers(), st.none()
    )
    before = _all_of_ben(memory)

    tool = data.draw(st.sampled_from(TOOLS))
    arguments = data.draw(st.dictionaries(st.sampled_from(PLACES), given_values, max_size=4))
    told = anna.result(tool, **arguments).model_dump_json()

    for each in ("under the stairs", "Ben sold", "Always mention", "is mine", "metal:", "Traceback"):
        assert each not in told
    assert _all_of_ben(memory) == before


def _all_of_ben(memory):
    listed = memory.service.list_memories(BEN, statuses=("pending", "active", "superseded", "archived", "forgotten"))
    return (
        [(each.id, each.text, each.revision) for each in listed],
        memory.instructions.list_instructions(BEN, active_only=False),
        [each.content for each in memory.sessions.messages(memory.sessions.sessions(BEN)[0].session_id)],
    )


@pytest.mark.spec("P-6")
@for_each("name", ["owner", "phone", "user_id", "who", "thread_id", "config", "_owner"])
def test_a_tool_that_is_called_with_a_person_is_told_whose_memory_it_is_and_does_nothing(name, both):
    anna, memory, _ = both

    told = anna.refused("remember_fact", text="Anna was here", **{name: BEN})

    assert told.startswith(f"Nothing was done, because of the arguments: {name}: ")
    assert "follows from the connection" in told
    assert BEN not in told
    assert "Anna was here" not in [each.text for owner in (ANNA, BEN) for each in memory.service.list_memories(owner)]


@pytest.mark.slow
@pytest.mark.spec("P-6", "C-9")
@for_each("mode", ["auto", "legacy"])
def test_calls_that_two_people_make_at_the_same_time_are_each_their_own(mode, url, tokens):
    """Also by clients of the protocol before 2026, which begin with a handshake."""
    with (
        calling_by_http(url, tokens.new(ANNA)[0], mode=mode) as anna,
        calling_by_http(url, tokens.new(BEN)[0], mode=mode) as ben,
        ThreadPoolExecutor(8) as pool,
    ):
        told = [
            pool.submit(caller, "add_instruction", text=f"Call me {name} on day {number}")
            for number in range(8)
            for caller, name in ((anna, "Anna"), (ben, "Ben"))
        ]
        for each in told:
            each.result()
        for caller, name in ((anna, "Anna"), (ben, "Ben")):
            held = caller("list_instructions")["instructions"]
            assert sorted(each["text"] for each in held) == [f"Call me {name} on day {number}" for number in range(8)]


@pytest.mark.spec("P-6", "C-20")
def test_two_people_are_each_given_what_is_their_own(anna, ben, memory):
    anna("remember_fact", text="I live in Haifa")
    ben("remember_fact", text="I live in Eilat")
    memory.sessions.record(BEN, HumanMessage("the boat lies in Eilat"))
    memory.saver.end_session(BEN)
    memory.index_past_sessions()

    assert [each["text"] for each in anna("list_facts")["facts"]] == ["I live in Haifa"]
    assert [each["text"] for each in ben("list_facts")["facts"]] == ["I live in Eilat"]
    assert [each["text"] for each in ben("search_conversations", query="the boat")["messages"]] == [
        "the boat lies in Eilat"
    ]
    assert anna("search_conversations", query="the boat")["messages"] == []


@pytest.mark.spec("C-20")
def test_a_person_who_is_linked_to_another_is_that_one_over_a_connection_that_was_there_before(anna, ben, memory):
    anna("remember_fact", text="I live in Haifa")
    memory.people.link(ANNA, BEN)

    assert [each["text"] for each in ben("list_facts")["facts"]] == ["I live in Haifa"]
