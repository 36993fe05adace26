"""The demo and the chat, run as a person runs them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name in ("LANGMEM_MODEL", "LANGMEM_BASE_URL", "LANGMEM_DATABASE", "GROCERY_URL"):
        monkeypatch.delenv(name, raising=False)

    def start(*arguments, said=""):
        command = [sys.executable, "-m", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, input=said, capture_output=True, encoding="utf-8", timeout=60, check=False
        )

    return start


@pytest.mark.spec("C-5", "R-1", "R-5", "U-5")
def test_the_demo_goes_on_after_its_first_process_is_killed_and_forgets_after_a_silence(run):
    played = run("graphs.demo")
    assert played.returncode == 0, played.stderr
    before, after = played.stdout.split("— The second process")
    assert "“number 3” means Crunchy baked chicken fingers" in before
    assert "[ended with exit code -9]" in before
    assert 'calls save_recipe({"recipe_id": "crunchy-baked-chicken-fingers"})' in after
    assert "calls push_grocery_list({})" in after
    assert 'calls get_calendar({"week": "next week"})' in after
    silence = after.split("31 minutes of silence")[1]
    assert "Which recipe do you mean?" in silence
    assert "Leo is allergic to peanuts [Memory: 1]" in silence


@pytest.mark.spec("U-5")
def test_a_chat_can_be_left_and_taken_up_again(run):
    first = run("graphs.chat", said="find me tacos\n")
    assert "2. Fish tacos with lime slaw" in first.stdout, first.stderr
    assert (
        "Fish tacos with lime slaw (saved)" in run("graphs.chat", "--graph", "agent", said="save number 2\n\n").stdout
    )


@pytest.mark.spec("C-14")
def test_a_chat_over_an_unwritable_database_ends_with_one_clear_line(run, tmp_path):
    (tmp_path / "file").touch()
    ended = run("graphs.chat", "--database", "sqlite:///file/langmem.db")
    assert ended.returncode == 1
    assert ended.stderr.startswith("FATAL: Cannot access data directory.")
