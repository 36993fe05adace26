"""Messages whose run ended in the middle with its process: they go on where they stopped, in the order they came."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from langchain_core.messages import AIMessage
from sqlalchemy import func, select

from langmem_plugin.agent.replying import reply_to_message
from langmem_plugin.conversation.turns.message_claims import MessageClaims
from langmem_plugin.database.conversation_tables import turn
from langmem_plugin.errors import StoreUnavailable
from tests.cases import for_each
from tests.log_events import events
from tests.waiting import until

pytestmark = pytest.mark.both_engines

ERIN = "+972501234567"


class ProcessGone(BaseException):
    """Nothing is cleaned up that a killed process would not have cleaned up, but for its place in the line."""


def heard(messages):
    return AIMessage("You said " + [each for each in messages if each.type == "human"][-1].text)


@pytest.mark.slow
@pytest.mark.spec("C-21", "C-5")
@for_each("stored", range(6))
def test_a_run_cut_short_before_any_of_its_checkpoints_goes_on(memory, graph_of, scripted, monkeypatch, stored):
    """After what the node wrote, and before the checkpoint that follows from it, no node is left to run either."""
    graph, sent = graph_of(scripted(heard)), []
    memory.reply(graph, ERIN, "hello", message_id="1", send=sent.append)
    put, puts = memory.saver.put, []

    def ends(*arguments):
        puts.append(arguments)
        if len(puts) > stored:
            raise ProcessGone
        return put(*arguments)

    monkeypatch.setattr(memory.saver, "put", ends)
    try:
        memory.reply(graph, ERIN, "still there?", message_id="2", send=sent.append)
    except ProcessGone:
        monkeypatch.undo()
        memory.reply(graph, ERIN, "still there?", message_id="2", send=sent.append)

    assert sent == ["You said hello", "You said still there?"]
    texts = [each.text for each in graph.get_state({"configurable": {"thread_id": ERIN}}).values["messages"]]
    assert texts == ["hello", "You said hello", "still there?", "You said still there?"]


@pytest.mark.spec("C-21", "C-9", "C-5")
def test_a_message_cut_short_is_answered_in_its_place_though_it_waits_again_behind_the_next(memory, graph_of, scripted):
    running, ends, sent, calls = threading.Event(), threading.Event(), [], []

    def script(messages):
        calls.append(messages)
        if len(calls) == 1:
            running.set()
            ends.wait(60)
            raise ProcessGone
        return heard(messages)

    graph = graph_of(scripted(script))

    def deliver(text):
        try:
            memory.reply(graph, ERIN, text, message_id=text, send=sent.append)
        except ProcessGone:
            assert len(calls) == 1

    threads = []
    for text in ("first", "second", "first"):
        threads.append(threading.Thread(target=deliver, args=[text]))
        threads[-1].start()
        until(lambda: _in_line(memory) == len(threads))
        assert running.wait(60)
    ends.set()
    for thread in threads:
        thread.join()

    assert sent == ["You said first", "You said second"]


def _in_line(memory):
    with memory.database.read() as connection:
        return connection.execute(select(func.count()).select_from(turn)).scalar()


@pytest.mark.spec("C-21", "C-5")
def test_what_sending_raises_reaches_the_caller_and_the_answer_goes_out_with_the_next_delivery(
    memory, graph_of, scripted, monkeypatch
):
    monkeypatch.setattr(reply_to_message, "_COMMAND_POLLS", 2)
    graph, sent = graph_of(scripted(heard)), []

    def unreachable(text):
        raise ConnectionError("the channel is down")

    for text in ("hello", "/remember I like tea"):
        with pytest.raises(ConnectionError):
            memory.reply(graph, ERIN, text, message_id=text, send=unreachable)
        memory.reply(graph, ERIN, text, message_id=text, send=sent.append)
        memory.reply(graph, ERIN, text, message_id=text, send=sent.append)

    assert sent == ["You said hello", "✅ Remembered: I like tea"]


@pytest.mark.spec("C-21")
@for_each("content", [{"text": " "}, {"text": "look", "image": b"no picture"}])
def test_what_cannot_be_answered_is_said_so_once(memory, graph_of, scripted, content):
    graph, sent = graph_of(scripted(heard)), []

    answers = [memory.reply(graph, ERIN, message_id="1", send=sent.append, **content) for _ in range(2)]

    assert len(sent) == 1
    assert answers == sent * 2
    assert [each.repeated for each in answers] == [False, True]


@pytest.mark.spec("C-21")
@for_each("text", ["hello", "/remember I like tea", " "])
def test_a_message_delivered_again_while_its_answer_is_being_sent_is_not_sent_twice(memory, graph_of, scripted, text):
    graph, sent = graph_of(scripted(heard)), []

    def slowly(answer):
        sent.append(answer)
        time.sleep(0.3)

    deliver = partial(memory.reply, graph, ERIN, text, message_id="1", send=slowly)
    with ThreadPoolExecutor(3) as pool:
        answers = [each.result() for each in [pool.submit(deliver) for _ in range(3)]]

    assert len(sent) == 1
    assert answers == sent * 3


@pytest.mark.spec("C-21", "C-9")
def test_a_command_that_is_still_being_answered_is_not_taken_up_by_the_next_message(
    memory, graph_of, scripted, monkeypatch
):
    graph, sent = graph_of(scripted(heard)), []
    remembering, go_on = threading.Event(), threading.Event()
    remember = memory.service.remember

    def slowly(*given, **named):
        remembering.set()
        go_on.wait(60)
        return remember(*given, **named)

    monkeypatch.setattr(memory.service, "remember", slowly)
    deliver = partial(memory.reply, graph, ERIN, send=sent.append)
    with ThreadPoolExecutor(1) as pool:
        command = pool.submit(deliver, "/remember I like tea", message_id="1")
        assert remembering.wait(60)
        deliver("hello", message_id="2")
        go_on.set()
        command.result()

    assert sent == ["You said hello", "✅ Remembered: I like tea"]


@pytest.mark.spec("C-21", "C-23")
@for_each("text", ["hello", "/help"])
def test_a_person_who_has_the_answer_is_not_told_that_noting_it_failed(
    memory, graph_of, scripted, monkeypatch, caplog, text
):
    def unreachable(*_, **__):
        raise StoreUnavailable("the database is away")

    graph, sent = graph_of(scripted(heard)), []
    monkeypatch.setattr(MessageClaims, "went_out", unreachable)

    answer = memory.reply(graph, ERIN, text, message_id="1", send=sent.append)

    assert sent == [answer]
    assert "reply.not_confirmed" in events(caplog)
