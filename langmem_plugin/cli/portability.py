"""`langmem export` and `langmem import`: one person's data out, and in, also from other products."""

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.progress import TextColumn, TimeElapsedColumn

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

    @property
    def manner(self) -> Literal["pending", "leave out"]:
        return "pending" if self is Doubtful.PENDING else "leave out"


PhoneOf = Annotated[
    Path | None,
    typer.Option(
        "--phone-of", help="a CSV file of lines `name there,phone here`; a name that is not in it stays what it is"
    ),
]
Report = Annotated[Path | None, typer.Option("--report", help="a new JSON file for the whole report")]
Dry = Annotated[bool, typer.Option("--dry-run", help="say what would be stored, and store nothing")]
Junk = Annotated[
    Doubtful, typer.Option("--doubtful", help="what looks like junk elsewhere: ask the person, or leave it out")
]

_MOST_SHOWN = 20

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
    phone_of: PhoneOf = None,
    dry_run: Dry = False,
    doubtful: Junk = Doubtful.PENDING,
    report: Report = None,
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
    names = names_in(phone_of)
    if names and kind == "langmem":
        raise InvalidInput("it is one person's own export: say by --phone whose it becomes")
    document = document_files.read(path) if kind == "langmem" else None
    with memory_of(database, config, create=None if dry_run else create) as memory, counted("records") as counter:
        begun(report)
        whose = None if phone is None else memory.people.typed(phone)
        if document is not None:
            done = memory.import_person(document, phone=whose, dry_run=dry_run, progress=counter)
        else:
            done = memory.importer.run(
                SOURCES[kind].records(path),
                phone=whose,
                phone_of=names,
                dry_run=dry_run,
                doubtful=doubtful.manner,
                progress=counter,
            )
    tell(done, report, as_json=as_json)


def _kind_of(path: Path) -> str:
    if document_files.recognises(path):
        return "langmem"
    found = next((name for name, source in SOURCES.items() if source.recognises(path)), None)
    if found is None:
        raise UnreadableImport(f"it cannot be told what {path} is: say it by --from ({', '.join(_FORMATS)})")
    return found


def names_in(file: Path | None) -> Mapping[str, str]:
    """Raises InvalidInput for a line that is no pair, and for a name that stands for two."""
    names: dict[str, str] = {}
    if file is None:
        return names
    try:
        lines = list(csv.reader(file.read_text(encoding="utf-8-sig").splitlines()))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"{file.name} is no CSV file in UTF-8 ({error})") from error
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        if len(line) != 2 or not all(each.strip() for each in line):  # noqa: PLR2004 - a name and a phone
            raise InvalidInput(f"{file.name}:{number}: a line is `name there,phone here`")
        name, phone = line[0], line[1].strip()
        if names.setdefault(name, phone) != phone:
            raise InvalidInput(f"{file.name}:{number}: {name!r} stands for another phone above")
    return names


@contextmanager
def counted(what: str) -> Iterator[partial[None]]:
    columns = (TextColumn("{task.completed} " + what, markup=False), TimeElapsedColumn())
    with progress(*columns) as bar:
        yield partial(bar.advance, bar.add_task(what, total=None))


def as_document(report: ImportReport) -> dict[str, Any]:
    """All of it, as JSON has it."""
    return {
        "stored": dict(report.stored),
        "there_already": dict(report.there_already),
        "skipped": list(map(asdict, report.skipped)),
        "doubted": list(map(asdict, report.doubted)),
    }


def tell(done: ImportReport, file: Path | None, *, as_json: bool) -> None:
    if file is not None:
        file.write_text(json.dumps(as_document(done), ensure_ascii=False, indent=1), encoding="utf-8")
    if as_json:
        print_json(as_document(done))
        return
    for what, counted in (("stored", done.stored), ("there already", done.there_already)):
        told = ", ".join(f"{many} {kind if many == 1 else _several(kind)}" for kind, many in counted.items() if many)
        typer.echo(f"{what}: {told or 'nothing'}")
    if done.erased:
        typer.echo(f"left out, of people who asked to be erased: {done.erased}")
    for what, remarks in (("skipped", done.skipped), ("doubted", done.doubted)):
        if remarks:
            typer.echo(f"{what}: {len(remarks)}")
        for each in remarks[:_MOST_SHOWN]:
            typer.echo(visible(f"  {each.place}: {each.reason}"))
        if len(remarks) > _MOST_SHOWN:
            typer.echo(f"  and {len(remarks) - _MOST_SHOWN} more: --report FILE has them all")


def begun(report: Path | None) -> None:
    """The file is for nobody else to read. Raises FileExistsError before anything is done."""
    if report is not None:
        report.touch(mode=0o600, exist_ok=False)


def _several(kind: str) -> str:
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
