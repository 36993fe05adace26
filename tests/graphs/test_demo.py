"""The demo and the chat, as a person runs them."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from graphs import chat

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _unset(monkeypatch):
    for name in ("LANGMEM_MODEL", "LANGMEM_BASE_URL", "LANGMEM_DATABASE", "GROCERY_URL", "HOUSEHOLD_DB"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.spec("C-5", "R-1", "R-5", "R-6", "U-5")
def test_the_demo_goes_on_after_its_first_process_is_killed_and_forgets_after_a_silence():
    command = [sys.executable, "-m", "graphs.demo"]
    played = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=100, check=False)
    assert played.returncode == 0, played.stderr
    before, after = played.stdout.split("— The second process")
    assert "“number 3” means Crunchy baked chicken fingers" in before
    assert "[ended with exit code -9]" in before
    assert 'calls save_recipe({"recipe_id": "crunchy-baked-chicken-fingers"})' in after
    assert "calls push_grocery_list({})" in after
    assert 'calls get_calendar({"week": "next week"})' in after
    silence = after.split("31 minutes of silence")[1]
    assert "Nothing that I have shown you is “number 2”." in silence
    assert "Leo is allergic to peanuts" in silence


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    """Runs the chat in an empty folder with some lines typed; gives its exit code and what it wrote."""
    monkeypatch.chdir(tmp_path)

    def run(lines, *options):
        monkeypatch.setattr(sys, "argv", ["chat", *options])
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        code = chat.main()
        written = capsys.readouterr()
        return code, written.out, written.err

    return run


@pytest.mark.spec("U-5")
def test_a_chat_can_be_left_and_taken_up_again(typed):
    shown = typed("find me tacos\n")[1]
    assert shown.count(chat.FOR_TRYING_OUT) == 1
    assert "2. Fish tacos with lime slaw" in shown
    assert "Fish tacos with lime slaw (saved)" in typed("save number 2\n\n", "--graph", "agent")[1]


@pytest.mark.spec("C-14")
def test_a_chat_over_an_unwritable_database_ends_with_one_clear_line(typed, tmp_path):
    (tmp_path / "file").touch()
    code, _, told = typed("", "--database", "sqlite:///file/langmem.db")
    assert code == 1
    assert told.startswith("FATAL: Cannot access data directory.")


def test_a_chat_with_a_model_that_cannot_be_made_says_what_to_set(typed, monkeypatch):
    monkeypatch.setenv("LANGMEM_MODEL", "openai:gpt-5-mini")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    code, _, told = typed("")
    assert code == 1
    assert "OPENAI_API_KEY" in told


@pytest.mark.spec("M-14")
def test_a_model_that_does_not_answer_is_told_and_the_chat_goes_on(typed, monkeypatch):
    monkeypatch.setenv("LANGMEM_MODEL", "any")
    monkeypatch.setenv("LANGMEM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    code, out, _ = typed("find me tacos\n/help\n")
    assert code == 0
    assert "the model does not answer" in out
    assert "/remember <fact>" in out
