"""The README's examples run as they stand."""

import re
from pathlib import Path

import pytest

from langmem_plugin.config_file import settings_of

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.spec("U-1", "W-1")
def test_the_quickstart_runs_offline_and_remembers(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("LANGMEM_MODEL", "LANGMEM_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    quickstart = re.search(r"## Quickstart\n\n```python\n(.+?)```", README.read_text("utf-8"), re.DOTALL)[1]
    names = {}

    exec(compile(quickstart, "README.md", "exec"), names)

    names["memory"].close()
    said = capsys.readouterr().out
    assert "LY 315" in said
    assert "BA 164" in said
    assert "✅ Remembered: I always fly with hand luggage" in said
    assert "I always fly with hand luggage" in said.strip().splitlines()[-1]
    assert len([line for line in quickstart.splitlines() if line.strip()]) <= 24


@pytest.mark.spec("U-8")
def test_the_configuration_file_shown_is_taken_without_a_complaint(tmp_path, caplog):
    shown = re.search(r"```json\n(.+?)```", README.read_text("utf-8"), re.DOTALL)[1]
    (tmp_path / "config.json").write_text(shown, encoding="utf-8")

    settings = settings_of(tmp_path / "config.json")

    assert caplog.records == []
    assert (settings.remembers, settings.embedding_model, settings.default_region) == (True, "offline", "IL")
