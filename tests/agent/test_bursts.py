"""Messages that come in a burst are answered together, if that is wanted."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.agent.replying import reply_to_message
from langmem_plugin.agent.replying.sync_async_steps import Step
from tests.agent.test_exactly_once import Echo, _rows, history
from tests.cases import for_each
from tests.waiting import until

pytestmark = pytest.mark.both_engines

ERIN = "+972501234567"


@pytest.fixture
def memory(database_url, offline_model):
    settings = Settings(burst=timedelta(seconds=1.5))
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model) as opened:
        yield opened


@pytest.fixture
def pauses(memory, monkeypatch):
    """What is awaited in a burst's quiet time, by the number of the pause."""
    meanwhile = {}
    taken = []

    def pause(seconds):
        taken.append(seconds)
        meanwhile.get(len(taken), lambda: None)()

    monkeypatch.setattr(reply_to_message, "pause", lambda seconds: Step(lambda: pause(seconds), None))
    meanwhile["taken"] = taken
    return meanwhile


def came(memory, many):
    until(lambda: len(_rows(memory)) == many)


@pytest.mark.spec("C-21")
@for_each("with_ids", [True, False])
def test_messages_of_a_burst_become_one_run_and_all_get_its_answer(memory, pauses, with_ids):
    echo = Echo(memory)
    with ThreadPoolExecutor(3) as pool:
        asked = []

        def another():
            number = len(asked) + 1
            given = {"message_id": number} if with_ids else {}
            asked.append(pool.submit(memory.reply, echo.graph, ERIN, f"part {number}", **given))
            came(memory, number + 1)

        pauses[1] = pauses[2] = another
        first = memory.reply(echo.graph, ERIN, "part 0", **({"message_id": 0} if with_ids else {}))
        rest = [each.result() for each in asked]

    assert [first, *rest] == ["heard part 2"] * 3
    assert [each.repeated for each in (first, *rest)] == [False, True, True]
    assert echo.heard == ["part 2"]
    assert history(memory, echo.graph) == ["part 0", "part 1", "part 2", "heard part 2"]


@pytest.mark.spec("C-21")
def test_the_answer_to_a_burst_is_sent_once(memory, pauses):
    echo, sent = Echo(memory), []
    with ThreadPoolExecutor(1) as pool:
        asked = []

        def another():
            asked.append(pool.submit(memory.reply, echo.graph, ERIN, "more.", message_id=1, send=sent.append))
            came(memory, 2)

        pauses[1] = another
        memory.reply(echo.graph, ERIN, "some", message_id=0, send=sent.append)
        asked[0].result()

    assert sent == ["heard more."]
    assert len(pauses["taken"]) == 1


@pytest.mark.spec("C-21")
@for_each("text", ["What is for dinner?", "I am hungry.", "Now!", "/memories"])
def test_the_end_of_a_sentence_and_a_command_are_not_delayed(memory, pauses, text):
    memory.reply(Echo(memory).graph, ERIN, text)

    assert pauses["taken"] == []


@pytest.mark.spec("C-21", "C-1")
def test_a_burst_is_one_persons(memory, pauses):
    echo = Echo(memory)
    pauses[1] = lambda: memory.reply(echo.graph, "+972501234568", "somebody else.", message_id=1)

    assert memory.reply(echo.graph, ERIN, "hello", message_id=0) == "heard hello"
    assert history(memory, echo.graph) == ["hello", "heard hello"]
