"""A session is marked once, worked on once it is quiet, by one process at a time, and nothing said in it is read twice."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.messages import HumanMessage
from sqlalchemy import select

from langmem_plugin import PhoneMemory
from langmem_plugin.database.memory_tables import extraction_job
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.writing.extraction_jobs import ClaimLost
from tests.cases import for_each
from tests.chat_graph import chat_graph
from tests.log_events import events
from tests.writing.extraction.conftest import BY_HAND, kept

pytestmark = pytest.mark.both_engines

ERIN, JASON = "+972501234567", "+972501234568"
FAMILY = "120363041234567890@g.us"


def _rows(memory):
    with memory.database.read() as connection:
        return connection.execute(select(extraction_job)).mappings().all()


@pytest.mark.spec("W-4")
def test_what_is_said_is_taken_into_the_memory_when_the_conversation_has_been_quiet_for_two_minutes(
    memory, says, clock
):
    says(memory, ERIN, "Hello! I like green tea.")
    clock.forward(seconds=119)
    assert not memory.extraction.work.next_done()
    assert kept(memory, ERIN) == []

    clock.forward(seconds=1)
    assert memory.extraction.work.next_done()

    assert kept(memory, ERIN) == ["I like green tea"]
    assert memory.extraction.jobs.states() == {"completed": 1}
    assert not memory.extraction.work.next_done()


@pytest.mark.spec("W-4")
def test_a_memory_says_from_which_message_of_which_session_it_is_in_whose_words_and_when(memory, says, clock):
    says(memory, ERIN, "I like tea", message_id="wamid.1")
    clock.forward(hours=1)
    session = memory.sessions.sessions(ERIN)[0]
    [message, _] = memory.sessions.messages(session.session_id)
    [made] = memory.extract(ERIN)

    assert (made.source_type, made.source_id, made.session_id) == (
        "extracted_from_chat",
        message.message_id,
        session.session_id,
    )
    assert (made.quote, made.said_at) == ("I like tea", message.timestamp)


@pytest.mark.spec("W-4")
def test_who_speaks_in_between_puts_it_off_and_an_ended_conversation_waits_no_longer(memory, says, clock):
    says(memory, ERIN, "I like tea")
    clock.forward(seconds=100)
    says(memory, ERIN, "I own a boat")
    clock.forward(seconds=100)
    assert not memory.extraction.work.next_done()

    says(memory, ERIN, "/reset")
    assert memory.extraction.work.next_done()

    assert kept(memory, ERIN) == ["I like tea", "I own a boat"]


@pytest.mark.spec("W-4")
def test_a_session_that_waits_already_is_not_written_again(memory, says):
    says(memory, ERIN, "I like tea", "I own a boat", "hello")
    [row] = _rows(memory)
    with memory.database.write() as connection:
        assert not memory.extraction.jobs.mark(connection, row["thread"], row["session"])
    assert row["state"] == "pending"


@pytest.mark.spec("W-4")
def test_each_message_is_read_once(memory, says, extracting, opened):
    reading = opened(extraction_model=(model := extracting([])))
    says(reading, ERIN, "I like tea very much")
    reading.extract(ERIN)
    says(reading, ERIN, "I own a boat")
    reading.extract(ERIN)
    reading.extract(ERIN)

    shown = [messages[1].text for messages in model.asked]
    assert ["tea" in each for each in shown] == [True, False]
    assert ["boat" in each for each in shown] == [False, True]


@pytest.mark.spec("W-4")
def test_a_message_that_is_changed_is_read_again_as_it_is_now(memory, says):
    says(memory, ERIN, "I like tea")
    memory.extract(ERIN)
    graph_config = {"configurable": {"thread_id": ERIN}}
    graph = chat_graph(memory, lambda _: {"messages": []})
    [first, *_] = graph.get_state(graph_config).values["messages"]
    graph.update_state(graph_config, {"messages": [HumanMessage("I like coffee", id=first.id)]})
    says(memory, ERIN, "hello")

    assert [each.text for each in memory.extract(ERIN)] == ["I like coffee"]


@pytest.mark.slow
@pytest.mark.spec("W-4")
def test_a_long_conversation_is_read_in_parts_and_whole(memory, says):
    for number in range(45):
        memory.sessions.add_message(ERIN, "user", f"I own boat {number}")
        memory.sessions.add_message(ERIN, "assistant", "Nice.")
    says(memory, ERIN, "hello")

    assert len(memory.extract(ERIN)) == 45


@pytest.mark.spec("W-4", "C-6", "W-7")
def test_automated_messages_make_no_job_and_commands_no_memory(memory, says):
    says(memory, ERIN, "I like mornings", automated=True)
    assert _rows(memory) == []

    with memory.turn(ERIN) as config:  # a graph that is run directly sees a command as text
        chat_graph(memory, lambda _: {"messages": []}).invoke(
            {"messages": [HumanMessage("/forget I like tea"), HumanMessage("I own a boat")]}, config
        )
    memory.extract(ERIN)

    assert kept(memory, ERIN) == ["I own a boat"]


@pytest.mark.spec("W-4")
@for_each("durability", ["sync", "async", "exit"])
def test_runs_outside_of_turns_are_marked_too(memory, durability):
    graph = chat_graph(memory, lambda _: {"messages": []})
    graph.invoke(
        {"messages": [HumanMessage("I like tea")]}, {"configurable": {"thread_id": ERIN}}, durability=durability
    )

    assert [each.text for each in memory.extract(ERIN)] == ["I like tea"]


@pytest.mark.spec("W-4")
def test_what_is_said_while_a_job_is_worked_on_waits_for_the_next(memory, says, clock):
    says(memory, ERIN, "I like tea")
    clock.forward(minutes=3)
    job = memory.extraction.jobs.claim()
    says(memory, ERIN, "I own a boat")
    says(memory, ERIN, "hello")
    [row] = _rows(memory)
    assert (row["state"], row["claim"]) == ("processing", job.claim)

    memory.extraction.jobs.complete(job)

    assert memory.extraction.jobs.states() == {"pending": 1}


@pytest.mark.spec("W-4")
def test_only_who_claimed_a_job_last_writes_for_it(memory, says, clock):
    jobs = memory.extraction.jobs
    says(memory, ERIN, "I like tea")
    clock.forward(minutes=3)
    first = jobs.claim()
    assert jobs.claim() is None

    jobs.release(jobs.held())
    second = jobs.claim()

    assert second.claim > first.claim
    for write in (lambda: jobs.complete(first), lambda: jobs.fail(first, "late"), lambda: jobs.let_go(first)):
        with pytest.raises(ClaimLost):
            write()
    with memory.database.write() as connection, pytest.raises(ClaimLost):
        jobs.note(connection, first, [], {1})
    assert jobs.renew([first])[0].beats == 0
    assert jobs.renew([second])[0].beats == 1
    jobs.complete(second)


@pytest.mark.spec("W-4")
def test_who_has_given_a_sign_of_life_keeps_the_job(memory, says, clock):
    jobs = memory.extraction.jobs
    says(memory, ERIN, "I like tea")
    clock.forward(minutes=3)
    job = jobs.claim()
    seen = jobs.held()
    jobs.renew([job])

    assert jobs.release(seen) == 0
    jobs.complete(job)


class Down(RuntimeError):
    pass


def _down(_):
    raise Down("what the person said")


@pytest.mark.spec("W-4")
def test_a_job_that_fails_waits_1_2_4_8_minutes_and_is_given_up_at_the_fifth_time(
    opened, says, clock, extracting, caplog
):
    memory = opened(extraction_model=extracting(_down))
    says(memory, ERIN, "I like tea")
    clock.forward(minutes=2)
    for minutes in (1, 2, 4, 8):
        assert memory.extraction.work.next_done()
        assert memory.extraction.jobs.states() == {"pending": 1}
        clock.forward(minutes=minutes, seconds=-1)
        assert not memory.extraction.work.next_done()
        clock.forward(seconds=1)
    assert memory.extraction.work.next_done()

    [row] = _rows(memory)
    assert (row["state"], row["attempts"], row["error"]) == ("failed", 5, "Down")
    assert "what the person said" not in str([record.getMessage() for record in caplog.records])
    assert events(caplog).count("extraction.given_up") == 1
    clock.forward(days=1)
    assert not memory.extraction.work.next_done()


@pytest.mark.spec("W-4")
def test_what_was_given_up_is_tried_again_when_the_person_goes_on_or_it_is_asked_for(opened, says, clock, extracting):
    is_down = True

    def script(shown):
        if is_down:
            raise Down
        return [{"fact": "Likes tea", "quote": "I like tea", "message": 1, "confidence": 1}]

    memory = opened(extraction_model=extracting(script))
    says(memory, ERIN, "I like tea")
    says(memory, JASON, "I like tea")
    for _ in range(5):
        clock.forward(minutes=20)
        memory.extraction.work.next_done()
        memory.extraction.work.next_done()
    assert memory.extraction.jobs.states() == {"failed": 2}
    with pytest.raises(Down):
        memory.extract(ERIN)
    is_down = False

    assert len(memory.extract(ERIN)) == 1
    memory.sessions.restore(memory.sessions.sessions(JASON)[0].session_id)
    with memory.turn(JASON):
        pass
    says(memory, JASON, "hello again")
    clock.forward(minutes=3)
    memory.extraction.work.next_done()
    assert kept(memory, JASON) == ["Likes tea"]


@pytest.mark.spec("W-4")
def test_a_job_that_ends_every_process_is_given_up(memory, says, clock):
    says(memory, ERIN, "I like tea")
    clock.forward(minutes=3)
    for _ in range(5):
        assert memory.extraction.jobs.claim() is not None
        memory.extraction.jobs.release(memory.extraction.jobs.held())

    assert memory.extraction.jobs.claim() is None
    assert memory.extraction.jobs.states() == {"failed": 1}


@pytest.mark.slow
@pytest.mark.spec("W-4", "A-5")
def test_several_processes_at_once_store_each_fact_once(opened, says, clock):
    memory, *others = (opened() for _ in range(3))
    phones = [f"+9725012345{number:02}" for number in range(12)]
    for number, phone in enumerate(phones):
        says(memory, phone, f"I own boat {number}", "I like tea")
    clock.forward(minutes=5)

    def work(one):
        while one.extraction.work.next_done():
            pass

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, (memory, *others)))

    for number, phone in enumerate(phones):
        assert kept(memory, phone) == ["I like tea", f"I own boat {number}"]
    assert memory.extraction.jobs.states() == {"completed": 12}


@pytest.mark.spec("W-4", "U-9")
def test_while_the_database_takes_no_mark_the_reply_goes_out_and_the_next_turn_marks_all(memory, says, monkeypatch):
    def refuse(*_):
        raise StoreUnavailable("down")

    with monkeypatch.context() as patch:
        patch.setattr(memory.saver, "write_along", refuse)
        assert says(memory, ERIN, "I like tea") == "ok"
    assert _rows(memory) == []

    says(memory, ERIN, "hello")

    assert [each.text for each in memory.extract(ERIN)] == ["I like tea"]


@pytest.mark.spec("P-4", "W-4")
def test_what_was_said_before_an_erasure_is_not_taken_afterwards(memory, says, clock):
    says(memory, ERIN, "I like tea")
    says(memory, JASON, "I like beer")
    clock.forward(minutes=3)
    working = memory.extraction.jobs.claim()
    memory.erase(working.thread)
    with pytest.raises(ClaimLost):
        memory.extraction.jobs.complete(working)
    memory.erase(ERIN)
    memory.erase(JASON)
    for phone in (ERIN, JASON):
        says(memory, phone, "I own a boat")

    for phone in (ERIN, JASON):
        assert [each.text for each in memory.extract(phone)] == ["I own a boat"]


@pytest.mark.spec("C-4", "W-4")
def test_a_purged_session_takes_its_job_along(memory, says):
    says(memory, ERIN, "I like tea")
    memory.sessions.purge(memory.sessions.sessions(ERIN)[0].session_id)

    assert _rows(memory) == []
    assert memory.extract(ERIN) == []


@pytest.mark.spec("C-20", "W-4")
def test_of_two_who_became_one_what_waits_goes_along_and_back(memory, says):
    says(memory, ERIN, "I like tea")
    says(memory, JASON, "I own a boat")
    merge = memory.people.merge(ERIN, JASON)
    assert sorted(each.text for each in memory.extract(JASON)) == ["I like tea", "I own a boat"]
    assert kept(memory, ERIN) == ["I like tea", "I own a boat"]

    memory.people.unlink(merge)
    says(memory, JASON, "I like beer")
    memory.extract(JASON)
    assert "I like beer" in kept(memory, JASON)
    assert "I like beer" not in kept(memory, ERIN)


@pytest.mark.spec("C-27", "W-4")
def test_without_extraction_nothing_is_marked(database_url, clock, offline_model, says):
    for settings in (
        BY_HAND.model_copy(update={"extraction": "off"}),
        BY_HAND.model_copy(update={"longterm": False}),
    ):
        with PhoneMemory(database_url, settings=settings, embeddings=offline_model, now=clock) as memory:
            says(memory, ERIN, "I like tea")
            assert _rows(memory) == []
            assert memory.extract(ERIN) == []
            assert memory.extraction is None


@pytest.mark.spec("W-4", "A-5")
def test_processes_that_serve_one_person_in_turn_lose_nothing_that_was_said(opened, says):
    """Each has numbers of its own for the messages it stores, so a later message may have a lower one."""
    first, second = opened(), opened()
    for number in range(8):
        says((first, second)[number % 2], ERIN, f"I own boat {number}")
        assert [each.text for each in first.extract(ERIN)] == [f"I own boat {number}"]
