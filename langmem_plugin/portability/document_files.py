"""A person's document on disk: a file of JSON, or tables of CSV in a zip; it is written whole or not at all."""

import base64
import csv
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.portability import document_format as exported
from langmem_plugin.portability.document_exporter import Exporter
from langmem_plugin.portability.document_format import FORMAT, LISTS, SINGLE
from langmem_plugin.portability.sources.source_parsing import DAMAGED_ZIP, LARGEST_UNPACKED, json_file, refuse_larger

DOCUMENT = "document.csv"
_LONGEST_TEXT, _MOST_ROWS = 16_000_000, 300_000  # the limit of a cell in characters, and of a table in rows
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "|", "%")
_FILES = "files"
_HEAD = ("format", "format_version", "exported_at", "person")
_BEGINNING = 2_000  # a file of JSON names its format within these characters


def recognises(path: Path) -> bool:
    """Tell whether this is a person's document."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as held:
            return DOCUMENT in held.namelist()
    if path.is_dir():
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return json.dumps(FORMAT) in file.read(_BEGINNING)


def read(path: Path, *, largest: int = LARGEST_UNPACKED) -> dict[str, Any]:
    """Read a document in the form that DocumentImporter takes. Raises UnreadableImport, also for a document that would
    become too large or a zip of more than `largest` bytes unpacked, and the system's own error for a missing file.
    """
    if zipfile.is_zipfile(path):
        return _read_zip(path, largest)
    found = json_file(path)
    if not isinstance(found, dict):
        raise UnreadableImport(f"{path.name} is no person's document: it is no object")
    return found


def write_json(exporter: Exporter, person: str, path: Path) -> None:
    """Write the document to a file that nobody else may read. Raises InvalidInput where the path exists already."""
    with _whole(path) as part, part.open("w", encoding="utf-8") as file:
        exporter.write(person, file)


def write_csv(exporter: Exporter, person: str, path: Path) -> None:
    """Write the document as a zip of tables. Raises as `write_json`."""
    with _whole(path) as part, tempfile.TemporaryDirectory(dir=path.parent, prefix=".export-") as folder:
        write_tables(exporter.parts(person), Path(folder))
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as made:
            for file in sorted(Path(folder).rglob("*")):
                if file.is_file():
                    made.write(file, file.relative_to(folder).as_posix())


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """Give an empty file beside a new one; when all is written it is renamed to `path`.

    Raises InvalidInput where the path exists already.
    """
    if path.exists():
        raise InvalidInput(f"{path} is there already: name a new file, or delete it first")
    if not path.parent.is_dir():
        raise InvalidInput(f"there is no folder {path.parent}: name one that is there")
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        yield part
        part.rename(path)
    except OSError as error:
        if error.filename not in {None, str(part)}:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error  # the one that the caller knows
    finally:
        with suppress(OSError):  # the first error is raised already
            part.unlink(missing_ok=True)


# Tables


def write_tables(parts: Iterable[tuple[str, Any]], folder: Path) -> None:
    """Write the document as tables into an existing folder. `parts` are those of the exporter."""
    head: dict[str, Any] = {}
    for name, part in parts:
        if name in _HEAD:
            head[name] = part
        elif name == "consent":
            rows = ({"permission": permission, **given.model_dump(mode="json")} for permission, given in part)
            _write(folder, name, ["permission", *exported.Permission.model_fields], rows)
        elif name in SINGLE:
            _write(folder, name, list(type(part).model_fields), [part.model_dump(mode="json")])
        elif name == "sessions":
            _write_sessions(folder, part)
        elif name == "files":
            _write(folder, name, [each for each in exported.File.model_fields if each != "data"], _kept(folder, part))
        else:
            _write(folder, name, list(LISTS[name].model_fields), (each.model_dump(mode="json") for each in part))
    _write(folder, "document", list(_HEAD), [head])


@contextmanager
def _table(folder: Path, name: str, columns: list[str]) -> Iterator[Callable[[Mapping[str, Any]], object]]:
    """Give a function that adds a row to a new table."""
    with (folder / f"{name}.csv").open("w", encoding="utf-8-sig", newline="") as file:
        table = csv.writer(file)
        table.writerow(columns)
        yield lambda row: table.writerow([_cell(row[each]) for each in columns])


def _write(folder: Path, name: str, columns: list[str], rows: Iterable[Mapping[str, Any]]) -> None:
    with _table(folder, name, columns) as add:
        for row in rows:
            add(row)


def _write_sessions(folder: Path, sessions: Iterable[exported.Session]) -> None:
    columns = [each for each in exported.Session.model_fields if each != "messages"]
    with (
        _table(folder, "sessions", columns) as add_session,
        _table(folder, "messages", ["session_id", *exported.Message.model_fields]) as add_message,
    ):
        for session in sessions:
            add_session(session.model_dump(mode="json", exclude={"messages"}))
            for message in session.messages:
                add_message({"session_id": session.session_id, **message.model_dump(mode="json")})


def _kept(folder: Path, files: Iterable[exported.File]) -> Iterator[dict[str, Any]]:
    """Write the bytes of each file beside the tables; yield the rest as its row."""
    for each in files:
        if each.data is not None:
            (folder / _FILES).mkdir(exist_ok=True)
            (folder / _FILES / each.sha256).write_bytes(base64.b64decode(each.data))
        yield each.model_dump(mode="json", exclude={"data"})


def _cell(value: Any) -> str:
    """Return a text as it is and any other value as JSON. A mark goes before a text that would be read as something
    else: by a spreadsheet as a formula, or by `_value` as JSON.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if not value or value.startswith(_FORMULA) or _value(value) != value else value


def _value(cell: Any) -> Any:
    if not isinstance(cell, str) or cell.startswith("'"):
        return cell.removeprefix("'") if isinstance(cell, str) else cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def _read_zip(path: Path, largest: int) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as held:
            # No more is ever read than the zip says of itself.
            refuse_larger("the zip", sum(each.file_size for each in held.infolist()), largest)
            return _read_tables(zipfile.Path(held))
    except UnreadableImport:
        raise
    except (*DAMAGED_ZIP, OSError) as error:
        raise UnreadableImport(f"the zip is damaged: {error}") from error


def _read_tables(held: zipfile.Path) -> dict[str, Any]:
    """Return the document of these tables in the form that DocumentImporter takes. Raises UnreadableImport."""
    head = next(_rows(held, "document"), None)
    if head is None:
        raise UnreadableImport(f"there is no {DOCUMENT}: this is no export, or not all of it")
    document: dict[str, Any] = {name: head.get(name) for name in _HEAD}
    document["consent"] = {str(row.pop("permission", None)): row for row in _rows(held, "consent")}
    if (settings := next(_rows(held, "settings"), None)) is not None:
        document["settings"] = settings
    for name in LISTS:
        document[name] = list(_rows(held, name))
    messages: dict[object, list[dict[str, Any]]] = {}
    for row in _rows(held, "messages"):
        messages.setdefault(str(row.pop("session_id", None)), []).append(row)
    for session in document["sessions"]:
        session["messages"] = messages.get(str(session.get("session_id")), [])
    for file in document["files"]:
        kept = held / _FILES / Path(str(file.get("sha256"))).name
        file["data"] = base64.b64encode(kept.read_bytes()).decode() if kept.is_file() else None
    return document


def _rows(held: zipfile.Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as records. A cell that cannot be read stays text, and the importer reports it."""
    csv.field_size_limit(_LONGEST_TEXT)
    table = held / f"{name}.csv"
    if not table.is_file():
        return
    with table.open(encoding="utf-8-sig", newline="") as file:
        try:
            for number, row in enumerate(csv.DictReader(file), 1):
                if number > _MOST_ROWS:
                    raise UnreadableImport(f"{name}.csv has more than {_MOST_ROWS:,} rows: bring them in by parts")
                yield {str(column): _value(cell) for column, cell in row.items() if cell != "" or column is None}
        except csv.Error as error:
            longest = f"a text has at most {_LONGEST_TEXT:,} characters"
            raise UnreadableImport(f"{name}.csv cannot be read ({error}): bring in a table; {longest}") from error
