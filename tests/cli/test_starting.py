"""A command begins and ends without looking through what it has imported."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
COUNTED = """
import atexit, gc, sys
from importlib import import_module

atexit.register(lambda: print("whole collections:", gc.get_stats()[2]["collections"]))
module, _, name = sys.argv.pop(1).partition(":")
getattr(import_module(module), name)()
"""


@pytest.mark.slow
@pytest.mark.spec("C-17")
def test_a_short_command_does_not_look_for_garbage_in_what_it_imports(tmp_path):
    script = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["scripts"]["langmem"]
    listing = ["sessions", "list", "--database", f"sqlite:///{tmp_path}/new.db", "--help"]

    ended = subprocess.run(
        [sys.executable, "-c", COUNTED, script, *listing], capture_output=True, text=True, check=True
    )

    assert "sessions list" in ended.stdout
    assert ended.stdout.endswith("whole collections: 0\n")
