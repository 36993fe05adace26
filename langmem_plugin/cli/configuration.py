"""`langmem config check`: every setting in force, the source of its value, and its problems."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from pydantic import SecretStr

from langmem_plugin import environment
from langmem_plugin.cli.printing import Json, Rows, Told, tell
from langmem_plugin.config_file import Problem, examined
from langmem_plugin.database.urls import database_url, shown
from langmem_plugin.durations import told
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.identifiers import masked
from langmem_plugin.settings import Settings

app = typer.Typer(no_args_is_help=True, help="What is set, and by whom.")


@app.callback()
def config() -> None:
    """One group with one command: a command of another kind may follow."""


@app.command()
def check(
    file: Annotated[Path | None, typer.Argument(help="a JSON file of settings; default: the environment alone")] = None,
    *,
    as_json: Json = False,
) -> None:
    """Print each setting in force, where it came from and what it is, and every problem. Exit code 1 for an error.

    An environment variable goes before the file, and the file before the default.
    """
    settings, problems, keys = (Settings(), [], {}) if file is None else examined(file)
    what = {name: " ".join((each.description or "").split()) for name, each in type(settings).model_fields.items()}
    rows = [(each, _shown(each, getattr(settings, each)), _origin(each, keys, file), what[each]) for each in what]
    problems += [*_unknown_variables(), *_no_databases(settings)]
    columns = ("setting", "value", "from", "what")
    document = {
        "settings": [dict(zip(("name", *columns[1:]), row, strict=True)) for row in rows],
        "problems": [
            {"key": each.key, "reason": each.reason, "nearest": each.nearest or None, "error": each.is_error}
            for each in problems
        ],
    }
    lines = [f"{'error' if problem.is_error else 'note'}: {problem}" for problem in problems]
    failed = any(problem.is_error for problem in problems)
    tell(Told(document, [Rows(columns, rows, folded=columns[1:]), *lines], failed=failed), as_json=as_json)


def _origin(name: str, keys: dict[str, str], file: Path | None) -> str:
    variable = environment.variable(name)
    if variable in environment.are_set():
        return f"{variable}, before {keys[name]} of the file" if name in keys else variable
    if name in keys:
        return f"file: {keys[name]}"
    return "default" if file is None else "default of a file"


def _unknown_variables() -> list[Problem]:
    return [
        Problem("environment.unknown", name, "no setting has this name", like)
        for name, like in environment.unknown(Settings.model_fields)
    ]


def _no_databases(settings: Settings) -> Iterator[Problem]:
    for name in ("database", "key_database"):
        try:
            database_url(getattr(settings, name) or "sqlite://")
        except ConfigurationError as error:
            yield Problem("config.unusable", name, str(error))


def _shown(name: str, value: object) -> str:  # noqa: PLR0911 - a line for each kind
    """Return a setting's value as it may be shown: a URL may hold a password, a key opens everything, and a phone is
    personal.
    """
    match name, value:
        case _, SecretStr():
            return "set, and not shown"
        case "database" | "key_database" | "vector_index", str():
            return value if name == "vector_index" else _without_password(value)
        case "godfather_phone", str():
            return masked(value)
        case "trusted_callers", frozenset():
            return f"{len(value)} of them"
        case "archive_days" | "session_timeout" | "interrupt_timeout" | "burst" | "sweep_every", None:
            return "never"
        case _, timedelta():
            return told(value)
        case _, frozenset() | tuple():
            return ", ".join(sorted(map(str, value))) or "none"
        case _, dict():
            return ", ".join(f"{key}={each}" for key, each in value.items())
    return "none" if value is None else str(value)


def _without_password(url: str) -> str:
    try:
        return shown(database_url(url))
    except ConfigurationError as error:
        return f"not shown: {error}"
