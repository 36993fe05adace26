"""What a question asks for in parts: each part has its place in what is recalled."""

import pytest
from langchain_core.embeddings import Embeddings

from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.recall_query import recall_for, search_for
from langmem_plugin.memory.visibility import share

ANNA = "+972501234567"
ASKED = "what do I owe TestCorp and when is Dana's birthday?"
DEBTS = [f"I owe TestCorp {number} for invoice {number}" for number in range(100, 1000, 100)]
BIRTHDAY = "Dana's birthday is on 14 May"


@pytest.mark.spec("M-5", "M-9")
def test_no_part_of_a_question_crowds_out_another(memory):
    memory.remember_many(ANNA, [(text, {}) for text in [*DEBTS, BIRTHDAY]])
    found = recall_for(memory, ANNA, "client", [ASKED])
    assert len(found) == 5
    assert found[0].memory.text in DEBTS
    assert found[1].memory.text == BIRTHDAY
    assert [each.part for each in found[:2]] == ["what do I owe TestCorp", "when is Dana's birthday"]
    assert [each.memory.text for each in memory.recall(ANNA, ASKED, limit=2)] == [
        each.memory.text for each in found[:2]
    ]


@pytest.mark.spec("M-5")
def test_a_limit_of_one_holds_for_all_parts_together(memory):
    memory.remember_many(ANNA, [(text, {}) for text in [*DEBTS, BIRTHDAY]])
    assert len(memory.recall(ANNA, ASKED, limit=1)) == 1
    assert len(search_for(memory, ANNA, "client", ASKED, limit=1)) == 1
    assert memory.recall(ANNA, ASKED, limit=0) == []


@pytest.mark.spec("M-5")
def test_a_memory_that_answers_two_parts_is_there_once(memory):
    memory.remember(ANNA, "Dana's birthday is on 14 May and Mia's birthday is on 2 June")
    [found] = memory.recall(ANNA, "when is Dana's birthday and Mia's?")
    assert found.part == "when is Dana's birthday"


@pytest.mark.spec("M-5")
def test_a_simple_question_names_no_part(memory):
    memory.remember(ANNA, BIRTHDAY)
    [found] = memory.recall(ANNA, "when is Dana's birthday?")
    assert found.part is None


@pytest.mark.spec("M-9")
def test_the_parts_of_a_new_question_come_before_what_the_talk_was_about(memory):
    memory.remember_many(ANNA, [(text, {}) for text in ("I park on level 3", BIRTHDAY, DEBTS[0])])
    found = recall_for(memory, ANNA, "client", ["where do I park?", ASKED])
    assert [each.memory.text for each in found] == [DEBTS[0], BIRTHDAY, "I park on level 3"]


@pytest.mark.spec("M-16", "P-6")
def test_a_part_may_be_answered_from_another_scope_that_the_person_sees(memory):
    memory.remember(ANNA, DEBTS[0])
    share(memory, "The shop closes at noon on Fridays", with_clients=True)
    found = search_for(memory, ANNA, "client", "what do I owe TestCorp and when does the shop close on Fridays?")
    assert [each.memory.text for each in found] == [DEBTS[0], "The shop closes at noon on Fridays"]


class Counting(Embeddings):
    """Counts its calls; `apart` are what it adds to the vector of a question."""

    def __init__(self, inner, model, apart=0.0):
        self.inner, self.model, self.apart, self.calls = inner, model, apart, []

    def embed_documents(self, texts):
        self.calls.append(list(texts))
        return self.inner.embed_documents(texts)

    def embed_query(self, text):
        self.calls.append([text])
        vector = self.inner.embed_query(text)
        return [vector[0] + self.apart, *vector[1:]]


@pytest.mark.spec("M-3", "M-10")
def test_the_parts_of_a_question_are_embedded_in_one_call(offline_model, clock):
    counting = Counting(offline_model, "counting")
    with MemoryService("sqlite://", embeddings=counting, now=clock) as memory:
        memory.recall(ANNA, "what do I owe Acme and who is Ben?")  # finds out what kind of model it is
        counting.calls.clear()
        memory.recall(ANNA, ASKED)
        assert counting.calls == [["what do I owe TestCorp", "when is Dana's birthday"]]
        memory.recall(ANNA, ASKED)
        assert len(counting.calls) == 1


@pytest.mark.spec("M-3")
def test_a_model_that_embeds_questions_otherwise_than_texts_is_asked_for_each_part_as_a_question(offline_model, clock):
    counting = Counting(offline_model, "counting apart", apart=0.8)
    with MemoryService("sqlite://", embeddings=counting, now=clock) as memory:
        memory.remember(ANNA, BIRTHDAY)
        memory.recall(ANNA, "what do I owe Acme and who is Ben?")
        counting.calls.clear()
        memory.recall(ANNA, ASKED)
        assert counting.calls == [["what do I owe TestCorp"], ["when is Dana's birthday"]]
