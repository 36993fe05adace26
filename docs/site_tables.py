"""Fills in the tables of the pages that follow from the code, where a page says `<!-- settings -->` and the like."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import typer
from typer.core import TyperGroup

from langmem_plugin import Settings, logs
from langmem_plugin.cli import app


def told(length: timedelta) -> str:
    """Return the length in words, in the largest unit that fits."""
    seconds = length.total_seconds()
    for name, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{name}"
    return f"{seconds:g}s"


def settings() -> Iterator[str]:
    yield "| setting | default | meaning |\n|---|---|---|"
    for name, field in Settings.model_fields.items():
        yield f"| `{name}` | {_shown(field.default)} | {_line(field.description or '')} |"


def commands() -> Iterator[str]:
    yield "| command | does |\n|---|---|"
    yield from _commands(typer.main.get_command(app), "langmem")


def events() -> Iterator[str]:
    yield "| event | what to do |\n|---|---|"
    for event, advice in sorted(logs.ADVICE.items()):
        yield f"| `{event}` | {_line(advice)} |"


_TABLES: dict[str, Callable[[], Iterator[str]]] = {"settings": settings, "commands": commands, "events": events}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """MkDocs calls it for each page."""
    return re.sub(r"<!-- (settings|commands|events) -->", lambda found: "\n".join(_TABLES[found[1]]()), markdown)


def _commands(command: Any, path: str) -> Iterator[str]:
    if isinstance(command, TyperGroup):
        context = typer.Context(command)
        for name in command.list_commands(context):
            _, found, _ = command.resolve_command(context, [name])
            if found is not None and not found.hidden:
                yield from _commands(found, f"{path} {name}")
    else:
        yield f"| `{path}` | {_line(command.get_short_help_str(200))} |"


def _shown(value: object) -> str:
    if value in (None, (), frozenset()):
        return "none"
    return f"`{told(value) if isinstance(value, timedelta) else value}`"


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
