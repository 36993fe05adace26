"""One person's data out and in: a document with a published schema, or the same as tables."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Annotated, Any, Literal

from anyio import to_thread
from fastapi import Depends, Query
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from langmem_plugin import process_forks
from langmem_plugin.errors import TooManyRequests
from langmem_plugin.portability import document_files
from langmem_plugin.portability.import_report import ImportReport
from langmem_plugin.portability.sources import onyx
from langmem_plugin.web.api.calls import Call, Called
from langmem_plugin.web.api.routing import LARGEST_IMPORT, Routes

routes = Routes("export and import")
_CHUNK, _IN_MEMORY = 2**16, 2**20
_LARGEST_UNPACKED = 4 * LARGEST_IMPORT
_importing: set[str] = set()
_importing_lock = process_forks.Lock()
_OPERATORS_TO_SAY = ("identifiers", "merges")
_FILE = {"schema": {"type": "string", "format": "binary"}}


class Remark(BaseModel):
    place: str
    reason: str


class Imported(BaseModel):
    """By kind of record: what was stored, or would be, and what was there already."""

    dry_run: bool
    stored: dict[str, int]
    there_already: dict[str, int]
    skipped: list[Remark]
    doubted: list[Remark]


@routes.get(
    "/api/memory/export",
    content={"application/json": {"schema": {"type": "object"}}, "application/zip": _FILE},
)
def export_memory(call: Called, form: Annotated[Literal["json", "csv"], Query(alias="format")] = "json") -> Response:
    """All that is stored of the person: one JSON document, or tables of CSV in a zip.

    The document is what POST /api/memory/import takes, here or elsewhere.
    """
    call.carries_away()
    memory, person = call.memory, call.reads("export")
    if form == "json":
        file: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed when it was sent
        _kept(file, lambda: _as_json(call, person, file))
        return _sent(file, "application/json", "json")
    file = tempfile.TemporaryFile()  # noqa: SIM115
    call.note("data.exported", person)
    with tempfile.TemporaryDirectory(prefix="langmem-export-") as folder:
        path = Path(folder) / "tables.zip"
        document_files.write_csv(memory.exporter, person, path)
        with path.open("rb") as made:
            _kept(file, lambda: shutil.copyfileobj(made, file))
    return _sent(file, "application/zip", "zip")


async def _uploaded(request: Request) -> AsyncIterator[Path]:
    """The body as a file while it is answered; nothing of it is held in memory as a whole."""
    with tempfile.TemporaryDirectory(prefix="langmem-import-") as folder:
        path = Path(folder) / "document.json"  # or a zip, whatever it is called
        with path.open("wb") as file:
            async for chunk in request.stream():
                await to_thread.run_sync(file.write, chunk)
        yield path


@routes.post(
    "/api/memory/import",
    largest=LARGEST_IMPORT,
    body={
        "required": True,
        "content": {"application/json": {"schema": {"type": "object"}}, "application/octet-stream": _FILE},
    },
)
def import_memory(call: Called, uploaded: Annotated[Path, Depends(_uploaded)], dry_run: bool = False) -> Imported:
    """Store what an export gave, as the person's: with ids, dates and states, and nothing twice; or an export of Onyx.

    With `dry_run` nothing is stored and the answer says what would be. What cannot be read is skipped and named.
    """
    with _one_at_a_time(call.identifier):
        return _import(call, uploaded, dry_run=dry_run)


@contextmanager
def _one_at_a_time(person: str) -> Iterator[None]:
    """Allows one import of a person at a time: the limit on the memory it takes is for each alone."""
    with _importing_lock:
        if person in _importing:
            raise TooManyRequests("an import of this person is still on its way: wait for it to end", retry_after=10)
        _importing.add(person)
    try:
        yield
    finally:
        _importing.discard(person)


def _import(call: Call, uploaded: Path, *, dry_run: bool) -> Imported:
    skipped: list[Remark] = []
    if onyx.recognises(uploaded):
        report = call.memory.importer.run(onyx.records(uploaded), phone=call.identifier, dry_run=dry_run)
        return _imported(report, skipped, dry_run=dry_run)
    document = document_files.read(uploaded, largest=_LARGEST_UNPACKED)
    if not call.caller.is_operator:  # who else a person writes as is not theirs to say
        skipped = [
            Remark(place=each, reason="an operator links identifiers, not an import by the person")
            for each in _OPERATORS_TO_SAY
            if document.pop(each, None)
        ]
    report = call.memory.import_person(
        document, phone=call.identifier, dry_run=dry_run, by_themselves=not call.caller.is_operator
    )
    return _imported(report, skipped, dry_run=dry_run)


def _imported(report: ImportReport, skipped: Sequence[Remark], *, dry_run: bool) -> Imported:
    return Imported(
        dry_run=dry_run,
        stored={str(kind): many for kind, many in report.stored.items()},
        there_already={str(kind): many for kind, many in report.there_already.items()},
        skipped=[*skipped, *(Remark(**asdict(each)) for each in report.skipped)],
        doubted=[Remark(**asdict(each)) for each in report.doubted],
    )


def _as_json(call: Call, person: str, file: IO[bytes]) -> None:
    call.memory.export(person, _Encoded(file))


class _Encoded:
    """A writer that takes text and writes UTF-8."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(text.encode())


def _kept(file: IO[bytes], write: Any) -> None:
    """Written whole before anything is sent: an answer that breaks off would look like a shorter one."""
    try:
        write()
    except BaseException:
        file.close()
        raise
    file.seek(0)


def _sent(file: IO[bytes], media_type: str, suffix: str) -> Response:
    def chunks() -> Iterator[bytes]:
        with file:
            while chunk := file.read(_CHUNK):
                yield chunk

    headers = {"content-disposition": f'attachment; filename="langmem-export.{suffix}"'}
    return StreamingResponse(chunks(), headers=headers, media_type=media_type)
