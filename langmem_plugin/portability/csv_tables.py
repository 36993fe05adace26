"""A person's document as tables of CSV, for people who look at it in a spreadsheet, and back.

One file for each kind, in UTF-8 with the mark by which Excel knows it. A cell that a spreadsheet would take for a
formula begins with an apostrophe, which is taken off on reading; so does an empty text, where an empty cell is nothing.
What is no text is JSON. The bytes of files lie beside the tables, under their SHA-256.
"""

import base64
import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, TextIO, get_args, get_origin

from pydantic import BaseModel

from langmem_plugin.errors import UnreadableImport
from langmem_plugin.portability.person_export import (
    LISTS,
    SINGLE,
    ExportedFile,
    ExportedMessage,
    ExportedPermission,
    ExportedSession,
    PersonExport,
    Record,
)

DOCUMENT = "document.csv"
_LONGEST_TEXT, _MOST_ROWS = 16_000_000, 300_000  # of a cell, in characters; of a table
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "|", "%")
_BYTES = "files"
_HEAD = ("format", "format_version", "exported_at", "person")

Open = Callable[[str], TextIO | None]
"""Opens a table to read, by its name; None where there is none."""


def write_tables(parts: Iterable[tuple[str, Any]], folder: Path) -> None:
    """Into a folder that is there. `parts` are those of the exporter."""
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
    """The document as DocumentImporter takes it. `data` gives what is in a file. Raises UnreadableImport."""
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
    """Where what is in a file lies, seen from the tables."""
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
    """Writes what is in each beside the tables."""
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
    """Those of a table as records. What cannot be read in a cell stays text, and the importer says so."""
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
    """The model of a field that may be null."""
    return next(
        each for each in (annotation, *get_args(annotation)) if isinstance(each, type) and issubclass(each, Record)
    )


def _is_json(annotation: Any) -> bool:
    """Whether a field holds anything but texts and instants, which are written as they are."""
    if get_origin(annotation) is Literal:
        return not all(isinstance(each, str) for each in get_args(annotation))
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return annotation in {int, float, bool} or issubclass(annotation, BaseModel)
    if get_origin(annotation) in {list, dict, tuple}:
        return True
    return any(_is_json(each) for each in get_args(annotation) if each is not type(None))
