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
