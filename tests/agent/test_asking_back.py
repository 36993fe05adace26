"""Words that point at nothing clear are asked about, without the model and once."""

import asyncio
import os

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.types import interrupt

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.agent.asking_back import asked_back
from langmem_plugin.agent.replies import ENGLISH, replies_in
from langmem_plugin.conversation.turns.message_claims import MessageClaims
from langmem_plugin.references import Resolution
from tests.chat_graph import chat_graph
from tests.database.conftest import Child
from tests.stated import conversation

pytestmark = pytest.mark.spec("R-6")

ERIN = "+972501234567"
DISHES = [{"dish_id": f"d{number}", "name": name} for number, name in enumerate(("Soup", "Pasta", "Curry"), 1)]
WHICH = "Which one do you mean?\n1. Soup\n2. Pasta\n3. Curry"


@tool
def search_dishes() -> list[dict]:
    """Find dishes."""
    return DISHES


def answer(messages):
    """Searches when asked to; else tells what the model was given."""
    last = conversation(messages)[-1]
    if last.type == "human" and last.text.startswith("find"):
        return AIMessage("", tool_calls=[{"name": "search_dishes", "args": {}, "id": last.id or "1"}])
    if last.type == "tool":
        return AIMessage("1. Soup\n2. Pasta\n3. Curry")
    return AIMessage(f"answered {last.text}")


ALWAYS = Settings(ask_when_unclear="always")


@pytest.fixture
def memory(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, settings=ALWAYS, now=clock) as opened:
        yield opened


@pytest.fixture
def model(scripted):
    return scripted(answer)


@pytest.fixture(params=["nodes", "agent"])
def graph(request, memory, model):
    return built(request.param, memory, model)


def built(how, memory, model):
    if how == "agent":
        return create_agent(model, [search_dishes], middleware=[memory.middleware()], checkpointer=memory.saver)
    return chat_graph(memory, lambda state: {"messages": model.invoke(memory.prompt(state, "Help."))}, [search_dishes])


def history(graph):
    found = graph.get_state({"configurable": {"thread_id": ERIN}}).values.get("messages", [])
    return [(each.type, each.text) for each in found if each.text and each.type != "tool"]


@pytest.mark.parametrize("reply", ["reply", "areply"])
def test_an_unclear_word_is_asked_about_without_the_model_and_the_answer_goes_to_it(memory, graph, model, reply):
    def text(said):
        made = getattr(memory, reply)(graph, ERIN, said)
        return asyncio.run(made) if reply == "areply" else made

    text("find a dish")
    calls = len(model.seen)
    assert text("save it") == WHICH
    assert len(model.seen) == calls
    assert history(graph)[-2:] == [("human", "save it"), ("ai", WHICH)]
    assert text("the second one") == "answered the second one"
    meant = memory.resolved(graph.get_state({"configurable": {"thread_id": ERIN}}).values)
    assert meant.item("dish") == DISHES[1]


@pytest.mark.parametrize("said", ["2", "number 2", "Pasta", "the second"])
def test_the_answer_is_read_against_the_questions_own_list(memory, graph, said):
    memory.reply(graph, ERIN, "find a dish")
    memory.reply(graph, ERIN, "save it")
    memory.reply(graph, ERIN, said)
    meant = memory.resolved(graph.get_state({"configurable": {"thread_id": ERIN}}).values)
    assert meant.items == [DISHES[1]]


def test_it_is_never_asked_twice_in_a_row(memory, graph):
    memory.reply(graph, ERIN, "find a dish")
    assert memory.reply(graph, ERIN, "save it") == WHICH
    assert memory.reply(graph, ERIN, "save it") == "answered save it"
    assert memory.reply(graph, ERIN, "find more") == "1. Soup\n2. Pasta\n3. Curry"
    assert memory.reply(graph, ERIN, "save it") == WHICH


@pytest.mark.spec("U-2")
@pytest.mark.parametrize(("said", "language"), [("שמור אותו", "he"), ("guárdalo, por favor", "es")])
def test_it_is_asked_in_the_persons_language(memory, graph, said, language):
    memory.reply(graph, ERIN, "find a dish")
    options = "1. Soup\n2. Pasta\n3. Curry"
    assert memory.reply(graph, ERIN, said) == replies_in(language).which_one.format(options=options)


def test_what_nothing_shown_fits_is_said(memory, graph, monkeypatch):
    memory.reply(graph, ERIN, "find a dish")
    resolution = Resolution(question="?", unresolved=("number 9",), candidates=tuple(DISHES))
    monkeypatch.setattr(memory.context.references, "resolution", lambda _: resolution)
    told = ENGLISH.nothing_shown.format(words="“number 9”")
    assert memory.reply(graph, ERIN, "save number 9") == f"{told}\n1. Soup\n2. Pasta\n3. Curry"


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_run_of_ones_own_is_asked_by_the_middleware(memory, model, way):
    graph = built("agent", memory, model)

    async def texted(said):
        async with memory.turn(ERIN) as config:
            return (await graph.ainvoke({"messages": said}, config))["messages"][-1].text

    def text(said):
        if way == "ainvoke":
            return asyncio.run(texted(said))
        with memory.turn(ERIN) as config:
            return graph.invoke({"messages": said}, config)["messages"][-1].text

    text("find a dish")
    calls = len(model.seen)
    assert text("save it") == WHICH
    assert len(model.seen) == calls
    assert text("2") == "answered 2"
    assert memory.check(graph) == []


@pytest.mark.parametrize("how", ["nodes", "agent"])
def test_nothing_comes_before_a_model_unless_it_is_asked_for(database_url, offline_model, scripted, how):
    model = scripted(answer)
    with PhoneMemory(database_url, embeddings=offline_model) as memory:
        graph = built(how, memory, model)
        memory.reply(graph, ERIN, "find a dish")
        assert memory.reply(graph, ERIN, "save it") == "answered save it"
        meant = memory.resolved([*graph.get_state({"configurable": {"thread_id": ERIN}}).values["messages"]])
        assert meant.question


def test_commands_automated_messages_and_pictures_are_not_asked_about(memory, graph):
    memory.reply(graph, ERIN, "find a dish")
    assert memory.reply(graph, ERIN, "save it", automated=True) == "answered save it"
    assert memory.reply(graph, ERIN, "/remember it") == ENGLISH.remembered.format(fact="it")
    picture = [{"type": "text", "text": "save it"}, {"type": "image", "url": "https://example.com/a.png"}]
    shown = [
        HumanMessage("find"),
        AIMessage("", tool_calls=[{"name": "search_dishes", "args": {}, "id": "1"}]),
        ToolMessage('[{"name": "Soup"}, {"name": "Pasta"}]', tool_call_id="1", name="search_dishes"),
        AIMessage("1. Soup\n2. Pasta"),
    ]
    assert asked_back([*shown, HumanMessage(picture)], memory.resolved, lambda: ENGLISH) is None
    assert asked_back([*shown, HumanMessage(picture[:1])], memory.resolved, lambda: ENGLISH) is not None
    assert asked_back([*shown, HumanMessage("and"), HumanMessage("save it")], memory.resolved, lambda: ENGLISH) is None
    assert asked_back([*shown[:2], HumanMessage("save it")], memory.resolved, lambda: ENGLISH) is None
    assert asked_back([], memory.resolved, lambda: ENGLISH) is None


def test_an_answer_to_the_graphs_own_question_is_not_asked_about(memory):
    def agent(state):
        if state["messages"][-1].text.startswith("find"):
            return {"messages": AIMessage("1. Soup\n2. Pasta\n3. Curry")}
        return {"messages": AIMessage(f"paid {interrupt('How shall I pay for it?')}")}

    graph = chat_graph(memory, agent)
    memory.reply(graph, ERIN, "find a dish")
    memory.reply(graph, ERIN, "pay")
    assert memory.reply(graph, ERIN, "with it") == "paid with it"


@pytest.mark.spec("C-21")
def test_a_message_delivered_twice_is_asked_about_once(memory, graph):
    memory.reply(graph, ERIN, "find a dish")
    first = memory.reply(graph, ERIN, "save it", message_id="1")
    second = memory.reply(graph, ERIN, "save it", message_id="1")
    assert (first, second, second.repeated) == (WHICH, WHICH, True)
    assert history(graph).count(("ai", WHICH)) == 1


@pytest.mark.spec("C-21", "C-5")
@pytest.mark.slow
def test_a_process_that_dies_when_it_has_asked_has_asked_once(database_url, offline_model, scripted):
    def asks_and_dies():
        MessageClaims.answered = lambda *_: os._exit(9)
        with PhoneMemory(database_url, settings=ALWAYS, embeddings=offline_model) as memory:
            memory.reply(built("nodes", memory, scripted(answer)), ERIN, "save it", message_id="1")

    with PhoneMemory(database_url, settings=ALWAYS, embeddings=offline_model) as memory:
        memory.reply(built("nodes", memory, scripted(answer)), ERIN, "find a dish")
    child = Child(asks_and_dies, 60)
    with pytest.raises(AssertionError, match="ended with status 2304"):
        child.result()
    with PhoneMemory(database_url, settings=ALWAYS, embeddings=offline_model) as memory:
        graph = built("nodes", memory, scripted(answer))
        assert memory.reply(graph, ERIN, "save it", message_id="1") == WHICH
        assert history(graph)[-2:] == [("human", "save it"), ("ai", WHICH)]
        assert history(graph).count(("ai", WHICH)) == 1


@pytest.mark.parametrize(
    ("candidates", "options"),
    [
        ([{"name": f"Dish {number}"} for number in range(1, 40)], [f"{n}. Dish {n}" for n in range(1, 7)]),
        (
            [{"title": "Piano", "day": "Monday"}, {"title": "Piano", "day": "Friday"}],
            ["1. Piano (Monday)", "2. Piano (Friday)"],
        ),
        ([{"name": "a\n2. b\x07"}, {"name": "\ud83d" * 3}], ["1. a 2. b", "2. ???"]),
        ([{"name": "x" * 100}, {"name": "{options}"}], [f"1. {'x' * 60}…", "2. {options}"]),
        ([{"price": 3}, {"price": 4}], ["1. price 3", "2. price 4"]),
    ],
)
def test_candidates_are_named_by_number_and_name_whatever_they_are(candidates, options):
    resolution = Resolution(question="?", candidates=tuple(candidates))
    question = asked_back([HumanMessage("it")], lambda _: resolution, lambda: ENGLISH)
    assert question.text.splitlines()[1:] == options


def test_one_candidate_alone_is_the_models_to_ask_about():
    resolution = Resolution(question="Do you mean 1. Soup?", candidates=({"name": "Soup"},))
    assert asked_back([HumanMessage("it")], lambda _: resolution, lambda: ENGLISH) is None
