"""What needs no turn is answered once too: commands, answers to their questions, what is old; and sending may fail."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from langmem_plugin import PhoneMemory, StoreUnavailable
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from langmem_plugin.conversation.turns.message_claims import Claim, MessageClaims
from langmem_plugin.conversation.turns.turn_queue import Turn
from tests.agent.test_exactly_once import Echo, history
from tests.cases import for_each
from tests.log_events import events

pytestmark = pytest.mark.both_engines

ERIN = "+972501234567"
LONG_AGO = timedelta(days=2)


@pytest.fixture
def memory(database_url, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model) as opened:
        yield opened


def held_up(monkeypatch, service, verb):
    """Two events: that the verb is being done, and that it may go on."""
    begun, goes_on, do = threading.Event(), threading.Event(), getattr(service, verb)

    def hold(*arguments, **named):
        begun.set()
        assert goes_on.wait(60)
        return do(*arguments, **named)

    monkeypatch.setattr(service, verb, hold)
    return begun, goes_on


@pytest.mark.spec("C-21", "W-1")
def test_a_command_that_is_being_done_is_no_message_for_the_graph(memory, monkeypatch):
    echo, sent = Echo(memory), []
    begun, goes_on = held_up(monkeypatch, memory.service, "remember")

    with ThreadPoolExecutor(1) as pool:
        command = pool.submit(memory.reply, echo.graph, ERIN, "/remember I like tea", message_id="c", send=sent.append)
        begun.wait(60)
        assert memory.reply(echo.graph, ERIN, "hello", message_id="m", send=sent.append) == "heard hello"
        goes_on.set()
        assert command.result() == "✅ Remembered: I like tea"

    assert sent == ["heard hello", "✅ Remembered: I like tea"]
    assert history(memory, echo.graph) == ["hello", "heard hello"]


@pytest.mark.spec("C-21", "W-1")
def test_an_answer_to_a_commands_question_that_is_delivered_twice_at_once_is_given_once(memory, monkeypatch):
    echo, sent = Echo(memory), []
    memory.service.remember(ERIN, "I like green tea a lot")
    memory.reply(echo.graph, ERIN, "/forget tea", message_id="f")
    begun, goes_on = held_up(monkeypatch, memory.service, "forget")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(memory.reply, echo.graph, ERIN, "yes", message_id="y", send=sent.append)
        begun.wait(60)
        second = pool.submit(memory.reply, echo.graph, ERIN, "yes", message_id="y", send=sent.append)
        time.sleep(0.3)
        goes_on.set()
        forgotten = ENGLISH.forgotten.format(fact="I like green tea a lot")
        assert (first.result(), second.result()) == (forgotten, forgotten)
        assert {first.result().repeated, second.result().repeated} == {False, True}  # whichever was faster

    assert sent == [forgotten]
    assert echo.heard == []


@pytest.mark.spec("C-21", "W-1")
@for_each("text", ["/help", ""])
def test_what_is_delivered_twice_while_its_answer_is_being_sent_is_sent_once(memory, text):
    echo, sent, sending, goes_on = Echo(memory), [], threading.Event(), threading.Event()

    def send(told):
        sending.set()
        goes_on.wait(60)
        sent.append(told)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(memory.reply, echo.graph, ERIN, text, message_id="c", send=send)
        sending.wait(60)
        second = pool.submit(memory.reply, echo.graph, ERIN, text, message_id="c", send=send)
        time.sleep(0.3)
        goes_on.set()
        assert [first.result().repeated, second.result().repeated] == [False, True]

    assert len(sent) == 1


@pytest.mark.spec("C-21")
def test_what_is_old_is_not_answered_either_when_something_new_comes_with_it(memory):
    begun, goes_on, sent = threading.Event(), threading.Event(), []

    def hold(_text):
        begun.set()
        goes_on.wait(60)

    echo = Echo(memory, hold)

    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(memory.reply, echo.graph, ERIN, "new 1", message_id="1", send=sent.append)]
        begun.wait(60)
        asked += [pool.submit(memory.reply, echo.graph, ERIN, "new 2", message_id="2", send=sent.append)]
        asked += [
            pool.submit(
                memory.reply,
                echo.graph,
                ERIN,
                f"old {number}",
                message_id=f"o{number}",
                sent_at=datetime.now(UTC) - LONG_AGO,
                send=sent.append,
            )
            for number in range(3)
        ]
        time.sleep(0.5)
        goes_on.set()
        for each in asked:
            each.result()

    assert sent == ["heard new 1", "heard new 2"]


@pytest.mark.spec("C-21")
def test_a_message_from_the_future_is_answered(memory):
    last = datetime.max.replace(tzinfo=UTC)
    assert memory.reply(Echo(memory).graph, ERIN, "hello", sent_at=last) == "heard hello"


@pytest.mark.spec("C-21")
@for_each("error", [ConnectionError("down"), StopIteration()])
@for_each("way", ["in a thread", "in a loop"])
def test_nothing_else_is_sent_where_sending_failed_and_the_channel_is_told(memory, error, way):
    echo, tried = Echo(memory), []

    def failing(text):
        tried.append(text)
        raise error

    def told(text, send):
        if way == "in a thread":
            return memory.reply(echo.graph, ERIN, text, message_id="m1", send=send)
        return asyncio.run(asyncio.wait_for(memory.areply(echo.graph, ERIN, text, message_id="m1", send=send), 30))

    with pytest.raises((type(error), RuntimeError)):
        told("hello", failing)
    assert tried == ["heard hello"]
    assert told("hello", tried.append) == "heard hello"
    assert tried == ["heard hello"] * 2
    assert echo.heard == ["hello"]


@pytest.mark.spec("C-21", "C-14")
def test_what_was_sent_but_could_not_be_noted_as_sent_is_no_failure(memory, monkeypatch, caplog):
    def away(*_, **__):
        raise StoreUnavailable("the database is down")

    monkeypatch.setattr(MessageClaims, "went_out", away)
    sent = []

    assert memory.reply(Echo(memory).graph, ERIN, "hello", message_id="m1", send=sent.append) == "heard hello"
    assert sent == ["heard hello"]
    assert "reply.not_confirmed" in events(caplog)


@pytest.mark.spec("C-21", "C-14")
def test_what_was_answered_without_memory_is_not_answered_again_when_the_database_is_back(memory, monkeypatch):
    echo, sent = Echo(memory), []

    def away(*_):
        raise StoreUnavailable("the database is down")

    with monkeypatch.context() as outage:
        outage.setattr(Claim, "begun", away)  # after it was noted
        first = memory.reply(echo.graph, ERIN, "order it", message_id="m1", send=sent.append)
    again = memory.reply(echo.graph, ERIN, "order it", message_id="m1", send=sent.append)
    memory.reply(echo.graph, ERIN, "hello", message_id="m2", send=sent.append)

    assert first.startswith("heard order it")
    assert again.repeated
    assert echo.heard == ["order it", "hello"]
    assert [text for text in sent if "order" in text] == [first]


@pytest.mark.spec("C-21", "C-9")
@pytest.mark.slow
def test_a_reply_that_is_cancelled_again_and_again_gives_its_turn_back(memory):
    sent = []

    def send(text):
        time.sleep(0.05)
        sent.append(text)

    async def conversation():
        graph = Echo(memory).graph
        for number in range(20):
            asked = asyncio.create_task(memory.areply(graph, ERIN, "x", message_id=number, send=send))
            await asyncio.sleep(number * 0.01)
            while not asked.done():  # as the cancel scopes of anyio do
                asked.cancel()
                await asyncio.sleep(0)
            await asyncio.gather(asked, return_exceptions=True)
        for number in range(20):
            await memory.areply(graph, ERIN, "x", message_id=number, send=send)

    asyncio.run(conversation())
    assert memory.saver._turns._places == {}
    assert len(sent) == 20


@pytest.mark.spec("C-21", "C-9")
def test_a_reply_that_is_cancelled_in_the_moment_its_turn_begins_gives_it_back(memory, monkeypatch):
    begin = Turn.__aenter__

    async def conversation():
        async def begun(turn):
            config = await begin(turn)
            asyncio.get_running_loop().call_soon(asked.cancel)
            return config

        echo = Echo(memory)
        with monkeypatch.context() as moment:
            moment.setattr(Turn, "__aenter__", begun)
            asked = asyncio.create_task(memory.areply(echo.graph, ERIN, "slow"))
            with pytest.raises(asyncio.CancelledError):
                await asked
        assert memory.saver._turns._places == {}
        assert await memory.areply(echo.graph, ERIN, "quick") == "heard quick"

    asyncio.run(conversation())
