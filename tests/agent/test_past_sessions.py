"""What ended sessions said can be searched for: by itself, once, by the right person, and no longer than they exist."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import insert, select

from langmem_plugin import ConversationSaver, PhoneMemory, SessionManager, Settings
from langmem_plugin.conversation.storage.session_repair import examine, rebuild
from langmem_plugin.database.conversation_tables import thread_owner
from langmem_plugin.database.memory_tables import history_message, history_vector
from langmem_plugin.memory.find.past_messages import PastMessage
from tests.agent.test_exactly_once import die, killed
from tests.cases import for_each
from tests.log_events import events
from tests.waiting import until

pytestmark = [pytest.mark.both_engines, pytest.mark.slow]

ERIN, JASON = "+972501234567", "+972501234568"
FAMILY = "120363041234567890@g.us"
STUDIO = "3f2c1f0a-6a39-4a1c-9d62-3f6f2f0a9b11"


@pytest.fixture
def quiet(database_url, clock, offline_model):
    """A memory whose background work does not run by itself: the test says when."""
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as opened:
        opened.past_sessions.close()
        opened.past_sessions.worker.closing.clear()
        yield opened


def _talk(memory, phone, *said):
    """A session of these texts, the person's and the assistant's in turn."""
    for at, text in enumerate(said):
        memory.sessions.add_message(phone, "assistant" if at % 2 else "user", text)
    return memory.sessions.get_session(phone).session_id


def _found(memory, owner, question):
    return [each.message.text for each in memory.service.history.search(owner, question)]


def _stored(memory):
    with memory.database.read() as connection:
        return connection.execute(select(history_message.c.owner, history_message.c.text)).all()


@pytest.mark.spec("M-7")
def test_a_session_that_fell_silent_is_found_by_itself_when_the_person_comes_back(memory, graph_of, scripted, clock):
    graph = graph_of(scripted(lambda _: AIMessage("The plumber is called Avi.")))
    memory.reply(graph, ERIN, "The boiler leaks again")
    clock.forward(minutes=30)
    memory.reply(graph, ERIN, "hello")

    assert until(lambda: _found(memory, ERIN, "what did I say about the boiler?"))[0] == "The boiler leaks again"
    assert _found(memory, ERIN, "who is the plumber?")[0] == "The plumber is called Avi."
    assert _found(memory, JASON, "boiler") == []


@pytest.mark.spec("M-7")
def test_after_a_reset_what_was_said_is_found_by_itself(memory, graph_of, scripted):
    graph = graph_of(scripted())
    memory.reply(graph, ERIN, "The boiler leaks again")
    memory.reply(graph, ERIN, "/reset")

    assert until(lambda: "The boiler leaks again" in _found(memory, ERIN, "boiler"))


@pytest.mark.spec("M-7")
def test_the_current_session_is_in_the_window_and_not_in_the_search(quiet, clock):
    _talk(quiet, ERIN, "The boiler leaks again", "I call Avi.")
    assert quiet.index_past_sessions() == 0

    clock.forward(minutes=30)

    assert quiet.index_past_sessions() == 2
    assert quiet.index_past_sessions() == 0


@pytest.mark.spec("M-7", "C-6")
def test_only_what_people_and_the_assistant_said_is_searchable(memory, graph_of, scripted, clock):
    def look_up(what: str) -> str:
        """Look it up."""
        return f"secret tool output about {what}"

    def script(messages):
        if messages[-1].type == "tool" or messages[-1].text.startswith("/"):
            return AIMessage("The boiler is a Vaillant.")
        return AIMessage("", tool_calls=[{"name": "look_up", "args": {"what": "the boiler"}, "id": "1"}])

    graph = graph_of(scripted(script), [look_up])
    memory.reply(graph, ERIN, "which boiler do we have?")
    with memory.turn(ERIN) as config:  # a graph that is run directly sees a command as text
        graph.invoke({"messages": [HumanMessage("/memories boiler")]}, config)
    memory.reply(graph, ERIN, "Ask about the boiler.", automated=True)
    clock.forward(hours=1)
    memory.index_past_sessions()

    assert sorted(text for _, text in _stored(memory)) == [
        "The boiler is a Vaillant.",
        "The boiler is a Vaillant.",
        "which boiler do we have?",
    ]


@pytest.mark.spec("M-7", "C-8")
def test_of_a_message_with_a_picture_the_words_are_searchable(quiet, graph_of, scripted, clock):
    png = b"\x89PNG\r\n\x1a\n" + bytes(60)
    quiet.reply(_echo(quiet), ERIN, "my new boiler", image=png)
    clock.forward(hours=1)
    quiet.index_past_sessions()

    assert "my new boiler" in [text for _, text in _stored(quiet)]
    assert "image" not in str(_stored(quiet))


@pytest.mark.spec("M-7", "C-4")
def test_a_session_that_goes_on_after_it_was_taken_is_taken_again_and_no_message_twice(quiet, clock):
    session_id = _talk(quiet, ERIN, "The boiler leaks", "I call Avi.")
    clock.forward(hours=1)
    quiet.index_past_sessions()
    quiet.sessions.restore(session_id)
    _talk(quiet, ERIN, "It stopped leaking")
    clock.forward(hours=1)

    assert quiet.index_past_sessions() == 1
    assert sorted(text for _, text in _stored(quiet)) == ["I call Avi.", "It stopped leaking", "The boiler leaks"]


@pytest.mark.spec("M-7")
def test_a_message_taken_out_of_or_changed_in_a_session_is_so_in_the_search(quiet, clock):
    graph = _echo(quiet)
    config = {"configurable": {"thread_id": ERIN}}
    graph.invoke(
        {"messages": [HumanMessage("The safe opens with 4711", id="a"), HumanMessage("I like tea", id="b")]}, config
    )
    clock.forward(hours=1)
    quiet.index_past_sessions()
    assert _found(quiet, ERIN, "what opens the safe?")

    graph.update_state(config, {"messages": [RemoveMessage("a")]})
    quiet.index_past_sessions()
    assert "4711" not in str(_stored(quiet))

    graph.update_state(config, {"messages": [HumanMessage("I like coffee", id="b")]})
    quiet.index_past_sessions()
    assert "I like coffee" in _found(quiet, ERIN, "coffee")
    assert "I like tea" not in str(_stored(quiet))


@pytest.mark.spec("C-4", "P-4")
@for_each("way", ["purge", "expire", "delete_thread", "prune"])
def test_whatever_deletes_a_session_deletes_what_is_searchable_of_it(quiet, clock, way):
    session_id = _talk(quiet, ERIN, "The safe opens with 4711", "I keep that to myself.")
    _talk(quiet, JASON, "The safe is heavy")
    clock.forward(hours=1)
    quiet.index_past_sessions()
    quiet.sessions.expire()
    assert len(_found(quiet, ERIN, "safe")) == 2
    quiet.service.remember(ERIN, "I own a safe")

    match way:
        case "purge":
            quiet.sessions.purge(session_id)
        case "expire":
            clock.forward(days=31)
            quiet.sessions.restore(quiet.sessions.sessions(JASON)[0].session_id)
            quiet.sessions.expire()
        case "delete_thread":
            quiet.saver.delete_thread(ERIN)
        case "prune":
            quiet.saver.prune([ERIN], strategy="delete")

    assert _found(quiet, ERIN, "safe") == []
    assert [owner for owner, _ in _stored(quiet)] == [JASON]
    with quiet.database.read() as connection:
        assert connection.execute(select(history_vector.c.owner)).scalars().all() == [JASON]
    assert _found(quiet, JASON, "safe") == ["The safe is heavy"]
    assert quiet.service.count(ERIN) == 1


@pytest.mark.spec("P-4")
def test_what_was_erased_is_not_made_searchable_again(quiet, clock):
    _talk(quiet, ERIN, "The safe opens with 4711")
    clock.forward(hours=1)
    quiet.index_past_sessions()

    quiet.service.erase(ERIN)

    assert quiet.index_past_sessions() == 0
    assert _stored(quiet) == []


@pytest.mark.spec("C-5")
def test_what_a_killed_process_left_is_taken_by_the_next_one(database_url, clock, offline_model):
    def leave():
        SessionManager(ConversationSaver(database_url, now=clock)).add_message(ERIN, "user", "The boiler leaks again")
        die()

    killed(leave)
    clock.forward(hours=1)

    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as memory:
        assert until(lambda: _found(memory, ERIN, "boiler")) == ["The boiler leaks again"]


@pytest.mark.spec("C-5", "A-5")
def test_several_processes_take_each_message_once(database_url, clock, offline_model):
    with PhoneMemory(
        database_url, settings=Settings(search_past_sessions=False), embeddings=offline_model, now=clock
    ) as memory:
        for number in range(6):
            _talk(memory, f"+9725012345{number:02}", *(f"message {at} of {number}" for at in range(4)))
        clock.forward(hours=1)
        others = [
            PhoneMemory(
                database_url, settings=Settings(search_past_sessions=False), embeddings=offline_model, now=clock
            )
            for _ in range(3)
        ]
        with ThreadPoolExecutor(3) as pool:
            added = sum(pool.map(lambda other: other.index_past_sessions(), others))
        for other in others:
            other.close()

        assert added == len(_stored(memory)) == 24


@pytest.mark.spec("M-14")
def test_when_embedding_fails_it_is_made_up_for_later(database_url, clock, breaking, caplog):
    breaking.failing = True
    with PhoneMemory(
        database_url, settings=Settings(search_past_sessions=False), embeddings=breaking, now=clock
    ) as memory:
        _talk(memory, ERIN, "The boiler leaks again")
        clock.forward(hours=1)
    with PhoneMemory(database_url, embeddings=breaking, now=clock) as memory:
        assert until(lambda: "embedding.retry" in events(caplog))
    breaking.failing = False
    with PhoneMemory(database_url, embeddings=breaking, now=clock) as memory:
        assert until(lambda: _found(memory, ERIN, "boiler"))


class _Slow(DeterministicFakeEmbedding):
    """Takes its time, and tells that it was asked."""

    asked: ClassVar[threading.Event] = threading.Event()

    def embed_documents(self, texts):
        self.asked.set()
        time.sleep(0.3)
        return super().embed_documents(texts)


@pytest.mark.spec("M-7", "C-15")
def test_closing_while_sessions_are_taken_is_no_failure_and_logs_none(database_url, clock, caplog):
    _Slow.asked.clear()
    memory = PhoneMemory(database_url, embeddings=_Slow(size=8), now=clock)
    _talk(memory, ERIN, "The boiler leaks again")
    clock.forward(hours=1)
    memory.sessions.add_message(ERIN, "user", "again")
    assert memory.saver.end_session(ERIN) is None
    memory.past_sessions.worker.wake()
    assert _Slow.asked.wait(30)
    memory.close()

    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
    with PhoneMemory(database_url, embeddings=_Slow(size=8), now=clock) as memory:
        assert until(lambda: _found(memory, ERIN, "boiler"))


@pytest.mark.spec("M-7")
def test_it_can_be_switched_off(database_url, clock, offline_model, graph_of, scripted):
    with PhoneMemory(
        database_url, settings=Settings(search_past_sessions=False), embeddings=offline_model, now=clock
    ) as memory:
        memory.reply(_echo(memory), ERIN, "The boiler leaks again")
        clock.forward(hours=1)
        memory.reply(_echo(memory), ERIN, "hello")

        assert memory.past_sessions.worker.thread is None
        assert _stored(memory) == []


@pytest.mark.spec("C-15")
def test_a_damaged_session_does_not_keep_the_others_waiting(quiet, clock, caplog, database_url):
    _talk(quiet, ERIN, "The boiler leaks again")
    with quiet.database.write() as connection:
        connection.exec_driver_sql("UPDATE langmem_checkpoint SET payload = substr(payload, 1, 20)")
    _talk(quiet, JASON, "My boiler is fine")
    clock.forward(hours=1)

    assert quiet.index_past_sessions() == 2  # of the damaged one what can be read
    assert "session.damaged" in events(caplog)
    assert quiet.index_past_sessions() == 0

    with ConversationSaver(database_url, now=clock) as doctor:
        [damaged] = {each.session_id for each in examine(doctor)}
        rebuild(doctor, damaged)
    quiet.index_past_sessions()

    assert _found(quiet, ERIN, "boiler") == ["The boiler leaks again"]


@pytest.mark.spec("P-6")
def test_a_groups_talk_belongs_to_the_group(quiet, clock):
    _talk(quiet, FAMILY, "We meet at the lake on Friday")
    clock.forward(hours=1)
    quiet.index_past_sessions()

    assert _found(quiet, FAMILY, "where do we meet?") == ["We meet at the lake on Friday"]
    assert _found(quiet, ERIN, "where do we meet?") == []


def _echo(memory):
    return (
        StateGraph(MessagesState)
        .add_node("agent", lambda state: {"messages": AIMessage(f"heard {len(state['messages'])}")})
        .add_edge(START, "agent")
        .compile(checkpointer=memory.saver)
    )


@pytest.mark.spec("P-6", "U-6")
def test_a_thread_of_a_server_belongs_to_whom_its_runs_name_and_to_nobody_when_they_do_not(
    quiet, graph_of, scripted, clock
):
    for thread, phones in ((STUDIO, [ERIN, ERIN]), (STUDIO[:-1] + "2", [None]), (STUDIO[:-1] + "3", [ERIN, JASON])):
        for phone in phones:
            graph = _with_write_node(quiet)
            configurable = {"thread_id": thread} | ({"langmem_phone": phone} if phone else {})
            graph.invoke({"messages": [HumanMessage("The boiler leaks again")]}, {"configurable": configurable})
    clock.forward(hours=1)
    quiet.index_past_sessions()

    assert [owner for owner, _ in _stored(quiet)] == [ERIN] * 4
    assert quiet.index_past_sessions() == 0

    graph.invoke(
        {"messages": [HumanMessage("Mine now")]}, {"configurable": {"thread_id": STUDIO, "langmem_phone": JASON}}
    )
    clock.forward(hours=1)
    quiet.index_past_sessions()

    assert _stored(quiet) == []


@pytest.mark.spec("P-4")
def test_whose_a_thread_was_is_forgotten_with_it(quiet, clock):
    config = {"configurable": {"thread_id": STUDIO, "langmem_phone": ERIN}}
    _with_write_node(quiet).invoke({"messages": [HumanMessage("hello")]}, config)
    with quiet.database.write() as connection:  # of a run that never got a session
        connection.execute(insert(thread_owner).values(thread="begun", owner=ERIN, noted_at=clock()))
    clock.forward(hours=2)

    quiet.saver.delete_thread(STUDIO)
    quiet.housekeeping.sweep()

    with quiet.database.read() as connection:
        assert connection.execute(select(thread_owner)).all() == []


def _with_write_node(memory):
    return (
        StateGraph(MessagesState)
        .add_node("agent", lambda state: {"messages": AIMessage(f"heard {len(state['messages'])}")})
        .add_node("write", memory.write_node())
        .add_edge(START, "agent")
        .add_edge("agent", "write")
        .compile(checkpointer=memory.saver)
    )


@pytest.mark.spec("U-1", "M-7")
def test_the_agent_looks_up_what_was_said_for_the_person_of_the_run(memory, graph_of, scripted, clock):
    _talk(memory, ERIN, "The boiler leaks again", "I called Avi the plumber.")
    _talk(memory, JASON, "My boiler is a secret")
    clock.forward(hours=1)
    memory.index_past_sessions()
    said = iter(
        [
            AIMessage(
                "",
                tool_calls=[
                    {"name": "search_conversations", "args": {"query": "what did I say about the boiler?"}, "id": "1"}
                ],
            ),
            AIMessage("You said that it leaks."),
        ]
    )

    memory.reply(graph_of(scripted(lambda _: next(said)), memory.tools()), ERIN, "what did I say about the boiler?")

    config = {"configurable": {"thread_id": ERIN}}
    [result] = [
        each.text
        for each in memory.saver.get_tuple(config).checkpoint["channel_values"]["messages"]
        if each.type == "tool"
    ]
    assert result.index("The boiler leaks again") < result.index("Avi the plumber")
    assert "the person" in result
    assert "2026-03-01 11:00 Asia/Jerusalem" in result
    assert "secret" not in result


@pytest.mark.spec("U-2", "M-7", "M-16")
def test_search_finds_memories_and_what_was_said_with_dates_and_speakers(memory, clock):
    memory.command(ERIN, "/remember The boiler is a Vaillant")
    _talk(memory, ERIN, "The boiler leaks again", "Avi repairs the boiler on Monday.")
    _talk(memory, JASON, "My boiler is a secret")
    clock.forward(hours=1)
    memory.index_past_sessions()
    remembered = memory.service.list_memories(ERIN)[0].id[:8]

    assert memory.command(ERIN, "/search boiler") == "\n".join(
        [
            "I remember:",
            f"- The boiler is a Vaillant (2026-03-01) [{remembered}]",
            "We said:",
            "- 2026-03-01, you: The boiler leaks again",
            "- 2026-03-01, I: Avi repairs the boiler on Monday.",
        ]
    )
    assert memory.command(ERIN, "/search unicorns") == "I found nothing about “unicorns”."
    assert memory.command(ERIN, "/search").startswith("What shall I search for?")


LONG = " ".join(f"point {number} of the plan" for number in range(200))


@pytest.mark.spec("U-1", "M-7")
def test_the_agent_sees_what_was_found_within_bounds(memory, graph_of, scripted, clock):
    for session in range(9):
        said = (f"{LONG} </instructions>", f"Katz in the harbour repairs it ({session})", LONG)
        memory.service.history.add(
            ERIN,
            [
                PastMessage(f"{session}-{number}", f"s{session}", "assistant" if number == 1 else "user", text, clock())
                for number, text in enumerate(said)
            ],
        )
    call = {"name": "search_conversations", "args": {"query": "Katz in the harbour"}, "id": "1"}
    answers = iter([AIMessage("", tool_calls=[call]), AIMessage("Katz.")])

    memory.reply(graph_of(scripted(lambda _: next(answers)), memory.tools()), ERIN, "who was it?")

    messages = memory.saver.get_tuple({"configurable": {"thread_id": ERIN}}).checkpoint["channel_values"]["messages"]
    [result] = [json.loads(each.text) for each in messages if each.type == "tool"]
    assert len({each["text"] for each in result}) == 8
    for each in result:
        assert list(each) == ["said_at", "by", "text"]


@pytest.mark.spec("U-2", "M-14")
def test_search_goes_by_words_when_meaning_cannot_be_compared(database_url, clock, breaking):
    with PhoneMemory(database_url, embeddings=breaking, now=clock) as memory:
        memory.service.embedder._sleep = lambda _: None  # nobody waits between the tries
        memory.command(ERIN, "/remember The boiler is a Vaillant")
        breaking.failing = True

        answer = memory.command(ERIN, "/search boiler")

    assert answer.startswith("(by words only")
    assert "The boiler is a Vaillant" in answer
