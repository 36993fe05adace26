"""Who lost a turn writes nothing any more, and what is newest is told by the database, whatever the clocks say."""

import contextlib
import itertools
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import id as checkpoint_ids
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import delete, func, select

from langmem_plugin import ConversationSaver, InvalidInput, SessionManager, StoreUnavailable, TurnLost, UnknownSession
from langmem_plugin.conversation.turns.turn_queue import SILENT_SECONDS, Watch
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import checkpoint, turn
from tests.cases import for_each
from tests.waiting import freeze, until

MOM = "+972501234567"


def echo(saver, before=lambda _: None):
    def answer(state: MessagesState):
        text = state["messages"][-1].text
        before(text)
        return {"messages": AIMessage(f"You said {text}")}

    return StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)


def say(graph, text, config):
    return graph.invoke({"messages": [HumanMessage(text)]}, config)


def said(graph) -> list[str]:
    return [each.text for each in graph.get_state({"configurable": {"thread_id": MOM}}).values["messages"]]


def until_stored(saver) -> None:
    """What a run was asked with is stored beside its first node; what came in alone may be stored before."""
    until(
        lambda: (
            (stored := saver.get_tuple({"configurable": {"thread_id": MOM}}))
            and "messages" in stored[1]["channel_values"]
        )
    )


def take_away(database) -> None:
    """What another process does to tickets that are not renewed."""
    with database.write() as connection:
        connection.execute(delete(turn))


@pytest.mark.spec("C-23")
def test_a_run_whose_turn_was_taken_over_stores_nothing_more(saver, fresh, database):
    other = fresh()

    def overtake(_):
        until_stored(other)
        take_away(database)
        with other.turn(MOM) as config:
            say(echo(other), "my allergy is peanuts", config)

    with pytest.raises(TurnLost), saver.turn(MOM) as config:
        say(echo(saver, overtake), "slow", config)

    assert said(echo(saver)) == ["slow", "my allergy is peanuts", "You said my allergy is peanuts"]


@pytest.mark.spec("C-23", "C-3")
def test_a_run_whose_session_ended_before_its_turn_was_taken_over_stores_nothing_more(saver, fresh, database, clock):
    other = fresh()

    def overtake(_):
        other.end_session(MOM)
        take_away(database)
        with other.turn(MOM) as config:
            say(echo(other), "hello again", config)

    with pytest.raises(TurnLost), saver.turn(MOM) as config:
        say(echo(saver, overtake), "slow", config)

    [second] = [each.session_id for each in SessionManager(saver).sessions(MOM) if each.ended_at is None]
    assert len(SessionManager(saver).sessions(MOM)) == 2
    assert [each.content for each in SessionManager(saver).messages(second)] == ["hello again", "You said hello again"]


@pytest.mark.spec("C-23")
def test_a_turn_whose_ticket_was_taken_away_goes_on_when_nobody_came(saver, database):
    with saver.turn(MOM) as config:
        say(echo(saver, lambda _: take_away(database)), "hello", config)

    assert said(echo(saver)) == ["hello", "You said hello"]


@pytest.mark.spec("C-23")
def test_runs_without_a_turn_work_as_with_a_stock_saver(saver, fresh):
    graph, other = echo(saver), echo(fresh())
    plain = {"configurable": {"thread_id": MOM}}
    say(graph, "one", plain)
    with fresh().turn(MOM) as config:
        say(other, "two", config)
    say(graph, "three", plain)

    assert said(graph)[::2] == ["one", "two", "three"]


def hold(url: str, told) -> None:
    with ConversationSaver(url) as saver:
        with pytest.raises(TurnLost), saver.turn(MOM) as config:
            say(echo(saver, lambda _: (until_stored(saver), told.send("thinks"), told.recv())), "slow", config)
        told.send("lost its turn")


@pytest.fixture
def holder(database_url):
    """A process that holds the turn, and a pipe to it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    pipe, its_end = context.Pipe()
    process = context.Process(target=hold, args=[database_url, its_end], daemon=True)
    process.start()
    yield process, pipe
    process.kill()
    process.join()


@pytest.mark.slow
@pytest.mark.spec("C-23", "C-9")
def test_a_process_that_stood_still_overwrites_nothing_when_it_goes_on(holder, database_url):
    frozen, pipe = holder
    assert pipe.poll(60)
    assert pipe.recv() == "thinks"
    with ConversationSaver(database_url) as saver:
        freeze(frozen.pid, saver.database)
        graph = echo(saver)
        with saver.turn(MOM) as config:
            say(graph, "my allergy is peanuts", config)

        os.kill(frozen.pid, signal.SIGCONT)
        pipe.send("go on")
        assert pipe.poll(60)
        assert pipe.recv() == "lost its turn"

        assert said(graph) == ["slow", "my allergy is peanuts", "You said my allergy is peanuts"]


@pytest.mark.spec("C-9")
def test_a_holder_counts_as_gone_only_after_it_was_silent_through_a_whole_watch():
    watch, ticket = Watch(), ("a", 1)
    looks = [(at, watch.gone({ticket: 7}, at)) for at in range(int(SILENT_SECONDS) + 2)]
    assert [at for at, gone in looks if gone] == [SILENT_SECONDS, SILENT_SECONDS + 1]
    assert looks[-1][1] == [(ticket, 7)]


@pytest.mark.spec("C-9")
@given(st.lists(st.tuples(st.floats(0.1, 20), st.booleans()), max_size=30))
def test_no_holder_counts_as_gone_that_renewed_while_it_was_watched(looks):
    watch, at, count, quiet = Watch(), 100.0, 0, 0.0
    watch.gone({("a", 1): count}, at)
    for passed, renewed in looks:
        at, count = at + passed, count + renewed
        # A gap (the watcher stood still, or the database was away) and a renewal both begin the watch anew.
        quiet = 0.0 if renewed or passed > 2 else quiet + passed
        gone = watch.gone({("a", 1): count}, at)
        assert bool(gone) == (quiet >= SILENT_SECONDS)


@contextlib.contextmanager
def clock_of_another_machine(monkeypatch, **ahead):
    """Checkpoint ids made inside carry another machine's time."""

    class Time:
        @staticmethod
        def time_ns() -> int:
            return time.time_ns() + int(timedelta(**ahead).total_seconds() * 1e9)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_ids, "time", Time)
        patch.setattr(checkpoint_ids, "_last_v6_timestamp", None)
        yield


@pytest.mark.spec("C-5", "C-9")
@for_each("ahead", [{"seconds": 90}, {"seconds": 0.2}, {"hours": -2}, {"days": 3650}])
def test_machines_whose_clocks_differ_lose_no_turn(saver, fresh, monkeypatch, ahead):
    graph, other = echo(saver), echo(fresh())
    for number in range(3):
        with clock_of_another_machine(monkeypatch, **ahead), other.checkpointer.turn(MOM) as config:
            say(other, f"skewed {number}", config)
        with saver.turn(MOM) as config:
            say(graph, f"right {number}", config)

    assert said(graph)[::2] == [f"{which} {number}" for number in range(3) for which in ("skewed", "right")]
    assert texts(next(graph.get_state_history({"configurable": {"thread_id": MOM}}))) == said(graph)


def texts(state) -> list[str]:
    return [each.text for each in state.values.get("messages", ())]


@pytest.mark.spec("C-3")
def test_a_conversation_ends_by_silence_also_after_the_clock_was_ahead_once(saver, clock):
    graph = echo(saver)
    clock.forward(days=3650)
    say(graph, "spike", {"configurable": {"thread_id": MOM}})
    clock.forward(days=-3650)
    say(graph, "back", {"configurable": {"thread_id": MOM}})
    clock.forward(minutes=30)
    say(graph, "later", {"configurable": {"thread_id": MOM}})

    assert said(graph) == ["later", "You said later"]


@pytest.mark.spec("C-3", "C-22")
def test_a_conversation_that_was_last_active_in_the_future_ends_half_an_hour_after_the_sweep(saver, clock):
    clock.forward(days=30)
    say(echo(saver), "spike", {"configurable": {"thread_id": MOM}})
    clock.forward(days=-30)

    assert sum(saver.sessions.silent_ended()) == 0
    clock.forward(minutes=30)
    assert sum(saver.sessions.silent_ended()) == 1


@pytest.mark.spec("C-5")
def test_a_commit_that_took_effect_though_an_error_came_back_leaves_a_conversation_that_goes_on(
    saver, database, monkeypatch
):
    graph = echo(saver)
    say(graph, "before", {"configurable": {"thread_id": MOM}})
    write, fails = database.write, itertools.chain([False, True], itertools.repeat(False))

    @contextlib.contextmanager
    def ambiguous(**how):
        with write(**how) as connection:
            yield connection
        if next(fails):
            raise StoreUnavailable("the answer to the commit never came")

    with monkeypatch.context() as patch:
        patch.setattr(database, "write", ambiguous)
        with pytest.raises(StoreUnavailable):
            say(graph, "doubtful", {"configurable": {"thread_id": MOM}})

    say(graph, "after", {"configurable": {"thread_id": MOM}})
    assert said(graph)[-2:] == ["after", "You said after"]
    assert said(graph)[:2] == ["before", "You said before"]


@pytest.mark.spec("C-5")
def test_a_row_number_given_away_behind_the_back_of_a_process_is_found_out(saver, database):
    """As after a database is put back from a copy: what the process reserved is another's now."""
    graph = echo(saver)
    plain = {"configurable": {"thread_id": MOM}}
    say(graph, "before", plain)
    with database.write() as connection:
        taken = connection.exec_driver_sql("SELECT max(row) FROM langmem_message").scalar()
        connection.exec_driver_sql(
            "INSERT INTO langmem_message SELECT thread, session, row + 1, 'stolen', tokens, created_at, payload FROM langmem_message "
            f"WHERE row = {taken}"
        )

    say(graph, "after", plain)

    assert said(graph) == ["before", "You said before", "after", "You said after"]


@pytest.mark.spec("C-5")
@for_each("gone", ["thread", "session"])
def test_a_conversation_deleted_in_the_middle_of_a_turn_does_not_come_back(saver, fresh, database, gone):
    other = fresh()

    def delete_it(_):
        if gone == "thread":
            other.delete_thread(MOM)
        else:
            manager = SessionManager(other)
            manager.purge(manager.get_session(MOM).session_id)

    with pytest.raises(UnknownSession), saver.turn(MOM) as config:
        say(echo(saver, delete_it), "slow", config)

    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(checkpoint)).scalar() == 0


@pytest.mark.spec("C-9")
def test_a_turn_is_used_once(saver):
    once = saver.turn(MOM)
    with once:
        pass
    with pytest.raises(InvalidInput, match="used once"), once:
        pass


@pytest.mark.spec("C-9", "C-12")
def test_a_node_that_writes_to_its_own_conversation_is_told_so_at_once(saver):
    def write(text):
        SessionManager(saver).add_message(MOM, "user", text)

    begun = time.monotonic()
    with pytest.raises(InvalidInput, match="running right here"), saver.turn(MOM) as config:
        say(echo(saver, write), "hello", config)
    with saver.turn(MOM), pytest.raises(InvalidInput, match="running right here"), saver.turn(MOM):
        pass
    assert time.monotonic() - begun < 10


@pytest.mark.spec("C-5")
def test_closing_waits_for_the_turn_that_runs_and_takes_no_more(database):
    saver, thinks, go_on = ConversationSaver(database), threading.Event(), threading.Event()

    def think(_):
        thinks.set()
        go_on.wait(60)

    def reply():
        with saver.turn(MOM) as config:
            say(echo(saver, think), "slow", config)
        return time.monotonic()

    with ThreadPoolExecutor(2) as pool:
        replied = pool.submit(reply)
        assert thinks.wait(60)
        closed = pool.submit(lambda: (saver.close(), time.monotonic())[1])
        with pytest.raises(StoreUnavailable, match="closed"):
            until_refused(saver)
        assert not closed.done()
        go_on.set()
        assert replied.result(60) <= closed.result(60)

    with ConversationSaver(database) as again:
        assert said(echo(again)) == ["slow", "You said slow"]


def until_refused(saver) -> None:
    """Asks for turns of another phone until none is given any more."""
    for _ in range(6_000):
        with saver.turn("+972507654321"):
            time.sleep(0.01)


@pytest.mark.spec("C-5", "C-3")
def test_what_a_run_left_to_its_next_step_is_stored_when_the_run_fails_before_it(saver):
    def broken(state):
        raise ZeroDivisionError

    builder = StateGraph(MessagesState).add_node(broken).add_edge(START, "broken")
    with pytest.raises(ZeroDivisionError), saver.turn(MOM) as config:
        say(builder.compile(checkpointer=saver), "hello", config)

    assert said(echo(saver)) == ["hello"]


def test_databases_of_two_urls_are_two_lines(tmp_path):
    """A ticket number says something only in its own database."""
    savers = [ConversationSaver(Database(f"sqlite:///{tmp_path}/{name}.db")) for name in "ab"]
    with savers[0].turn(MOM), savers[1].turn(MOM):
        pass
    for each in savers:
        each.close()
        each.database.close()
