"""`langmem export` and `langmem import`: one person's data out, and in, also from other products."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from langmem_plugin.cli.opening import Config, Create, Url, memory_of
from langmem_plugin.cli.printing import Json, print_json, progress
from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.portability import document_files
from langmem_plugin.portability.import_report import ImportReport
from langmem_plugin.portability.sources import SOURCES
from langmem_plugin.terminal import visible


class Form(StrEnum):
    """The form of an export."""

    JSON = "json"
    CSV = "csv"


class Doubtful(StrEnum):
    """The ways to treat memories that may be junk."""

    PENDING = "pending"
    LEAVE_OUT = "leave-out"


_FORMATS = ("langmem", *SOURCES)


def export_person(
    phone: Annotated[str, typer.Argument(help="whose: a phone or any other identifier, in any spelling")],
    form: Annotated[
        Form, typer.Option("--format", help="one JSON document, or a table for each kind of record")
    ] = Form.JSON,
    to: Annotated[
        Path | None, typer.Option("--to", help="a new file; of csv a .zip or a new folder; default: standard output")
    ] = None,
    database: Url = None,
    config: Config = None,
) -> None:
    """All that is stored of one person, for them to read or to import elsewhere. Nobody else may read a new file."""
    if form is Form.CSV and to is None:
        raise InvalidInput("tables are several files: name a .zip or a folder by --to")
    with memory_of(database, config) as memory:
        person = memory.people.typed(phone)
        if not memory.exporter.holdings(person).is_something:
            raise InvalidInput(f"nothing is stored of {phone}: look at the number, and at --database")
        if to is None:
            memory.export(person, sys.stdout)
            return
        write = document_files.write_csv if form is Form.CSV else document_files.write_json
        write(memory.exporter, person, to)
    typer.echo(visible(f"all that is stored of {phone} is in {to}"))


def import_person(  # noqa: PLR0917 - each is an option
    path: Annotated[Path, typer.Argument(help="a file or folder")],
    source: Annotated[
        str, typer.Option("--from", help=f"its format: {', '.join(_FORMATS)}; auto: it is looked at")
    ] = "auto",
    phone: Annotated[str | None, typer.Option("--phone", help="whose it becomes; default: as it says")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would be done, and do nothing")] = False,
    doubtful: Annotated[
        Doubtful, typer.Option(help="memories of other products that may be junk: ask the person, or leave them out")
    ] = Doubtful.PENDING,
    create: Create = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """One person's export, or what another product kept. Nothing is stored twice: a run that broke off is run again."""
    if not path.exists():
        raise InvalidInput(f"there is no {path}: nothing is done")
    if source not in ("auto", *_FORMATS):
        raise InvalidInput(f"{source} is no format that is known: name auto or one of {', '.join(_FORMATS)}")
    kind = _kind_of(path) if source == "auto" else source
    document = document_files.read(path) if kind == "langmem" else None
    with memory_of(database, config, create=None if dry_run else create) as memory, _counted() as counter:
        whose = None if phone is None else memory.people.typed(phone)
        if document is not None:
            report = memory.import_person(document, phone=whose, dry_run=dry_run, progress=counter)
        else:
            report = memory.importer.run(
                SOURCES[kind].records(path),
                phone=whose,
                dry_run=dry_run,
                doubtful="pending" if doubtful is Doubtful.PENDING else "leave out",
                progress=counter,
            )
    if as_json:
        print_json({"dry_run": dry_run, **as_document(report)})
    else:
        _tell(report, dry_run=dry_run)


def _kind_of(path: Path) -> str:
    if document_files.recognises(path):
        return "langmem"
    found = next((name for name, source in SOURCES.items() if source.recognises(path)), None)
    if found is None:
        raise UnreadableImport(f"it cannot be told what {path} is: say it by --from ({', '.join(_FORMATS)})")
    return found


@contextmanager
def _counted() -> Iterator["_Counter"]:
    columns = (SpinnerColumn(), TextColumn("{task.completed:.0f} records"), TimeElapsedColumn())
    with progress(*columns, transient=True) as shown:
        yield _Counter(shown)


class _Counter:
    """Called with how many more are done."""

    def __init__(self, shown: Progress) -> None:
        self._shown = shown
        self._task = shown.add_task("", total=None)

    def __call__(self, many: int) -> None:
        self._shown.advance(self._task, many)


def as_document(report: ImportReport) -> dict[str, Any]:
    """All of it, as JSON has it."""
    return {
        "stored": dict(report.stored),
        "there_already": dict(report.there_already),
        "skipped": list(map(asdict, report.skipped)),
        "doubted": list(map(asdict, report.doubted)),
    }


def _tell(report: ImportReport, *, dry_run: bool) -> None:
    table = Table("what", "would be stored" if dry_run else "stored", "there already")
    for kind in dict.fromkeys((*report.stored, *report.there_already)):
        counts = report.stored[kind], report.there_already[kind]
        if any(counts):
            table.add_row(kind, *map(str, counts))
    Console().print(table)
    for heading, remarks in (("doubtful", report.doubted), ("skipped", report.skipped)):
        for each in remarks:
            typer.echo(visible(f"{heading}: {each.place}: {each.reason}"))
