"""The output of commands: a table that fits a terminal, whole lines for a pipe, or one JSON document."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.progress import Progress, ProgressColumn
from rich.table import Table
from rich.text import Text

from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import masked
from langmem_plugin.text_sanitizing import visible

Json = Annotated[bool, typer.Option("--json", help="print one JSON document, for programs")]
Reveal = Annotated[bool, typer.Option("--reveal", help="show phones and other identifiers whole")]
Yes = Annotated[bool, typer.Option("--yes", help="do not ask")]

_NARROW = 8  # characters that a folded column keeps


class Rows(NamedTuple):
    """A table. On a terminal the `folded` columns wrap, and every other one is shown whole."""

    columns: Sequence[str]
    rows: Iterable[Sequence[object]]
    folded: Sequence[str] = ("text",)


class Told(NamedTuple):
    """A command's answer: the document that --json prints, else lines and tables, and a remark on standard error.

    The command ends with exit code 1 if it `failed`.
    """

    document: Mapping[str, Any]
    shown: Sequence[str | Rows] = ()
    remark: str = ""
    failed: bool = False


def tell(told: Told, *, as_json: bool) -> None:
    if as_json:
        print_json(told.document)
    else:
        for each in told.shown:
            if isinstance(each, Rows):
                print_table(*each)
            else:
                say(each)
        if told.remark:
            typer.echo(visible(told.remark), err=True)
    if told.failed:
        raise typer.Exit(1)


def confirm(question: str, *, yes: bool) -> None:
    """Ask for a yes. Raises InvalidInput where nobody can be asked, and Abort for a no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInput("nobody can be asked here, and nothing is done: say --yes if that is meant")
    typer.confirm(visible(question), abort=True, err=True)


def progress(*columns: str | ProgressColumn, transient: bool = False) -> Progress:
    """Return a progress bar on standard error, so that the output can be piped."""
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=transient, disable=not console.is_terminal)


def print_json(document: Mapping[str, Any]) -> None:
    """Print JSON, with instants in ISO 8601; characters that would steer a terminal are escaped, and JSON reads them
    back.
    """
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(document, default=_plain, ensure_ascii=not is_unicode, indent=1)
    sys.stdout.write(f"{visible(text)}\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], folded: Sequence[str] = ("text",)) -> None:
    """Print a table; in a pipe each row is one line, its cells are separated by tabs, and nothing is cut."""
    cells = [[_cell(each) for each in row] for row in rows]
    console = Console()
    if not console.is_terminal:
        for line in (columns, *cells):
            sys.stdout.write("\t".join(" ".join(cell.split()) for cell in line) + "\n")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for name in columns:
        if name in folded:
            table.add_column(name, overflow="fold", min_width=min(_NARROW, console.width // 2))
        else:
            table.add_column(name, no_wrap=True)
    for line in cells:
        table.add_row(*map(Text, line))
    console.print(table)


def say(*lines: str) -> None:
    for line in lines:
        typer.echo(visible(line))


def shown(key: str, *, reveal: bool) -> str:
    """Return a person's key, or with `reveal` off only enough of it to tell two apart."""
    return key if reveal else masked(key)


def minute(instant: datetime | None) -> str:
    return f"{instant:%Y-%m-%d %H:%M} UTC" if instant else ""


def day(instant: datetime | None) -> str:
    return f"{instant:%Y-%m-%d}" if instant else ""


def _cell(value: object) -> str:
    return visible("" if value is None else minute(value) if isinstance(value, datetime) else str(value))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, (tuple, set, frozenset)) else str(value)
