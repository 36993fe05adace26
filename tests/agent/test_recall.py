"""What a person is reminded of: what bears on the talk as it moves on, within a budget, and something for a greeting."""

from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, StateGraph

from langmem_plugin import MemoryState, PhoneMemory, Settings
from langmem_plugin.memory.find.recall_and_visibility import SHARED, share
from tests.cases import for_each
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
    assert "1. My daughter Mira wants a telescope" in model.stated

    memory.reply(graph, ERIN, "and where is the car parked?")
    assert "1. The car is parked on level 3" in model.stated


@pytest.mark.slow
@pytest.mark.spec("M-9")
@for_each("greeting", ["hello", "good morning!", "hey", "how are you?", "שלום", "👋"])
def test_with_no_topic_the_most_recent_and_most_used_are_recalled(memory, clock, greeting):
    often = memory.service.remember(ERIN, "The cat is called Biscuit")
    for number in range(6):
        memory.service.remember(ERIN, f"I bought lamp number {number}")
    clock.forward(days=90)
    for _ in range(5):
        memory.service.note_access(ERIN, {often.id: None}, "cited")
    memory.service.remember(ERIN, "I am learning Japanese")

    assert _texts(memory, greeting)[:2] == ["The cat is called Biscuit", "I am learning Japanese"]
    assert len(_texts(memory, greeting)) == 8


@pytest.mark.slow
@pytest.mark.spec("M-9", "M-8")
@for_each("said", ["👍", "hi", "123", "haha thanks", "what is the capital of Mongolia?", "תודה", "jajaja"])
def test_what_asks_nothing_of_the_memory_is_near_nothing_and_uses_nothing(memory, graph_of, scripted, said):
    for text in ("The code of the gate is 8841", "My sister's birthday is on 3 June", "I like tea"):
        memory.service.remember(ERIN, text)
    model = scripted()

    assert memory.service.recall(ERIN, said) == []
    memory.reply(graph_of(model), ERIN, said)

    assert "I like tea" in model.stated  # there is room for it
    assert [each.access_count for each in memory.service.list_memories(ERIN)] == [0, 0, 0]


@pytest.mark.spec("M-9", "A-1")
def test_use_is_counted_of_what_bears_on_the_talk_or_was_cited(memory, graph_of, scripted):
    asked = memory.service.remember(ERIN, "The car is parked on level 3")
    cited = memory.service.remember(ERIN, "I like tea")
    other = memory.service.remember(ERIN, "My dentist is called Ruth")
    model = scripted(lambda _messages: AIMessage("On level 3. Some tea? [Memory: I like tea]"))

    memory.reply(graph_of(model), ERIN, "where is the car parked?")

    counts = {each.id: each.access_count for each in memory.service.list_memories(ERIN)}
    assert counts == {asked.id: 1, cited.id: 1, other.id: 0}


@pytest.mark.spec("M-9")
def test_what_is_private_or_sensitive_is_shown_only_where_it_bears_on_the_talk(memory):
    memory.service.remember(ERIN, "I am writing a novel about pirates", private=True)
    memory.service.remember(ERIN, "The password of the router is hunter2")
    memory.service.remember(ERIN, "The car is parked on level 3")

    assert _texts(memory, "what shall I cook?") == ["The car is parked on level 3"]
    assert _texts(memory, "hello") == ["The car is parked on level 3"]
    assert _texts(memory, "what is the router's password?")[0] == "The password of the router is hunter2"
    assert _texts(memory, "how is my novel about pirates going?")[0] == "I am writing a novel about pirates"


@pytest.mark.spec("M-9")
def test_each_line_ends_with_the_day_it_was_said_and_what_is_over_is_marked(memory, clock):
    memory.service.remember(ERIN, "The dentist is on 9 March")
    memory.service.remember(ERIN, "Mira's birthday is on 9 March")
    memory.service.remember(ERIN, "From 9 March the dentist is Dr. Levi")
    memory.service.remember(ERIN, "Dan looks after the cat", valid_to=clock() + timedelta(days=8))
    said = clock()
    clock.forward(days=400)
    state = {"messages": [HumanMessage("when is the dentist?")]}
    block = stated(memory.prompt({**state, "recalled": memory.recall(state, phone=ERIN)}, "", phone=ERIN))

    day = f"(said {said.day} {said:%b} {said.year})"
    assert f"The dentist is on 9 March (that day is over) {day}" in block
    assert f"From 9 March the dentist is Dr. Levi (that day is over) {day}" in block
    assert f"Dan looks after the cat (over by now) {day}" in block
    assert f"Mira's birthday is on 9 March {day}" in block


@pytest.mark.spec("M-9", "U-8")
def test_who_sets_a_bound_or_a_number_gets_no_more(database_url, clock, offline_model):
    facts = ["The car is parked on level 3", "The car is a red Fiat", "I like tea", "My dentist is called Ruth"]

    def shown(**chosen):
        kept = Settings(**chosen)
        with PhoneMemory(database_url, settings=kept, embeddings=offline_model, now=clock) as memory:
            for text in facts:
                memory.service.remember(ERIN, text)
            return _texts(memory, "on which level is the car parked?")

    assert len(shown()) == 4
    assert shown(min_similarity=0.7)[0] == facts[0]
    assert not {"I like tea", "My dentist is called Ruth"} & set(shown(min_similarity=0.7))
    assert shown(recall_limit=1, min_similarity=0.7) == [facts[0]]
    assert len(shown(recall_limit=3)) == 3


@pytest.mark.spec("M-9")
def test_memories_fit_the_budget_whole_and_the_best_come_first(database_url, clock, offline_model):
    settings = Settings(recall_tokens=80)
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
    block = system[system.index("<memories>") : system.index("</memories>")]
    assert len(block) // 4 <= 80
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
