"""A person's document on disk: a file of JSON, a zip or a folder of tables; it is written whole or not at all."""

import base64
import csv
import functools
import io
import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal, TextIO, TypeVar, get_args, get_origin

from pydantic import BaseModel

from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.portability.exporter import Exporter
from langmem_plugin.portability.person_export import (
    FORMAT,
    LISTS,
    SINGLE,
    ExportedFile,
    ExportedMessage,
    ExportedPermission,
    ExportedSession,
    PersonExport,
    Record,
)
from langmem_plugin.portability.sources.plain_values import LARGEST_UNPACKED, refuse_vast

DOCUMENT = "document.csv"
_LONGEST_TEXT, _MOST_ROWS = 16_000_000, 300_000  # the limit of a cell in characters, and of a table in rows
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "|", "%")
_BYTES = "files"
_HEAD = ("format", "format_version", "exported_at", "person")

Open = Callable[[str], TextIO | None]
"""A function that opens a table to read, by its name, and returns None where it does not exist."""


def write_tables(parts: Iterable[tuple[str, Any]], folder: Path) -> None:
    """Write the document as tables into an existing folder. `parts` are those of the exporter."""
    head: dict[str, Any] = {}
    for name, part in parts:
        if name in _HEAD:
            head[name] = part
        elif name == "consent":
            _write(folder, name, ["permission", *ExportedPermission.model_fields], _permissions(part))
        elif name in SINGLE:
            fields = PersonExport.model_fields[name].annotation
            rows = [] if part is None else [part.model_dump(mode="json")]
            _write(folder, name, _columns(_model_in(fields)), rows)
        elif name == "sessions":
            _write_sessions(folder, part)
        elif name == "files":
            _write(folder, name, [each for each in ExportedFile.model_fields if each != "data"], _kept(folder, part))
        else:
            _write(folder, name, _columns(LISTS[name]), (each.model_dump(mode="json") for each in part))
    _write(folder, "document", list(_HEAD), [head])


def read_tables(table: Open, data: Callable[[str], bytes | None]) -> dict[str, Any]:
    """Return the document of these tables in the form that DocumentImporter takes; `data` returns a file's bytes by its
    digest. Raises UnreadableImport.
    """
    head = next(_rows(table, "document", PersonExport), None)
    if head is None:
        raise UnreadableImport(f"there is no {DOCUMENT}: this is no export, or not all of it")
    document: dict[str, Any] = {name: head.get(name) for name in _HEAD}
    given = {row.pop("permission", None): row for row in _rows(table, "consent", ExportedPermission)}
    document["consent"] = {str(name): row for name, row in given.items()}
    for name in ("settings", "verdicts", "question"):
        model = _model_in(PersonExport.model_fields[name].annotation)
        if (row := next(_rows(table, name, model), None)) is not None:
            document[name] = row
    for name, model in LISTS.items():
        document[name] = list(_rows(table, name, model))
    messages: dict[object, list[dict[str, Any]]] = {}
    for row in _rows(table, "messages", ExportedMessage):
        messages.setdefault(row.pop("session_id", None), []).append(row)
    for session in document["sessions"]:
        session["messages"] = messages.get(session.get("session_id"), [])
    for file in document["files"]:
        held = data(str(file.get("sha256")))
        file["data"] = None if held is None else base64.b64encode(held).decode()
    return document


def bytes_name(digest: str) -> str:
    """Return the path of a file's bytes, seen from the tables."""
    return f"{_BYTES}/{digest}"


def _write(folder: Path, name: str, columns: list[str], rows: Iterable[Mapping[str, Any]]) -> None:
    with _new(folder / f"{name}.csv") as file:
        _fill(csv.writer(file), columns, rows)


def _write_sessions(folder: Path, sessions: Iterable[ExportedSession]) -> None:
    with ExitStack() as opened:
        of_sessions = csv.writer(opened.enter_context(_new(folder / "sessions.csv")))
        of_messages = csv.writer(opened.enter_context(_new(folder / "messages.csv")))
        columns = [each for each in _columns(ExportedSession) if each != "messages"]
        message_columns = ["session_id", *_columns(ExportedMessage)]
        of_sessions.writerow(columns)
        of_messages.writerow(message_columns)
        for session in sessions:
            held = session.model_dump(mode="json", exclude={"messages"})
            of_sessions.writerow([_cell(held[each]) for each in columns])
            for message in session.messages:
                said = {"session_id": session.session_id, **message.model_dump(mode="json")}
                of_messages.writerow([_cell(said[each]) for each in message_columns])


def _fill(writer: Any, columns: list[str], rows: Iterable[Mapping[str, Any]]) -> None:
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row[each]) for each in columns])


def _new(path: Path) -> TextIO:
    path.touch(mode=0o600)
    return path.open("w", encoding="utf-8-sig", newline="")


def _permissions(consent: BaseModel) -> Iterator[dict[str, Any]]:
    for name, given in consent:
        yield {"permission": name, **given.model_dump(mode="json")}


def _kept(folder: Path, files: Iterable[ExportedFile]) -> Iterator[dict[str, Any]]:
    """Write the bytes of each file beside the tables; yield the rest as its row."""
    for each in files:
        if each.data is not None:
            path = folder / bytes_name(each.sha256)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            path.touch(mode=0o600)
            path.write_bytes(base64.b64decode(each.data))
        yield each.model_dump(mode="json", exclude={"data"})


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    elif not value:
        return "'"
    return f"'{value}" if value.startswith(_FORMULA) else value


def _rows(table: Open, name: str, model: type[BaseModel]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as records. A cell that cannot be read stays text, and the importer reports it."""
    csv.field_size_limit(_LONGEST_TEXT)
    file = table(f"{name}.csv")
    if file is None:
        return
    as_json = {each for each in model.model_fields if _is_json(model.model_fields[each].annotation)}
    with file:
        try:
            for number, row in enumerate(csv.DictReader(_lines(file, name)), 1):
                if number > _MOST_ROWS:
                    raise UnreadableImport(f"{name}.csv has more than {_MOST_ROWS:,} rows: bring them in by parts")
                yield {
                    str(column): _value(cell, as_json=column in as_json)
                    for column, cell in row.items()
                    if cell != "" or column is None
                }
        except (csv.Error, UnicodeDecodeError) as error:
            raise UnreadableImport(f"{name}.csv is no table: {error}") from error


def _lines(file: TextIO, name: str) -> Iterator[str]:
    for line in file:
        if len(line) > _LONGEST_TEXT:
            raise UnreadableImport(
                f"{name}.csv has a line of more than {_LONGEST_TEXT:,} characters: bring in shorter texts"
            )
        yield line


def _value(cell: Any, *, as_json: bool) -> Any:
    if not isinstance(cell, str):
        return cell
    text = cell.removeprefix("'")
    if not as_json:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _columns(model: type[BaseModel]) -> list[str]:
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[Record]:
    """Return the model of a field that may be null."""
    return next(
        each for each in (annotation, *get_args(annotation)) if isinstance(each, type) and issubclass(each, Record)
    )


def _is_json(annotation: Any) -> bool:
    """Tell whether a field holds anything but texts and instants, which are written as they are."""
    if get_origin(annotation) is Literal:
        return not all(isinstance(each, str) for each in get_args(annotation))
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return annotation in {int, float, bool} or issubclass(annotation, BaseModel)
    if get_origin(annotation) in {list, dict, tuple}:
        return True
    return any(_is_json(each) for each in get_args(annotation) if each is not type(None))


_Read = TypeVar("_Read")

# Errors of reading a zip whose bytes were changed.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, OverflowError)
_BEGINNING = 2_000  # a file of JSON names its format within these characters


def recognises(path: Path) -> bool:
    """Tell whether this is a person's document."""
    if path.is_dir():
        return (path / DOCUMENT).is_file()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as held:
            return DOCUMENT in held.namelist()
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return json.dumps(FORMAT) in file.read(_BEGINNING)


def read(path: Path, *, largest: int = LARGEST_UNPACKED) -> dict[str, Any]:
    """Read a document in the form that DocumentImporter takes. Raises UnreadableImport, also for a document that would
    become too large or a zip of more than `largest` bytes unpacked, and the system's own error for a missing file.
    """
    if path.is_dir():
        return read_tables(functools.partial(_table_in, path), functools.partial(_bytes_in, path))
    if zipfile.is_zipfile(path):
        return _read_zip(path, largest)
    refuse_vast(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UnreadableImport(f"{path.name} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise UnreadableImport(f"{path.name} is no person's document: it is no object")
    return found


def _read_zip(path: Path, largest: int) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as held:
            _refuse_larger(held, largest)
            return read_tables(functools.partial(_table_of, held), functools.partial(_bytes_of, held))
    except UnreadableImport:
        raise
    except _DAMAGED as error:
        raise UnreadableImport(f"the zip is damaged: {error}") from error


def _refuse_larger(held: zipfile.ZipFile, largest: int) -> None:
    """Refuse a zip that says of itself that it is larger; no more than it says is ever read."""
    if sum(each.file_size for each in held.infolist()) > largest:
        raise UnreadableImport(f"the zip holds more than {largest:,} bytes: bring it in as JSON, in parts")


def write_json(exporter: Exporter, person: str, path: Path) -> None:
    """Write the document to a file that nobody else may read. Raises InvalidInput where the path exists already."""
    with whole(path) as part:
        part.touch(mode=0o600)
        with part.open("w", encoding="utf-8") as file:
            exporter.write(person, file)


def write_csv(exporter: Exporter, person: str, path: Path) -> None:
    """Write the document as a zip where the path ends in .zip, else as a folder. Raises as `write_json`."""
    with whole(path) as part:
        if path.suffix != ".zip":
            part.mkdir(mode=0o700)
            write_tables(exporter.parts(person), part)
            return
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".export-") as folder:
            write_tables(exporter.parts(person), Path(folder))
            part.touch(mode=0o600)
            with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as made:
                for file in sorted(Path(folder).rglob("*")):
                    if file.is_file():
                        made.write(file, file.relative_to(folder).as_posix())


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a path beside a new file, or folder; what is written there is renamed to `path` when all is written.

    Raises InvalidInput where the path exists already.
    """
    if path.exists():
        raise InvalidInput(f"{path} is there already: name a new file, or delete it first")
    if not path.parent.is_dir():
        raise InvalidInput(f"there is no folder {path.parent}: name one that is there")
    part = path.with_name(f".{path.name}.part")
    try:
        with _told_of(path, part):
            _remove(part)
            yield part
            part.rename(path)
    finally:
        with suppress(OSError):  # the first error is raised already
            _remove(part)


@contextmanager
def _told_of(asked: Path, written: Path) -> Iterator[None]:
    """Make an error about the path `written`, beside the final place, name the path `asked` that the caller knows."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and not str(error.filename).startswith(str(written)):
            raise
        raise OSError(error.errno, error.strerror, str(asked)) from error


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def _table_in(folder: Path, name: str) -> TextIO | None:
    file = folder / name
    return file.open(encoding="utf-8-sig", newline="") if file.is_file() else None


def _bytes_in(folder: Path, digest: str) -> bytes | None:
    file = folder / bytes_name(Path(digest).name)
    return file.read_bytes() if file.is_file() else None


def _table_of(held: zipfile.ZipFile, name: str) -> TextIO | None:
    return _opened(held, name, lambda file: io.TextIOWrapper(file, encoding="utf-8-sig", newline=""))


def _bytes_of(held: zipfile.ZipFile, digest: str) -> bytes | None:
    return _opened(held, bytes_name(digest), lambda file: file.read())


def _opened(held: zipfile.ZipFile, name: str, read_it: Callable[[IO[bytes]], _Read]) -> _Read | None:
    try:
        return read_it(held.open(name))
    except KeyError:
        return None
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:  # a password, or another packing
        raise UnreadableImport(f"{name} in the zip cannot be read: {error}") from error
