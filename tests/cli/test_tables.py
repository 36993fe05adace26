"""A table on a terminal of 80 columns: whole ids and dates, and texts that are folded."""

import uuid

import pytest

from langmem_plugin.cli.output import print_table


@pytest.mark.spec("U-5")
def test_on_a_terminal_nothing_is_cut_and_the_text_is_folded(capsys, monkeypatch):
    for name, value in {"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    memory_id, words = str(uuid.uuid4()), ["granny", "bakes", "bread", "with", "seeds", "in", "Haifa"]
    columns = ("id", "text", "type", "state", "told")
    print_table(columns, [(memory_id, " ".join(words), "preference", "superseded", "2026-11-23")])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    for whole in (memory_id, "preference", "superseded", "2026-11-23", *words):
        assert whole in printed
