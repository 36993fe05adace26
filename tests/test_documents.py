"""The README and the pages of the site: their examples run and print what stands below them, and what they name is there."""

import ast
import asyncio
import contextlib
import inspect
import io
import itertools
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

from langmem_plugin import ConversationSaver, MemoryService, PhoneMemory, Settings
from langmem_plugin.cli import app
from langmem_plugin.config_file import settings_of

_ROOT = Path(__file__).parents[1]
_PAGES = [_ROOT / "README.md", *sorted((_ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_LOADED = re.compile(r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//[^>]+>|<link[^>]+stylesheet[^>]+//[^>]+>""")
_FILE = re.compile(r"`((?:[\w-]+/)+[\w.-]+\.(?:py|jsonl?|toml|tsv|bin|md|ini|conf|service))`")
_COMMAND = re.compile(r"(?:^|`)(langmem [a-z][^`\n]*)", re.MULTILINE)
_MODULE = re.compile(r"python -m (benchmarks\.\w+)|python (benchmarks/\w+\.py)|pytest (tests/[\w/]+\.py)")


class _Example(NamedTuple):
    """A block of Python, and the lines that it prints where the page shows them."""

    code: str
    line: int
    prints: list[str]


def _name(page: Path) -> str:
    return str(page.relative_to(_ROOT))


def _examples(page: Path) -> list[_Example]:
    text = page.read_text("utf-8")
    blocks = [each for each in _BLOCK.finditer(text) if each[1] in {"python", "text"}]
    return [
        _Example(
            block[2],
            text.count("\n", 0, block.start()) + 1,
            after[2].splitlines() if after is not None and after[1] == "text" else [],
        )
        for block, after in itertools.pairwise([*blocks, None])
        if block[1] == "python"
    ]


def _ran(example: _Example, page: Path, names: dict) -> str:
    """What it prints; a page's examples share their names, and may await, as in a notebook."""
    printed = io.StringIO()
    code = compile(
        "\n" * example.line + example.code, _name(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
    )
    with contextlib.redirect_stdout(printed):
        result = eval(code, names)
        if inspect.iscoroutine(result):
            asyncio.run(result)
    return printed.getvalue()


@pytest.mark.slow
@pytest.mark.spec("U-1", "W-1", "R-1")
@pytest.mark.parametrize("page", [page for page in _PAGES if _examples(page)], ids=_name)
def test_every_example_runs_offline_and_prints_what_stands_below_it(monkeypatch, tmp_path, page):
    monkeypatch.chdir(tmp_path)
    for name in ("LANGMEM_MODEL", "LANGMEM_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    names = {"__name__": "example"}
    try:
        for example in _examples(page):
            printed = _ran(example, page, names).splitlines()
            assert [each for each in example.prints if each not in printed] == [], f"line {example.line}: {printed}"
    finally:
        for each in names.values():
            if isinstance(each, (PhoneMemory, ConversationSaver, MemoryService)):
                each.close()


@pytest.mark.slow
@pytest.mark.spec("U-1")
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path):
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path]
    built = subprocess.run(build, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr

    pages = [each.read_text("utf-8") for each in tmp_path.rglob("*.html")]
    assert len(pages) > 20
    assert [each for page in pages for each in _LOADED.findall(page)] == []


def test_what_the_readme_links_to_is_there():
    linked = re.findall(r"\]\((?!http)([^)#]+)[^)]*\)", (_ROOT / "README.md").read_text("utf-8"))

    assert len(linked) > 10
    assert [each for each in linked if not (_ROOT / each).exists()] == []


@pytest.mark.spec("U-8")
def test_the_configuration_file_shown_is_taken_without_a_complaint(tmp_path, caplog):
    shown = re.search(r"```json\n(.+?)```", (_ROOT / "docs" / "settings.md").read_text("utf-8"), re.DOTALL)[1]
    (tmp_path / "config.json").write_text(shown, encoding="utf-8")

    settings = settings_of(tmp_path / "config.json")

    assert caplog.records == []
    assert (settings.remembers, settings.embedding_model, settings.default_region) == (True, "offline", "IL")


def test_every_requirement_that_a_test_names_is_one():
    listed = set(
        re.findall(r"^\| ([A-Z]-\d+) \|", (_ROOT / "docs" / "requirements.md").read_text("utf-8"), re.MULTILINE)
    )
    named = {
        each
        for file in (_ROOT / "tests").rglob("test_*.py")
        for marks in re.findall(r"mark\.spec\(([^)]*)\)", file.read_text("utf-8"))
        for each in re.findall(r"\"([A-Z]-\d+)\"", marks)  # others are of the documents that these were made from
    }

    assert named == listed


@pytest.mark.spec("P-7", "P-9", "U-8")
def test_every_test_benchmark_and_setting_that_a_page_names_is_there():
    named = {"tests": 0, "files": 0, "settings": 0}
    rooms = ("benchmarks", "deploy", "docs", "examples", "graphs", "langmem_plugin", "tests")
    there = [str(each) for room in rooms for each in (_ROOT / room).rglob("*.*")]
    for page in _PAGES:
        text = page.read_text("utf-8")
        tests = _TEST.findall(text)
        files = ["".join(each) for each in _MODULE.findall(text)]
        settings = {each.lower() for each in re.findall(r"LANGMEM_([A-Z][A-Z_]+[A-Z])", text)} - {"model", "base_url"}

        assert [f"{file}::{test}" for file, test in tests if f"def {test}(" not in _read(file)] == [], page
        assert [each for each in files if not _is_there(each)] == [], page
        assert [each for each in _FILE.findall(text) if not any(file.endswith(f"/{each}") for file in there)] == [], (
            page
        )
        assert settings - Settings.model_fields.keys() == set(), page
        for kind, found in zip(named, (tests, files, settings), strict=True):
            named[kind] += len(found)
    assert min(named.values()) >= 5


def _read(file: str) -> str:
    path = _ROOT / file
    return path.read_text("utf-8") if path.exists() else ""


def _is_there(named: str) -> bool:
    path = _ROOT / (named if "/" in named else named.replace(".", "/"))
    return path.exists() or path.with_suffix(".py").exists()


@pytest.mark.slow
@pytest.mark.spec("U-5")
def test_every_command_that_a_page_shows_is_one_with_its_options():
    lines = [line for page in _PAGES for line in _COMMAND.findall(page.read_text("utf-8"))]

    assert len(lines) > 20
    for line in lines:
        _look_up(line.partition("#")[0].rstrip("` "))


def _look_up(line: str) -> None:
    command = typer.main.get_command(app)
    context, words = typer.Context(command), line.split()[1:]
    while words and isinstance(command, typer.core.TyperGroup):
        _, command, words = command.resolve_command(context, words)  # ends with an error where there is none
    options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {"--help"}
    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= options, line
