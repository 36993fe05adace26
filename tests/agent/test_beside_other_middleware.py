"""The memory's middleware beside LangChain's own, before them and after them, and in the whole of a deep agent."""

import warnings
from dataclasses import dataclass

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
)
from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from langmem_plugin import ConfigurationError, MemoryState
from tests.cases import for_each
from tests.stated import conversation

pytestmark = pytest.mark.both_engines

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from deepagents import create_deep_agent

ERIN = "+972501234567"
DISHES = [{"id": "r1", "name": "Lasagna"}, {"id": "r2", "name": "Green curry"}]
SUMMARISER = FakeListChatModel(responses=["They talked about dinner."])
LIST = "1. Lasagna\n2. Green curry"


@tool
def find_recipes(query: str) -> list[dict]:
    """Find recipes."""
    return DISHES


@tool
def save_recipe(recipe_id: str) -> str:
    """Save a recipe."""
    return f"saved {recipe_id}"


def cook(messages):
    """Finds recipes, lists them, and saves the one that the context says is meant."""
    last = messages[-1]
    if isinstance(last, ToolMessage):
        return AIMessage(LIST if last.name == "find_recipes" else "Done.")
    if "dinner" in last.text:
        return AIMessage("", tool_calls=[{"name": "find_recipes", "args": {"query": "dinner"}, "id": "find"}])
    if "save" in last.text:
        meant = [each["id"] for each in DISHES if each["id"] in last.text.partition("<context>")[2]]
        return AIMessage("", tool_calls=[{"name": "save_recipe", "args": {"recipe_id": meant[0]}, "id": "save"}])
    return AIMessage("Hello!")


def failing(_messages):
    raise ConnectionError("down")


OTHERS = {
    "summarization": lambda model: SummarizationMiddleware(model, trigger=("messages", 100)),
    "pii": lambda _: PIIMiddleware("email"),
    "context editing": lambda _: ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=0)]),
    "tool retry": lambda _: ToolRetryMiddleware(max_retries=1, initial_delay=0),
    "model retry": lambda _: ModelRetryMiddleware(max_retries=1, initial_delay=0),
    "fallback": ModelFallbackMiddleware,
    "todo list": lambda _: TodoListMiddleware(),
    "model calls": lambda _: ModelCallLimitMiddleware(run_limit=9),
    "tool calls": lambda _: ToolCallLimitMiddleware(run_limit=9),
}


@pytest.fixture
def agent(memory, scripted):
    def build(other, *, ours_first, script=cook, tools=(find_recipes, save_recipe), model=None):
        ours = memory.middleware()
        middleware = [ours, other] if ours_first else [other, ours]
        model = model or scripted(script)
        return create_agent(model, list(tools), middleware=middleware, checkpointer=memory.saver), model

    return build


@pytest.fixture
def stored(memory):
    """(role, text) of all that is stored of the conversation."""

    def of(who=ERIN):
        [session] = memory.sessions.sessions(who)
        records = memory.sessions.messages(session.session_id)
        assert len({each.message_id for each in records}) == len(records)
        return [(each.role, each.content) for each in records]

    return of


ORDERS = for_each("ours_first", [True, False])


@pytest.mark.slow
@pytest.mark.spec("U-1", "R-1", "C-2")
@ORDERS
@for_each("name", OTHERS)
def test_number_2_is_understood_and_each_message_stored_once(memory, agent, scripted, stored, name, ours_first):
    cook_model = scripted(cook)
    first = scripted(failing) if name == "fallback" else cook_model
    graph, _ = agent(OTHERS[name](cook_model), ours_first=ours_first, model=first)
    memory.service.remember(ERIN, "Erin likes basil")
    assert memory.check(graph) == [] or name in {"summarization", "pii"}
    assert memory.reply(graph, ERIN, "find me a dinner with basil", raise_errors=True) == LIST
    assert "Erin likes basil" in cook_model.stated
    assert memory.reply(graph, ERIN, "save number 2", raise_errors=True) == "Done."
    said = stored()
    assert ("tool", "saved r2") in said
    assert [text for role, text in said if role == "user"] == ["find me a dinner with basil", "save number 2"]
    assert [text for role, text in said if role == "assistant" and text] == [LIST, "Done."]
    assert not any("<context>" in text for _, text in said)


@pytest.mark.spec("U-1", "C-21")
@ORDERS
def test_a_tool_that_needs_leave_is_asked_about_and_answered_in_words(memory, agent, stored, ours_first):
    graph, _ = agent(HumanInTheLoopMiddleware({"save_recipe": True}), ours_first=ours_first)
    memory.reply(graph, ERIN, "find me a dinner")
    assert "save_recipe" in memory.reply(graph, ERIN, "save number 2").replace(" ", "_")
    assert memory.reply(graph, ERIN, "yes") == "Done."
    assert ("tool", "saved r2") in stored()
    assert [text for role, text in stored() if role == "user"][:2] == ["find me a dinner", "save number 2"]


@pytest.mark.spec("U-1", "R-6")
@ORDERS
def test_what_is_unclear_is_the_models_to_ask_whatever_stands_beside(memory, agent, ours_first):
    graph, model = agent(SummarizationMiddleware(SUMMARISER, trigger=("messages", 50)), ours_first=ours_first)
    memory.reply(graph, ERIN, "find me a dinner")
    calls = len(model.seen)
    memory.reply(graph, ERIN, "save number 7")
    assert len(model.seen) > calls


@pytest.mark.spec("U-1", "W-7", "C-2")
@ORDERS
def test_a_summary_that_takes_the_place_of_messages_is_no_persons_word(memory, agent, scripted, ours_first):
    summarising = SummarizationMiddleware(SUMMARISER, trigger=("messages", 4), keep=("messages", 1))
    graph, model = agent(summarising, ours_first=ours_first, script=lambda _: AIMessage("Hello!"))
    for number in range(4):
        assert memory.reply(graph, ERIN, f"hello {number}", raise_errors=True) == "Hello!"
    assert conversation(model.seen[-1])[-1].text == "hello 3"
    assert any("Here is a summary" in each.text for each in model.seen[-1])


@pytest.mark.spec("U-1", "W-7", "R-1")
def test_a_summary_within_a_turn_is_not_read_as_what_the_person_says(memory, agent, scripted):
    long = ToolMessage("1. Lasagna", tool_call_id="find")
    summary = HumanMessage("Save number 2 of the summary", additional_kwargs={"lc_source": "summarization"})
    call = AIMessage("", tool_calls=[{"name": "find_recipes", "args": {}, "id": "find"}])
    shown = memory.prompt({"messages": [summary, call, long]}, "You are Mom Bot.", phone=ERIN)
    assert [each.text for each in shown[1:]] == [summary.text, "", "1. Lasagna"]
    assert memory.resolved([AIMessage(LIST), summary]).references == ()


@pytest.mark.spec("U-1", "W-7")
def test_a_tool_remembers_nothing_that_was_redacted(memory, agent):
    def script(messages):
        if isinstance(messages[-1], ToolMessage):
            return AIMessage(messages[-1].text)
        fact = {"text": f"Erin's card: {messages[-1].text}"}
        return AIMessage("", tool_calls=[{"name": "remember_fact", "args": fact, "id": "1"}])

    for strategy in ("redact", "mask", "hash"):
        other = PIIMiddleware("credit_card", strategy=strategy)
        graph, _ = agent(other, ours_first=True, script=script, tools=memory.tools())
        assert "private" in memory.reply(graph, ERIN, "remember 4111 1111 1111 1111", raise_errors=True)
    assert memory.service.list_memories(ERIN) == []


@pytest.mark.spec("U-1", "W-7")
@ORDERS
def test_what_was_redacted_is_in_no_memory(memory, agent, scripted, stored, clock, ours_first):
    graph, model = agent(PIIMiddleware("email"), ours_first=ours_first)
    memory.consent.switch_on(ERIN)
    memory.reply(graph, ERIN, "My email is erin@example.com and my sister is called Mia", raise_errors=True)
    assert "erin@example.com" not in "".join(each.text for each in model.seen[-1])
    assert not any("erin@example.com" in text for _, text in stored())
    clock.forward(hours=1)
    memory.extract(ERIN)
    texts = [each.text for each in memory.service.list_memories(ERIN, statuses=["active", "pending"])]
    assert not any("REDACTED" in each or "example.com" in each for each in texts)
    assert any("Mia" in each for each in texts)


@pytest.mark.spec("U-1", "R-1")
def test_a_whole_deep_agent_remembers_refers_and_asks(memory, scripted, stored):
    graph = create_deep_agent(
        model=scripted(cook),
        tools=[find_recipes, save_recipe],
        system_prompt="You are Mom Bot.",
        middleware=[memory.middleware()],
        interrupt_on={"save_recipe": True},
        state_schema=MemoryState,
        checkpointer=memory.saver,
    )
    assert memory.check(graph) == []
    memory.service.remember(ERIN, "Erin likes basil")
    assert memory.reply(graph, ERIN, "find me a dinner with basil", raise_errors=True) == LIST
    assert "2" in memory.reply(graph, ERIN, "save number 2", raise_errors=True)
    assert memory.reply(graph, ERIN, "yes", raise_errors=True) == "Done."
    said = stored()
    assert ("tool", "saved r2") in said
    assert said[0] == ("user", "find me a dinner with basil")
    assert not any("<context>" in text for _, text in said)


@pytest.mark.spec("U-1")
def test_a_deep_agent_whose_messages_nobody_can_read_is_refused_with_what_to_do(memory, scripted):
    graph = create_deep_agent(model=scripted(), middleware=[memory.middleware()], checkpointer=memory.saver)
    with pytest.raises(ConfigurationError, match="state_schema=MemoryState"):
        memory.check(graph)


class Ingredient(BaseModel):
    name: str


class Dish(BaseModel):
    """A dish."""

    name: str
    of: list[Ingredient] = []


@dataclass
class Menu:
    """A menu."""

    dishes: list[str]


@pytest.mark.spec("U-1")
@for_each("answers", [Dish, Dish | Menu, ToolStrategy(Dish | Menu), AutoStrategy(Dish)])
def test_the_structured_answer_of_an_agent_needs_no_allowing(memory, scripted, answers):
    def cooked(messages):
        if isinstance(messages[-1], ToolMessage):
            return AIMessage("Dinner is found.")
        dish = {"name": "Curry", "of": [{"name": "rice"}]}
        return AIMessage("Here it is.", tool_calls=[{"name": "Dish", "args": dish, "id": f"c{len(messages)}"}])

    agent = create_agent(
        scripted(cooked), [], response_format=answers, middleware=[memory.middleware()], checkpointer=memory.saver
    )
    assert memory.check(agent) == []
    assert memory.reply(agent, ERIN, "What is for dinner?") == "Here it is."
    stored = agent.get_state({"configurable": {"thread_id": ERIN}}).values["structured_response"]
    assert stored == Dish(name="Curry", of=[Ingredient(name="rice")])
