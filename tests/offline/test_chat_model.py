"""The offline model: one tool by meaning, arguments by reference, message and earlier call; in any domain."""

import asyncio
import re
from pathlib import Path
from typing import Literal

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langmem_plugin.offline import chat_model
from langmem_plugin.offline.chat_model import OfflineChatModel
from tests.cases import for_each

FLIGHTS = [
    {"flight_id": "LY315", "airline": "El Al", "departs": "07:10", "price": 210.0, "stops": 0},
    {"flight_id": "FR204", "airline": "Ryanair", "departs": "05:40", "price": 89.0, "stops": 1},
    {"flight_id": "AZ809", "airline": "ITA Airways", "departs": "13:25", "price": 175.5, "stops": 0},
]


@tool
def search_flights(from_city: str, to_city: str, date: str | None = None) -> list[dict]:
    """Find flights between two cities. `date` is YYYY-MM-DD."""
    return FLIGHTS


@tool
def get_flight(flight_id: str) -> dict:
    """Tell more about one flight: baggage, aircraft, duration."""
    return next(flight for flight in FLIGHTS if flight["flight_id"] == flight_id) | {"baggage": ["one bag of 23 kg"]}


@tool
def book_flight(flight_id: str, seats: int = 1) -> dict:
    """Book one flight: reserve seats on it."""
    return {"booking_id": 77, "airline": flight_id, "booked": True, "seats": seats}


@tool
def list_invoices(status: Literal["open", "paid", "overdue"] = "open") -> list[dict]:
    """List the invoices we sent to customers."""
    return [{"id": 4, "customer": "TestCorp", "total": 500.0}, {"id": 9, "customer": "Acme", "total": 120.0}]


@tool
def pay_invoice(invoice_id: int) -> dict:
    """Mark an invoice as paid."""
    return {"id": invoice_id, "paid": True}


@tool
def send_reminder(invoice_id: int, email: str) -> dict:
    """Remind a customer of an invoice by e-mail."""
    return {"id": invoice_id, "sent_to": email}


OFFICE = [search_flights, get_flight, book_flight, list_invoices, pay_invoice, send_reminder]


class Conversation:
    """Texts with the model over some tools; `calls` are those of the last message."""

    def __init__(self, model, tools):
        bound = model.bind_tools(tools)
        self.graph = (
            StateGraph(MessagesState)
            .add_node("agent", lambda state: {"messages": bound.invoke(state["messages"])})
            .add_node("tools", ToolNode(tools))
            .add_edge(START, "agent")
            .add_conditional_edges("agent", tools_condition)
            .add_edge("tools", "agent")
            .compile(checkpointer=InMemorySaver())
        )
        self.calls = []

    def __call__(self, text):
        config = {"configurable": {"thread_id": "one"}}
        before = len(self.graph.get_state(config).values.get("messages", ()))
        messages = self.graph.invoke({"messages": text}, config)["messages"]
        answers = [message for message in messages[before:] if isinstance(message, AIMessage)]
        self.calls = [(call["name"], call["args"]) for message in answers for call in message.tool_calls]
        return messages[-1].text


@pytest.fixture(scope="module")
def model(offline_model):
    return OfflineChatModel(embeddings=offline_model)


@pytest.fixture
def say(model):
    return Conversation(model, OFFICE)


@pytest.mark.spec("R-1", "R-2")
def test_a_flight_is_found_read_and_booked_by_pointing(say):
    listed = say("find me flights from Tel Aviv to Rome")
    assert say.calls == [("search_flights", {"from_city": "Tel Aviv", "to_city": "Rome"})]
    assert listed.splitlines()[1] == "2. Ryanair (05:40, price 89.00, 1 stop)"
    say("tell me more about number 3")
    assert say.calls == [("get_flight", {"flight_id": "AZ809"})]
    say("book that one")
    assert say.calls == [("book_flight", {"flight_id": "AZ809"})]
    say("book 2 seats on the cheapest one")
    assert say.calls == [("book_flight", {"flight_id": "FR204", "seats": 2})]


@pytest.mark.spec("R-2")
def test_an_ellipsis_repeats_the_call_with_one_thing_changed(say):
    say("find me flights from Tel Aviv to Rome on 2026-12-01")
    say("what about 2026-12-08?")
    assert say.calls == [("search_flights", {"from_city": "Tel Aviv", "to_city": "Rome", "date": "2026-12-08"})]
    say("and to Paris?")
    assert say.calls == [("search_flights", {"from_city": "Tel Aviv", "to_city": "Paris", "date": "2026-12-08"})]
    say("show me our invoices")
    say("what about overdue ones?")
    assert say.calls == [("list_invoices", {"status": "overdue"})]


def test_a_new_request_is_not_taken_for_a_word_about_the_old_one(say):
    say("find me flights from Tel Aviv to Rome")
    say("tell me more about number 3")
    say("flights from Paris to New York")
    assert say.calls == [("search_flights", {"from_city": "Paris", "to_city": "New York"})]


@pytest.mark.spec("R-1")
def test_an_id_field_serves_its_kind(say):
    say("list the open invoices")
    say("mark the second one as paid")
    assert say.calls == [("pay_invoice", {"invoice_id": 9})]


@pytest.mark.spec("R-1", "R-6")
def test_both_are_read_with_one_call_each_and_written_not_at_all(say):
    say("find me flights from Tel Aviv to Rome")
    say("tell me more about number 1 and number 3")
    assert say.calls == [("get_flight", {"flight_id": "LY315"}), ("get_flight", {"flight_id": "AZ809"})]
    say("list the open invoices")
    assert say("mark both as paid") == "Which invoice do you mean?"
    assert say.calls == []
    say("the first one")
    assert say.calls == [("pay_invoice", {"invoice_id": 4})]


@pytest.mark.slow
@pytest.mark.spec("R-6")
@for_each(
    "text",
    [
        "don't book it",
        "do not book number 2 yet",
        "never book that one",
        "should I book it?",
        "what if I booked it?",
        "if I book number 2, can I cancel?",
        "book it?",
        "maybe book it",
        "book it, never mind",
        "I booked it already",
        "my booking is fine",
        "cancel number 2",
        "booking number 2",
        "no lo reserves",
        "¿debería reservar el segundo?",
        "אל תזמין את השני",
        "האם להזמין את השני?",
    ],
)
def test_nothing_is_written_for_a_refusal_a_doubt_a_question_or_another_act(say, text):
    say("find me flights from Tel Aviv to Rome")
    say("tell me more about number 3")
    say(text)
    assert [call for call in say.calls if call[0] == "book_flight"] == []


@pytest.mark.spec("R-1", "R-6")
@for_each(
    "text",
    [
        "book number 2",
        "number 2 looks good, book it",
        "ok, please book the second one",
        "can you book number 2?",
        "I'd like to book number 2",
        "no, book number 2, not number 3",
        "reserva la segunda",
        "quiero reservar el número 2",
        "¿puedes reservar el número 2, por favor?",
    ],
)
def test_what_a_clause_begins_with_is_done(say, text):
    say("find me flights from Tel Aviv to Rome")
    say(text)
    assert say.calls == [("book_flight", {"flight_id": "FR204"})]


@pytest.mark.spec("R-6")
def test_an_answer_fills_only_what_was_asked_for_and_a_new_request_is_its_own(say):
    say("list the open invoices")
    say("send a reminder for the first one")
    say("find me flights from Rome to Oslo")
    assert say.calls == [("search_flights", {"from_city": "Rome", "to_city": "Oslo"})]


@pytest.mark.slow
@pytest.mark.spec("R-6")
@for_each("text", ["ב" * 64_000, "book it " * 8_000, "el " * 20_000, "\ud83d", "?" * 64_000, "the " * 16_000])
def test_whatever_is_written_is_answered(say, text):
    say("find me flights from Tel Aviv to Rome")
    assert say(text)


@pytest.mark.spec("R-4")
def test_an_id_of_another_kind_is_never_taken(say):
    say("find me flights from Tel Aviv to Rome")
    assert say("pay invoice number 2").startswith("Nothing that I have shown you is “number 2”.")
    assert say.calls == []


def test_what_is_missing_is_asked_for_and_the_answer_completes_the_call(say):
    say("list the open invoices")
    assert say("send a reminder for the first one") == "What is the email?"
    say("billing@testcorp.com")
    assert say.calls == [("send_reminder", {"invoice_id": 4, "email": "billing@testcorp.com"})]


@pytest.mark.spec("R-5")
def test_nothing_shown_means_nothing_is_chosen(say):
    assert say("book number 2") == "Nothing that I have shown you is “number 2”. Which one do you mean?"
    assert say.calls == []


@for_each("text", ["hello", "thanks!", "who won the world cup?", "what's the capital of France?", ""])
def test_what_no_tool_fits_is_said_in_plain_words(say, text):
    assert say(text).startswith("I work without a language model here")
    assert say.calls == []


@pytest.mark.spec("M-12")
def test_a_stated_memory_answers_when_no_tool_does(model):
    known = SystemMessage(
        "Help.\n\n<memories>\n1. Anna's birthday is on 4 May\n2. The boiler is a Vaillant\n</memories>"
    )
    bound = model.bind_tools(OFFICE)
    assert bound.invoke([known, HumanMessage("when is Anna's birthday?")]).text == (
        "Anna's birthday is on 4 May [Memory: 1]"
    )
    assert "Anna" not in bound.invoke([known, HumanMessage("what's the capital of France?")]).text


@pytest.mark.spec("M-12")
@for_each("mark", ["(said 1 Mar 2026)", "(that day is over) (said 28 Feb 2026)"])
@for_each("fact", ["The dentist is at 9:30", "The dentist is at 9:30 (said the nurse)"])
def test_the_day_a_memory_was_said_is_not_read_out(model, fact, mark):
    known = SystemMessage(f"<memories>\n1. {fact} {mark}\n2. The boiler is a Vaillant {mark}\n</memories>")
    assert model.invoke([known, HumanMessage("when is the dentist?")]).text == f"{fact} [Memory: 1]"


@tool
def swap_guest(day: Literal["Monday", "Friday"], guest: str) -> dict:
    """Swap the guest of one day for another."""
    return {"day": day, "guest": guest}


@pytest.mark.spec("R-6")
@for_each(
    "text",
    ["swap Monday for Anna", "swap the visitor on Monday for Anna", "cambia la visita del lunes por Anna"],
)
def test_words_torn_apart_are_not_written(model, text):
    [call] = model.bind_tools([swap_guest]).invoke(text).tool_calls
    assert call["args"] == {"day": "Monday", "guest": "Anna"}


@pytest.mark.spec("R-6")
def test_nothing_is_written_while_it_is_unclear_what_is_meant(say):
    say("find me flights from Tel Aviv to Rome")
    assert say("book that one").startswith("Which one do you mean")
    assert say.calls == []


def test_after_a_result_it_answers_and_calls_nothing(model):
    asked = AIMessage("", tool_calls=[{"name": "pay_invoice", "args": {"invoice_id": 4}, "id": "1"}])
    told = model.bind_tools(OFFICE).invoke(
        [HumanMessage("pay invoice 4"), asked, ToolMessage("The bank is closed.", tool_call_id="1", status="error")]
    )
    assert told.text == "The bank is closed."
    assert told.tool_calls == []


def test_a_result_without_content_is_that_nothing_was_found(model):
    call = AIMessage("", tool_calls=[{"name": "list_invoices", "args": {}, "id": "1"}])
    found = ToolMessage([], tool_call_id="1", name="list_invoices")
    assert model.bind_tools(OFFICE).invoke([HumanMessage("list the invoices"), call, found]).text == "Nothing found."


def test_it_answers_asynchronously_and_as_a_stream(model):
    bound = model.bind_tools(OFFICE)
    assert asyncio.run(bound.ainvoke("list the open invoices")).tool_calls[0]["name"] == "list_invoices"
    assert "".join(part.text for part in bound.stream("hello")).startswith("I work without")


def test_without_tools_it_says_so(model):
    assert model.invoke("book me a flight").text.endswith("I have none.")


def test_it_knows_no_domain():
    folder = Path(chat_model.__file__).parent
    source = "\n".join(path.read_text("utf-8") for path in folder.glob("*.py")).lower()
    assert source
    assert not re.findall(r"recipe|grocer|calendar|flight|invoice|dinner", source)


@for_each(
    ("text", "name"),
    [
        ("are there any flights from Rome to Oslo", "search_flights"),
        ("I need to fly from Rome to Oslo", "search_flights"),
        ("which invoices are overdue?", "list_invoices"),
        ("what have we invoiced our customers?", "list_invoices"),
    ],
)
def test_other_words_for_the_same_choose_the_same_tool(say, text, name):
    say(text)
    assert [call for call, _ in say.calls] == [name]
