"""Whatever branches a turn has, and whatever they ask: each word of them reaches the person, and reaches them once."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send, interrupt

from tests.cases import for_each

ERIN = "+972501234567"


def built(memory, *nodes, edges):
    graph = StateGraph(MessagesState)
    for node in nodes:
        graph.add_node(node)
    for edge in edges:
        graph.add_edge(*edge)
    return graph.compile(checkpointer=memory.saver)


def says(name, text):
    def node(_state):
        return {"messages": AIMessage(text() if callable(text) else text)}

    node.__name__ = name
    return node


@pytest.mark.slow
@pytest.mark.spec("C-21")
@for_each("many", [1, 2, 5])
def test_each_worker_that_was_sent_for_is_heard(memory, many):
    cities = [f"City {number}" for number in range(many)]
    graph = StateGraph(MessagesState).add_node("weather", lambda asked: {"messages": AIMessage(f"{asked['city']}: 20")})
    graph.add_conditional_edges(START, lambda _: [Send("weather", {"city": each}) for each in cities], ["weather"])
    built_graph = graph.compile(checkpointer=memory.saver)

    for _ in range(2):
        assert memory.reply(built_graph, ERIN, "weather?") == "\n\n".join(f"{each}: 20" for each in cities)


@pytest.mark.spec("C-21")
def test_a_branch_that_ends_before_the_others_is_heard(memory):
    edges = [(START, "short"), (START, "first"), ("first", "second")]
    nodes = (says("short", "short"), says("first", ""), says("second", "long"))

    assert memory.reply(built(memory, *nodes, edges=edges), ERIN, "go") == "short\n\nlong"


@pytest.mark.spec("C-21")
def test_what_branches_say_between_questions_is_said_once(memory):
    def about():
        name, age = interrupt("Name?"), interrupt("Age?")
        return f"You are {name}, {age}."

    nodes = (says("about", about), says("home", lambda: f"You live in {interrupt('City?')}."), says("hello", "Hello!"))
    graph = built(memory, *nodes, edges=[(START, "about"), (START, "home"), (START, "hello")])

    said = [memory.reply(graph, ERIN, text, message_id=text) for text in ("hi", "Erin", "Haifa", "33")]
    assert said == ["Hello!\n\nName?", "City?", "You live in Haifa.\n\nAge?", "You are Erin, 33."]
    again = [memory.reply(graph, ERIN, text, message_id=text) for text in ("hi", "Erin", "Haifa", "33")]
    assert again == said


@pytest.mark.spec("C-21")
def test_the_way_to_an_answer_is_none(memory):
    call = {"name": "clock", "args": {}, "id": "1"}
    nodes = (
        lambda _: {"messages": AIMessage("Let me look.", tool_calls=[call])},
        lambda _: {"messages": ToolMessage("five", tool_call_id="1")},
        lambda _: {"messages": AIMessage("It is five.")},
    )
    graph = StateGraph(MessagesState)
    for number, node in enumerate(nodes):
        graph.add_node(str(number), node).add_edge(str(number - 1) if number else START, str(number))

    assert memory.reply(graph.compile(checkpointer=memory.saver), ERIN, "what time is it?") == "It is five."


@pytest.mark.spec("C-21")
def test_a_node_that_writes_down_the_answer_it_was_given_is_heard_from_there(memory):
    def ask(_state):
        answer = interrupt("Really?")
        return {"messages": [HumanMessage(answer), AIMessage(f"given {answer}")]}

    graph = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=memory.saver)

    assert [memory.reply(graph, ERIN, text) for text in ("order", "yes", "order", "no")] == [
        "Really?",
        "given yes",
        "Really?",
        "given no",
    ]
