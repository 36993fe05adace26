"""What cannot be read costs itself and nothing else: the person goes on in the same session, and it can be mended."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt
from sqlalchemy import delete, func, select, update

from langmem_plugin import SessionManager
from langmem_plugin.conversation.storage.message_rows import TEXT
from langmem_plugin.conversation.storage.session_repair import examine, rebuild
from langmem_plugin.conversation.window import estimated_tokens, window
from langmem_plugin.database.conversation_tables import checkpoint, message, pending, value
from tests.cases import for_each
from tests.conversation.test_window import assert_paired
from tests.log_events import events

MOM = "+12025550123"
OF = {"configurable": {"thread_id": MOM}}
BROKEN = b"\x00nonsense"


class Noted(MessagesState):
    note: str


def graph_of(saver, replies=None, note=None):
    """Says the replies and, where given, sets a note."""

    def agent(_):
        return {"messages": [each.model_copy() for each in replies or [AIMessage("noted")]]} | (
            {"note": note} if note else {}
        )

    return StateGraph(Noted).add_node("agent", agent).add_edge(START, "agent").compile(checkpointer=saver)


def say(graph, text):
    """Each step is on disk before the next one begins: the rows are in the order of the messages."""
    with graph.checkpointer.turn(MOM) as config:
        return graph.invoke({"messages": [HumanMessage(text)]}, config, durability="sync")


def texts(messages):
    return [each.text for each in messages]


def rows_of(database, table):
    column = table.c.position if table is checkpoint else table.c.row
    with database.read() as connection:
        return list(connection.execute(select(column).where(table.c.thread == MOM).order_by(column)).scalars())


def damage(database, table, at):
    """The payload that was there, for a backup."""
    column = table.c.position if table is checkpoint else table.c.row
    here = (table.c.thread == MOM, column == at)
    with database.write() as connection:
        kept = connection.execute(select(table.c.payload).where(*here)).scalar_one()
        connection.execute(update(table).where(*here).values(payload=BROKEN))
    return here, kept


def mend(database, table, here, kept):
    with database.write() as connection:
        connection.execute(update(table).where(*here).values(payload=kept))


def session_ids(saver):
    return [each.session_id for each in SessionManager(saver).sessions(MOM)]


@pytest.mark.spec("C-15", "ERR-SESSION-001")
@for_each("which", range(4))
def test_a_message_that_cannot_be_read_is_marked_where_it_was_and_the_session_goes_on(fresh, database, caplog, which):
    graph = graph_of(fresh())
    say(graph, "one")
    say(graph, "two")
    here, kept = damage(database, message, rows_of(database, message)[which])
    expected = ["one", "noted", "two", "noted"]
    expected[which] = TEXT

    again = graph_of(fresh())
    [session_id] = session_ids(again.checkpointer)
    with caplog.at_level(logging.ERROR):
        assert texts(say(again, "three")["messages"]) == [*expected, "three", "noted"]
        assert texts(say(again, "four")["messages"]) == [*expected, "three", "noted", "four", "noted"]
    assert events(caplog).count("session.damaged") == 1
    assert session_ids(again.checkpointer) == [session_id]
    manager = SessionManager(again.checkpointer)
    assert [each["content"] for each in manager.get_conversation_history(MOM)][:4] == expected
    assert [each.content for each in manager.messages(session_id)][:4] == expected
    assert manager.session(session_id).message_counter == 8
    # Nothing was written over it: the doctor finds it, and a backup puts it right.
    assert len(rows_of(database, message)) == 8
    assert {each.session_id for each in examine(again.checkpointer)} == {session_id}
    mend(database, message, here, kept)
    assert texts(say(again, "five")["messages"])[:4] == ["one", "noted", "two", "noted"]
    assert examine(again.checkpointer) == []
    assert texts(say(graph_of(fresh()), "six")["messages"])[:4] == ["one", "noted", "two", "noted"]


@pytest.mark.spec("C-15")
def test_a_message_that_is_mended_while_a_run_goes_on_is_not_replaced_by_its_mark(fresh, database):
    graph = graph_of(fresh())
    say(graph, "one")
    here, kept = damage(database, message, rows_of(database, message)[0])
    saver = fresh()

    def agent(_):
        mend(database, message, here, kept)
        return {"messages": AIMessage("mended")}

    mending = StateGraph(Noted).add_node("agent", agent).add_edge(START, "agent").compile(checkpointer=saver)
    say(mending, "two")
    assert texts(graph.get_state(OF).values["messages"]) == ["one", "noted", "two", "mended"]


@pytest.mark.spec("C-15", "ERR-SESSION-006")
def test_a_message_whose_row_is_gone_keeps_its_place(fresh, database):
    graph = graph_of(fresh())
    say(graph, "one")
    with database.write() as connection:
        connection.execute(delete(message).where(message.c.row == rows_of(database, message)[0]))
    again = graph_of(fresh())
    assert texts(say(again, "two")["messages"]) == [TEXT, "noted", "two", "noted"]
    assert texts(say(again, "three")["messages"]) == [TEXT, "noted", "two", "noted", "three", "noted"]
    [session_id] = session_ids(again.checkpointer)
    assert [each.content for each in SessionManager(again.checkpointer).messages(session_id)][:2] == [TEXT, "noted"]
    assert rebuild(again.checkpointer, session_id) == (5, 0)
    assert texts(say(again, "four")["messages"])[:2] == ["noted", "two"]


def called(*call_ids):
    return AIMessage(
        "", tool_calls=[{"name": "find", "args": {}, "id": each, "type": "tool_call"} for each in call_ids]
    )


@pytest.mark.slow
@pytest.mark.spec("C-15", "C-19", "C-7")
@given(lost=st.sets(st.integers(0, 7)))
def test_whatever_is_lost_every_call_has_its_result(fresh, database, lost):
    with database.write() as connection:
        for table in (message, checkpoint, pending, value):
            connection.execute(delete(table))
    replies = [
        called("c1", "c2"),
        ToolMessage("a", tool_call_id="c1"),
        ToolMessage("b", tool_call_id="c2"),
        AIMessage("both"),
        called("c3"),
        ToolMessage("c", tool_call_id="c3"),
        AIMessage("done"),
    ]
    saver = fresh()
    with saver.turn(MOM):
        saver.end_session(MOM)
    say(graph_of(saver, replies), "find both")
    rows = rows_of(database, message)
    for number in lost:
        damage(database, message, rows[number])
    said = say(graph_of(fresh()), "and now?")["messages"]
    assert len(said) == 10
    assert_paired(window(said, max_turns=20, max_tokens=4_000, count_tokens=estimated_tokens))


@pytest.mark.spec("C-15")
def test_the_newest_checkpoint_that_can_be_read_is_gone_on_from(fresh, database, caplog):
    graph = graph_of(fresh())
    say(graph, "one")
    say(graph, "two")
    damage(database, checkpoint, rows_of(database, checkpoint)[-1])
    saver = fresh()
    again = graph_of(saver)
    [session_id] = session_ids(saver)
    with caplog.at_level(logging.ERROR):
        said = texts(say(again, "three")["messages"])
        assert texts(say(again, "four")["messages"])[: len(said)] == said
    assert said[:3] == ["one", "noted", "two"]
    assert said[-2:] == ["three", "noted"]
    assert events(caplog).count("session.damaged") == 1
    assert session_ids(saver) == [session_id]
    assert len(list(again.get_state_history(OF))) > 6
    assert [each.what.split()[0] for each in examine(saver)] == ["checkpoint"]
    rebuild(saver, session_id)
    assert examine(saver) == []
    assert texts(again.get_state(OF).values["messages"])[:4] == ["one", "noted", "two", "noted"]


@pytest.mark.spec("C-15")
def test_a_session_without_any_checkpoint_that_can_be_read_is_archived_and_a_fresh_one_begins(fresh, database):
    say(graph_of(fresh()), "one")
    for at in rows_of(database, checkpoint):
        damage(database, checkpoint, at)
    again = graph_of(fresh())
    assert texts(say(again, "two")["messages"]) == ["two", "noted"]
    [_, damaged] = session_ids(again.checkpointer)
    assert [each.content for each in SessionManager(again.checkpointer).messages(damaged)] == ["one", "noted"]
    rebuild(again.checkpointer, damaged)
    again.checkpointer.sessions.restore(damaged)
    assert texts(say(again, "three")["messages"]) == ["one", "noted", "three", "noted"]


@pytest.mark.spec("C-15")
def test_a_value_that_cannot_be_read_is_as_if_it_had_never_been_set_and_can_be_put_right(fresh, database, caplog):
    note = "what the person likes " * 100
    say(graph_of(fresh(), note=note), "one")
    for row in rows_of(database, value):  # it may be stored for two writers
        damage(database, value, row)
    saver = fresh()
    again = graph_of(saver)
    [session_id] = session_ids(saver)
    with caplog.at_level(logging.ERROR):
        said = say(again, "two")
        said = say(again, "three")
    assert texts(said["messages"]) == ["one", "noted", "two", "noted", "three", "noted"]
    assert "note" not in said
    assert events(caplog).count("session.damaged") == 1
    assert session_ids(saver) == [session_id]
    assert examine(saver)
    assert say(graph_of(fresh(), note="another"), "five")["note"] == "another"


@pytest.mark.spec("C-15")
def test_writes_that_cannot_be_read_are_a_task_that_has_not_run(fresh, database):
    saver = fresh()
    graph = graph_of(saver)
    say(graph, "one")
    head = graph.get_state(OF).config
    saver.put_writes(head, [("note", "half done")], "task-1")
    with database.write() as connection:
        assert connection.execute(select(func.count()).select_from(pending)).scalar_one() >= 1
        connection.execute(update(pending).values(payload=BROKEN))
    again = graph_of(fresh())
    assert texts(say(again, "two")["messages"]) == ["one", "noted", "two", "noted"]
    again.checkpointer.put_writes(head, [("note", "done")], "task-1")
    assert len(session_ids(again.checkpointer)) == 1


@pytest.mark.spec("C-15", "C-19")
@for_each("lost", [checkpoint, pending], ids=["its checkpoint", "the question"])
def test_a_question_that_cannot_be_read_is_not_answered_by_the_next_message(fresh, database, offline_model, lost):
    def ask(_):
        return {"messages": AIMessage(f"you chose {interrupt('which one?')}")}

    def asking(saver):
        return StateGraph(Noted).add_node("agent", ask).add_edge(START, "agent").compile(checkpointer=saver)

    graph = asking(fresh())
    say(graph, "one")
    turn = graph.checkpointer.turn(MOM)
    with turn:
        assert turn.awaits_answer
    with database.write() as connection:
        if lost is pending:
            connection.execute(update(pending).values(payload=BROKEN))
    if lost is checkpoint:
        damage(database, checkpoint, rows_of(database, checkpoint)[-1])
    saver = fresh()
    turn = saver.turn(MOM)
    with turn:
        assert not turn.awaits_answer
    assert texts(say(asking(saver), "two")["messages"])[-1] == "two"
