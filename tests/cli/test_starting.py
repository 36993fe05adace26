"""A command begins and ends without looking through what it has imported, also where nobody reads what it prints."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from langmem_plugin import ConversationSaver
from tests.cases import for_each

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


@pytest.mark.slow
@pytest.mark.spec("U-5")
@for_each("how", [["--json"], []])
def test_a_command_whose_output_is_closed_does_its_work_all_the_same(tmp_path, how):
    ConversationSaver(url := f"sqlite:///{tmp_path}/m.db").close()
    listing = ["sessions", "list", *how, "--database", url]

    ended = subprocess.run(
        [sys.executable, "-c", "from langmem_plugin.cli import main; main()", *listing],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=lambda: os.close(1),
    )

    assert (ended.returncode, ended.stderr) == (0, "")
