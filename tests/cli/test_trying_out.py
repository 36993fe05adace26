"""What the wheel alone can show: a demo, a chat that goes on where it was, and figures."""

import pytest

from tests.cli.conftest import langmem


@pytest.mark.slow
@pytest.mark.spec("U-5")
def test_the_demo_plays_without_a_clone_and_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    turns = {each["text"]: each["reply"] for each in langmem("demo", "--json").json["turns"]}
    assert "1. Lemon chicken" in turns["find me a chicken dinner"]
    assert "Chicken soup" in turns["save number 2"]
    assert "peanuts" in turns["what is Leo allergic to?"]
    assert "peanuts" in turns["/memories"]
    assert [*tmp_path.iterdir()] == []


@pytest.mark.slow
@pytest.mark.spec("U-5")
def test_a_chat_in_a_pipe_goes_on_in_the_default_database(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there is no database" in langmem("chat", "--database", f"sqlite:///{tmp_path}/typo.db", code=1).err
    assert "Remembered" in langmem("chat", stdin="/remember I like tea\n").out
    assert "I like tea" in langmem("chat", stdin="/memories\n\n").out
    assert "without its country" in langmem("chat", "--phone", "050-123-4567", code=1).err
    assert (tmp_path / "data" / "langmem.db").exists()


@pytest.mark.slow
@pytest.mark.spec("U-5")
def test_the_benchmark_prints_its_figures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = langmem("bench", "--memories", "12", "--turns", "3", "--json").json
    assert told["memories"] == 12
    assert {name: each["times"] for name, each in told["milliseconds"].items()} == {
        "remember": 12,
        "recall": 3,
        "turn": 3,
    }
    assert told["milliseconds"]["recall"]["found"] == 1
    assert langmem("bench", "--memories", "2", "--turns", "1").rows[0] == [
        "what",
        "times",
        "median ms",
        "95th ms",
        "found",
    ]


_OWN = """
from langgraph.graph import START, MessagesState, StateGraph

def _graph():
    def agent(state):
        return {"messages": [("ai", f"message {len(state['messages'])} to my own agent")]}
    return StateGraph(MessagesState).add_node("agent", agent).add_edge(START, "agent")

compiled = _graph().compile()

def made():
    return _graph().compile()

def with_memory(memory):
    return _graph().compile(checkpointer=memory.saver)

nothing = 5
"""


@pytest.mark.slow
@pytest.mark.spec("U-5")
def test_a_chat_with_a_graph_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "own.py").write_text(_OWN)
    told = [
        langmem("chat", graph, stdin="hello\n").out
        for graph in ("shop.own:compiled", "shop.own:made", "./shop/own.py:with_memory")
    ]
    assert "chicken" not in told[0]
    answers = [each.splitlines()[-1] for each in told]
    assert answers == [f"message {number} to my own agent" for number in (1, 3, 5)]
    for graph, told in (
        ("shop.own", "package.module:name"),
        ("shop.none:made", "no module shop.none"),
        ("./none.py:made", "no file ./none.py"),
        ("shop.own:nothing", "no compiled graph"),
        ("shop.own:missing", "no missing in shop.own"),
    ):
        assert told in langmem("chat", graph, code=1).err
