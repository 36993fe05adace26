"""What a person is reminded of: what bears on the talk as it moves on, within a budget, and something for a greeting."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, StateGraph

from langmem_plugin import MemoryState, PhoneMemory, Settings
from langmem_plugin.memory.visibility import SHARED, share
from tests.stated import stated

ERIN, JASON = "+972501234567", "+972501234568"


def _texts(memory, *said, phone=ERIN):
    messages = [message for text in said for message in (HumanMessage(text), AIMessage("I see."))][:-1]
    recalled = memory.recall({"messages": messages}, phone=phone)
    texts = {each.id: each.text for each in memory.service.list_memories(phone)}
    return [texts[memory_id] for memory_id, _ in recalled]


@pytest.mark.spec("M-9")
def test_what_is_recalled_is_refreshed_as_the_conversation_moves_on(memory, graph_of, scripted):
    memory.service.remember(ERIN, "My daughter Mira wants a telescope for her birthday")
    memory.service.remember(ERIN, "The car is parked on level 3")
    model = scripted()
    graph = graph_of(model)

    memory.reply(graph, ERIN, "what does my daughter Mira want for her birthday?")
    assert "telescope" in model.stated
    assert "level 3" not in model.stated

    memory.reply(graph, ERIN, "and where is the car parked?")
    assert "1. The car is parked on level 3" in model.stated

    memory.reply(graph, ERIN, "which level was that where the car is parked?")
    assert "telescope" not in model.stated


@pytest.mark.spec("M-9")
@pytest.mark.parametrize("greeting", ["hello", "good morning!", "hey", "how are you?", "שלום", "👋"])
def test_with_no_topic_the_most_recent_and_most_used_are_recalled(memory, clock, greeting):
    often = memory.service.remember(ERIN, "The cat is called Biscuit")
    for number in range(6):
        memory.service.remember(ERIN, f"I bought lamp number {number}")
    clock.forward(days=90)
    for _ in range(5):
        memory.service.note_access(ERIN, {often.id: None}, "cited")
    memory.service.remember(ERIN, "I am learning Japanese")

    assert _texts(memory, greeting)[:2] == ["The cat is called Biscuit", "I am learning Japanese"]
    assert len(_texts(memory, greeting)) == 5


@pytest.mark.spec("M-9")
def test_a_topic_of_which_nothing_is_known_recalls_nothing(memory):
    memory.service.remember(ERIN, "The cat is called Biscuit")

    assert _texts(memory, "hello", "what is the weather in Haifa tomorrow?") == []


@pytest.mark.spec("M-9")
def test_memories_fit_the_budget_whole_and_the_best_come_first(database_url, clock, offline_model):
    settings = Settings(recall_tokens=40, recall_limit=5)
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model, now=clock) as memory:
        memory.service.remember(ERIN, "TestCorp owes me ₪5000")
        memory.service.remember(ERIN, f"TestCorp: {'a long story about the company ' * 20}")
        memory.service.remember(ERIN, "TestCorp has an office in Haifa")
        memory.service.remember(ERIN, "TestCorp is a company of Mr. Levi, who was in school with me and my brother Dan")
        memory.instructions.add(ERIN, f"Answer {'very ' * 100} briefly", priority=9)
        recalled = _texts(memory, "what do you know about TestCorp?")
        state = {"messages": [HumanMessage("what do you know about TestCorp?")]}
        system = stated(memory.prompt({**state, "recalled": memory.recall(state, phone=ERIN)}, "", phone=ERIN))

    assert "TestCorp owes me ₪5000" in recalled
    assert sum(len(f"1. {text}") // 4 for text in recalled) <= 40
    assert not any("long story" in text for text in recalled)
    assert len(recalled) >= 2
    assert "very briefly" in " ".join(system.split())


@pytest.mark.spec("M-9", "M-13")
def test_the_budget_is_counted_as_the_caller_counts(database_url, clock, offline_model):
    settings = Settings(recall_tokens=1)
    with PhoneMemory(
        database_url, settings=settings, embeddings=offline_model, count_tokens=lambda _: 1, now=clock
    ) as memory:
        memory.service.remember(ERIN, "TestCorp owes me ₪5000")
        memory.service.remember(ERIN, "TestCorp has an office in Haifa")

        assert len(_texts(memory, "what do you know about TestCorp?")) == 1


@pytest.mark.spec("M-8", "A-1")
def test_one_reply_is_noted_in_one_transaction_also_for_what_is_shared(memory, monkeypatch):
    own = memory.service.remember(ERIN, "TestCorp owes me ₪5000")
    shared = share(memory.service, "TestCorp closes at noon", with_clients=True)
    followed = memory.instructions.add(ERIN, "Answer briefly")
    said = [HumanMessage("What about TestCorp?"), AIMessage("At noon [Memory: 2]")]
    graph = StateGraph(MemoryState).add_node("write", memory.write_node()).add_edge(START, "write").compile()
    writes, write = [], memory.database.write
    monkeypatch.setattr(memory.database, "write", lambda **options: writes.append(1) or write(**options))

    graph.invoke(
        {"messages": said, "recalled": [(own.id, 0.9), (shared.id, 0.8)]}, {"configurable": {"thread_id": ERIN}}
    )

    assert len(writes) == 1
    assert memory.service.get(ERIN, [own.id])[0].access_count == 1
    assert memory.service.get(SHARED, [shared.id])[0].access_count == 1
    assert memory.instructions.get(ERIN, followed.id).usage_count == 1


@pytest.mark.spec("U-1")
def test_nodes_serve_a_graph_that_stores_nothing_and_is_told_the_phone(memory):
    memory.service.remember(ERIN, "TestCorp owes me ₪5000")
    graph = StateGraph(MemoryState).add_node("recall", memory.recall_node()).add_edge(START, "recall").compile()

    result = graph.invoke(
        {"messages": [HumanMessage("What about TestCorp?")]}, {"configurable": {"langmem_phone": ERIN}}
    )

    assert len(result["recalled"]) == 1
