"""What a reply asks for is counted, which no busy machine can upset; and nothing that it reads grows without a bound."""

import time

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from benchmarks.counting import counting
from benchmarks.reply_cost import with_memory
from langmem_plugin import PhoneMemory, resolve
from langmem_plugin.conversation.storage import checkpoint_put_and_get
from langmem_plugin.references import clear_cache

pytestmark = pytest.mark.both_engines

PHONE = "+972501234567"
ANSWER = "I found these:\n1. Pasta al forno\n2. Shakshuka\n3. Lentil soup\nWhich one do you want?"


@pytest.mark.spec("C-17")
def test_a_reply_asks_no_more_of_the_database_and_of_the_model_than_its_budget(
    database_url, offline_model, monkeypatch
):
    monkeypatch.setattr(checkpoint_put_and_get, "_COMPANY_SECONDS", 5.0)  # however busy the machine is
    with PhoneMemory(database_url, embeddings=offline_model) as memory:
        graph = with_memory(memory)
        for fact in ("My cat is Tom", "I love Italian food"):
            memory.service.remember(PHONE, fact)
        for count in range(5):
            memory.reply(graph, PHONE, f"what shall we cook on day {count}?", message_id=f"before {count}")
        cost = [_of_four_replies(memory, graph, f"week {week}") for week in range(3)]
    # What LangGraph's threads bring too late for the transaction it belongs to takes another.
    cheapest = [min(each) for each in zip(*cost, strict=True)]
    allowed = (4 * 35, 4 * 7.5, 4, 4 * 7.5 if memory.database.is_sqlite else 4 * 3.5)
    assert [each for each in zip(cheapest, allowed, strict=True) if each[0] > each[1]] == [], cost


def _of_four_replies(memory, graph, week):
    with counting(memory.database.engine) as counts:
        for count in range(4):
            memory.reply(
                graph, PHONE, f"something with lentils in {week}, for {count + 2}", message_id=f"{week} {count}"
            )
    return len(counts.statements), counts.transactions, counts.embedded, counts.synchronous


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
    seconds(talk(60))  # what is made once
    assert min(seconds(talk(1_800)) for _ in range(3)) < 4 * max(seconds(talk(60)), seconds(talk(60)))


@pytest.mark.spec("R-1")
def test_what_was_shown_long_ago_is_pointed_at_by_quoting_it():
    lists = [HumanMessage("soups?"), AIMessage("1. Minestrone\n2. Borscht", id="soups")]
    messages = [*lists, *talk(200)]
    assert resolve("save number 2", messages, quoted="soups").item()["text"] == "Borscht"
    assert resolve("save number 2", messages).item()["text"] == "Shakshuka"
