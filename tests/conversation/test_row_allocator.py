"""What a process relies on without asking the database: never for longer than it is so, never in two processes."""

import multiprocessing

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

from langmem_plugin import ConversationSaver
from langmem_plugin.conversation.storage.message_rows import Reservation, SessionMemory
from langmem_plugin.conversation.storage.session_repair import examine, rebuild

MOM = "+972501234567"
HERE = {"configurable": {"thread_id": MOM}}


def chatting(saver):
    def agent(state):
        return {"messages": [AIMessage(f"to {state['messages'][-1].text}")]}

    return StateGraph(MessagesState).add_node("agent", agent).add_edge(START, "agent").compile(checkpointer=saver)


@pytest.fixture
def pair(database_url):
    with ConversationSaver(database_url) as one, ConversationSaver(database_url) as other:
        yield one, other


def said(saver):
    return [message.text for message in chatting(saver).get_state(HERE).values["messages"]]


@pytest.mark.spec("C-9", "C-5")
def test_two_processes_that_write_one_session_by_turns_lose_and_mix_up_nothing(pair):
    expected = []
    for number in range(30):
        chatting(pair[number % 2]).invoke({"messages": [HumanMessage(f"{number}")]}, HERE)
        expected += [f"{number}", f"to {number}"]
    assert said(pair[0]) == expected
    assert said(pair[1]) == expected


@pytest.mark.spec("C-5")
def test_what_another_process_deletes_is_not_continued_from(pair):
    one, other = pair
    for number in range(3):
        chatting(one).invoke({"messages": [HumanMessage(f"{number}")]}, HERE)
    other.prune([MOM])
    chatting(one).invoke({"messages": [HumanMessage("after")]}, HERE)
    kept = ["0", "to 0", "1", "to 1", "2", "to 2", "after", "to after"]
    assert said(one) == kept
    assert said(other) == kept
    assert [len(each.values["messages"]) for each in chatting(other).get_state_history(HERE)] == [8, 7, 6, 6]


@pytest.mark.spec("C-5")
def test_nothing_is_relied_on_once_the_session_was_disturbed_but_reserved_numbers_stay():
    memory = SessionMemory()
    memory.reserved = Reservation(17, range(3, 17), ("", b"", None))
    memory.expect(1, [1, 2], 17)
    memory.expect(17, [9], 17)
    assert (memory.reserved.at(17), memory.expected(17)) == (memory.reserved, (1, 2, 9))
    assert (memory.reserved.at(18), memory.expected(18)) == (Reservation(18, range(3, 17)), ())
    memory.expect(1, [5], 1)  # read before the others wrote
    assert memory.expected(17) == (1, 2, 9)


@pytest.mark.spec("C-5")
def test_a_forked_process_does_not_use_the_numbers_its_parent_reserved(tmp_path):
    with ConversationSaver(f"sqlite:///{tmp_path}/a.db") as saver:
        chatting(saver).invoke({"messages": [HumanMessage("0")]}, HERE)
        fork = multiprocessing.get_context("fork")
        child = fork.Process(target=lambda: chatting(saver).invoke({"messages": [HumanMessage("1")]}, HERE))
        child.start()
        child.join(60)
        assert child.exitcode == 0
        chatting(saver).invoke({"messages": [HumanMessage("2")]}, HERE)
        assert said(saver) == ["0", "to 0", "1", "to 1", "2", "to 2"]
        with saver.database.read() as connection:
            rows = connection.exec_driver_sql("SELECT row FROM langmem_message").scalars().all()
        assert len({(row - 1) // 16 for row in rows}) == 2


@pytest.mark.spec("C-15")
def test_a_session_is_rebuilt_by_the_very_process_that_remembers_it(pair):
    one, other = pair
    for number in range(3):
        chatting(one).invoke({"messages": [HumanMessage(f"{number}")]}, HERE)
    with one.database.write() as connection:
        connection.exec_driver_sql("UPDATE langmem_checkpoint SET payload = substr(payload, 1, 20)")
    [session] = {damage.session_id for damage in examine(one)}
    assert rebuild(one, session) == (6, 0)
    kept = ["0", "to 0", "1", "to 1", "2", "to 2"]
    assert said(one) == said(other) == kept
    chatting(one).invoke({"messages": [HumanMessage("on")]}, HERE)
    assert said(other) == [*kept, "on", "to on"]
