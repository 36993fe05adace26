"""The benchmarks that judge are run in their smallest size, so that none of them expects what is not so any more."""

import pkgutil
import subprocess
import sys

import pytest

import benchmarks
from benchmarks.faults import __main__ as faults
from benchmarks.faults.oracle import Oracle
from langmem_plugin import PhoneMemory
from tests.warm_process import ran

pytestmark = pytest.mark.slow

KINDS = ["commands", "freezes", "clocks", "locks", "forks"]  # kills: tests/conversation/test_faults.py
OTHERS = {
    "followups": ("--offline", "--only", "2"),
    "web": ("--engine", "sqlite", "--people", "3", "--keys", "2", "--quick"),
}


@pytest.fixture
def play(monkeypatch, capfd):
    """Causes faults of a kind: what is killed are processes of its own, forked from a warm one."""

    def play(kind, *arguments):
        monkeypatch.setattr(sys, "argv", ["faults", "--quick", "--only", kind, *arguments])
        assert faults.main() == 0, capfd.readouterr()

    return play


def test_every_benchmark_finds_the_parts_that_it_measures():
    names = {each.name for each in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")}
    names -= {"benchmarks.embedding_graph"}  # it needs a package that nothing else does
    # In a process of their own: some change the logging of theirs.
    python = [sys.executable, "-c", f"import {', '.join(sorted(names))}"]
    done = subprocess.run(python, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.spec("C-21", "C-23", "C-27")
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_or_answered_twice_whatever_happens(play, kind):
    play(kind)


@pytest.mark.spec("C-21", "C-23", "C-24", "C-27")
@pytest.mark.parametrize("kind", ["commands", "forks", "server", "pooler"])
def test_nor_on_postgresql(postgresql_server, play, kind):
    with postgresql_server.copy(f"faults_{kind}") as url:
        play(kind, "--url", url)


@pytest.mark.spec("C-21")
@pytest.mark.parametrize(("name", "arguments"), OTHERS.items(), ids=OTHERS)
def test_the_other_benchmarks_that_judge_find_nothing_wrong(name, arguments):
    main = "import runpy, sys; runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
    ran(main, f"benchmarks.{name}", *arguments)


@pytest.mark.spec("C-21")
def test_the_judge_of_faults_sees_what_is_wrong(offline_model):
    """It is believed only as long as it tells what was lost, done twice or shown to another from what was not."""
    oracle = Oracle()
    mom, erin = oracle.phone(), oracle.phone()
    with PhoneMemory("sqlite://", embeddings=offline_model) as memory:
        kept, replaced, lost, twice, shown = (oracle.remember(phone) for phone in (mom, mom, mom, mom, erin))
        chat = oracle.chat(mom)
        for text in (kept, replaced, lost, twice, shown, chat):
            oracle.heard(text.number, text.begun, f"{text.expected}", "", told=False)
        memory.service.remember(mom, kept.said.removeprefix("/remember "))
        memory.service.remember(mom, replaced.said.removeprefix("/remember "))
        memory.service.remember(mom, f"Twice n{twice.number}")
        memory.service.remember(mom, f"Again n{twice.number}")
        memory.service.remember(erin, f"My code is n{shown.number} and hers n{kept.number}")
        oracle.heard(chat.number, chat.begun, "something else", "", told=False)
        oracle.compare(memory)
        found = oracle.figures()
    assert [f"n{lost.number}" in each for each in found.lost] == [True]
    assert len(found.twice) == 2
    assert len(found.shown) == 1
    assert len(found.unanswered) == 1
