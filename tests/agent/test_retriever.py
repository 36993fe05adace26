"""One person's memory as a LangChain retriever."""

import asyncio
import json

import pytest
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from pydantic import ValidationError

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.find.recall import share
from langmem_plugin.memory.models import Filter
from tests.chat_graph import chat_graph

ERIN, BOB, TELEGRAM = "+972501234567", "+972507654321", "telegram:4242777"
QUIET = Settings(sweep_every=None, search_past_sessions=False, extraction="off")


@pytest.fixture
def opened(database_url, clock, offline_model):
    with PhoneMemory(database_url, settings=QUIET, embeddings=offline_model, now=clock) as memory:
        yield memory


@pytest.mark.spec("M-13")
def test_a_chain_answers_from_what_is_known_of_one_person(opened, scripted):
    opened.service.remember(ERIN, "Leo is allergic to peanuts", tags=["health"], category="family")
    opened.service.remember(BOB, "Bob's son is allergic to milk")
    model = scripted(lambda messages: AIMessage(messages[-1].text.upper()))
    prompt = ChatPromptTemplate.from_template("{known}\n{question}")
    known = opened.context.retriever(ERIN) | (lambda documents: "\n".join(each.page_content for each in documents))
    chain = {"known": known, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()
    told = "LEO IS ALLERGIC TO PEANUTS\nWHAT IS LEO ALLERGIC TO?"
    assert chain.invoke("what is Leo allergic to?") == told
    assert asyncio.run(chain.ainvoke("what is Leo allergic to?")) == told


@pytest.mark.spec("M-13")
def test_a_document_tells_what_it_is_in_json(opened):
    made = opened.service.remember(ERIN, "Leo is allergic to peanuts", tags=["health"], category="family")
    [document] = opened.context.retriever(ERIN).invoke("what is Leo allergic to?")
    told = json.loads(json.dumps(document.metadata))
    assert (document.id, document.page_content) == (made.id, made.text)
    assert {name: told[name] for name in ("id", "type", "category", "tags", "shared")} == {
        "id": made.id,
        "type": "fact",
        "category": "family",
        "tags": ["health"],
        "shared": False,
    }
    assert 0.7 <= told["score"] <= 1
    assert set(told["signals"]) == {"semantic", "text"}
    assert told["created_at"] == made.created_at.isoformat()


@pytest.mark.spec("M-13", "M-16")
def test_it_finds_what_is_shared_and_never_anothers(opened):
    opened.service.remember(BOB, "Leo is allergic to eggs")
    share(opened.service, "Leo is allergic to bees", with_clients=True)
    share(opened.service, "Leo is allergic to work")
    found = opened.context.retriever(ERIN, limit=50, min_relevance=0.0, past=True).invoke("what is Leo allergic to?")
    assert [(each.page_content, each.metadata["shared"]) for each in found] == [("Leo is allergic to bees", True)]


@pytest.mark.spec("M-13", "U-1")
def test_links_and_merges_are_followed_at_each_call(opened):
    opened.service.remember(TELEGRAM, "Leo is allergic to peanuts")
    by_phone, by_telegram = opened.context.retriever(ERIN), opened.context.retriever(TELEGRAM)
    assert by_phone.invoke("what is Leo allergic to?") == []
    merge = opened.people.link(ERIN, TELEGRAM)
    both = [each.invoke("what is Leo allergic to?") for each in (by_phone, by_telegram)]
    assert [len(each) for each in both] == [1, 1]
    opened.people.unlink(TELEGRAM)
    opened.people.undo(merge)
    assert by_phone.invoke("what is Leo allergic to?") == []


@pytest.mark.spec("M-13", "P-3")
def test_what_was_forgotten_or_erased_is_found_no_more(opened):
    retriever = opened.context.retriever(ERIN, min_relevance=0.0, past=True)
    made = opened.service.remember(ERIN, "Leo is allergic to peanuts")
    opened.service.history.add(ERIN, [PastMessage("m", "s", "user", "Leo hates bees", opened.service.now())])
    assert [each.metadata["type"] for each in retriever.invoke("Leo")] == ["fact", "past_message"]
    opened.service.forget(ERIN, made.id)
    assert [each.page_content for each in retriever.invoke("Leo")] == ["Leo hates bees"]
    opened.erase(ERIN, now=True)
    assert retriever.invoke("Leo") == []


@pytest.mark.spec("M-13")
def test_limits_bounds_and_filters_hold(opened):
    for number in range(4):
        opened.service.remember(ERIN, f"Leo likes tea number {number}", tags=["tea"], session_id=f"s{number}")
    opened.service.remember(ERIN, "Leo likes coffee")
    assert len(opened.context.retriever(ERIN, limit=3, min_relevance=0.0).invoke("what does Leo like?")) == 3
    found = opened.context.retriever(ERIN, min_relevance=0.0, where=Filter(tags=["tea"])).invoke("Leo coffee")
    assert len(found) == 4
    assert all(each.metadata["tags"] == ["tea"] for each in found)
    assert opened.context.retriever(ERIN, min_relevance=0.999).invoke("how tall is Mount Everest?") == []


@pytest.mark.spec("M-13")
def test_whose_it_is_and_how_it_searches_cannot_be_changed_or_be_nonsense(opened):
    retriever = opened.context.retriever(ERIN)
    with pytest.raises(ValidationError):
        retriever.limit = 50
    for wrong in ({"limit": 0}, {"min_relevance": 1.5}, {"owner": BOB}):
        with pytest.raises(ValidationError):
            opened.context.retriever(ERIN, **wrong)


@pytest.mark.spec("M-13")
def test_where_nothing_is_remembered_there_is_no_retriever(clock):
    off = QUIET.model_copy(update={"enable_memory_system": False})
    with PhoneMemory(settings=off, now=clock) as memory, pytest.raises(ConfigurationError, match="switched off"):
        memory.context.retriever(ERIN)


@pytest.mark.spec("M-13", "M-12")
def test_one_memory_is_shown_and_cited_beside_anothers(opened, tmp_path, offline_model, clock, scripted):
    opened.service.remember(ERIN, "The spare key is under the blue pot")
    other = f"sqlite:///{tmp_path}/other.db"
    retriever = opened.context.retriever(ERIN)
    with PhoneMemory(other, settings=QUIET, embeddings=offline_model, retriever=retriever, now=clock) as memory:
        model = scripted(lambda _: AIMessage("Under the pot. [Document: 1]"))
        graph = chat_graph(memory, lambda state: {"messages": model.invoke(memory.prompt(state, "You are Mom Bot."))})
        reply = memory.reply(graph, BOB, "where is the spare key?", sources=True)
        assert "under the blue pot" in model.seen[-1][-1].text
        assert "[1]" in reply
