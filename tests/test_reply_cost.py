"""What a reply asks for is counted, which no busy machine can upset; and nothing that it reads grows without a bound."""

import time

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from benchmarks.counting import counting
from benchmarks.reply_cost import with_memory
from langmem_plugin import PhoneMemory, resolve
from langmem_plugin.conversation.storage import runs
from langmem_plugin.references import clear_cache

pytestmark = pytest.mark.both_engines

PHONE = "+972501234567"
ANSWER = "I found these:\n1. Pasta al forno\n2. Shakshuka\n3. Lentil soup\nWhich one do you want?"


@pytest.mark.spec("C-17")
def test_a_reply_asks_no_more_of_the_database_and_of_the_model_than_its_budget(
    database_url, offline_model, monkeypatch
):
    monkeypatch.setattr(runs, "_COMPANY_SECONDS", 5.0)  # however busy the machine is
    with PhoneMemory(database_url, embeddings=offline_model) as memory:
        graph = with_memory(memory)
        for fact in ("My cat is Tom", "I love Italian food"):
            memory.service.remember(PHONE, fact)
        for count in range(5):
            memory.reply(graph, PHONE, f"what shall we cook on day {count}?", message_id=f"before {count}")
        with counting(memory.database.engine) as counts:
            for count in range(4):
                memory.reply(graph, PHONE, f"something with lentils, for {count + 2}", message_id=f"{count}")
    assert len(counts.statements) <= 4 * 38
    assert counts.transactions <= 4 * 9.5
    assert counts.embedded <= 4
    if memory.database.is_sqlite:
        assert counts.synchronous <= counts.transactions
    else:
        assert counts.synchronous <= 4 * 5


def talk(exchanges):
    return [
        message
        for count in range(exchanges)
        for message in (HumanMessage(f"what shall we cook on day {count}?"), AIMessage(f"Day {count}. {ANSWER}"))
    ]


def seconds(messages):
    clear_cache()
    began = time.thread_time()
    assert resolve("save number 2", messages).item()["text"] == "Shakshuka"
    return time.thread_time() - began


@pytest.mark.spec("R-1")
def test_what_words_point_at_costs_the_same_in_a_conversation_of_thousands_of_messages():
    assert seconds(talk(1_800)) < 4 * max(seconds(talk(60)), seconds(talk(60)))


@pytest.mark.spec("R-1")
def test_what_was_shown_long_ago_is_pointed_at_by_quoting_it():
    lists = [HumanMessage("soups?"), AIMessage("1. Minestrone\n2. Borscht", id="soups")]
    messages = [*lists, *talk(200)]
    assert resolve("save number 2", messages, quoted="soups").item()["text"] == "Borscht"
    assert resolve("save number 2", messages).item()["text"] == "Shakshuka"
