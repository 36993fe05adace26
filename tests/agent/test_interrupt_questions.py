"""What a run stops to ask is asked in words, and the person's words are given to the graph as its answer."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Interrupt, interrupt
from sqlalchemy import select

from langmem_plugin.agent.replying.graph_input_and_reply import GraphRun
from langmem_plugin.agent.replying.interrupt_questions import NotUnderstood, asked_by
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from langmem_plugin.conversation.turns.message_claims import MessageClaims
from langmem_plugin.database.conversation_tables import turn
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.references.said.yes_or_no import Verdict, agrees
from tests.agent.test_exactly_once import die, killed
from tests.cases import for_each
from tests.waiting import until

ERIN = "+972501234567"


def asking(memory, *values):
    """A graph of one node for each value, side by side, that says what it was given."""
    graph = StateGraph(MessagesState)
    for number, value in enumerate(values):

        def ask(_state, value=value, number=number):
            return {"messages": AIMessage(f"{number} was given {interrupt(value)!r}")}

        graph.add_node(f"ask{number}", ask).add_edge(START, f"ask{number}")
    return graph.compile(checkpointer=memory.saver)


def given_to(memory, value, *said):
    """What a graph that asks for the value is given after these messages."""
    graph = asking(memory, value)
    memory.reply(graph, ERIN, "go")
    for text in said[:-1]:
        memory.reply(graph, ERIN, text)
    answer = memory.reply(graph, ERIN, said[-1])
    memory.reply(graph, ERIN, "/reset")
    return answer


YES = [
    "yes",
    "Yes!",
    "ok",
    "👍",
    "👍🏽",
    "sure",
    "yes please",
    "כן",
    "בסדר",
    "sí",
    "Vale",
    "✅",
    "go ahead",
    "ok, go ahead",
]
NO = ["no", "No.", "nope", "👎", "no thanks", "לא", "לא תודה", "no gracias", "❌", "cancel", "never mind"]


@pytest.mark.spec("C-21")
def test_a_word_or_a_sign_says_yes_or_no():
    assert [each for each in YES if agrees(each) != Verdict(yes=True)] == []
    assert [each for each in NO if agrees(each) != Verdict(yes=False)] == []


@for_each("words", ["", "  ", "maybe", "yesterday", "november", "noodles", "okra soup", "what?", "2", "🍕"])
def test_other_words_are_neither(words):
    assert agrees(words) is None


@given(st.text(max_size=200))
def test_whatever_is_said_is_understood_in_one_of_three_ways(said):
    verdict = agrees(said)
    assert verdict is None or isinstance(verdict.yes, bool)


@pytest.mark.slow
@pytest.mark.spec("C-21", "C-19")
@for_each(
    ("value", "said", "given"),
    [
        ("Pay $20? (yes/no)", "YES", "yes"),
        ("Pay $20? (yes/no)", "👍", "yes"),
        ("Pay $20? (yes/no)", "no thanks, too expensive", "no"),
        ("Pay $20? (yes/no)", "לא תודה, יקר לי", "no"),
        ("Pay $20? [Y/n]", "nope", "n"),
        ("Shall I?", "כן", "yes"),
        ("Shall I?", "only the first one", "only the first one"),
        ("What is your name?", "Ok", "Ok"),
        ({"question": "Which size?", "options": ["small", "medium", "large"]}, "2", "medium"),
        ({"question": "Which size?", "options": ["small", "medium", "large"]}, "the last one", "large"),
        ({"question": "Which size?", "options": ["small", "medium", "large"]}, "Medium please", "medium"),
        ({"prompt": "Go?", "choices": ["yes", "no"]}, "sí", "yes"),
        ({"question": "Which?", "options": [{"label": "Small", "value": 1}, {"label": "Big", "value": 2}]}, "big", 2),
        ({"title": "Which?", "options": {"s": "Small", "b": "Big"}}, "number 1", "s"),
        ({"question": "How many?"}, "three", "three"),
        ([1, 2], "three", "three"),
    ],
)
def test_known_shapes_get_the_value_that_the_words_mean(memory, value, said, given):
    assert given_to(memory, value, said) == f"0 was given {given!r}"


@pytest.mark.spec("C-21")
def test_options_are_listed_with_their_numbers(memory):
    graph = asking(memory, {"question": "Which size?", "options": ["small", "large"]})

    assert memory.reply(graph, ERIN, "go") == "Which size?\n1. small\n2. large\nPlease answer with a number."


@pytest.mark.spec("C-21")
def test_what_cannot_be_understood_is_asked_again_once_and_then_refused(memory):
    graph = asking(memory, "Pay $20? (yes/no)")
    memory.reply(graph, ERIN, "go")

    assert memory.reply(graph, ERIN, "hm?") == ENGLISH.ask_again.format(question="Pay $20? (yes/no)")
    assert memory.reply(graph, ERIN, "well?") == "0 was given 'no'"


@pytest.mark.spec("C-21")
@for_each("said", ["1", "2", "the first one", "number 1", "no, what is it for?", "yes but tomorrow"])
def test_a_yes_or_no_is_neither_a_place_nor_a_condition(memory, said):
    graph = asking(memory, "Pay $20? (yes/no)")
    memory.reply(graph, ERIN, "go")
    assert "Pay $20? (yes/no)" in memory.reply(graph, ERIN, said)


@pytest.mark.spec("C-21")
def test_several_questions_are_asked_one_after_another(memory):
    graph = asking(memory, "A?", "B? (yes/no)", "C?")

    assert [memory.reply(graph, ERIN, each) for each in ("go", "first", "hm")] == [
        "A?",
        "B? (yes/no)",
        ENGLISH.ask_again.format(question="B? (yes/no)"),
    ]
    assert memory.reply(graph, ERIN, "no") == "C?"
    memory.reply(graph, ERIN, "third")
    said = [each.text for each in graph.get_state({"configurable": {"thread_id": ERIN}}).values["messages"]]
    assert sorted(said[1:]) == ["0 was given 'first'", "1 was given 'no'", "2 was given 'third'"]


@pytest.mark.spec("C-21")
def test_a_node_that_asks_twice_is_answered_twice(memory):
    def ask(_state):
        return {"messages": AIMessage(f"{interrupt('A?')} and {interrupt('A?')}")}

    graph = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=memory.saver)
    said = [memory.reply(graph, ERIN, text, message_id=text) for text in ("go", "one", "two")]

    assert said == ["A?", "A?", "one and two"]


@pytest.fixture
def pizzeria(memory, scripted):
    """An agent whose orders a person has to approve, and what was ordered."""
    ordered = []

    def order_pizza(size: str, count: int = 1) -> str:
        """Order pizzas of a size."""
        ordered.append((size, count))
        return f"ordered {count} {size}"

    def script(messages):
        last = messages[-1]
        if last.type == "tool":
            return AIMessage(f"Result: {last.text}")
        wanted = last.text.split(" and ")
        calls = [
            {"name": "order_pizza", "args": {"size": each, "count": 1}, "id": str(number)}
            for number, each in enumerate(wanted)
        ]
        return AIMessage("", tool_calls=calls)

    def build(mode="batched"):
        approval = HumanInTheLoopMiddleware(interrupt_on={"order_pizza": True}, interrupt_mode=mode)
        middleware = [memory.middleware(), approval]
        return create_agent(scripted(script), [order_pizza], middleware=middleware, checkpointer=memory.saver)

    build.ordered = ordered
    return build


@pytest.mark.slow
@pytest.mark.spec("C-21", "C-19")
@for_each("mode", ["batched", "per_call"])
@for_each(
    ("said", "ordered"),
    [
        ("yes", [("large", 1)]),
        ("כן בבקשה", [("large", 1)]),
        ("yes, order it", [("large", 1)]),
        ("👎", []),
        ("no, I am not hungry", []),
        ("yes but for tomorrow", []),
        ("yes, with size small", []),
    ],
)
def test_a_tool_is_approved_or_refused_in_words(memory, pizzeria, mode, said, ordered):
    graph = pizzeria(mode)
    question = memory.reply(graph, ERIN, "large")
    memory.reply(graph, ERIN, said)

    assert question.startswith("Shall I do this: order pizza (size: large, count: 1)?")
    assert pizzeria.ordered == ordered
    assert "order pizza (size: small" in memory.reply(graph, ERIN, "small")  # asked in the language of the answer


@pytest.mark.slow
@pytest.mark.spec("C-21", "R-6")
@for_each(
    "said",
    [
        "right now? how much is it", "ok wait", "sure? I am not sure", "yes, cancel it", "ok no", "yes if it is cheap",
        "yes?", "correct?", "what size is it?", "which size do you mean", "is the size right?", "bueno no",
        "si no es caro", "I have to think about the size",
    ],
)  # fmt: skip
def test_nothing_is_done_on_words_that_do_not_approve_it(memory, pizzeria, said):
    graph = pizzeria()
    memory.reply(graph, ERIN, "large")
    memory.reply(graph, ERIN, said)

    assert pizzeria.ordered == []


@pytest.mark.spec("C-21")
@for_each("said", ["no problem", "no worries, go ahead", "yes, the large one please", "כן, בבקשה", "sí, claro"])
def test_words_that_approve_it_in_another_way_are_understood(memory, pizzeria, said):
    graph = pizzeria()
    memory.reply(graph, ERIN, "large")
    memory.reply(graph, ERIN, said)

    assert pizzeria.ordered == [("large", 1)]


@pytest.mark.spec("C-21")
def test_the_model_is_told_why_a_tool_was_refused(memory, pizzeria):
    graph = pizzeria()
    memory.reply(graph, ERIN, "large")

    assert "I am not hungry" in memory.reply(graph, ERIN, "no, I am not hungry")
    memory.reply(graph, ERIN, "large")
    told = memory.reply(graph, ERIN, "no")
    assert "The person did not agree to this. They wrote: no" in told
    assert "retry" not in told


@pytest.mark.spec("C-21", "C-10")
@for_each("said", ["what is on at the cinema?", "make it small", "yes, but how much is it?"])
def test_what_is_written_in_place_of_an_approval_is_for_the_model_to_see_to(memory, pizzeria, said):
    graph = pizzeria()
    memory.reply(graph, ERIN, "large")

    assert said in memory.reply(graph, ERIN, said)
    assert pizzeria.ordered == []


@pytest.mark.spec("C-21")
@for_each("mode", ["batched", "per_call"])
def test_two_calls_are_approved_one_by_one(memory, pizzeria, mode):
    graph = pizzeria(mode)

    assert "size: large" in memory.reply(graph, ERIN, "large and small")
    assert "size: small" in memory.reply(graph, ERIN, "yes")
    memory.reply(graph, ERIN, "no")
    assert pizzeria.ordered == [("large", 1)]


@pytest.mark.spec("C-21")
def test_a_person_is_never_locked_in_by_a_question(memory, pizzeria):
    graph = pizzeria()
    memory.reply(graph, ERIN, "large")
    memory.reply(graph, ERIN, "hello?")

    assert pizzeria.ordered == []
    assert memory.reply(graph, ERIN, "small").startswith("Shall I do this")


@pytest.mark.slow
@pytest.mark.spec("C-21", "C-5")
@pytest.mark.parametrize("where", ["before the graph goes on", "in the node that asked", "beside it", "after it"])
def test_an_answer_whose_process_was_killed_is_given_once(memory, where):
    def graph(dies_in=None):
        def step(name, update):
            def node(_state):
                made = update()
                if dies_in == name:
                    die()
                return made

            return node

        def ask():
            return {"messages": AIMessage(f"given {interrupt('Really? (yes/no)')}")}

        built = StateGraph(MessagesState).add_node("before", step("before", dict))
        built = built.add_node("ask", step("in the node that asked", ask)).add_node("after", step("after it", dict))
        built = built.add_node("beside", step("beside it", lambda: {"messages": AIMessage(interrupt("Where to?"))}))
        built = built.add_edge(START, "before").add_edge("before", "ask").add_edge(["ask", "beside"], "after")
        return built.add_edge("before", "beside").compile(checkpointer=memory.saver)

    def dying():
        built = graph(where)
        if where == "before the graph goes on":
            built.invoke = lambda *_, **__: die()
        memory.reply(built, ERIN, "Haifa", message_id="m3")

    questions = [memory.reply(graph(), ERIN, text, message_id=id_) for text, id_ in (("order it", "m1"), ("yes", "m2"))]
    assert questions == ["Really? (yes/no)", "Where to?"]
    killed(dying)  # and its place is left in the line

    assert memory.reply(graph(), ERIN, "Haifa", message_id="m3") == "given yes\n\nHaifa"
    state = graph().get_state({"configurable": {"thread_id": ERIN}})
    assert [each.text for each in state.values["messages"]] == ["order it", "given yes", "Haifa"]


@pytest.mark.slow
@pytest.mark.spec("C-21")
def test_a_yes_that_came_while_the_question_was_still_asked_approves_nothing_also_after_a_kill(memory):
    asking, waits, given = threading.Event(), threading.Event(), []

    def ask(_state):
        asking.set()
        waits.wait()
        given.append(interrupt("Really? (yes/no)"))
        return {"messages": AIMessage("ordered")}

    graph = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=memory.saver)

    def in_line():
        with memory.database.read() as connection:
            return len(connection.execute(select(turn.c.ticket)).all())

    def dying():
        GraphRun.plan = lambda *_, **__: die()  # in the process that is killed
        memory.reply(graph, ERIN, "yes", message_id="m2")

    with ThreadPoolExecutor() as pool:
        first = pool.submit(memory.reply, graph, ERIN, "order it", message_id="m1")
        asking.wait()
        pool.submit(lambda: (until(lambda: in_line() > 1), waits.set()))
        killed(dying)
        assert first.result() == "Really? (yes/no)"

    assert memory.reply(graph, ERIN, "yes", message_id="m2") == "Really? (yes/no)"
    assert given == []
    assert memory.reply(graph, ERIN, "yes", message_id="m3") == "ordered"


@pytest.mark.spec("C-21")
def test_an_answer_to_the_first_of_two_questions_that_was_cut_short_is_none_to_the_second(memory, monkeypatch):
    def ask(question):
        return lambda _: {"messages": AIMessage(f"{question} {interrupt(question)}")}

    built = StateGraph(MessagesState).add_node("pay", ask("Pay?")).add_node("ship", ask("Ship?"))
    graph = built.add_edge(START, "pay").add_edge(START, "ship").compile(checkpointer=memory.saver)
    memory.reply(graph, ERIN, "order it", message_id="m1")

    def cut_short(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(MessageClaims, "answered", cut_short)
        with pytest.raises(KeyboardInterrupt):
            memory.reply(graph, ERIN, "yes", message_id="m2")

    assert memory.reply(graph, ERIN, "yes", message_id="m2") == "Ship?"
    assert memory.reply(graph, ERIN, "no", message_id="m3") == "Pay? yes\n\nShip? no"


@pytest.mark.spec("C-21", "M-14")
@for_each("attempt", ["yes", "order the leeks"])
def test_what_follows_an_apology_answers_no_question_that_stood_behind_it(memory, monkeypatch, attempt):
    graph = asking(memory, "Order the leeks?")
    memory.reply(graph, ERIN, "hello", message_id="m0")
    memory.reply(graph, ERIN, "no", message_id="m1")

    def away(*_):
        raise StoreUnavailable("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr(memory.saver, "write_now", away)
        assert memory.reply(graph, ERIN, "order it", message_id="m2") == ENGLISH.not_kept

    assert memory.reply(graph, ERIN, attempt, message_id="m3") == "Order the leeks?"
    assert memory.reply(graph, ERIN, "order it", message_id="m2") == ENGLISH.not_kept
    assert memory.reply(graph, ERIN, "yes", message_id="m4") == "0 was given 'yes'"


@pytest.mark.spec("C-21")
def test_a_breakpoint_is_reported_and_not_answered_with_nothing(memory, caplog):
    graph = (
        StateGraph(MessagesState)
        .add_node("done", lambda _: {"messages": AIMessage("done")})
        .add_edge(START, "done")
        .compile(checkpointer=memory.saver, interrupt_before=["done"])
    )

    assert memory.reply(graph, ERIN, "go") == ENGLISH.stopped
    assert "reply.breakpoint" in caplog.text


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=10),
        lambda each: (
            st.lists(each, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["question", "options", "action_requests", "review_configs", "type", "name", "args", "x"]
                ),
                each,
                max_size=4,
            )
        ),
        max_leaves=8,
    ),
    st.text(max_size=30),
)
def test_whatever_a_graph_asks_can_be_worded_and_answered(value, said):
    for question in asked_by(Interrupt(value, id="1")).questions:
        assert isinstance(question.words(ENGLISH), str)
        try:
            question.answer(said)
        except NotUnderstood:
            question.rejection(said)


@pytest.mark.spec("C-21")
@for_each(
    "value",
    [
        {"action_requests": [{}], "review_configs": [{}]},
        {"action_requests": ["pay"], "review_configs": []},
        {"action_requests": [{"name": "pay", "args": "all"}], "review_configs": []},
        {"action_requests": [{"name": "pay"}], "review_configs": [{"action_name": "pay", "allowed_decisions": None}]},
        {"type": "tool_approval", "name": "pay", "args": {1: 2}},
    ],
)
def test_what_only_looks_like_a_request_is_asked_and_answered_all_the_same(memory, value):
    graph = asking(memory, value)
    said = [memory.reply(graph, ERIN, text) for text in ("go", "maybe", "no")]
    assert ENGLISH.failed not in said
    assert any("was given" in each for each in said)


@pytest.mark.spec("C-21")
def test_an_action_that_may_only_be_changed_goes_on_with_yes(memory):
    config = {"action_name": "pay", "allowed_decisions": ["edit"]}
    request = {"action_requests": [{"name": "pay", "args": {"amount": 1}}], "review_configs": [config]}
    assert "'args': {'amount': 1}" in given_to(memory, request, "yes")


@pytest.mark.spec("C-21")
@for_each(("value", "asked"), [("Pay\x00 it\ud800?", "Pay it??"), ("", ENGLISH.stopped)])
def test_a_question_goes_out_cleaned_and_is_never_nothing(memory, value, asked):
    assert memory.reply(asking(memory, value), ERIN, "go") == asked


@pytest.mark.spec("C-21", "C-9")
def test_what_was_written_before_a_question_does_not_answer_it(memory):
    running, goes_on, paid = threading.Event(), threading.Event(), []

    def pay(state):
        running.set()
        goes_on.wait(60)
        paid.append(interrupt("Pay 20? (yes/no)"))
        return {"messages": AIMessage(f"You said {paid[-1]}")}

    graph = StateGraph(MessagesState).add_node(pay).add_edge(START, "pay").compile(checkpointer=memory.saver)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(memory.reply, graph, ERIN, "pay", message_id="1")
        running.wait(60)
        second = pool.submit(memory.reply, graph, ERIN, "yes", message_id="2")
        until(lambda: _waiting(memory) == 2)
        goes_on.set()
        assert first.result() == second.result() == "Pay 20? (yes/no)"

    assert paid == []
    assert memory.reply(graph, ERIN, "no", message_id="3") == "You said no"


def _waiting(memory):
    with memory.database.read() as connection:
        return len(connection.execute(select(turn)).all())
