"""What a newcomer reads and types: the examples are short, and their README names all that they need."""

import importlib
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.examples.conftest import SETTINGS

EXAMPLES = Path(__file__).parents[2] / "examples"
NEEDED = [(channel, name) for channel, settings in SETTINGS.items() for name in settings]


@pytest.mark.spec("U-1")
@for_each("channel", SETTINGS)
def test_an_example_is_short_and_the_readme_says_how_to_start_it(channel):
    assert len((EXAMPLES / f"{channel}.py").read_text("utf-8").splitlines()) <= 60
    assert f"`uvicorn examples.{channel}:app`" in (EXAMPLES / "README.md").read_text("utf-8")


@pytest.mark.spec("U-1")
@for_each("value", [None, ""])
@for_each(("channel", "name"), NEEDED)
def test_an_example_does_not_start_without_a_secret_and_the_readme_says_what_it_is(monkeypatch, channel, name, value):
    for each, given in (SETTINGS[channel] | {name: value}).items():
        if given is None:
            monkeypatch.delenv(each, raising=False)
        else:
            monkeypatch.setenv(each, given)

    with pytest.raises(SystemExit, match=name):
        importlib.import_module(f"examples.{channel}")

    assert f"`{name}`" in (EXAMPLES / "README.md").read_text("utf-8")
